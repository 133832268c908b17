# SPDX-License-Identifier: Apache-2.0
"""Points that branch from one machine, which is built and warmed up once for all of them."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from .process import ENDED, STARTED, Flag, Limits, end_session, pack, result_of, start, tail_of, told, wait_within
from .task import Record, Task

#: How many machines a point may lose: one that ends them all must come to an end.
MAX_LOST_MACHINES = 2


class MachineGroups:
    """Which points have a machine in common: those with a warm-up that differ in nothing but the arguments of their
    function."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.keys = [_machine_of(task) for task in tasks]  #: what each point's machine follows from; empty for none
        self.points = Counter(key for key in self.keys if key)  #: how many points a machine has

    def order(self) -> list[int]:
        """Places of all points, those of one machine together."""
        first: dict[bytes, int] = {}
        for place, key in enumerate(self.keys):
            first.setdefault(key, place)
        return sorted(range(len(self.keys)), key=lambda place: (first[self.keys[place]], place))

    def shares(self, place: int) -> bool:
        """Whether a point has its machine in common with others."""
        return self.points[self.keys[place]] > 1


class WarmMachines:
    """The machines of a sweep that several of its points share. Each has a process of its own, from its first point's
    begin to its last one's end."""

    def __init__(self, groups: MachineGroups) -> None:
        self._keys = groups.keys
        self._left = Counter(groups.points)
        self._machines: dict[bytes, WarmMachine] = {}
        self._lost: list[WarmMachine] = []  #: machines that have died; other points may still read their logs
        self._lock = threading.Lock()
        # A process ends with the thread that started it (PR_SET_PDEATHSIG): this one stays until the sweep's end.
        self._starter = ThreadPoolExecutor(1)

    def run(self, place: int, task: Task, limits: Limits, cancelled: Flag) -> Record:
        """Measures a point on a branch of its machine; on another one if that dies. Raises `Cancelled` soon after
        ``cancelled`` is set."""
        key, packed = self._keys[place], pack(task)
        try:
            for _ in range(MAX_LOST_MACHINES):
                machine = self._machine(key)
                record = machine.measure(packed, limits, cancelled)
                if not (record.killed_from_outside and machine.is_lost):
                    return record
            return self._machine(key).measure(packed, limits, cancelled)
        finally:
            with self._lock:
                self._left[key] -= 1
                if self._left[key] == 0 and key in self._machines:
                    self._machines.pop(key).close()

    def close(self) -> None:
        """Ends all machines."""
        for machine in [*self._machines.values(), *self._lost]:
            machine.close()
        self._machines.clear()
        self._lost.clear()
        self._starter.shutdown()

    def _machine(self, key: bytes) -> WarmMachine:
        with self._lock:
            machine = self._machines.get(key)
            if machine is not None and machine.is_lost:
                self._lost.append(self._machines.pop(key))
                machine = None
            if machine is None:
                machine = self._machines[key] = self._starter.submit(WarmMachine, key).result()
            return machine


def _machine_of(task: Task) -> bytes:
    """What a point's machine follows from, packed; empty if nothing warms it up."""
    return pack(dataclasses.replace(task, function=None, arguments={})) if task.warm_up is not None else b""


class WarmMachine:
    """A process with the machine of a packed task, which builds it, warms it up, and branches as often as it is asked
    to. It ends with the thread that made it."""

    def __init__(self, packed: bytes) -> None:
        self._log = tempfile.TemporaryFile()
        self._begin = time.monotonic()
        self._is_warm = False
        self._over: Record | None = None  #: why there is no machine: it came to a limit before it was warm
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with tempfile.TemporaryFile() as request, theirs:
            request.write(packed)
            request.flush()
            self._process = start("_warm_worker", request.fileno(), theirs.fileno(), log=self._log)

    @property
    def is_lost(self) -> bool:
        """Whether the process has died of neither its warm-up nor a limit of it, which says nothing about its
        points."""
        status = self._process.poll()
        return self._over is None and status is not None and (self._is_warm or status == -signal.SIGKILL)

    def measure(self, packed: bytes, limits: Limits, cancelled: Flag | None) -> Record:
        """A point on a branch. The limits hold for the warm-up, and for each branch."""
        with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as log:
            request.write(packed)
            request.flush()
            reading, writing = os.pipe()
            try:
                try:
                    files = [request.fileno(), result.fileno(), log.fileno(), writing]
                    socket.send_fds(self._socket, [b"branch"], files)
                except OSError:  # it has died
                    pass
                finally:
                    os.close(writing)
                begin = time.monotonic()
                started = self._wait_for_start(reading, result, limits, cancelled)
                if isinstance(started, int):
                    begin = time.monotonic()
                    record = self._wait_for_end(started, begin, reading, result, limits, cancelled)
                else:
                    record = started
            finally:
                os.close(reading)
            record.wall_s = time.monotonic() - begin
            record.log = tail_of(self._log, log)
            return record

    def close(self) -> None:
        """Ends the machine's process."""
        self._socket.close()
        end_session(self._process.pid)
        self._process.wait()
        self._log.close()

    def _wait_for_start(self, pipe: int, result: IO[bytes], limits: Limits, cancelled: Flag | None) -> int | Record:
        """The branch's process, or a record if there is none."""
        begin = time.monotonic() if self._is_warm else self._begin
        over = wait_within(pipe, self._process.pid, begin, limits, cancelled)
        if over is not None:
            if not self._is_warm:  # else it is this branch's alone
                with self._lock:
                    self._over = self._over or over
            end_session(self._process.pid)
            return over
        kind, value = told(pipe)
        if kind == STARTED:
            self._is_warm = True
            return value
        if kind == ENDED:
            return result_of(value, result)
        with self._lock:
            status = self._process.wait()
            if self._over:
                return dataclasses.replace(self._over)
            record = result_of(status, result)
            record.killed_from_outside |= self._is_warm  # it has measured others: what ended it was not this point
            return record

    def _wait_for_end(
        self, branch: int, begin: float, pipe: int, result: IO[bytes], limits: Limits, cancelled: Flag | None
    ) -> Record:
        try:
            over = wait_within(pipe, branch, begin, limits, cancelled)
        finally:
            end_session(branch)
        if over is None:
            kind, status = told(pipe)
            if kind != ENDED:  # it ended with its machine, whose end may be still to come
                self._process.wait()
                status = -signal.SIGKILL
            over = result_of(status, result)
        over.branched = True
        return over
