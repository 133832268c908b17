# SPDX-License-Identifier: Apache-2.0
"""Which points a sweep has: products of lists, single points, constraints, and seeds that all points share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .constraints import Constraint

#: Parameters of a point by name.
Point = dict[str, Any]
#: What leaves points out: a function of the point, or an expression over its parameters.
ConstraintLike = str | Callable[[Point], bool]
#: The parameter that repetitions differ in.
SEED = "simulation.seed"
MAX_REPETITIONS = 1_000_000
#: Of a whole number: Python makes no text of one with 4,300 digits.
MAX_BITS = 4096
#: Of a sweep, before constraints: each takes memory.
MAX_POINTS = 1_000_000


def expand_points(
    grid: Mapping[str, Sequence[Any]] | None,
    points: Iterable[Mapping[str, Any]] | None,
    constraints: Sequence[ConstraintLike] = (),
    repeat: int | Sequence[int] | None = None,
    may_be_empty: bool = False,
) -> list[Point]:
    """All points: those of ``points`` (one point without parameters unless given), each with every combination of
    ``grid``, whose last parameter varies first, then with every seed. Points that a constraint rejects are left out.

    Raises `InputError` for a parameter without values, one that is in both, a point that is there twice, a constraint
    that names no parameter, and if no point is left, unless ``may_be_empty``."""
    if grid is not None and not isinstance(grid, Mapping):
        raise InputError("grid: is no mapping of parameters to lists of values")
    lists = {name: _values(name, values) for name, values in (grid or {}).items()}
    base = _given(points)
    seeds = _seeds(repeat)
    if seeds is not None:
        if SEED in lists:
            raise InputError(f"{SEED}: is a parameter of the grid and of repetitions, too")
        lists[SEED] = seeds
    count = len(base) * math.prod(map(len, lists.values()))
    if count > MAX_POINTS:
        raise InputError(f"grid: {count:,} points, more than {MAX_POINTS:,}")
    found: list[Point] = []
    for given in base:
        both = [name for name in lists if name in given]
        if both:
            raise InputError(f"{both[0]}: is a parameter of points and of the grid or of repetitions, too")
        for combination in itertools.product(*lists.values()):
            found.append({**given, **dict(zip(lists, combination))})
    for constraint in constraints:
        test = Constraint(constraint) if isinstance(constraint, str) else constraint
        if not callable(test):
            raise InputError(f"constraints: {test!r} is neither an expression nor a function")
        found = [point for point in found if test(point)]
    if not found and not may_be_empty:
        raise InputError("no point is left: the constraints reject all")
    _check_distinct(found)
    return found


def _given(points: Iterable[Mapping[str, Any]] | None) -> list[Point]:
    if points is None:
        return [{}]
    if hasattr(points, "to_dict"):  # a data frame
        points = points.to_dict("records")
    points = [*points]
    wrong = next((point for point in points if not isinstance(point, Mapping)), None)
    if wrong is not None:
        raise InputError(f"points: {wrong!r} is no mapping of parameters to values")
    given = [{name: _values(name, [value])[0] for name, value in point.items()} for point in points]
    if not given:
        raise InputError("points: there are none")
    return given


def _values(name: str, values: Any) -> list[Any]:
    if not isinstance(name, str) or not name:
        raise InputError(f"{name!r}: the name of a parameter is text")
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{name}: a list of values, such as [{values!r}]")
    plain = [value.item() if getattr(value, "size", 0) == 1 and hasattr(value, "item") else value for value in values]
    if any(isinstance(value, int) and value.bit_length() > MAX_BITS for value in plain):
        raise InputError(f"{name}: has a whole number of more than {MAX_BITS:,} bits")
    if not plain:
        raise InputError(f"{name}: there are no values")
    return plain


def _seeds(repeat: int | Sequence[int] | None) -> list[int] | None:
    """Seeds of the repetitions: 1 … n for a number, or as given. None: the machine's own."""
    if repeat is None:
        return None
    if isinstance(repeat, bool) or (isinstance(repeat, int) and not 1 <= repeat <= MAX_REPETITIONS):
        raise InputError(f"repeat: {repeat!r} is neither a number of 1 … {MAX_REPETITIONS}, nor a list of seeds")
    if isinstance(repeat, int):
        return list(range(1, repeat + 1))
    seeds = _values("repeat", repeat)
    wrong = next((s for s in seeds if isinstance(s, bool) or not isinstance(s, int) or not 0 <= s < 1 << 63), None)
    if wrong is not None:
        raise InputError(f"repeat: {wrong!r} is no seed: whole numbers of 0 … 2^63 - 1")
    return seeds


def _check_distinct(points: Sequence[Point]) -> None:
    seen: set[str] = set()
    for point in points:
        text = repr(sorted(point.items(), key=lambda item: item[0]))
        if text in seen:
            raise InputError(f"the point {name_of(point)} is there twice")
        seen.add(text)


def name_of(point: Mapping[str, Any]) -> str:
    """A point in one line, for people."""
    return " ".join(f"{name.rpartition('.')[2]}={value}" for name, value in point.items()) or "the only point"
