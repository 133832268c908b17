# SPDX-License-Identifier: Apache-2.0
"""Points of an experiment, each in a fresh process, several at a time."""

from __future__ import annotations

import ctypes
import multiprocessing
import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from .._renamed import renamed_arguments
from ..errors import InputError
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
) -> list[Any]:
    """``function(point)`` for every point, at most ``jobs`` at a time; results in the order of the points.

    With ``costs``, those that take longest start first, so that none of them is left alone at the end.

    Each call has a process of its own, so it may build a `Platform`, and what it gives does not depend on ``jobs``.
    ``function`` is a function of a module; points and results are pickled. ``done(index)`` is called here as they end,
    and ``alive(indices)`` about once a second with those that run; ``on_result(index, result, machines, core seconds)``
    before ``done()``. ``machines()`` is told in the end what the points have simulated, in the order of the points.
    Raises `InputError` as the function does, `PointFailed` for everything else; other points are ended then."""
    context = multiprocessing.get_context("spawn")
    results: list[Any] = [None] * len(points)
    simulated: list[list[Machine]] = [[] for _ in points]
    running: dict[Connection, tuple[int, multiprocessing.process.BaseProcess]] = {}
    waiting = sorted(range(len(points)), key=lambda i: -costs[i] if costs else 0)[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < max(1, jobs):
                index = waiting.pop()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(sender, function, points[index]), daemon=True)
                process.start()
                sender.close()
                running[receiver] = (index, process)
            alive([index for index, _ in running.values()])
            for receiver in wait(list(running), timeout=1.0):
                index, process = running.pop(receiver)
                results[index], simulated[index], core_s = _result(receiver, process, index)
                on_result(index, results[index], simulated[index], core_s)
                done(index)
    finally:
        for _, process in running.values():
            process.kill()
            process.join()
    machines([machine for each in simulated for machine in each])
    return results


def core_seconds() -> float:
    """Those that this process has taken since it began, with its child processes that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _result(
    receiver: Connection, process: multiprocessing.process.BaseProcess, index: int
) -> tuple[Any, list[Machine], float]:
    try:
        succeeded, value = receiver.recv()
    except EOFError:
        process.join()
        raise PointFailed(f"point {index} died with status {process.exitcode}") from None
    finally:
        receiver.close()
    process.join()
    if succeeded:
        return value
    error, trace = value
    if error is not None:
        raise InputError(error)
    raise PointFailed(f"point {index}: {trace}")


def _work(sender: Connection, function: Callable[[Any], Any], point: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no point outlives its experiment
    try:
        result: tuple[bool, Any] = (True, (function(point), recorded_machines(), core_seconds()))
    except InputError as error:
        result = (False, (str(error), ""))
    except BaseException:
        result = (False, (None, traceback.format_exc()))
    sender.send(result)
