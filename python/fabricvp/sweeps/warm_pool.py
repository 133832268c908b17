# SPDX-License-Identifier: Apache-2.0
"""Warm machines of a process that is given points of any sweep, one after the other: a worker of dask."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor

from .process import Cancelled, Flag, Limits
from .task import Record
from .warm import MAX_LOST_MACHINES, WarmMachine

#: Seconds without a point after which a machine's memory is given back: a sweep that was killed tells no worker.
IDLE_S = 30.0


@dataclasses.dataclass
class _Kept:
    machine: WarmMachine
    points: int = 0  #: that run on it now


class WarmPool:
    """Machines by what they follow from, made when a first point needs one. Beside those that points run on, one is
    kept: the last that had a point, for ``idle_s`` seconds."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._machines: dict[tuple[str, bytes], _Kept] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        # A process ends with the thread that started it, and a worker's threads come and go.
        self._starter = ThreadPoolExecutor(1)

    def measure(
        self, sweep: str, machine: bytes, packed: bytes, limits: Limits, cancelled: Flag | None = None
    ) -> Record:
        """Measures a packed task on a branch of a packed machine; on another one if that dies. ``sweep`` tells sweeps
        apart: files that machines are made of may have changed between them. Raises `Cancelled` soon after
        ``cancelled`` is set."""
        for _ in range(MAX_LOST_MACHINES):
            record, is_lost = self._measure_once((sweep, machine), packed, limits, cancelled)
            if not (record.killed_from_outside and is_lost):
                return record
        return self._measure_once((sweep, machine), packed, limits, cancelled)[0]

    def _measure_once(
        self, key: tuple[str, bytes], packed: bytes, limits: Limits, cancelled: Flag | None
    ) -> tuple[Record, bool]:
        """The record, and whether its machine has died."""
        with self._lock:
            kept = self._machines.get(key)
            if kept is None:
                self._end_idle()
                kept = self._machines[key] = _Kept(self._starter.submit(WarmMachine, key[1]).result())
            kept.points += 1
            self._stop_timer()
        try:
            return kept.machine.measure(packed, limits, cancelled), kept.machine.is_lost
        except Cancelled:  # its sweep needs no machine any more
            with self._lock:
                if self._machines.get(key) is kept:
                    del self._machines[key]
            raise
        finally:
            with self._lock:
                kept.points -= 1
                self._after_point(key, kept)

    def _after_point(self, key: tuple[str, bytes], kept: _Kept) -> None:
        if kept.machine.is_lost and self._machines.get(key) is kept:
            del self._machines[key]  # the next point makes another
        if kept.points == 0:
            if self._machines.get(key) is kept:
                self._end_idle(but=kept)
            else:
                kept.machine.close()
        self._stop_timer()
        self._timer = threading.Timer(self._idle_s, self._end_idle_later)
        self._timer.daemon = True  # a worker ends when it is told to
        self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end_idle_later(self) -> None:
        with self._lock:
            self._end_idle()

    def _end_idle(self, but: _Kept | None = None) -> None:
        for key, kept in list(self._machines.items()):
            if kept.points == 0 and kept is not but:
                del self._machines[key]
                kept.machine.close()


_POOL = WarmPool()


def branch_packed(sweep: str, machine: bytes, packed: bytes, limits: Limits, cancelled: Flag | None = None) -> Record:
    """`WarmPool.measure()` with the machines of this process."""
    return _POOL.measure(sweep, machine, packed, limits, cancelled)
