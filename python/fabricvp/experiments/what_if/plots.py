# SPDX-License-Identifier: Apache-2.0
"""Plots of the two mechanisms together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from matplotlib.figure import Figure

from .points import DESIGNS

#: A design has one colour on the page.
COLORS = dict(zip(DESIGNS, ("#7f7f7f", "#4a6fa5", "#c9a227", "#1b7f5c")))

if TYPE_CHECKING:
    import pandas


def bars(gains: pandas.DataFrame) -> Figure:
    """A group for each ratio, a bar for each design."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.subplots()
    ratios = list(dict.fromkeys(gains["ratio"]))
    places = numpy.arange(len(ratios))
    for i, design in enumerate(DESIGNS[1:]):
        by = gains.groupby("ratio", sort=False)[design]
        mean, low, high = (getattr(by, f)().to_numpy() for f in ("mean", "min", "max"))
        axes.bar(
            places + (i - 1) * 0.27,
            mean,
            0.27,
            label=design,
            color=COLORS[design],
            yerr=[mean - low, high - mean],
            capsize=3,
        )
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(places, [f"{r}:1" for r in ratios])
    axes.set_xlabel("bandwidth inside : between clusters")
    axes.set_ylabel("speed-up")
    axes.legend(fontsize="small")
    return figure


def together(gains: pandas.DataFrame) -> Figure:
    """A field for each workload and ratio."""
    table = gains.pivot(index="workload", columns="ratio", values="both/better")
    table = table.loc[list(dict.fromkeys(gains["workload"])), list(dict.fromkeys(gains["ratio"]))]
    figure = Figure(figsize=(6, 0.45 * len(table) + 1.2), layout="constrained")
    axes = figure.subplots()
    reach = max(0.01, float(numpy.abs(table.to_numpy() - 1).max()))
    image = axes.imshow(table.to_numpy(), cmap="RdYlGn", vmin=1 - reach, vmax=1 + reach, aspect="auto")
    axes.set_xticks(range(len(table.columns)), [f"{r}:1" for r in table.columns])
    axes.set_yticks(range(len(table)), list(table.index))
    for y, line in enumerate(table.to_numpy()):
        for x, value in enumerate(line):
            axes.text(x, y, f"{value:.3f}", ha="center", va="center", fontsize="small")
    figure.colorbar(image)
    return figure


def utilisation(gains: pandas.DataFrame) -> Figure:
    """For each workload at the largest ratio, and each design, both directions."""
    here = gains[gains["ratio"] == gains["ratio"].max()]
    figure = Figure(figsize=(max(8.0, 1.2 * len(here)), 3.4), layout="constrained")
    axes = figure.subplots()
    places = numpy.arange(len(here))
    for i, design in enumerate(DESIGNS):
        at = places + (i - 1.5) * 0.2
        axes.bar(at, here[f"{design}: busier_%"], 0.18, color=COLORS[design], label=design)
        axes.hlines(here[f"{design}: other_%"], at - 0.09, at + 0.09, color="black", linewidth=1.2)
    axes.set_xticks(places, list(here["workload"]), rotation=30, ha="right")
    axes.set_ylabel("% of the time; line: the other direction")
    axes.legend(fontsize="small", ncols=4)
    return figure
