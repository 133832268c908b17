# SPDX-License-Identifier: Apache-2.0
"""A plot for each sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..gpu_workloads.plots import against_size
from ..netcrafter.points import BASELINE
from .plan import SIZES

if TYPE_CHECKING:
    import pandas

    from .plan import Sweep


#: A workload has one colour in all sweeps.
COLORS = {name: f"C{i}" for i, name in enumerate(SIZES)}


def draw(frame: pandas.DataFrame, sweep: Sweep) -> Figure:
    """A panel for each design point beside the baseline, a line for each workload over the settings."""
    points = [at for at in dict.fromkeys(frame["point"]) if at != BASELINE]
    if sweep.settings == ():
        return against_size(frame[frame["point"] != BASELINE].rename(columns={"speed_up": "slowdown"}), COLORS)
    settings = list(dict.fromkeys(frame["setting"]))
    wide = len(settings) == 1  # then bars by design point
    figure = Figure(figsize=(10, 3.2) if wide else (max(6.0, 4.2 * len(points)), 3.8), layout="constrained")
    if wide:
        axes = figure.subplots()
        workloads = list(dict.fromkeys(frame["workload"]))
        for number, workload in enumerate(workloads):
            rows = frame[(frame["workload"] == workload) & (frame["point"] != BASELINE)]
            axes.bar(
                [n + 0.8 * (number / len(workloads) - 0.4) for n in range(len(rows))],
                rows["speed_up"],
                0.8 / len(workloads),
                color=COLORS[workload],
                label=workload,
            )
        axes.set_xticks(range(len(points)), points)
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_ylabel("speed-up")
        axes.legend(fontsize="small")
        return figure
    panels = figure.subplots(1, len(points), squeeze=False)[0]
    for panel, at in zip(panels, points):
        for workload, rows in frame[frame["point"] == at].groupby("workload", sort=False):
            panel.plot(
                rows["setting"], rows["speed_up"], marker="o", markersize=4, color=COLORS[workload], label=workload
            )
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_title({"ideal": "slow-down of the baseline"}.get(at, at), fontsize="medium")
        panel.tick_params(axis="x", rotation=60 if len(settings) > 4 else 20, labelsize="small")
    panels[0].set_ylabel("over the baseline with this setting")
    panels[0].legend(fontsize="small")
    return figure
