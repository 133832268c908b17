# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on RDMA between two nodes, beside published figures."""

from __future__ import annotations

import pandas

from ..page_layout import EMPTY, Frames, PageTable, as_published, bytes_of, figures_of, fixed, significant, times_on
from . import published

SIZES = (2, 64, 128, 256, 1024, 4096, 64 << 10, 1 << 20)
#: Rows of the table of rates: how it is called there, what figures it has, and what was published.
RATES = (
    (
        "one a doorbell, all signalled, payload fetched",
        ("plain: one a doorbell, all signalled, payload fetched",),
        ("plain", "Connect-IB, one core, base"),
    ),
    ("the same, inline", ("the same, inline",), None),
    ("… a completion for 16", ("a completion for 16",), None),
    ("16 a doorbell, all signalled", ("16 a doorbell",), None),
    ("16 a doorbell, a completion for 16", ("16 a doorbell, a completion for 16",), ("batched", "doorbell batching")),
    ("… payload fetched", ("…, payload fetched",), None),
    (
        "… over 2, 4, 8 queue pairs",
        ("…, 2 queue pairs", "…, 4 queue pairs", "…, 8 queue pairs"),
        ("pairs", "four queue pairs"),
    ),
)
#: Parts of a message's path, in its order, with the components and stages that each has. A packet queues at its
#: sender's port, and its other spans on a link stand with the receiver's.
PATH = (
    ("PCIe to the adapter", r"pcie\.root\.root_port\d+: "),
    ("doorbell", r"send_queues: doorbell"),
    ("fetch of the WQE (PCIe, both ways)", r"send_queues: fetch"),
    ("payload (PCIe, both ways)", r"requester: payload"),
    ("scheduling", r"requester: scheduling"),
    ("link", r"node1\.hca0\.network\.link: (?!queue)|node0\.hca0\.network\.link: queue"),
    ("receive", r"node1\.hca0\.network: receive"),
    ("link back", r"node0\.hca0\.network\.link: (?!queue)|node1\.hca0\.network\.link: queue"),
    ("receive", r"node0\.hca0\.network: receive"),
    ("PCIe from the adapter", r"node0\.hca0\.link: "),
    ("memory", r"pcie\.root: (inbound|memory)"),
)
#: Messages as the experiment and as the page calls them.
MESSAGES = {
    "write 8 B, inline": "write 8 B, inline",
    "write 8 B, payload fetched": "write 8 B",
    "write 4 KiB": "write 4 KiB",
}


def latency(frames: Frames) -> PageTable:
    """By verb and size, each with what was published."""
    frame = frames["latency"]
    found = {(v, s): us for v, s, us in zip(frame["verb"], frame["bytes"], frame["cable_us"])}
    sizes = [s for s in SIZES if ("write", s) in found]
    rows = []
    for verb in ("write", "send", "read"):
        rows.append(
            (verb, *(f"{found[verb, s]:.3f}" if found[verb, s] < 10 else significant(4)(found[verb, s]) for s in sizes))
        )
        known = published.LATENCY[published.MLX4][verb]
        rows.append(("… mlx4, QDR, one switch", *(as_published(known[s]) for s in sizes)))
    return PageTable(("µs", *map(bytes_of, sizes)), rows)


def message_rate(frames: Frames) -> PageTable:
    """Writes of 8 bytes by how they are posted."""
    found, rows = figures_of(frames), []
    for label, figures, known in RATES:
        beside = EMPTY
        if known:
            key, what = known
            beside = f"{as_published(published.CONNECT_IB[key][1] / 1e6)}, {what}"
        rows.append(
            (label, ", ".join(significant(3)(found[f"rate of writes, {figure}"]) for figure in figures), beside)
        )
    return PageTable((EMPTY, "million/s", "published"), rows)


def spans(frames: Frames) -> PageTable:
    """Where a message's time goes, in the order of its path."""
    frame = frames["spans"]
    rows = []
    for message, label in MESSAGES.items():
        part = frame[frame["message"] == message]
        times = times_on(PATH, part["component"], part["stage"], part["service_ns"] + part["queueing_ns"])
        rows.append((label, *(fixed(0)(ns) if ns else "–" for ns in times), fixed(0)(sum(times))))
    return PageTable(("ns", *(head for head, _ in PATH), "sum"), rows)


def memory(frames: Frames) -> PageTable:
    """By where queues and payload lie."""
    frame = frames["places"]

    def of(verb: str, size: int) -> pandas.Series:
        return frame[(frame["verb"] == verb) & (frame["bytes"] == size)].set_index("place")["us"]

    write, read = of("write to completion", 8), of("read", 4096)
    places = write.sort_values(kind="stable").index
    rows = [(str(place), f"{write[place]:.3f}", f"{read[place]:.3f}") for place in places]
    return PageTable(("µs", "write of 8 B, to its completion", "read of 4 KiB"), rows)
