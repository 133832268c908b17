# SPDX-License-Identifier: Apache-2.0
"""What plots of several experiments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
