# SPDX-License-Identifier: Apache-2.0
"""What makes figures miss. Reasons are findings of the experiments' pages: a miss that no finding explains is shown as
such."""

from __future__ import annotations

import re

_RANDOM_READS = (
    "workloads that read single words at random (pagerank, syr2k, and spmv at the published load) fill the slow link,"
    " which slows them down more than anything published; the other workloads hardly load it"
)
_REUSE = (
    "each lane of spmv walks along a row and comes back for the next word of a line, which trimming and a sector cache"
    " have left behind"
)
_FULL_LINK = (
    "packets for a full link wait anyway, so a window from their arrival costs them nothing; one from the head of the"
    " queue, as Algorithm 1 says, slows down every workload"
)
_REASONS: tuple[tuple[str, str, str], ...] = (
    ("netcrafter", r"(in|helps) spmv|no workload loses", _REUSE),
    (
        "netcrafter",
        r"trimming gains the most in gups",
        "42 % of the flits of gups are padded, so packets find others to share flits with: stitching with selective"
        " pooling gains more than trimming",
    ),
    (
        "netcrafter-mgpusim",
        r"trimming gains the most in gups",
        "walks of four levels of 100 cycles wait for the slow link at each, so sequencing gains more than trimming",
    ),
    (
        "netcrafter-mgpusim",
        r"page-table flits",
        "of im2col page-table packets alone cross, so it counts as 100 %; without it the mean is below the published"
        " one",
    ),
    ("netcrafter-mgpusim", r"(in|helps) spmv|no workload loses", _REUSE),
    ("netcrafter-mgpusim", r"plain pooling hurts", _FULL_LINK),
    ("netcrafter-mgpusim", r"(ideal|all): speed-up", _RANDOM_READS),
    ("netcrafter", r"plain pooling hurts", _FULL_LINK),
    ("netcrafter", r"ideal: speed-up", _RANDOM_READS),
    ("netcrafter", r"all: speed-up, largest", _RANDOM_READS),
    ("netcrafter-load", r"speed-up|slow-down", _RANDOM_READS),
    ("netcrafter-sensitivity", r"plain pooling", _FULL_LINK),
    (
        "netcrafter-sensitivity",
        r"at every rate",
        "where links are alike, controllers cost latency, and trimming fetches lines twice",
    ),
    (
        "lanes",
        r"acknowledged by a flit",
        "the rule as published takes a lane too many and gives it back in every other sample; predictive rests at the"
        " best split",
    ),
    ("lanes", r"SwitchTime.* largest loss", "few lanes are reversed, so the time that it takes counts for little"),
    (
        "lanes",
        r"doubled bandwidth",
        "pages of 4 KiB settle where they are used, so most of these programs leave their links idle at the sizes that"
        " were run; with first touch by 64 KiB the mean is 1.18, and 1.27 with lines of 128 bytes (1.38 and 1.43 on"
        " small inputs)",
    ),
    (
        "lanes",
        r"milic2017",
        "links are rarely saturated in one direction alone with these programs and sizes, so lane reversal has little"
        " to give",
    ),
    (
        "pcie-congestion",
        r"their communications",
        "the paper's random graphs are not published; as many of another draw have more communications",
    ),
    (
        "pcie-congestion",
        r"gain of the best order",
        "the paper's gain is of a whole exchange step, limited by two-sided MPI, which these times do not contain",
    ),
    (
        "gpurdma-placement",
        r"writing|ringing",
        "what the paper's code does for an entry and a doorbell beside writing them is not published",
    ),
    (
        "gpurdma-placement",
        r"saves|queue pair .*completion queue",
        "what a release of system scope waits for on a K40c is not published; the page sets the forms side by side",
    ),
    ("gpurdma-throughput", r"over the CPU .*1 KiB", "lanes and the hart both fill the link with messages of 1 KiB"),
    (
        "gpurdma-throughput",
        r"8 B: (writing|ringing)|reused entries",
        "what the paper's code does for an entry and a doorbell beside writing them is not published",
    ),
    (
        "gpurdma-throughput",
        r"one at a time, 32 KiB",
        "32 KiB take 5.6 µs more than 2 bytes, of which the link needs 4.9; the published ones take 12, and the paper"
        " does not say what bounds them",
    ),
    ("gpurdma-throughput", r"over the CPU", "the paper does not say what its CPU does a message"),
    (
        "gpurdma-pingpong",
        r"notification",
        "GPI-2 and its GPU have costs a message and a notification that no source names",
    ),
    (
        "gpurdma-pingpong",
        r"there by one queue pair",
        "transfers fill the link here, in one direction at a time; the paper does not say what bounds them there",
    ),
    (
        "gpurdma-matvec",
        r"one kernel, 15360",
        "with one notification for all, what comes and what goes share the link by turns; the published rate needs both"
        " at once",
    ),
    (
        "gpurdma-matvec",
        r"one kernel, 480|get their part, 480",
        "what the published GPU and its CPU do for a message, beside what is modelled, is not published",
    ),
    (
        "gpurdma-matvec",
        r"a kernel for each batch|a launch",
        "costs of the CPU's side that have a source explain at most a quarter of what a small batch with a kernel of"
        " its own lacks; of the rest no source is known",
    ),
    (
        "gpurdma-modern",
        r"fence of system scope",
        "a release of system scope waits for one read of the host's memory at the most, 0.55 µs; what the H200's waits"
        " for beyond its fence of the GPU, 1.9 µs, is not published",
    ),
    (
        "gpurdma-modern",
        r"completion|payload",
        "an adapter's read of the GPU's memory takes 0.44 µs here, and stages of the adapter are assumptions; no source"
        " has either of a ConnectX-7",
    ),
    (
        "gpurdma-modern",
        r"to issue .* no fence|one lane|an entry a doorbell",
        "lanes issue in order, 4 cycles from an instruction to the next that needs its result, so an entry takes 0.31"
        " µs to write",
    ),
    (
        "gpurdma-modern",
        r"in front of the record, too",
        "a fence of the GPU takes 0.1 µs here, a round trip to the L2; the H200's take 0.2 to 0.5",
    ),
    (
        "gpurdma-modern",
        r"in one work-group",
        "queue pairs of one work-group are lanes of one wavefront, which execute divergent parts one after the other;"
        " how the published ones are spread over warps is not said",
    ),
    (
        "gpurdma-modern",
        r"nine tenths",
        "runs of 64 messages a queue pair have a beginning and an end: 512 B reach 89 % of the line rate",
    ),
    (
        "rdma",
        r"latency.* (1|2|4|8|16|32|64) KiB|1 MiB",
        "the published adapter is QDR; this one is FDR, which has 1.7 times its data rate",
    ),
    ("rdma", r"bandwidth", "the published adapter has 40 Gb/s, this one FDR's 54.5"),
    ("rdma", r"rate", "bound by a hart that retires one instruction a cycle"),
    (
        "rdma",
        r"latency, (write|send), \d+ B",
        "no BlueFlame: an entry is fetched over PCIe where the hardware gets it with the doorbell",
    ),
    (
        "compnet-latency",
        r"round trip, GHN",
        "the published host threads read requests over the I/O bus; queues in the GPU's memory (queues=gpu) give 40 µs",
    ),
    (
        "compnet-latency",
        r"energy of both nodes.*64 work-groups",
        "a hart of the command processor serves 32 work-groups slower than a host's, and both nodes wait for it",
    ),
    (
        "compnet-latency",
        r"energy",
        "cores' power is McPAT's at the activity that is simulated; what the published 2 contains is not said",
    ),
    (
        "compnet-jacobi",
        r"largest size",
        "1,024 rows a node occupy the GPU for 60 µs, so a launch still counts; the published axis is not known",
    ),
    (
        "compnet-reduction",
        r"energy|cores alone",
        "memory, PCIe and network take the same in each scheme, and the program's hart its leakage while it sleeps",
    ),
)


def reason_of(experiment: str, figure: str) -> str:
    """Why a figure misses, or that this is open."""
    for name, pattern, text in _REASONS:
        if name == experiment and re.search(pattern, figure):
            return text
    return "not explained yet"
