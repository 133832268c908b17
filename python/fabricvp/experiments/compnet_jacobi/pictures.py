# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..compnet import COLORS

if TYPE_CHECKING:
    import pandas


def sizes(frame: pandas.DataFrame) -> Figure:
    """µs an iteration by size, a panel for each of what a driver takes."""
    drivers = sorted(frame["driver_us"].unique())
    figure = Figure(figsize=(4.2 * len(drivers), 3.8), layout="constrained")
    panels = figure.subplots(1, len(drivers), squeeze=False, sharey=True)[0]
    for panel, driver in zip(panels, drivers):
        for scheme, part in frame[frame["driver_us"] == driver].groupby("scheme", sort=False):
            panel.plot(part["size"], part["iteration_us"], marker=".", color=COLORS[scheme], linestyle="--" if scheme == "CPUs alone" else "-", label=scheme)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:g}"))
        panel.set(title=f"a driver takes {driver} µs a launch", xlabel="rows and columns of a node")
    panels[0].set_ylabel("µs an iteration")
    panels[0].legend(fontsize="x-small")
    return figure
