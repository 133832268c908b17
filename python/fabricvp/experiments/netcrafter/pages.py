# SPDX-License-Identifier: Apache-2.0
"""The table of NetCrafter's page."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, median

from ..page_layout import Frames, PageTable, as_published, code, fixed, geometric
from .points import BASELINE, PUBLISHED, TITLES


def speed_ups(frames: Frames) -> PageTable:
    """A line for each workload, a column for each design point but the baseline; then means and what was published."""
    frame, three = frames["speedups"], fixed(3)
    points = [c for c in frame.columns if c not in ("workload", BASELINE)]
    rows = [(code(line["workload"]), *(three(line[p]) for p in points)) for _, line in frame.iterrows()]
    means: dict[str, Callable[[list[float]], float]] = {
        "arithmetic mean": fmean,
        "geometric mean": geometric,
        "median": median,
    }
    for name, mean in means.items():
        rows.append((name, *(three(mean(list(frame[p]))) for p in points)))
    for place, name in enumerate(("published, mean", "published, largest")):
        rows.append((name, *(as_published(PUBLISHED[p][place]) if p in PUBLISHED else "" for p in points)))
    return PageTable(("workload", *(TITLES.get(p, p.replace("-", " ")) for p in points)), rows)
