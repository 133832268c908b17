# SPDX-License-Identifier: Apache-2.0
"""Points that are not known in advance: a search for the best one, and samples that tell what matters."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InputError
from .columns import numbers_of
from .points import MAX_POINTS, SEED, Point

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included: whole ones if both are, evenly spread or by ``log``."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole."""
        return isinstance(self.low, int) and isinstance(self.high, int)


#: Of the ends of a range: a parameter has 64 bits.
_LARGEST = (1 << 63) - 1
#: Values that each parameter may have: a list, or a range of numbers.
Space = Mapping[str, Sequence[Any] | Range]


class Sampler(Protocol):
    """Chooses points by what earlier ones gave."""

    def next_points(self, frame: pandas.DataFrame) -> list[Point]:
        """Points to measure next; none ends the sweep. ``frame`` has all that have been measured."""


#: How many points in a row that constraints leave out end a search: a space may have no others.
MAX_LEFT_OUT = 200


class Search:
    """Looks for the point with the smallest (``maximise``: largest) ``objective``, a column of the table, among at most
    ``budget`` points, by Optuna's tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011).

    ``batch`` points are chosen at a time and may run in parallel; the same ``seed`` and ``batch`` choose the same
    points. The mean over repetitions counts. Points that fail, or that constraints leave out, are avoided; the latter
    cost nothing of the budget, and `MAX_LEFT_OUT` of them in a row end the search."""

    def __init__(
        self, space: Space, objective: str, budget: int, *, maximise: bool = False, batch: int = 4, seed: int = 1
    ) -> None:
        check_space(space)
        if budget < 1 or batch < 1:
            raise InputError(f"budget {budget} and batch {batch}: 1 or more")
        if max(budget, batch) > MAX_POINTS:
            raise InputError(f"budget {budget} and batch {batch}: at most {MAX_POINTS}")
        _check_seed(seed)
        self._optuna = _library("optuna")
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        self._space, self.objective, self._budget, self._batch = dict(space), objective, budget, batch
        self._study = self._optuna.create_study(
            direction="maximize" if maximise else "minimize",
            sampler=self._optuna.samplers.TPESampler(seed=seed, constant_liar=True),
        )
        self._asked: dict[str, tuple[Point, list[Any]]] = {}  # points under way, and their trials
        self._known: dict[str, float] = {}
        self._measured = self._left_out = 0  # points in all, and in a row

    def next_points(self, frame: pandas.DataFrame) -> list[Point]:
        """As `Sampler.next_points()`."""
        for key, (point, trials) in self._asked.items():
            self._known[key] = measured(frame, point, self.objective)
            for trial in trials:
                self._tell(trial, self._known[key])
            is_left_out = _rows_of(frame, point).empty
            self._measured += not is_left_out
            self._left_out = self._left_out + 1 if is_left_out else 0
        self._asked = {}
        if self._left_out >= MAX_LEFT_OUT:
            return []
        wanted = min(self._batch, self._budget - self._measured)
        for _ in range(50 * wanted):  # a point that is known costs no run; a space may have no others
            if len(self._asked) == wanted:
                break
            trial = self._study.ask()
            point = {name: self._suggest(trial, name, values) for name, values in self._space.items()}
            key = repr(point)
            if key in self._known:
                self._tell(trial, self._known[key])
            else:
                self._asked.setdefault(key, (point, []))[1].append(trial)
        return [point for point, _ in self._asked.values()]

    def _tell(self, trial: Any, value: float) -> None:
        if math.isnan(value):  # pruned ones count as the worst; failed ones would not count
            self._study.tell(trial, state=self._optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(trial, value)

    @staticmethod
    def _suggest(trial: Any, name: str, values: Sequence[Any] | Range) -> Any:
        if not isinstance(values, Range):
            if all(isinstance(value, (int, float)) for value in values):  # in an order
                return values[trial.suggest_int(name, 0, len(values) - 1)]
            return values[trial.suggest_categorical(name, range(len(values)))]
        suggest = trial.suggest_int if values.whole else trial.suggest_float
        return suggest(name, values.low, values.high, log=values.log)


class Sensitivity:
    """A sample of the space from which `analyse()` tells how much each parameter matters.

    ``method`` is "morris" (elementary effects; ``samples`` trajectories of one point more than there are parameters) or
    "sobol" (shares of the variance; ``samples``, a power of two, times two more than there are parameters). Lists are
    taken as ordered levels."""

    def __init__(self, space: Space, *, method: str = "morris", samples: int = 8, seed: int = 1) -> None:
        check_space(space)
        if method not in ("morris", "sobol"):
            raise InputError(f"method: '{method}' is not known; there are morris and sobol")
        if samples < 2 or (method == "sobol" and samples & (samples - 1)):
            raise InputError(f"samples: {samples} is not 2 or more, for sobol a power of two")
        count = samples * (len(space) + (1 if method == "morris" else 2))
        if count > MAX_POINTS:
            raise InputError(f"samples: {samples} need {count} points, more than {MAX_POINTS}")
        _check_seed(seed)
        self._space, self._method = dict(space), method
        self._problem = {"num_vars": len(space), "names": list(space), "bounds": [[0.0, 1.0]] * len(space)}
        sample = _library(f"SALib.sample.{method}").sample
        options = {} if method == "morris" else {"calc_second_order": False}
        self._sample = sample(self._problem, samples, seed=seed, **options)
        names = list(self._space)
        self._points = [{n: value_at(self._space[n], u) for n, u in zip(names, row)} for row in self._sample]
        self._given = False

    @property
    def points(self) -> list[Point]:
        """All points, each once."""
        return list({repr(point): point for point in self._points}.values())

    def next_points(self, frame: pandas.DataFrame) -> list[Point]:
        """As `Sampler.next_points()`: all points at once."""
        if self._given:
            return []
        self._given = True
        return self.points

    def analyse(self, frame: pandas.DataFrame, column: str) -> pandas.DataFrame:
        """A row for each parameter. Morris: ``effect`` is the mean absolute elementary effect (mu*, Campolongo 2007) in
        the column's unit, for the whole list or range, and ``spread`` their standard deviation. Sobol: ``effect`` is
        the total index, ``first`` the first-order one. ``interval`` is half of the 95 % interval of ``effect``, by
        resampling.

        Raises `InputError` if a point was not measured or is not ok."""
        import numpy
        import pandas

        values = [measured(frame, point, column) for point in self._points]
        for point, value in zip(self._points, values):
            if math.isnan(value):
                raise InputError(f"{column}: there is none of the point {point}")
        if self._method == "morris":
            effects = self._elementary_effects(values)
            resampled = numpy.random.default_rng(1).integers(effects.shape[1], size=(1000, effects.shape[1]))
            means = numpy.array([row[resampled].mean(axis=1) for row in numpy.abs(effects)])
            columns = {"effect": numpy.abs(effects).mean(axis=1)}
            columns |= {"interval": 1.96 * means.std(axis=1, ddof=1), "spread": effects.std(axis=1, ddof=1)}
        else:
            analyse = _library("SALib.analyze.sobol").analyze
            with numpy.errstate(invalid="ignore"):  # values that are all the same have no variance
                found = analyse(self._problem, numpy.array(values), calc_second_order=False, seed=1)
            columns = {"effect": found["ST"], "interval": found["ST_conf"], "first": found["S1"]}
        return pandas.DataFrame({"parameter": list(self._space), **{n: list(v) for n, v in columns.items()}})

    def _elementary_effects(self, values: Sequence[float]) -> Any:
        """Those of each parameter, one a trajectory: the change of the column, by the share of the parameter's extent
        that it really moved. A list of two levels moves by all of it where the sample moves by two thirds."""
        import numpy

        spaces = list(self._space.values())
        effects = numpy.zeros((len(spaces), len(values) // (len(spaces) + 1)))
        for before in range(len(values) - 1):
            trajectory, place = divmod(before, len(spaces) + 1)
            if place == len(spaces):  # the next point begins another one
                continue
            moved = int(numpy.flatnonzero(self._sample[before] != self._sample[before + 1])[0])
            step = share_at(spaces[moved], self._sample[before + 1][moved])
            step -= share_at(spaces[moved], self._sample[before][moved])
            if step:  # a list may have one value
                effects[moved, trajectory] = (values[before + 1] - values[before]) / step
        return effects


def value_at(values: Sequence[Any] | Range, u: float) -> Any:
    """The value at a place of 0 … 1 of a list or range. Values of a list and whole numbers have equal shares of the
    places, with ``log`` equal shares of the logarithm."""
    if not isinstance(values, Range):
        return values[_level(u * len(values), len(values))]
    low, high = values.low, values.high
    if not values.whole:
        return float(low * (high / low) ** u if values.log else low + u * (high - low))
    count = int(high) - int(low) + 1
    return int(low) + _level(low * ((high + 1) / low) ** u - low if values.log else u * count, count)


def _level(place: float, count: int) -> int:
    return min(int(place + 1e-9), count - 1)  # thirds may come out a little less


def share_at(values: Sequence[Any] | Range, u: float) -> float:
    """Where the value at a place lies between the first, 0, and the last, 1: by its number in a list; in a range by its
    value, with ``log`` by the logarithm of it."""
    if not isinstance(values, Range):
        return _level(u * len(values), len(values)) / max(1, len(values) - 1)
    value = value_at(values, u)
    if values.log:
        return math.log(value / values.low) / math.log(values.high / values.low)
    return float((value - values.low) / (values.high - values.low))


def measured(frame: pandas.DataFrame, point: Point, column: str) -> float:
    """The mean of a column over the seeds of a point; nan if none is ok. Raises `InputError` for a column that no point
    has, or that has more than numbers."""
    rows = _rows_of(frame, point)
    rows = rows[rows["outcome"] == "ok"]
    if rows.empty:
        return math.nan
    return float(measured_numbers(rows, column).mean())


def measured_numbers(frame: pandas.DataFrame, column: str) -> pandas.Series:
    """A column as floating point. Raises `InputError` for one that is not there, or has more than numbers."""
    if column not in frame:
        raise InputError(f"no column '{column}' (there are: {', '.join(frame.columns)})")
    numbers = numbers_of(frame[column])
    if numbers is None:
        raise InputError(f"the column '{column}' has more than numbers")
    return numbers


def _rows_of(frame: pandas.DataFrame, point: Point) -> pandas.DataFrame:
    """Those of a point, with all its seeds."""
    if any(name not in frame for name in point):
        return frame.iloc[:0]
    for name, value in point.items():
        if value is None:
            frame = frame[frame[name].isna()]
        elif isinstance(value, (bool, int, float, str)):
            frame = frame[frame[name] == value]
        else:  # such as a list, which pandas would compare with the column
            frame = frame[[bool(each == value) for each in frame[name]]]
    return frame


def check_space(space: Space) -> None:
    """Raises `InputError` for a space without values, or with ranges that are empty."""
    if not space:
        raise InputError("space: there are no parameters")
    for name, values in space.items():
        if name == SEED:
            raise InputError(f"{SEED}: is for repeat")
        if isinstance(values, Range):
            if not all(-_LARGEST <= end <= _LARGEST for end in (values.low, values.high)):
                raise InputError(f"{name}: a range ends at 2^63 - 1 at most")
            if not values.low < values.high or (values.log and values.low <= 0):
                raise InputError(f"{name}: {values} has no numbers")
        elif isinstance(values, str) or not len(values):
            raise InputError(f"{name}: a list of values, or a Range")


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 32:
        raise InputError(f"seed: {seed!r} is no whole number of 0 … 2^32 - 1")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"samplers need 'pip install fabricvp[sweeps]' ({error})") from None
