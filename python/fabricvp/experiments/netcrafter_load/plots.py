# SPDX-License-Identifier: Apache-2.0
"""Plots of gains against slow-downs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from matplotlib import colormaps
from matplotlib.figure import Figure

from ..netcrafter.points import IDEAL, PUBLISHED

if TYPE_CHECKING:
    import pandas


def gain_against_slow_down(frame: pandas.DataFrame, at: str) -> Figure:
    """A line for each workload, from its smallest size to the study's (filled). Crosses: the published mean; lines: the
    published largest values; dashed: a gain that takes away all of the slow-down."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(frame["workload"]))
    colours = colormaps["tab20"](numpy.linspace(0, 1, max(2, len(names))))
    for name, colour in zip(names, colours):
        part = frame[frame["workload"] == name].sort_values("size")
        axes.plot(part[IDEAL], part[at], marker="o", markersize=3, linewidth=0.8, color=colour, markerfacecolor="white")
        last = part.iloc[-1]
        axes.plot([last[IDEAL]], [last[at]], marker="o", markersize=6, color=colour, linestyle="none", label=name)
    mean, largest = PUBLISHED[IDEAL]
    gain, most = PUBLISHED["all"]
    axes.plot([mean], [gain], marker="x", markersize=9, markeredgewidth=2, color="black", linestyle="none")
    axes.annotate("published mean", (mean, gain), xytext=(6, -12), textcoords="offset points", fontsize="small")
    axes.axvline(largest, color="gray", linewidth=0.8)
    axes.axhline(most, color="gray", linewidth=0.8)
    top = float(frame[IDEAL].max())
    axes.plot([1, top], [1, top], color="black", linewidth=0.8, linestyle="--")
    axes.set_xscale("log", base=2)
    axes.set_ylim(min(0.6, 0.95 * float(frame[at].min())), 1.05 * max(float(frame[at].max()), most))
    axes.set_xlabel("slow-down by the slow link (kernel time, all-fast fabric = 1)")
    axes.set_ylabel("speed-up over the baseline")
    axes.legend(ncols=2, fontsize="small")
    return figure
