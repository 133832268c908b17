# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on NetCrafter and reversible lanes together."""

from __future__ import annotations

from statistics import fmean

import pandas

from ..page_layout import Frames, PageTable, code, fixed, in_percent
from .points import BOTH, CLEAR, LANES, NEITHER, NETCRAFTER, RATIOS

PUBLISHED_RATIO = RATIOS[0]


def means(frames: Frames) -> PageTable:
    """Mean gains by ratio, and where both together lose to the best of the others."""
    frame, signed = frames["gains"], in_percent(1, sign=True)
    rows = []
    for ratio, part in frame.groupby("ratio", sort=False):
        best = part[[NETCRAFTER, LANES]].max(axis=1).clip(lower=1.0)
        lost = part[part[BOTH] < best * (1 - CLEAR)]["workload"]
        rows.append(
            (
                f"{ratio} : 1" + (" (published)" if ratio == PUBLISHED_RATIO else ""),
                *(f"{signed(100 * (fmean(part[d]) - 1))} %" for d in (NETCRAFTER, LANES, BOTH)),
                ", ".join(map(code, lost)) or "–",
            )
        )
    slower = "both slower than the best of neither, one and the other by 0.5 % or more"
    return PageTable(("inside : between", NETCRAFTER, LANES, BOTH, slower), rows)


def published_ratio(frames: Frames) -> PageTable:
    """Speed-ups, how busy the slow link is, and reversals of its lanes, at the published ratio."""
    frame, three = frames["gains"], fixed(3)
    rows = []
    for _, line in frame[frame["ratio"] == PUBLISHED_RATIO].iterrows():
        rows.append(
            (
                code(line["workload"]),
                *(three(line[d]) for d in (NETCRAFTER, LANES, BOTH)),
                *(_busy(line, d) for d in (NEITHER, NETCRAFTER, LANES)),
                *(f"{line[f'{d}: reversals']:.0f}" for d in (LANES, BOTH)),
            )
        )
    busy = (f"{d}: busy" for d in (NEITHER, NETCRAFTER, LANES))
    heads = (NETCRAFTER, LANES, BOTH, *busy, "reversals, lanes alone", "with NetCrafter")
    return PageTable(("workload", *heads), rows)


def _busy(line: pandas.Series, design: str) -> str:
    return f"{line[f'{design}: busier_%']:.0f} / {line[f'{design}: other_%']:.0f} %"
