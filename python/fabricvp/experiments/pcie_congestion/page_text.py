# SPDX-License-Identifier: Apache-2.0
"""What the page says beside its figures."""

from __future__ import annotations

TAU = (
    (
        "The tree's switches have finite ingress FIFOs, in which TLPs wait in order, and give their egress ports away"
        " round robin, TLP by TLP. The root complex cuts peer-to-peer writes into smaller TLPs. That is all that B and"
        " τ come from: a crossing message wins as many turns as a direct one, with fewer bytes each, and spends more of"
        " a link on headers. So τ is the ratio of two TLP sizes, and vanishes where the root complex does not cut."
    ),
    (
        "There is no single bandwidth: a message across the root complex is slower even alone. The published model"
        " knows one B; here it is the mean over all pairs. A third variant of the closed form is told both rates."
    ),
)

FAMILIES = (
    (
        "Each graph runs in three closed forms and on the tree, with B and τ from the micro-experiments and no other"
        " parameter. The error is that of a communication's whole time, from the common start to its last byte. Weights"
        " count how many relabelled graphs a graph stands for."
    ),
)

WHAT_REMAINS = (
    (
        "The max-min form is nearer to the tree: a switch that arbitrates per TLP does not know how much of an uplink's"
        " traffic came from which source, so uplinks are shared max-min between ingress ports, and not in proportion to"
        " what arrives."
    ),
    (
        "Scatters and gathers have one bottleneck each, at the source or at the destination. With one B all of the"
        " error is the difference between the two rates of a message alone; told both, the form follows the tree within"
        " a fraction of a percent."
    ),
    (
        "Traffic the other way costs a message up to 7 %, because acknowledgements and credits share its link, most of"
        " all for the small TLPs behind the root complex. No closed form knows that; it is most of the median error of"
        " graphs without a hard case."
    ),
    (
        "All to all: many bottlenecks feed each other. The form settles one after the other, as if FIFOs behind a"
        " bottleneck were full all the time; in the tree they empty now and then, because the heads of several FIFOs"
        " wait for different ports, and what passes in the meantime is lost to the form."
    ),
    (
        "Random graphs: the tail are communications that stand in one FIFO with others which are held elsewhere. The"
        " form takes the FIFO's mix as steady; in the tree it alternates in bursts as long as a FIFO. The published"
        " form also errs where an uplink is fed unequally, and where its fixed point throttles communications that"
        " share no FIFO with a throttled one."
    ),
)

SCHEDULES = (
    (
        "Orders are those that the search finds in closed form with the measured B and τ. In steps: the next messages"
        " start when all of a step have arrived. Free running: every sender goes on as soon as it can. Software"
        " overhead is not in these times; on the real machine two-sided MPI took most of what remains of the gain."
    ),
)


def lengths(enough: int, fluid: int) -> tuple[str, ...]:
    """About message sizes."""
    return (
        (
            "Factors are a message's bytes over what B carries until its last byte arrives, latency and the filling of"
            f" FIFOs included. From {fluid // 1024} KiB on they are within 5 % of those of the longest messages; from"
            f" {enough // 1024} KiB on doubling a message moves none by 1 %. Below, latency (one way, and per store and"
            " FIFO), which no closed form has, is what counts."
        ),
    )
