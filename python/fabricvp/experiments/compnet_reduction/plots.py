# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..compnet import COLORS, PARTS
from ..compnet_latency.published import ENERGY_RATIO
from ..drawing import mark_published, plain_log, row_of_panels, stacked

if TYPE_CHECKING:
    import pandas


def strong_scaling(frame: pandas.DataFrame, key: str, label: str, gain: float | None = None) -> Figure:
    """``key`` by the number of nodes, a panel for each size; with a published ``gain`` over GHN, marks of GHN's value
    divided by it."""
    sizes = sorted(frame["bytes"].unique())
    figure, panels = row_of_panels(len(sizes), 4.2, 3.8)
    for panel, size in zip(panels, sizes):
        for backend, part in frame[frame["bytes"] == size].groupby("backend", sort=False):
            panel.plot(
                part["nodes"],
                part[key],
                marker=".",
                color=COLORS[backend],
                linestyle="--" if backend == "CPU only" else "-",
                label=backend,
            )
        if gain:
            ghn = frame[(frame["bytes"] == size) & (frame["backend"] == "GHN")]
            mark_published(panel, ghn["nodes"], ghn[key] / gain, f"ComP-Net at the most: GHN ÷ {gain:g}, published")
        plain_log(panel.xaxis, 2)
        plain_log(panel.yaxis)
        panel.set(title=f"{size:,} bytes", xlabel="nodes")
    panels[0].set_ylabel(label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="x-small")
    return figure


def parts(frame: pandas.DataFrame) -> Figure:
    """Bars of energy by part, a bar for each backend; a mark where the published ratio to GHN puts ComP-Net's end."""
    largest = frame[frame["bytes"] == frame["bytes"].max()]
    most = largest[largest["nodes"] == largest["nodes"].max()].set_index("backend")
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots()
    stacked(axes, most.index, {name: most[name] for name in PARTS.values()})
    ghn = sum(most.loc["GHN", name] for name in PARTS.values())
    mark_published(axes, [ghn / ENERGY_RATIO[1]], ["ComP-Net"], f"published: GHN's ÷ {ENERGY_RATIO[1]:g}")
    axes.set(xlabel="mJ an all-reduce, all nodes")
    axes.invert_yaxis()
    axes.legend(fontsize="x-small", ncols=2)
    return figure
