# SPDX-License-Identifier: Apache-2.0
"""Plots of reversible lanes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import numpy
from matplotlib import colormaps
from matplotlib.figure import Figure

from ..drawing import Published, speed_up_bars
from .points import (
    ALL,
    DOUBLED,
    PUBLISHED_LARGEST,
    PUBLISHED_MEANS,
    SAMPLE_TIMES,
    SWITCH_TIMES,
    sample_point,
    switch_point,
)
from .saturation import gain_bound

if TYPE_CHECKING:
    import pandas

    from ..gpu_workloads.measure import Measured
    from .synthetic import TrafficResult

#: Of design points and of directions: each colour has one meaning on the page. Workloads have those of a map.
COLORS = {DOUBLED: "#7f7f7f", "milic2017": "#4a6fa5", "symmetric": "#b3541e", "predictive": "#1b7f5c"}
DIRECTIONS = {"from it": "#c9a227", "to it": "#7d5ba6"}
FULL = 64e9  #: bytes a second of a direction whose lanes have not turned


def bars(gains: pandas.DataFrame, apart: Sequence[str] = ()) -> Figure:
    """A group of bars for each workload, a bar for each design point, and published speed-ups as marks; those
    ``apart`` are in no mean."""
    published = {
        DOUBLED: Published(
            PUBLISHED_MEANS[DOUBLED], PUBLISHED_LARGEST[DOUBLED], {n: w.doubled for n, w in ALL.items() if w.doubled}
        ),
        "milic2017": Published(
            PUBLISHED_MEANS["milic2017"], PUBLISHED_LARGEST["milic2017"], {n: w.gain for n, w in ALL.items() if w.gain}
        ),
    }
    return speed_up_bars(gains, COLORS, published, apart, len(gains.columns) + 1)


def against_share(gains: pandas.DataFrame, shares: dict[str, float], apart: Sequence[str]) -> Figure:
    """A point for each workload and design: speed-up against the share of one-sided samples, below the bound."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    curve = numpy.linspace(0, 1, 101)
    axes.plot(100 * curve, [gain_bound(s) for s in curve], color="black", linewidth=1, label="15 : 1 for that share")
    for at in gains.columns:
        for ring in (False, True):
            here = [n for n in gains.index if (n in apart) == ring]
            axes.scatter(
                [100 * shares[n] for n in here],
                [gains.loc[n, at] for n in here],
                s=60 if ring else 24,
                facecolors="none" if ring else COLORS[at],
                edgecolors=COLORS[at],
                label=None if ring else at,
            )
    for n in gains.index:
        axes.annotate(
            n, (100 * shares[n], gains.loc[n].max()), xytext=(3, 3), textcoords="offset points", fontsize="x-small"
        )
    axes.axhline(1, color="black", linewidth=0.5)
    axes.set_xlabel("samples in which exactly one direction is saturated, % of those of the link that has most")
    axes.set_ylabel("speed-up")
    axes.legend(fontsize="small")
    return figure


def timeline(fixed: Measured, reversed_run: Measured) -> Figure:
    """A pair of panels for each GPU: its link's directions with fixed lanes, and the reversible lanes;
    dotted, its kernel launches, at each of which lanes go back."""
    gpus = sorted({d.split(" → ")[0] for d in fixed.load if d.split(" → ")[0].startswith("gpu")})
    figure = Figure(figsize=(11, 1.9 * len(gpus) + 0.5), layout="constrained")
    panels = figure.subplots(len(gpus), 2, sharex="col", squeeze=False)
    for (left, right), gpu in zip(panels, gpus):
        directions = {
            "from it": next(d for d in fixed.load if d.startswith(f"{gpu} → ")),
            "to it": next(d for d in fixed.load if d.endswith(f" → {gpu}")),
        }
        for label, direction in directions.items():
            colour = DIRECTIONS[label]
            values = fixed.load[direction]
            left.plot(
                [1e6 * fixed.window_s * i for i in range(len(values))],
                [100 * v / fixed.window_s / FULL for v in values],
                color=colour,
                linewidth=0.9,
                label=label,
            )
            lanes = reversed_run.lanes.get(direction, [])
            lanes = lanes[:-1]  # the last window is cut by the end
            right.step(
                [1e6 * reversed_run.window_s * i for i in range(len(lanes))],
                lanes,
                color=colour,
                linewidth=0.9,
                where="post",
                label=label,
            )
        for panel, run in ((left, fixed), (right, reversed_run)):
            for n, start in enumerate(run.starts.get(int(gpu.removeprefix("gpu")), ())):
                panel.axvline(
                    1e6 * start,
                    color="0.5",
                    linewidth=0.9,
                    linestyle=":",
                    zorder=0,
                    label="kernel launched" if n == 0 else None,
                )
        left.set_ylabel(f"{gpu}\n% of 64 GB/s")
        left.set_ylim(0, 105)
        right.set_ylabel("lanes")
        right.set_ylim(0, 16)
    panels[0, 0].set_title("fixed lanes: utilisation", fontsize="medium")
    panels[0, 1].set_title("milic2017 policy: lanes", fontsize="medium")
    panels[0, 0].legend(fontsize="x-small")
    for panel in panels[-1]:
        panel.set_xlabel("µs")
    return figure


def oscillation(what: str, carried: dict[str, TrafficResult]) -> Figure:
    """Lanes over time, a panel for each policy."""
    figure = Figure(figsize=(9, 1.5 * len(carried) + 0.5), layout="constrained")
    panels = figure.subplots(len(carried), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (policy, c) in zip(panels, carried.items()):
        shown = int((c.traffic.begin_us + c.traffic.length_us) * 1e-6 / c.window_s)
        panel.step(
            [1e6 * c.window_s * i for i in range(len(c.lanes[:shown]))],
            c.lanes[:shown],
            color=COLORS[policy],
            where="post",
            linewidth=0.9,
        )
        panel.set_ylabel("lanes")
        panel.set_title(
            f"{policy}: {c.bytes[0] / c.seconds / 1e9:.1f} GB/s, "
            f"{c.reversals:.0f} reversals in {c.samples:.0f} samples",
            fontsize="small",
        )
    panels[-1].set_xlabel("µs")
    return figure


def sweeps(gains: pandas.DataFrame) -> Figure:
    """Speed-up against SampleTime and against SwitchTime."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, values, name, label in (
        (panels[0], SAMPLE_TIMES, sample_point, "SampleTime, thousands of cycles"),
        (panels[1], SWITCH_TIMES, switch_point, "SwitchTime, cycles"),
    ):
        values = [v for v in values if name(v) in gains]
        for workload, color in zip(gains.index, colormaps["Set2"].colors):
            panel.plot(
                values,
                [gains.loc[workload, name(v)] for v in values],
                linewidth=0.9,
                marker=".",
                color=color,
                label=workload,
            )
        panel.plot(
            values, [fmean(gains[name(v)]) for v in values], color="black", linewidth=2, marker="o", label="mean"
        )
        panel.set_xscale("log")
        panel.set_xticks(values, [str(v) for v in values])
        panel.minorticks_off()
        panel.set_xlabel(label)
        panel.set_ylabel("speed-up")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return figure
