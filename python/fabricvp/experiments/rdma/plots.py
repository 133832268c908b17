# SPDX-License-Identifier: Apache-2.0
"""Plots of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..drawing import plain_log, row_of_panels, stacked
from . import published

if TYPE_CHECKING:
    import pandas

_COLORS = {"write": "#4a6fa5", "send": "#b3541e", "read": "#1b7f5c"}


def latency(found: dict[tuple[str, int], float]) -> Figure:
    """µs by size."""
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    for verb, color in _COLORS.items():
        series = sorted((size, 1e6 * s) for (v, size), s in found.items() if v == verb)
        axes.plot(*zip(*series), color=color, label=f"{verb}, simulated")
        largest = series[-1][0]
        for source, marker in ((published.MLX4, "o"), (published.CX6, "s")):
            points = [(size, us) for size, us in published.LATENCY[source].get(verb, {}).items() if size <= largest]
            if points:
                axes.plot(
                    *zip(*points),
                    marker,
                    color=color,
                    markersize=4,
                    fillstyle="none",
                    label=f"{verb}, {source.split(': ')[1].split(',')[0].split(' adapter')[0]}",
                )
    axes.set_xscale("log", base=2)
    plain_log(axes.yaxis, steps=(1, 2, 5))
    axes.set(xlabel="bytes", ylabel="µs")
    axes.legend(fontsize="x-small")
    return figure


def bandwidth(frame: pandas.DataFrame) -> Figure:
    """MB/s and messages a second by size."""
    figure, panels = row_of_panels(2, 4.5, 3.4)
    for panel, key, label in zip(panels, ("MB_per_s", "million_messages_per_s"), ("MB/s", "million messages/s")):
        for verb, part in frame.groupby("verb", sort=False):
            panel.plot(part["bytes"], part[key], marker=".", color=_COLORS[verb], label=verb)
        panel.set_xscale("log", base=2)
        panel.set_ylim(bottom=0)
        panel.set(xlabel="bytes", ylabel=label)
    panels[0].legend(fontsize="small")
    return figure


def rates(found: dict[str, float]) -> Figure:
    """Bars."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.barh(list(found)[::-1], list(found.values())[::-1], color="#4a6fa5")
    axes.set_xlabel("million messages/s")
    return figure


def spans(frame: pandas.DataFrame) -> Figure:
    """A bar for each message, a segment for each module of the machine."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.subplots()
    frame = frame.assign(
        ns=frame["service_ns"] + frame["queueing_ns"],
        module=[_module(c, s) for c, s in zip(frame["component"], frame["stage"])],
    )
    table = frame.pivot_table(index="message", columns="module", values="ns", aggfunc="sum", sort=False).fillna(0)
    stacked(axes, table.index, {module: table[module] for module in table.columns})
    axes.set_xlabel("ns")
    axes.legend(fontsize="x-small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure


def _module(component: str, stage: str) -> str:
    node, _, rest = component.partition(".")
    if "network" in rest or node == "network":
        return "wire" if stage == "wire" else f"port ({node})"
    if rest.startswith(("pcie", "host")) or ".link" in rest:
        return f"PCIe and memory ({node})"
    return f"{rest.split('.')[-1]}.{stage} ({node})"
