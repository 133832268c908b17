# SPDX-License-Identifier: Apache-2.0
"""Where points run."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from .process import Cancelled, Limits, pack, run_packed
from .task import Record, Task
from .warm import MachineGroups, WarmMachines

#: Told about each point as it ends, in the thread that runs the sweep.
OnResult = Callable[[int, Record], None]
#: Told about once a second which points run, if the executor knows.
OnAlive = Callable[[list[int]], None]


class Executor(Protocol):
    """Runs tasks: calls ``on_result`` once for each, in any order, and has ended them all when it returns or raises."""

    def run(self, tasks: Sequence[Task], limits: Limits, on_result: OnResult, on_alive: OnAlive) -> None:
        """Runs all tasks."""


class Processes:
    """Points in processes of this machine, at most ``jobs`` at a time (None: as many as there are processors). Those
    that share a warmed-up machine branch from it, unless ``branch`` is False."""

    def __init__(self, jobs: int | None = None, branch: bool = True) -> None:
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._branch = branch

    def run(self, tasks: Sequence[Task], limits: Limits, on_result: OnResult, on_alive: OnAlive) -> None:
        """As `Executor.run()`."""
        groups = MachineGroups(tasks if self._branch else ())
        machines = WarmMachines(groups)
        order = groups.order() if self._branch else range(len(tasks))
        waiting = iter([(place, tasks[place]) for place in order])
        lock, cancelled = threading.Lock(), threading.Event()
        running: set[int] = set()
        results: queue.Queue[tuple[int, Record | BaseException]] = queue.Queue()

        def work() -> None:
            while not cancelled.is_set():
                with lock:
                    index, task = next(waiting, (-1, None))
                    if task is None:
                        return
                    running.add(index)
                try:
                    record: Record | BaseException
                    if self._branch and groups.shares(index):
                        record = machines.run(index, task, limits, cancelled)
                    else:
                        record = run_packed(pack(task), limits, cancelled)
                except Cancelled:
                    return
                except BaseException as error:
                    record = error
                with lock:
                    running.discard(index)
                results.put((index, record))

        threads = [threading.Thread(target=work) for _ in range(min(self._jobs, len(tasks)))]
        for thread in threads:
            thread.start()
        try:
            arrived = 0
            while arrived < len(tasks):
                try:
                    index, record = results.get(timeout=1.0)
                except queue.Empty:
                    with lock:
                        alive = sorted(running)
                    on_alive(alive)
                    continue
                if isinstance(record, BaseException):
                    raise record
                arrived += 1
                on_result(index, record)
        finally:
            cancelled.set()
            for thread in threads:
                thread.join()
            machines.close()
