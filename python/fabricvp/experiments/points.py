# SPDX-License-Identifier: Apache-2.0
"""Points of an experiment, each in a fresh process, several at a time, where an executor of sweeps runs them."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._renamed import renamed_arguments
from ..errors import InputError
from ..sweeps.executors import Executor, Processes
from ..sweeps.process import Limits
from ..sweeps.task import PointOutcome, Record, Task
from .machines import Machine, recorded_machines


class PointFailed(RuntimeError):
    """A point's process died, or raised what is no `InputError`."""


@renamed_arguments(arrived="on_result")
def run_points(
    function: Callable[[Any], Any],
    points: Sequence[Any],
    jobs: int,
    done: Callable[[int], None],
    alive: Callable[[list[int]], None] = lambda running: None,
    costs: Sequence[float] | None = None,
    machines: Callable[[list[Machine]], None] = lambda recorded_machines: None,
    on_result: Callable[[int, Any, list[Machine], float], None] = lambda index, value, recorded_machines, core_s: None,
    executor: Executor | None = None,
    took: Callable[[int, float], None] = lambda index, seconds: None,
) -> list[Any]:
    """``function(point)`` for every point, at most ``jobs`` at a time on this machine, or where ``executor`` runs
    them; results in the order of the points.

    With ``costs``, those that take longest start first, so that none of them is left alone at the end.

    Each call has a process of its own, so it may build a `Platform`, and what it gives does not depend on where it
    runs. ``function`` is a function of a module; points and results are pickled. ``done(index)`` is called here as they
    end, and ``alive(indices)`` about once a second with those that run; ``on_result(index, result, machines, core
    seconds)`` and ``took(index, seconds of wall time)`` before ``done()``. ``machines()`` is told in the end what the
    points have simulated, in the order of the points. Raises `InputError` as the function does, `PointFailed`
    for everything else; other points are ended then."""
    order = sorted(range(len(points)), key=lambda i: -costs[i] if costs else 0)
    tasks = [
        Task(function=_measure, arguments={"function": function, "point": points[i]}, any_value=True) for i in order
    ]
    results: list[Any] = [None] * len(points)
    simulated: list[list[Machine]] = [[] for _ in points]

    def on_record(place: int, record: Record) -> None:
        index = order[place]
        measured = _measured(record, index)
        results[index], simulated[index] = measured.value, measured.machines
        on_result(index, measured.value, measured.machines, measured.core_s)
        took(index, record.wall_s)
        done(index)

    where = executor or Processes(max(1, jobs))
    where.run(tasks, Limits(), on_record, lambda running: alive([order[place] for place in running]))
    machines([machine for each in simulated for machine in each])
    return results


@dataclass(frozen=True)
class _Measured:
    """What a point's process gives."""

    value: Any
    machines: list[Machine]
    core_s: float
    invalid: str = ""  #: the message of an `InputError`


def _measure(function: Callable[[Any], Any], point: Any) -> _Measured:
    try:
        return _Measured(function(point), recorded_machines(), core_seconds())
    except InputError as error:
        return _Measured(None, [], 0.0, str(error))


def _measured(record: Record, index: int) -> _Measured:
    if record.outcome != PointOutcome.OK:
        raise PointFailed(f"point {index}: {record.error}\n{record.log}".rstrip())
    if record.log:
        print(record.log, end="", file=sys.stderr)
    measured: _Measured = record.values["value"]
    if measured.invalid:
        raise InputError(measured.invalid)
    return measured


def core_seconds() -> float:
    """Those that this process has taken since it began, with its child processes that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
