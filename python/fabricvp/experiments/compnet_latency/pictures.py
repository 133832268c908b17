# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..compnet import COLORS

if TYPE_CHECKING:
    import pandas


def sizes(frame: pandas.DataFrame) -> Figure:
    """µs by size."""
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for scheme, part in frame.groupby("scheme", sort=False):
        axes.plot(part["bytes"], part["round_trip_us"], marker=".", color=COLORS[scheme], label=scheme)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set(xlabel="bytes", ylabel="round trip, µs")
    axes.legend(fontsize="small")
    return figure


def threads(frame: pandas.DataFrame, key: str, label: str) -> Figure:
    """One panel for each number of work-groups, a line for each scheme by its threads."""
    groups = sorted(frame["groups"].unique())
    figure = Figure(figsize=(3 * len(groups), 3.4), layout="constrained")
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for panel, count in zip(panels, groups):
        for scheme, part in frame[frame["groups"] == count].groupby("scheme", sort=False):
            part = part.dropna(subset=[key])
            if not part.empty:
                panel.plot(part["threads"], part[key], marker=".", color=COLORS[scheme], linestyle="--" if scheme == "lanes" else "-", label=scheme)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
        panel.set_ylim(bottom=0)
        panel.set(title=f"{count} work-groups", xlabel="service threads", ylabel=label)
    panels[0].legend(fontsize="x-small")
    return figure
