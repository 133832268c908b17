# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..compnet import COLORS
from ..drawing import plain_log, row_of_panels

if TYPE_CHECKING:
    import pandas


def _color(backend: str) -> str:
    return COLORS[backend.split(",")[0]]


def sizes(frame: pandas.DataFrame) -> Figure:
    """µs by size, the faster of ring and tree."""
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for backend, part in frame.groupby("backend", sort=False):
        best = part.groupby("bytes")["time_us"].min()
        axes.plot(
            best.index,
            best,
            marker=".",
            color=_color(backend),
            linestyle="--" if ", 20" in backend else "-",
            label=backend,
        )
    axes.set_xscale("log", base=2)
    plain_log(axes.yaxis)
    axes.set(xlabel="bytes", ylabel="µs an all-reduce")
    axes.legend(fontsize="x-small")
    return figure


def workloads(table: pandas.DataFrame) -> Figure:
    """Bars of projected speed-ups, a panel for each of what a driver takes."""
    drivers = sorted(table["driver_us"].unique())
    figure, panels = row_of_panels(len(drivers), 5, 3.6, sharey=True)
    for panel, driver in zip(panels, drivers):
        part = table[table["driver_us"] == driver]
        names, backends = list(part["workload"].unique()), list(part["backend"].unique())
        for i, backend in enumerate(backends):
            values = part[part["backend"] == backend]["speedup"]
            panel.bar(
                [x + (i - len(backends) / 2 + 0.5) * 0.8 / len(backends) for x in range(len(names))],
                values,
                width=0.8 / len(backends),
                color=_color(backend),
                label=backend,
            )
        for x, name in enumerate(names):
            bound = part[part["workload"] == name]["bound"].iloc[0]
            panel.plot([x - 0.4, x + 0.4], [bound, bound], color="black", linewidth=0.8)
        panel.axhline(1, color="grey", linewidth=0.6)
        panel.set_xticks(range(len(names)), names, rotation=20, fontsize="small")
        panel.set(title=f"a driver takes {driver} µs a launch")
    panels[0].set_ylim(0.4)
    panels[0].set_ylabel("speed-up")
    panels[0].legend(fontsize="x-small")
    return figure
