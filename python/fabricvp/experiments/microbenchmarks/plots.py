# SPDX-License-Identifier: Apache-2.0
"""Plots of microbenchmarks."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from .limits import Limits

Rows = list[dict[str, Any]]


def latency_plot(rows: Rows, limits: Limits) -> Figure:
    """Cycles by footprint, with what the parameters say of each level."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    warm = sorted((r["bytes"], r["cycles"]) for r in rows if r["level"] != "memory")
    axes.plot([x for x, _ in warm], [y for _, y in warm], "o-", label="measured")
    cold = [r["cycles"] for r in rows if r["level"] == "memory"]
    axes.axhline(cold[0], color="tab:red", label="from memory")
    for level, style in ("L1", ":"), ("L2", "-."), ("memory", "--"):
        axes.axhline(limits.latency(level), linestyle=style, color="gray", label=f"{level}: sum of parameters")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("footprint (bytes)")
    axes.set_ylabel("cycles a load")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def bandwidth_plot(rows: Rows) -> Figure:
    """Share of the peak by wavefronts, a line a level and number of compute units."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    series: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for r in rows:
        if r["kind"] == "read":
            series.setdefault((r["level"], r["compute_units"]), []).append((r["wavefronts"], r["share_of_peak"]))
    for (level, units), points in series.items():
        points.sort()
        axes.plot([x for x, _ in points], [y for _, y in points], "o-", label=f"{level}, {units} compute units")
    axes.axhline(1, color="gray", linestyle=":")
    axes.set_xlabel("wavefronts of a compute unit")
    axes.set_ylabel("share of the peak")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def stride_plot(rows: Rows, key: str) -> Figure:
    """Cycles by stride, a line a kind."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    series: dict[str, list[tuple[int, float]]] = {}
    for r in rows:
        if r["stride"]:
            series.setdefault(f"{r[key]}, {r['wavefronts']} wavefronts", []).append((r["stride"], r["cycles"]))
    for name, points in series.items():
        axes.plot([x for x, _ in points], [y for _, y in points], "o-", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("bytes between lanes")
    axes.set_ylabel("cycles an instruction")
    axes.legend()
    return figure


def spread_plot(rows: Rows) -> Figure:
    """Lines a cycle by stride, a line a level, and what the banks or channels in use can serve."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    for level, colour in ("L2", "tab:blue"), ("memory", "tab:orange"):
        points = [(r["stride"], r["lines_per_cycle"], r["peak"]) for r in rows if r["level"] == level]
        if points:
            strides, measured, peak = zip(*points)
            axes.plot(strides, measured, "o-", color=colour, label=level)
            axes.plot(strides, peak, ":", color=colour, label=f"{level}: peak")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("bytes between lanes")
    axes.set_ylabel("lines a cycle")
    axes.legend()
    return figure
