# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..compnet import COLORS
from ..drawing import mark_published, plain_log, row_of_panels

if TYPE_CHECKING:
    import pandas


def sizes(frame: pandas.DataFrame) -> Figure:
    """µs by size."""
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for backend, part in frame.groupby("backend", sort=False):
        axes.plot(part["bytes"], part["round_trip_us"], marker=".", color=COLORS[backend], label=backend)
    axes.set_xscale("log", base=2)
    plain_log(axes.yaxis, steps=(1, 2, 5))
    axes.set(xlabel="bytes", ylabel="round trip, µs")
    axes.legend(fontsize="small")
    return figure


def threads(frame: pandas.DataFrame, key: str, label: str, published: tuple[float, float] | None = None) -> Figure:
    """One panel for each number of work-groups, a line for each backend by its threads; where the source gives threads
    and a value, a mark in the last panel."""
    groups = sorted(frame["groups"].unique())
    figure, panels = row_of_panels(len(groups), 3, 3.4)
    for panel, count in zip(panels, groups):
        for backend, part in frame[frame["groups"] == count].groupby("backend", sort=False):
            part = part.dropna(subset=[key])
            if not part.empty:
                panel.plot(
                    part["threads"],
                    part[key],
                    marker=".",
                    color=COLORS[backend],
                    linestyle="--" if backend == "GPU-native" else "-",
                    label=backend,
                )
        if published and count == groups[-1]:
            mark_published(panel, published[:1], published[1:], "GHN, published")
            panel.legend(*[handles[-1:] for handles in panel.get_legend_handles_labels()], fontsize="x-small")
        plain_log(panel.xaxis, 2)
        panel.set_ylim(bottom=0)
        panel.set(title=f"{count} work-groups", xlabel="service threads", ylabel=label)
    panels[0].legend(fontsize="x-small")
    return figure
