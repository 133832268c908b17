# SPDX-License-Identifier: Apache-2.0
"""Plots of NetCrafter's design points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from matplotlib.figure import Figure

from ...plot import PALETTE
from ..drawing import Published, speed_up_bars
from .points import IDEAL, PUBLISHED

if TYPE_CHECKING:
    import pandas

    from ..gpu_workloads.measure import Measured

#: What a part of NetCrafter gains and what it saves have one colour on the page.
_MECHANISMS = {"stitching": PALETTE[0], "ends": PALETTE[9], "trimming": PALETTE[1]}
_POINTS = {
    IDEAL: PALETTE[8],
    "sector-cache": PALETTE[5],
    "stitching": _MECHANISMS["stitching"],
    "pooling": PALETTE[4],
    "selective-pooling": PALETTE[3],
    "trimming": _MECHANISMS["trimming"],
    "sequencing": PALETTE[6],
    "data-first": PALETTE[7],
    "all": PALETTE[2],
}


def bars(gains: pandas.DataFrame) -> Figure:
    """A group of bars for each workload, a bar for each design point; published means and largest as marks."""
    return speed_up_bars(gains, _POINTS, {at: Published(*known) for at, known in PUBLISHED.items()})


def saved(found: dict[tuple[str, str], Measured], names: list[str], points: list[str]) -> Figure:
    """For each workload, and each point that saves anything, a bar of shares by mechanism."""
    shown = [
        at
        for at in points
        if any(sum(found[n, at].controllers.get(f"saved_flits.{k}", 0) for k in _MECHANISMS) for n in names)
    ]
    figure = Figure(figsize=(max(8.0, 1.1 * len(names)), 2.2 * max(1, len(shown))), layout="constrained")
    panels = figure.subplots(max(1, len(shown)), 1, sharex=True, squeeze=False)[:, 0]
    for panel, at in zip(panels, shown):
        bottom = numpy.zeros(len(names))
        for mechanism, colour in _MECHANISMS.items():
            heights = []
            for name in names:
                c = found[name, at].controllers
                every = c["wire_flits"] + sum(c[f"saved_flits.{k}"] for k in _MECHANISMS)
                heights.append(100 * c[f"saved_flits.{mechanism}"] / every if every else 0.0)
            panel.bar(names, heights, bottom=bottom, color=colour, label=mechanism)
            bottom += heights
        panel.set_ylabel("% of flits")
        panel.set_title(at, fontsize="medium")
        panel.tick_params(axis="x", rotation=30)
    panels[0].legend(fontsize="small")
    return figure
