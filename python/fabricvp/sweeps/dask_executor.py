# SPDX-License-Identifier: Apache-2.0
"""Points on workers of dask.distributed, on this machine or on others."""

from __future__ import annotations

import contextlib
import importlib
import queue
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .executors import OnAlive, OnResult
from .process import Cancelled, Limits, pack, run_packed
from .task import PointOutcome, Record, Task
from .warm import MachineGroups
from .warm_pool import branch_packed

#: How often a point may lose its worker.
MAX_LOST_WORKERS = 20
#: Seconds between looks of a point at whether its sweep goes on, and those that an interrupted sweep waits for points.
_PERIOD_S, _END_S = 1.0, 20.0


class Dask:
    """Points on the workers of a scheduler (its address, such as "tcp://10.0.0.1:8786"), or of a local cluster of
    ``workers`` processes, one point at a time each.

    A point has a process of its own there, too. One whose worker dies runs again on another, and a result counts once.
    Points that share a warmed-up machine branch from it, unless ``branch`` is False: each worker makes one when such a
    point comes. Workers need this version of the package, and the sweep's files under the same names."""

    def __init__(self, scheduler: str | None = None, workers: int = 1, branch: bool = True) -> None:
        self._scheduler, self._workers, self._branch = scheduler, workers, branch

    def run(self, tasks: Sequence[Task], limits: Limits, on_result: OnResult, on_alive: OnAlive) -> None:
        """As `Executor.run()`; ``on_alive`` is not called, since which points run is known to the workers alone. Raises
        `InputError` if dask is not installed, and if the scheduler does not answer or is lost."""
        if not tasks:
            return
        ended: queue.Queue[tuple[int, Any]] = queue.Queue()
        groups = MachineGroups(tasks if self._branch else ())
        order = groups.order() if self._branch else range(len(tasks))
        sweep = uuid.uuid4().hex
        with self._client() as client:
            futures: dict[int, Any] = {}  # kept, since dask drops what nothing refers to

            def submit(index: int, **where: Any) -> None:
                machine = groups.keys[index] if self._branch and groups.shares(index) else b""
                packed = pack(tasks[index])
                futures[index] = client.submit(_run_on_worker, sweep, machine, packed, limits, pure=False, **where)
                futures[index].add_done_callback(lambda future, index=index: ended.put((index, future)))

            preferred = _preferred_workers([i for i in order if self._branch and groups.shares(i)], client.nthreads())
            lost: dict[int, int] = {}
            try:
                for index in order:
                    submit(index, **preferred.get(index, {}))
                while futures:
                    self._check(client)
                    try:
                        index, future = ended.get(timeout=1.0)
                    except queue.Empty:
                        continue
                    if futures.get(index) is not future:
                        continue
                    record = _record_of(future)
                    if record is None and lost.get(index, 0) < MAX_LOST_WORKERS:
                        self._check(client)
                        lost[index] = lost.get(index, 0) + 1
                        submit(index)
                        continue
                    del futures[index]
                    on_result(index, record or _without_worker())
            finally:
                if futures:
                    _cancel(client, sweep, [*futures.values()])

    def check(self) -> None:
        """Raises `InputError` if dask is not installed, or there is no scheduler."""
        if self._scheduler is None:
            self._library()
            return
        with self._client():
            pass

    @staticmethod
    def _library() -> Any:
        try:
            return _distributed()
        except ImportError as error:
            raise InputError(f"executor: dask needs 'pip install fabricvp[sweeps]' ({error})") from None

    def _check(self, client: Any) -> None:
        if client.status == "closed":  # it has tried to connect again for a while
            where = f"'{self._scheduler}'" if self._scheduler else "that of the local cluster"
            raise InputError(f"scheduler: {where} is lost")

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        distributed = self._library()
        if self._scheduler is None:
            with (
                distributed.LocalCluster(
                    n_workers=self._workers, threads_per_worker=1, processes=True, dashboard_address=None
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                yield client
            return
        try:
            client = distributed.Client(self._scheduler)
        except (OSError, ValueError, TypeError) as error:
            text = str(error).partition("\n")[0]
            raise InputError(f"scheduler: '{self._scheduler}' does not answer ({text})") from None
        with client:
            yield client


def _distributed() -> Any:
    return importlib.import_module("distributed")  # which has no types


class _SweepEnd:
    """In a worker's process, whether a sweep has ended, as `_cancel()` says; the scheduler is asked at times only."""

    def __init__(self, sweep: str) -> None:
        self._event = _distributed().Event(sweep)
        self._next_s = 0.0

    def is_set(self) -> bool:
        now_s = time.monotonic()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + _PERIOD_S
        try:
            return bool(self._event.is_set())
        except (OSError, RuntimeError):  # without its scheduler, a worker ends soon
            return False


def _run_on_worker(sweep: str, machine: bytes, packed: bytes, limits: Limits) -> Record | None:
    """Measures a packed task in this process, a worker's, on a branch of ``machine`` if there is one. None if the sweep
    has ended."""
    end = _SweepEnd(sweep)
    if end.is_set():
        return None
    try:
        return branch_packed(sweep, machine, packed, limits, end) if machine else run_packed(packed, limits, end)
    except Cancelled:
        return None


def _cancel(client: Any, sweep: str, futures: Sequence[Any]) -> None:
    """Lets workers end a sweep's points, and waits for them a while."""
    distributed = _distributed()
    if client.status == "running":
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            distributed.Event(sweep, client).set()
            distributed.wait(futures, timeout=_END_S)


def _preferred_workers(shared: Sequence[int], threads: Mapping[str, int]) -> dict[int, dict[str, Any]]:
    """Where points go that share machines, in their order: neighbours to one worker, so that few machines are needed
    there. Workers with nothing to do take what others have waiting."""
    places = [address for address in sorted(threads) for _ in range(threads[address])]
    return {
        index: {"workers": places[nth * len(places) // len(shared)], "allow_other_workers": True}
        for nth, index in enumerate(shared)
        if places
    }


def _record_of(future: Any) -> Record | None:
    """What a point gave; None if its worker died. Raises what else went wrong."""
    distributed = _distributed()
    try:
        record: Record | None = future.result()
    except (distributed.KilledWorker, distributed.CancelledError, distributed.comm.CommClosedError):
        return None
    return record


def _without_worker() -> Record:
    return Record(PointOutcome.CRASHED, f"its worker died {MAX_LOST_WORKERS + 1} times", killed_from_outside=True)
