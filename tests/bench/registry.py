# SPDX-License-Identifier: Apache-2.0
"""Measurements register themselves here; bench.py runs them in the order of registration."""

import dataclasses
import statistics
import typing


class Unavailable(Exception):
    """A measurement cannot be made on this machine; the text says why."""


def per_second(unit):
    """What one of a rate's unit is in things a second; None for what is no rate."""
    if unit.endswith("/s"):
        return 1
    return {"MIPS": 1e6, "boots/min": 1 / 60}.get(unit)


@dataclasses.dataclass
class Result:
    """`ratio` is value / baseline; None where it cannot be measured, and `note` says why.

    `systemc` is S, the timed events a second of stock SystemC beside this measurement, and `memory` M, the random
    dependent reads a second. Machines differ in speed, and shared ones from minute to minute, so rates count as
    multiples of both, and times as events that S executes in them.
    """

    value: float | None
    baseline: float | None
    unit: str
    note: str = ""
    systemc: float | None = None
    memory: float | None = None

    @property
    def ratio(self):
        return self.value / self.baseline if self.value is not None and self.baseline else None

    @property
    def of_systemc(self):
        return self.multiple_of(self.systemc)

    @property
    def of_memory(self):
        return self.multiple_of(self.memory)

    @property
    def systemc_events(self):
        return self.value * self.systemc if self.value is not None and self.systemc and self.unit == "s" else None

    def multiple_of(self, yardstick):
        """A rate as a multiple of a yardstick in things a second; None for what is no rate."""
        one = per_second(self.unit)
        return self.value * one / yardstick if self.value is not None and yardstick and one else None

    def as_json(self):
        fields = {
            "value": self.value,
            "baseline": self.baseline,
            "ratio": self.ratio,
            "unit": self.unit,
            "of_systemc": self.of_systemc,
            "of_memory": self.of_memory,
        }
        for name in ("systemc_events", "systemc", "memory", "note"):
            if (value := getattr(self, name)) not in (None, ""):
                fields[name] = value
        return fields


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
    return [
        tuple(map(statistics.median, zip(*row))) if isinstance(row[0], tuple) else statistics.median(row)
        for row in results
    ]
