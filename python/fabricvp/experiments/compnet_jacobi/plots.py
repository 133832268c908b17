# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compnet import COLORS
from ..drawing import plain_log, row_of_panels

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def sizes(frame: pandas.DataFrame) -> Figure:
    """µs an iteration by size, a panel for each of what a driver takes."""
    drivers = sorted(frame["driver_us"].unique())
    figure, panels = row_of_panels(len(drivers), 4.2, 3.8, sharey=True)
    for panel, driver in zip(panels, drivers):
        for backend, part in frame[frame["driver_us"] == driver].groupby("backend", sort=False):
            panel.plot(
                part["size"],
                part["iteration_us"],
                marker=".",
                color=COLORS[backend],
                linestyle="--" if backend == "CPU only" else "-",
                label=backend,
            )
        plain_log(panel.xaxis, 2)
        plain_log(panel.yaxis)
        panel.set(title=f"a driver takes {driver} µs a launch", xlabel="rows and columns of a node")
    panels[0].set_ylabel("µs an iteration")
    panels[0].legend(fontsize="x-small")
    return figure
