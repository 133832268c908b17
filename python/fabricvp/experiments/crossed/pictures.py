# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas


def combinations(frame: pandas.DataFrame) -> Figure:
    """µs a step, a panel for each workload: what computes, and the rest above it."""
    workloads = list(dict.fromkeys(frame["workload"]))
    figure = Figure(figsize=(7.5 * len(workloads), 0.24 * len(frame) / len(workloads) + 1), layout="constrained")
    panels = figure.subplots(1, len(workloads), squeeze=False)[0]
    for panel, workload in zip(panels, workloads):
        part = frame[frame["workload"] == workload].sort_values("step_us", ascending=False, kind="stable")
        names = [f"{'NetCrafter' if n else '–'}, {'lanes' if t else '–'}, {s}, queues in {q}"
                 for n, t, s, q in zip(part["netcrafter"], part["lanes"], part["scheme"], part["queues"])]
        panel.barh(names, part["computing_us"], label="kernels on all GPUs")
        panel.barh(names, part["step_us"] - part["computing_us"], left=part["computing_us"], label="what nodes give each other")
        panel.set(title=workload, xlabel="µs a step")
        panel.tick_params(labelsize="x-small")
    panels[0].legend(fontsize="small")
    return figure
