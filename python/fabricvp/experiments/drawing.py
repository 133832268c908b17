# SPDX-License-Identifier: Apache-2.0
"""What plots of several experiments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


def row_of_panels(count: int, width: float, height: float, sharey: bool = False) -> tuple[Figure, Sequence[Axes]]:
    """A figure with panels side by side, each of this size in inches."""
    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False, sharey=sharey)[0]


def plain_log(axis: Axis, base: int = 10, steps: Sequence[float] = ()) -> None:
    """A logarithmic scale with numbers as people write them, not powers; with ``steps`` at these in every decade, and
    no others."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=base)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
    if steps:
        axis.set_major_locator(LogLocator(subs=steps))


def stacked(
    axes: Axes, names: Sequence[str], parts: Mapping[str, Iterable[float]], colors: Mapping[str, str] | None = None
) -> None:
    """A lying bar for each name, of parts in a row, and each part has one colour."""
    left = [0.0] * len(names)
    for i, (label, values) in enumerate(parts.items()):
        widths = list(values)
        axes.barh(names, widths, left=left, label=label, color=colors[label] if colors else f"C{i}")
        left = [a + b for a, b in zip(left, widths)]


class Published(NamedTuple):
    """What a study gives of a design's speed-ups."""

    mean: float
    largest: float
    of: Mapping[str, float] = {}  #: by workload


def mark_published(axes: Axes, x: Iterable[float], y: Iterable[float], label: str = "published") -> None:
    """Outlined diamonds, which stand for published figures in all plots of experiments."""
    axes.plot(
        list(x),
        list(y),
        "D",
        color="black",
        markerfacecolor="white",
        markersize=6,
        markeredgewidth=1.4,
        label=label,
        zorder=3,
    )


def speed_up_bars(
    gains: pandas.DataFrame,
    colors: Mapping[str, str],
    published: Mapping[str, Published],
    apart: Sequence[str] = (),
    columns: int = 5,
) -> Figure:
    """A group of bars for each workload, a bar for each design; behind them mean and largest of those that are not
    ``apart``, with what was published of a design as marks.

    Args:
        gains: speed-ups, a line for each workload, a column for each design.
        colors: by design.
        published: by design.
        apart: workloads that are in no mean.
        columns: of the legend.
    """
    counted = gains.drop(index=[name for name in apart if name in gains.index])
    groups = {name: gains.loc[name] for name in gains.index}
    if len(counted):
        groups |= {"mean": counted.mean(), "largest": counted.max()}
    places = numpy.arange(float(len(groups)))
    places[len(gains) :] += 0.5  # a gap, since these are no workloads
    figure = Figure(figsize=(max(8.0, 1.1 * len(groups)), 4), layout="constrained")
    axes = figure.subplots()
    width = 0.85 / len(gains.columns)
    marks = []
    for i, design in enumerate(gains.columns):
        at = places + (i - (len(gains.columns) - 1) / 2) * width
        axes.bar(at, [group[design] for group in groups.values()], width, label=design, color=colors[design])
        if known := published.get(design):
            values = {**known.of, "mean": known.mean, "largest": known.largest}
            marks += [(x, values[name]) for x, name in zip(at, groups) if name in values]
    if marks:
        mark_published(axes, *zip(*marks))
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(places, list(groups), rotation=30, ha="right")
    axes.set_ylabel("speed-up")
    figure.legend(loc="outside upper center", ncols=columns, fontsize="small")
    return figure
