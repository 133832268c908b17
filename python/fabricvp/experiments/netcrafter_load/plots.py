# SPDX-License-Identifier: Apache-2.0
"""Plots of gains against slow-downs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from ..netcrafter.points import IDEAL, PUBLISHED, TITLES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

ACROSS = 2  #: panels beside each other


def gain_against_slow_down(frame: pandas.DataFrame, shown: Sequence[str]) -> Figure:
    """A panel for each design point, in it a line for each workload, from its smallest size to the study's (filled).
    Crosses: the published mean, where there is one; lines: the published largest values; dashed: a gain that takes away
    all of the slow-down."""
    rows = math.ceil(len(shown) / ACROSS)
    figure = Figure(figsize=(11, 1 + 3.9 * rows), layout="constrained")
    panels = figure.subplots(rows, min(ACROSS, len(shown)), sharex=True, sharey=True, squeeze=False).flatten()
    for panel, at in zip(panels, shown):
        _panel(panel, frame, at)
    for panel in panels[len(shown) :]:
        panel.set_visible(False)
    lowest, highest = float(frame[list(shown)].min().min()), float(frame[list(shown)].max().max())
    panels[0].set_xscale("log", base=2)
    panels[0].xaxis.set_major_formatter(ScalarFormatter())
    panels[0].set_ylim(min(0.6, 0.95 * lowest), 1.05 * max(highest, PUBLISHED["all"][1]))
    figure.supxlabel("slow-down by the slow link (kernel time, all-fast fabric = 1)", fontsize="medium")
    figure.supylabel("speed-up over the baseline", fontsize="medium")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, ncols=8, fontsize="small", loc="outside upper center")
    return figure


def _panel(axes: Axes, frame: pandas.DataFrame, at: str) -> None:
    names = list(dict.fromkeys(frame["workload"]))
    colours = colormaps["tab20"](numpy.linspace(0, 1, max(2, len(names))))
    for name, colour in zip(names, colours):
        part = frame[frame["workload"] == name].sort_values("size")
        axes.plot(part[IDEAL], part[at], marker="o", markersize=3, linewidth=0.8, color=colour, markerfacecolor="white")
        last = part.iloc[-1]
        axes.plot([last[IDEAL]], [last[at]], marker="o", markersize=6, color=colour, linestyle="none", label=name)
    if at in PUBLISHED:
        (mean, largest), (gain, most) = PUBLISHED[IDEAL], PUBLISHED[at]
        axes.plot([mean], [gain], marker="x", markersize=9, markeredgewidth=2, color="black", linestyle="none")
        axes.annotate("published mean", (mean, gain), xytext=(6, -12), textcoords="offset points", fontsize="small")
        axes.axvline(largest, color="gray", linewidth=0.8)
        axes.axhline(most, color="gray", linewidth=0.8)
    top = float(frame[IDEAL].max())
    axes.plot([1, top], [1, top], color="black", linewidth=0.8, linestyle="--")
    axes.set_title(TITLES.get(at, at.replace("-", " ")), fontsize="medium")
