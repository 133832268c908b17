# SPDX-License-Identifier: Apache-2.0
"""Statistics of the machine."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .units import PICOSECONDS

if TYPE_CHECKING:
    import numpy
    import pandas


class Statistics(Mapping[str, float]):
    """Values by path ("node0.host.hart0.instructions"), read when asked for: a mapping path → float.

    Beside what models count there are `sim.time_s`, `sim.wall_s`, `sim.events`, `sim.instructions`
    and `sim.polls.*` (what harts slept over).
    """

    def __init__(self, core: _fabricvp.Session) -> None:
        self._core = core

    def snapshot(self, prefix: str = "") -> dict[str, float]:
        """All values now, or those whose path starts with ``prefix``.

        Raises `KeyError` if there are none: the message has the present name, or the nearest ones."""
        values = self._core.statistics()
        found = {path: value for path, value in values.items() if path.startswith(prefix)}
        if not found:
            raise KeyError(_why_missing(prefix, list(values)))
        return found

    def totals(self) -> dict[str, float]:
        """All counters that are not zero, as they have counted since the machine was made, whatever regions of interest
        have begun since. Other statistics (shares, distributions) are not among them."""
        return self._core.counter_totals()

    def __getitem__(self, path: str) -> float:
        values = self._core.statistics()
        if path not in values and (name := _fabricvp.renamed_path(path, list(values))):
            raise KeyError(f"{path} is now called {name}")
        return values[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.statistics())

    def __len__(self) -> int:
        return len(self._core.statistics())

    def items(self) -> ItemsView[str, float]:
        """All values of one moment."""
        return self.snapshot().items()

    def values(self) -> ValuesView[float]:
        """All values of one moment."""
        return self.snapshot().values()

    def reset(self, prefix: str = "") -> None:
        """Starts a region of interest: statistics whose path starts with ``prefix`` count from zero.
        Raises `KeyError` if there are none."""
        _check_prefix(self._core, prefix)
        self._core.restart_statistics(prefix)

    def to_pandas(self, prefix: str = "") -> pandas.DataFrame:
        """A data frame with index ``path`` and columns ``value``, ``unit`` and ``help``."""
        import pandas

        known = {path: (unit, text) for path, unit, text in self._core.statistic_descriptions()}
        rows = [(path, value, *known.get(path, ("", ""))) for path, value in self.snapshot(prefix).items()]
        return pandas.DataFrame(rows, columns=["path", "value", "unit", "help"]).set_index("path")

    def series_names(self) -> list[str]:
        """Paths of the time series."""
        return self._core.time_series_names()

    def series(self, path: str) -> tuple[numpy.ndarray, numpy.ndarray]:
        """A time series as (start of each window in seconds since the region of interest began, sum in the window).
        Raises `KeyError`."""
        import numpy

        window, values = self._time_series(path)
        return numpy.arange(len(values)) * (window / PICOSECONDS), numpy.array(values)

    def series_window(self, path: str) -> float:
        """The length of a window of a time series in seconds. Raises `KeyError`."""
        return self._time_series(path)[0] / PICOSECONDS

    def _time_series(self, path: str) -> tuple[int, list[float]]:
        """The length of a window in picoseconds, and the sums."""
        found = self._core.time_series(path)
        if found is None and (name := _fabricvp.renamed_path(path, self.series_names())):
            raise KeyError(f"{path} is now called {name}")
        if found is None:
            raise KeyError(f"no time series '{path}'; there are: {', '.join(self.series_names()) or 'none'}")
        return found

    def __repr__(self) -> str:
        return f"<Statistics: {len(self)} values>"

    __hash__: Any = object.__hash__


def _why_missing(prefix: str, paths: list[str]) -> str:
    if name := _fabricvp.renamed_path(prefix, paths):
        return f"{prefix} is now called {name}"
    return f"no statistic starts with '{prefix}': {_fabricvp.why_unmatched(prefix, paths)}"


def _check_prefix(core: _fabricvp.Session, prefix: str) -> None:
    """Raises `KeyError` if no statistics start so."""
    if not prefix:
        return
    paths = list(core.statistics())
    if not any(path.startswith(prefix) for path in paths):
        raise KeyError(_why_missing(prefix, paths))


class Region:
    """A region of interest as a ``with`` block. ``statistics`` holds its values (those so far, inside of the block)."""

    def __init__(self, core: _fabricvp.Session, prefix: str) -> None:
        _check_prefix(core, prefix)
        self._core, self._prefix = core, prefix
        self._result: dict[str, float] | None = None

    def __enter__(self) -> Region:
        self._result = None
        self._core.restart_statistics(self._prefix)
        return self

    def __exit__(self, *_: Any) -> None:
        self._result = self.statistics

    def __repr__(self) -> str:
        return f"<Region of '{self._prefix}*'{': over' if self._result is not None else ''}>"

    @property
    def statistics(self) -> dict[str, float]:
        """Values of the region by path."""
        if self._result is not None:
            return self._result
        return {path: value for path, value in self._core.statistics().items() if path.startswith(self._prefix)}
