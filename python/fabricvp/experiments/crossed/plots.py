# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..drawing import row_of_panels, stacked

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def combinations(frame: pandas.DataFrame) -> Figure:
    """µs a step, a panel for each workload: what computes, and the rest above it."""
    workloads = list(dict.fromkeys(frame["workload"]))
    figure, panels = row_of_panels(len(workloads), 7.5, 0.24 * len(frame) / len(workloads) + 1)
    for panel, workload in zip(panels, workloads):
        part = frame[frame["workload"] == workload].sort_values("step_us", ascending=False, kind="stable")
        names = [
            f"{'NetCrafter' if n else '–'}, {'lanes' if t else '–'}, {s}, queues in {q}"
            for n, t, s, q in zip(part["netcrafter"], part["lanes"], part["backend"], part["queues"])
        ]
        stacked(
            panel,
            names,
            {
                "kernels on all GPUs": part["computing_us"],
                "what nodes give each other": part["step_us"] - part["computing_us"],
            },
        )
        panel.set(title=workload, xlabel="µs a step")
        panel.tick_params(labelsize="x-small")
    panels[0].legend(fontsize="small")
    return figure
