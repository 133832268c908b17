# SPDX-License-Identifier: Apache-2.0
"""The table of the page."""

from __future__ import annotations

from statistics import fmean, median

from ..netcrafter.points import IDEAL, POINTS, TITLES
from ..page_layout import Frames, PageTable, code, fixed

#: What tables have of the slow link, by the column of the results.
LINK_FIGURES = {
    "slow_link_busy_%": "link busy, %",
    "page_table_%_of_slow_flits": "page-table flits, %",
    "flits_padded_25_or_75_%": "padded flits, %",
}


def load(frames: Frames) -> PageTable:
    """A line for each workload and size: slow-down and gains; then means over the largest sizes."""
    frame, two, one = frames["load"], fixed(2), fixed(1)
    points = [c for c in frame.columns if c in POINTS]
    rows = []
    for _, line in frame.iterrows():
        rows.append(
            (
                code(line["workload"]), f"{line['size']:,}", str(line["reach"]),
                *(two(line[p]) for p in points), *(one(line[k]) for k in LINK_FIGURES),
            )
        )  # fmt: skip
    for reach, part in frame.groupby("reach", sort=False):
        last = part.loc[part.groupby("workload", sort=False)["size"].idxmax()]
        for name, mean in (("mean", fmean), ("median", median), ("largest", max)):
            cells = (two(mean(list(last[p]))) for p in points)
            shares = (one(mean(list(last[k].dropna()))) if last[k].notna().any() else "–" for k in LINK_FIGURES)
            rows.append((f"{name} of the largest", "", str(reach), *cells, *shares))
    titles = ("slow-down" if p == IDEAL else TITLES.get(p, p.replace("-", " ")) for p in points)
    return PageTable(("workload", "size", "L2 TLB", *titles, *LINK_FIGURES.values()), rows)
