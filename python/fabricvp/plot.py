# SPDX-License-Identifier: Apache-2.0
"""Plots of statistics. Each function draws into a matplotlib Axes, a new one unless given, and returns it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from ._renamed import renamed_arguments
from .statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Colours that readers with any colour vision can tell apart (Petroff, arXiv:2107.02270), in the order in which plots
#: take them.
PALETTE = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd")


def use_palette() -> None:
    """Plots that this process draws from now on take their colours from `PALETTE`."""
    import matplotlib
    from cycler import cycler

    matplotlib.rcParams["axes.prop_cycle"] = cycler(color=PALETTE)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


@renamed_arguments(most="max_paths")
def bars(
    values: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    pattern: str = "*",
    *,
    max_paths: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Horizontal bars of the statistics whose path matches ``pattern`` ("*.hart*.instructions").

    ``values`` maps paths to numbers (`Platform.statistics`, a region's, a pandas Series), or names of runs to such
    mappings (a data frame of `read_results()`), which are then drawn side by side. At most ``max_paths`` paths are
    drawn, the largest. Raises `ValueError` if no path matches."""
    import pandas

    runs: Any = values if _is_runs(values) else {"": values}
    frame = pandas.DataFrame({name: pandas.Series(dict(run.items()), dtype=float) for name, run in runs.items()})
    paths = [str(path) for path in frame.index]
    frame = frame.loc[[path for path in paths if fnmatchcase(path, pattern)]]
    if frame.empty:
        raise ValueError(f"no statistic matches {pattern!r}: {_fabricvp.why_unmatched(pattern, paths)}")
    frame = frame.loc[frame.abs().max(axis=1).nlargest(max_paths).index][::-1]
    ax = _axes(ax)
    height = 0.8 / len(frame.columns)
    for number, (name, column) in enumerate(frame.items()):
        offset = (number - (len(frame.columns) - 1) / 2) * height
        ax.barh([place - offset for place in range(len(frame))], column.to_numpy(), height, label=name)
    ax.set_yticks(range(len(frame)), [str(path) for path in frame.index])
    if hasattr(values, "to_pandas"):  # of a platform, of this process or another
        units = set(values.to_pandas()["unit"].reindex(frame.index).dropna())
        if len(units) == 1:
            ax.set_xlabel(units.pop())
    if len(frame.columns) > 1:
        ax.legend()
    return ax


def _is_runs(values: Any) -> bool:
    first = next((value for _, value in values.items()), None)  # `values` of pandas is no method
    return isinstance(first, Mapping) or hasattr(first, "items")


def series(statistics: Statistics, paths: str | Iterable[str], *, rate: bool = False, ax: Axes | None = None) -> Axes:
    """Time series as steps over simulated time, since the region of interest began.

    ``rate`` divides each window's sum by its length. Raises `KeyError` for paths that are no time series.
    """
    ax = _axes(ax)
    for path in [paths] if isinstance(paths, str) else paths:
        starts, sums = statistics.series(path)
        ax.step(starts, sums / statistics.series_window(path) if rate else sums, where="post", label=path)
    ax.set_xlabel("simulated time in s")
    ax.legend()
    return ax
