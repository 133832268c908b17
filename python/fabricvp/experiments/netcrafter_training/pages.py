# SPDX-License-Identifier: Apache-2.0
"""The table of the page."""

from __future__ import annotations

from ..netcrafter.points import IDEAL, TITLES
from ..netcrafter_load.pages import LINK_FIGURES
from ..page_layout import Frames, PageTable, code, fixed
from .study import PARTS


def training(frames: Frames) -> PageTable:
    """A line for each network and way of training."""
    frame, two, one = frames["training"], fixed(2), fixed(1)
    parts = [p for p in PARTS if p in frame.columns]
    rows = [
        (
            code(line["network"]), f"{line['batch']}", line["way"], one(line["kernel_time_ms"]),
            *(two(line[p]) for p in (IDEAL, *parts)),
            *(one(line[k]) for k in LINK_FIGURES),
        )
        for _, line in frame.iterrows()
    ]  # fmt: skip
    titles = ("slow-down", *(TITLES.get(p, p.replace("-", " ")) for p in parts))
    head = ("network", "batch", "trained as", "kernel time, ms", *titles)
    return PageTable((*head, *LINK_FIGURES.values()), rows)
