# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on workloads on four GPUs, beside the published means."""

from __future__ import annotations

from statistics import fmean

import pandas

from ..page_layout import EMPTY, Frames, PageTable, bold, code, count_of, fixed
from .workloads import PUBLISHED

#: Columns of the table, and what was published of their mean (NetCrafter, ISCA 2025).
SHARES = {
    "page_table_%_of_slow_packets": ("page tables, packets", EMPTY),
    "page_table_%_of_slow_flits": ("page tables, flits", "13"),
    "flits_padded_25_or_75_%": ("padded flits", "42 (slides: about 40)"),
    "lines_needing_16_bytes_%": ("≤ 16 bytes", "most lines"),
    "slow_link_busy_%": ("link busy", EMPTY),
}
SLOW_DOWN = "1.5, at most 2.3"  #: published


def workloads(frames: Frames) -> PageTable:
    """On the machine with the slow link: the kernels' time, and what crosses between clusters in %."""
    frame = frames["workloads"]
    slow = frame[(frame["machine"] == frame["machine"].iloc[0]) & frame["workload"].isin(PUBLISHED)]
    one, two = fixed(1), fixed(2)

    def line(w: pandas.Series) -> tuple[str, ...]:
        return (
            f"{code(w['workload'])} {count_of(int(w['size']))}",
            fixed(0)(w["kernels_us"]),
            two(w["slowdown"]),
            *(one(w[c]) for c in SHARES),
            fixed(0)(w["l1_mpki"]),
        )

    rows = [line(w) for _, w in slow.iterrows()]
    shares = (one(slow[c].mean()) for c in SHARES)
    rows.append((bold("mean"), EMPTY, two(fmean(slow["slowdown"])), *shares, EMPTY))
    known = (published for _, published in SHARES.values())
    rows.append(("published (NetCrafter, ISCA 2025)", EMPTY, SLOW_DOWN, *known, EMPTY))
    heads = (head for head, _ in SHARES.values())
    return PageTable(("workload", "kernels, µs", "slow-down", *heads, "MPKI"), rows)


def syr2k_rows(frames: Frames) -> PageTable:
    """`syr2k` by the length of its rows."""
    frame, whole = frames["syr2k_rows"], fixed(0)
    rows = [
        (
            f"{int(w['rows']):,}" + (f", L1 with {int(w['l1_ways'])} ways" if w["l1_ways"] else EMPTY),
            whole(w["slow_us"]),
            whole(w["ideal_us"]),
            fixed(2)(w["slow_us"] / w["ideal_us"]),
            whole(w["l1_misses"]),
            whole(w["transactions"]),
        )
        for _, w in frame.iterrows()
    ]
    return PageTable(("rows", "slow link, µs", "all fast, µs", "slow-down", "L1 misses", "lines asked for"), rows)


def tlb_reach(frames: Frames) -> PageTable:
    """Kernels' time and page-table traffic of two workloads by entries of a GPU's TLB."""
    frame, one = frames["tlb_reach"], fixed(1)
    by = {(w["entries"], w["workload"]): w for _, w in frame.iterrows()}
    entries = list(dict.fromkeys(frame["entries"]))
    sizes = dict(zip(frame["workload"], frame["size"]))
    rows = []
    for n in entries:
        cells = []
        for name in sizes:
            w = by[n, name]
            cells += [fixed(0)(w["kernels_us"]), one(w["packets_%"]), one(w["flits_%"]), one(w["padded_%"])]
        rows.append((str(n), *cells))
    heads = [h for n, s in sizes.items() for h in (f"{code(n)} {count_of(int(s))}", "packets", "flits", "padded")]
    return PageTable(("entries", *heads), rows)


def queues(frames: Frames) -> PageTable:
    """The workloads that the slow link costs most, with one queue for all destinations and with one for each."""
    whole, two = fixed(0), fixed(2)
    rows = [
        (
            code(w["workload"]),
            *(whole(w[c]) for c in ("slow_us", "ideal_us")),
            two(w["slowdown"]),
            *(whole(w[c]) for c in ("slow_queues_us", "ideal_queues_us")),
            two(w["slowdown_queues"]),
        )
        for _, w in frames["queues"].iterrows()
    ]
    heads = ("slow link, µs", "all fast, µs", "slow-down")
    return PageTable(("workload", *heads, *(f"{head}, by destination" for head in heads)), rows)
