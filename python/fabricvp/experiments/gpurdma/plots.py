# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import colormaps
from matplotlib.figure import Figure

from ..drawing import stacked
from . import published

if TYPE_CHECKING:
    import pandas

_STEPS = {"writing_us": "#4a6fa5", "ringing_us": "#b3541e", "polling_us": "#1b7f5c"}


def placement(frame: pandas.DataFrame) -> Figure:
    """Bars of steps, by placement, a panel for each topology."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True, sharex=True)
    for panel, (topology, part) in zip(panels, frame.groupby("topology", sort=False)):
        names = [f"QP {p}, CQ {c}" for p, c in zip(part["queue_pair"], part["completion_queue"])]
        stacked(
            panel, names, {key[:-3]: part[key] for key in _STEPS}, {key[:-3]: color for key, color in _STEPS.items()}
        )
        if topology == "switch":
            panel.plot(
                [published.PLACEMENT[p, c] for p, c in zip(part["queue_pair"], part["completion_queue"])],
                names,
                "kD",
                markersize=5,
                fillstyle="none",
                label="published",
            )
        panel.set(xlabel="µs", title="one switch" if topology == "switch" else "root ports")
    panels[0].legend(fontsize="x-small")
    return figure


def throughput(frame: pandas.DataFrame) -> Figure:
    """Gb/s and messages a second by size, a line for each method to post."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    colors = colormaps["tab20"].colors
    for i, (method, part) in enumerate(frame.groupby("method", sort=False)):
        for panel, key in zip(panels, ("gbps", "million_per_s")):
            panel.plot(
                part["bytes"],
                part[key],
                marker=".",
                color=colors[(2 * i) % 20 + i // 10],
                linestyle="--" if method.startswith("CPU") else "-",
                label=method,
            )
    for (_, size), gbps in published.GBPS.items():
        panels[0].plot([size], [gbps], "kD", markersize=4, fillstyle="none")
    for panel, label in zip(panels, ("Gb/s (diamonds: published)", "million messages/s")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set(xlabel="bytes", ylabel=label)
    panels[1].legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def matvec(frame: pandas.DataFrame) -> Figure:
    """Million vectors a second by batch."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for i, (worker, part) in enumerate(frame.groupby("worker", sort=False)):
        axes.plot(part["vectors"], part["million_vectors_per_s"], marker=".", color=f"C{i}", label=worker)
        if not worker.startswith("…"):
            axes.plot(
                part["vectors"],
                part["published"],
                "D",
                color=f"C{i}",
                markersize=4,
                fillstyle="none",
                label=f"{worker}, published",
            )
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set(xlabel="vectors a batch", ylabel="million vectors/s")
    axes.legend(fontsize="x-small")
    return figure


def what_if(frame: pandas.DataFrame) -> Figure:
    """A panel a measure: groups of trees and generations, a bar for each placement."""
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    groups = [
        f"{tree}\ngen {generation}" for (tree, generation), _ in frame.groupby(["tree", "generation"], sort=False)
    ]
    for panel, (key, label) in zip(
        figure.subplots(1, 3),
        {
            "us": "µs a message, one at a time",
            "million_per_s": "million messages/s, 32 lanes",
            "gbps": "Gb/s, 16 KiB",
        }.items(),
    ):
        for i, ((pair, cq), part) in enumerate(frame.groupby(["queue_pair", "completion_queue"], sort=False)):
            panel.bar(
                [place + (i - 1.5) * 0.2 for place in range(len(groups))], part[key], 0.2, label=f"QP {pair}, CQ {cq}"
            )
        panel.set_xticks(range(len(groups)), groups, fontsize="xx-small")
        panel.set_title(label, fontsize="small")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), fontsize="x-small", loc="outside lower center", ncols=4)
    return figure


def modern(frame: pandas.DataFrame) -> Figure:
    """Rate by entries a doorbell, bandwidth by size; a colour for each machine."""
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for i, (machine, part) in enumerate(frame.groupby("machine", sort=False)):
        batches = part[part["what"] == "batch"]
        left.plot(batches["which"].astype(int), batches["million_per_s"], marker=".", color=f"C{i}", label=machine)
        for method, style in (("many queue pairs", "-"), ("32 lanes, one queue pair", "--")):
            sizes = part[part["what"] == f"size, {method}"]
            right.plot(sizes["bytes"], sizes["gbps"], style, marker=".", color=f"C{i}", label=f"{machine}: {method}")
    for panel, x, y in ((left, "entries a doorbell", "million messages/s, one lane"), (right, "bytes", "Gb/s")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set(xlabel=x, ylabel=y)
        panel.legend(fontsize="x-small")
    return figure
