# SPDX-License-Identifier: Apache-2.0
"""Plots of the workloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matplotlib import colormaps
from matplotlib.figure import Figure

from ...plot import PALETTE
from .attribution import REACHES, Attribution
from .measure import CLASSES, NEEDED, PADDINGS, PLACES, Measured
from .roles import PARTS

if TYPE_CHECKING:
    import pandas

#: of the parts of a load's latency, in their order
_PART_COLOURS = (*PALETTE, "#000000", "#6600ff", "#333366")
_COLOURS = {"local": PALETTE[3], "same_cluster": PALETTE[0], "other_cluster": PALETTE[2]}


def draw(
    slow: dict[str, Measured], ideal: dict[str, Measured], slowdown: dict[str, float]
) -> Iterator[tuple[str, Figure, str]]:
    """(name, figure, caption) of every plot."""
    yield (
        "slowdown",
        _bars({"": slowdown}, "kernel time, all-fast fabric = 1", line=1.0),
        "What the slow link between clusters costs",
    )
    yield (
        "places",
        _stacked(
            {
                name: {p: sum(n for (_, q), n in m.accesses.items() if q == p) for p in PLACES}
                for name, m in slow.items()
            },
            _COLOURS,
            "% of lines",
        ),
        "Where the lines lie that are read, written or changed behind L1 caches",
    )
    crossing = {name: m for name, m in slow.items() if m.clusters > 1}
    if crossing:
        yield from _between_clusters(crossing)
    attributed = {name: m.attribution for name, m in slow.items() if m.attribution}
    if attributed:
        yield (
            "attribution",
            _attribution(attributed),
            (
                "Where the latency of loads went, by where the farthest of their lines lay; hatched: queueing. "
                "Above each bar the mean latency"
            ),
        )


def _between_clusters(slow: dict[str, Measured]) -> Iterator[tuple[str, Figure, str]]:
    yield (
        "needed",
        _stacked(
            {name: {f"≤ {n} bytes": m.needed[n] for n in NEEDED} for name, m in slow.items()},
            _shades("Purples", [f"≤ {n} bytes" for n in NEEDED]),
            "% of lines",
        ),
        "Bytes needed of each line that comes from the other cluster",
    )
    yield (
        "padding",
        _stacked(
            {
                name: {f"{p} % padding": sum(m.flits[c, p] for c in CLASSES) for p in PADDINGS}
                for name, m in slow.items()
            },
            _shades("Oranges", [f"{p} % padding" for p in PADDINGS]),
            "% of flits",
        ),
        "Padding of the flits between clusters",
    )
    yield (
        "classes",
        _stacked(
            {name: {c.replace("_", " "): m.packets[c] for c in CLASSES} for name, m in slow.items()},
            dict(zip((c.replace("_", " ") for c in CLASSES), colormaps["Set2"].colors)),
            "% of packets",
        ),
        "Packets between clusters by class",
    )
    yield (
        "utilisation",
        _utilisation(slow),
        "The links between clusters over time, each direction, in the longest measured region",
    )


def against_size(frame: pandas.DataFrame, colors: dict[str, str] | None = None) -> Figure:
    """A line for each workload of the columns workload, size, slowdown; sizes as parts of its largest."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    for name, rows in frame.groupby("workload", sort=False):
        axes.plot(
            rows["size"] / rows["size"].max(),
            rows["slowdown"],
            marker="o",
            label=f"{name}, up to {rows['size'].max()}",
            color=colors[name] if colors else None,
        )
    axes.set_xscale("log", base=2)
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_xlabel("size, of the largest")
    axes.set_ylabel("kernel time, all-fast fabric = 1")
    axes.legend(fontsize="small")
    return figure


def _attribution(found: dict[str, Attribution]) -> Figure:
    """A panel for each reach, a bar for each workload: shares of the latency."""
    figure = Figure(figsize=(12, 3.3 * len(REACHES)), layout="constrained")
    panels = figure.subplots(len(REACHES), 1, squeeze=False)[:, 0]
    shown: dict[str, object] = {}
    for panel, reach in zip(panels, REACHES):
        names = [name for name, a in found.items() if a.loads.get(reach)]
        whole = {name: found[name].mean(reach) * found[name].loads[reach] or 1.0 for name in names}
        bottom = [0.0] * len(names)
        for part, colour in zip(PARTS, _PART_COLOURS, strict=True):
            for hatch, kind in (("", "service"), ("////", "queueing")):
                heights = [100 * getattr(found[name], kind).get((reach, part), 0.0) / whole[name] for name in names]
                if not any(heights):
                    continue
                bars = panel.bar(
                    names, heights, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", linewidth=0.3
                )
                bottom = [b + h for b, h in zip(bottom, heights)]
                shown.setdefault(f"{part}{', waiting' if hatch else ''}", bars)
        for at, name in enumerate(names):
            panel.text(at, 101, _nanoseconds(found[name].mean(reach)), ha="center", va="bottom", fontsize="x-small")
        panel.set_ylim(0, 112)
        panel.set_ylabel("% of latency")
        panel.set_title(f"loads from {reach if reach == 'own memory' else 'the ' + reach}", fontsize="medium")
        panel.tick_params(axis="x", rotation=30)
    if shown:
        figure.legend(list(shown.values()), list(shown), loc="outside right center", fontsize="small")
    return figure


def _shades(colormap: str, names: list[str]) -> dict[str, Any]:
    """Light to dark, for quantities in their order."""
    return {name: colormaps[colormap](0.25 + 0.7 * i / max(1, len(names) - 1)) for i, name in enumerate(names)}


def _nanoseconds(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns" if seconds < 9.95e-6 else f"{seconds * 1e6:.3g} µs"


def _bars(series: dict[str, dict[str, float]], label: str, line: float | None = None) -> Figure:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, values in series.items():
        axes.bar(list(values), list(values.values()), label=name or None)
    if line is not None:
        axes.axhline(line, color="grey", linewidth=0.8)
    axes.set_ylabel(label)
    axes.tick_params(axis="x", rotation=60)
    return figure


def _stacked(parts: dict[str, dict[str, float]], colours: dict[str, Any], label: str) -> Figure:
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    axes = figure.subplots()
    names = list(parts)
    bottom = [0.0] * len(names)
    for part in next(iter(parts.values()), {}):
        heights = [100 * values[part] / (sum(values.values()) or 1) for values in parts.values()]
        axes.bar(names, heights, bottom=bottom, label=part.replace("_", " "), color=colours.get(part))
        bottom = [b + h for b, h in zip(bottom, heights)]
    axes.set_ylabel(label)
    axes.tick_params(axis="x", rotation=60)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    return figure


def _utilisation(slow: dict[str, Measured]) -> Figure:
    shown = {name: m for name, m in slow.items() if m.load and m.window_s}
    columns = 3
    lines = max(1, -(-len(shown) // columns))
    figure = Figure(figsize=(12, 1.7 * lines + 0.4), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False)
    for panel in panels.flat[len(shown) :]:
        panel.set_axis_off()
    for panel, (name, m) in zip(panels.flat, shown.items()):
        for direction, values in m.load.items():
            panel.plot(
                [1e6 * m.window_s * i for i in range(len(values))],
                [v / m.window_s / 1e9 for v in values],
                linewidth=0.9,
                label=direction,
            )
        panel.set_title(name, fontsize="small")
        panel.tick_params(labelsize="x-small")
        panel.set_ylabel("GB/s", fontsize="x-small")
        panel.set_xlabel("µs", fontsize="x-small")
    if shown:
        panels.flat[0].legend(fontsize="x-small")
    return figure
