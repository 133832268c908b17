# SPDX-License-Identifier: Apache-2.0
"""Measurements register themselves here; bench.py runs them in the order of registration."""
import dataclasses
import statistics
import typing


class Unavailable(Exception):
    """A measurement cannot be made on this machine; the text says why."""


@dataclasses.dataclass
class Result:
    """`ratio` is value / baseline; None where it cannot be measured, and `note` says why."""

    value: float | None
    baseline: float | None
    unit: str
    note: str = ""

    @property
    def ratio(self):
        return self.value / self.baseline if self.value is not None and self.baseline else None

    def as_json(self):
        fields = {"value": self.value, "baseline": self.baseline, "ratio": self.ratio, "unit": self.unit}
        return fields | ({"note": self.note} if self.note else {})


@dataclasses.dataclass
class Measurement:
    key: str
    title: str
    unit: str
    goal: str
    run: typing.Callable[[], Result]


MEASUREMENTS: list[Measurement] = []


def measurement(key, title, unit, goal=""):
    """Registers a function without arguments that returns a Result or raises Unavailable."""

    def register(run):
        MEASUREMENTS.append(Measurement(key, title, unit, goal, run))
        return run

    return register


def alternately(rounds, *actions):
    """Runs the actions in turn, `rounds` times over, so that a slow phase of the machine meets all of them.

    Returns the median of each action's results; of tuples, the median of each place.
    """
    results = [[] for _ in actions]
    for _ in range(rounds):
        for action, row in zip(actions, results):
            row.append(action())
    return [tuple(map(statistics.median, zip(*row))) if isinstance(row[0], tuple) else statistics.median(row) for row in results]
