# SPDX-License-Identifier: Apache-2.0
"""Samplers that a study describes in YAML: `search` and `sensitivity`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .columns import groupable
from .points import Point
from .samplers import Range, Sampler, Search, Sensitivity, measured_numbers
from .yaml_items import Item

if TYPE_CHECKING:
    import pandas

KINDS = ("search", "sensitivity")
_SEARCH_KEYS = ("space", "objective", "budget", "maximise", "batch", "seed")
_SENSITIVITY_KEYS = ("space", "of", "method", "samples", "seed")
_RANGE_KEYS = ("from", "to", "log")


class StudySampler:
    """A sampler with what is told about it at the end."""

    def __init__(self, item: Item, kind: str, value_of: Callable[[str, Item], Any]) -> None:
        """Reads it. ``value_of`` converts a value of a parameter. Raises `InputError` with file, line and key."""
        keys = item.keys_of(_SEARCH_KEYS if kind == "search" else _SENSITIVITY_KEYS)
        needed = ("space", "objective", "budget") if kind == "search" else ("space", "of")
        for name in needed:
            if name not in keys:
                item.fail(f"needs {name}")
        self.space = {name: _values(name, each, value_of) for name, each in keys["space"].mapping().items()}
        self.column = keys[needed[1]].text()
        self.maximise = keys["maximise"].truth() if "maximise" in keys else False
        options = {name: keys[name].whole() for name in ("batch", "seed", "samples") if name in keys}
        budget = keys["budget"].whole() if "budget" in keys else 0
        method = keys["method"].choice(("morris", "sobol")) if "method" in keys else "morris"
        self.sampler: Sampler
        try:
            if kind == "search":
                self.budget = budget
                self.sampler = Search(self.space, self.column, budget, maximise=self.maximise, **options)
            else:
                self.sampler = Sensitivity(self.space, method=method, **options)
                self.budget = len(self.sampler.points)
        except InputError as error:
            raise InputError(f"{item.where}: {item.key}: {error}") from None

    @property
    def probes(self) -> list[Point]:
        """Points that have every listed value and both ends of every range once: what is invalid shows in them."""
        ends = {
            name: [values.low, values.high] if isinstance(values, Range) else list(values)
            for name, values in self.space.items()
        }
        first = {name: values[0] for name, values in ends.items()}
        return [first, *(first | {name: value} for name, values in ends.items() for value in values[1:])]

    @property
    def known_points(self) -> list[Point]:
        """Points that are known before any is measured."""
        return self.sampler.points if isinstance(self.sampler, Sensitivity) else []


def outcome_of(sampler: StudySampler, frame: pandas.DataFrame) -> tuple[str, pandas.DataFrame]:
    """What came out, in a sentence and as a table: the best points, or how much each parameter matters. The table is
    empty where points are missing for it."""
    import pandas

    try:
        if isinstance(sampler.sampler, Sensitivity):
            table = sampler.sampler.analyse(frame, sampler.column)
            table = table.sort_values("effect", ascending=False, kind="stable", ignore_index=True)
            if not (table["effect"] > 0).any():
                return f"No parameter changes {sampler.column}.", table
            return f"{table['parameter'][0]} matters most for {sampler.column}.", table
        shown = frame[frame["outcome"] == "ok"] if len(frame) else frame
        if shown.empty:
            raise InputError("no point has ended well")
        numbers = measured_numbers(shown, sampler.column)
    except InputError as error:
        return f"Nothing was found: {error}.", pandas.DataFrame()
    shown = shown.assign(**{sampler.column: numbers}, **{name: groupable(shown[name]) for name in sampler.space})
    means = shown.groupby([*sampler.space], sort=False)[sampler.column].mean().reset_index()
    best = means.sort_values(sampler.column, ascending=not sampler.maximise, kind="stable", ignore_index=True)
    point = ", ".join(f"{name} = {best[name][0]}" for name in sampler.space)
    kind = "largest" if sampler.maximise else "smallest"
    return f"The {kind} {sampler.column} is {best[sampler.column][0]:.6g}: {point}.", best


def _values(name: str, item: Item, value_of: Callable[[str, Item], Any]) -> list[Any] | Range:
    if not isinstance(item.value, dict):
        return [value_of(name, each) for each in item.items()]
    keys = item.keys_of(_RANGE_KEYS)
    for needed in ("from", "to"):
        if needed not in keys:
            item.fail(f"a range needs {needed}")
    low, high = keys["from"].plain(), keys["to"].plain()
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, (int, float)):
            item.fail(f"'{end}' is not a number: give a list of values")
    return Range(low, high, keys["log"].truth() if "log" in keys else False)
