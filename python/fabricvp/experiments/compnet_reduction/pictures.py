# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..compnet import COLORS, PARTS

if TYPE_CHECKING:
    import pandas


def strong_scaling(frame: pandas.DataFrame, key: str, label: str) -> Figure:
    """``key`` by the number of nodes, a panel for each size."""
    sizes = sorted(frame["bytes"].unique())
    figure = Figure(figsize=(4.2 * len(sizes), 3.8), layout="constrained")
    panels = figure.subplots(1, len(sizes), squeeze=False)[0]
    for panel, size in zip(panels, sizes):
        for scheme, part in frame[frame["bytes"] == size].groupby("scheme", sort=False):
            panel.plot(part["nodes"], part[key], marker=".", color=COLORS[scheme], linestyle="--" if scheme == "CPUs alone" else "-", label=scheme)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set(title=f"{size:,} bytes", xlabel="nodes")
    panels[0].set_ylabel(label)
    panels[0].legend(fontsize="x-small")
    return figure


def parts(frame: pandas.DataFrame) -> Figure:
    """Bars of energy by part, a bar for each scheme."""
    largest = frame[frame["bytes"] == frame["bytes"].max()]
    most = largest[largest["nodes"] == largest["nodes"].max()].set_index("scheme")
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(most)
    for i, name in enumerate(PARTS.values()):
        axes.barh(most.index, most[name], left=left, label=name, color=f"C{i}")
        left = [a + b for a, b in zip(left, most[name])]
    axes.set(xlabel="mJ an all-reduce, all nodes")
    axes.invert_yaxis()
    axes.legend(fontsize="x-small", ncols=2)
    return figure
