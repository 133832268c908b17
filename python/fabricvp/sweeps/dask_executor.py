# SPDX-License-Identifier: Apache-2.0
"""Points on workers of dask.distributed, on this machine or on others."""

from __future__ import annotations

import contextlib
import importlib
import queue
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .executors import OnAlive, OnResult
from .process import Limits, pack, run_packed
from .task import PointOutcome, Record, Task
from .warm import MachineGroups
from .warm_pool import branch_packed

#: How often a point may lose its worker.
MAX_LOST_WORKERS = 20


class Dask:
    """Points on the workers of a scheduler (its address, such as "tcp://10.0.0.1:8786"), or of a local cluster of
    ``workers`` processes, one point at a time each.

    A point has a process of its own there, too. One whose worker dies runs again on another, and a result counts once.
    Points that share a warmed-up machine branch from it, unless ``branch`` is False: each worker makes one when such a
    point comes. Workers need this version of the package, and the sweep's files under the same names."""

    def __init__(self, scheduler: str | None = None, workers: int = 1, branch: bool = True) -> None:
        self._scheduler, self._workers, self._branch = scheduler, workers, branch

    def run(self, tasks: Sequence[Task], limits: Limits, on_result: OnResult, on_alive: OnAlive) -> None:
        """As `Executor.run()`. Raises `InputError` if dask is not installed or the scheduler does not answer."""
        if not tasks:
            return
        ended: queue.Queue[tuple[int, Any]] = queue.Queue()
        groups = MachineGroups(tasks if self._branch else ())
        order = groups.order() if self._branch else range(len(tasks))
        sweep = uuid.uuid4().hex
        with self._client() as client:
            futures: dict[int, Any] = {}  # kept, since dask drops what nothing refers to

            def submit(index: int, **where: Any) -> None:
                packed = pack(tasks[index])
                if self._branch and groups.shares(index):
                    machine = groups.keys[index]
                    futures[index] = client.submit(branch_packed, sweep, machine, packed, limits, pure=False, **where)
                else:
                    futures[index] = client.submit(run_packed, packed, limits, pure=False)
                futures[index].add_done_callback(lambda future, index=index: ended.put((index, future)))

            preferred = _preferred_workers([i for i in order if self._branch and groups.shares(i)], client.nthreads())
            for index in order:
                submit(index, **preferred.get(index, {}))
            lost: dict[int, int] = {}
            while futures:
                try:
                    index, future = ended.get(timeout=1.0)
                except queue.Empty:
                    on_alive([])
                    continue
                if futures.get(index) is not future:
                    continue
                record = _record_of(future)
                if record is None and lost.get(index, 0) < MAX_LOST_WORKERS:
                    lost[index] = lost.get(index, 0) + 1
                    submit(index)
                    continue
                del futures[index]
                on_result(index, record or _without_worker())

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            distributed: Any = importlib.import_module("distributed")  # which has no types
        except ImportError as error:
            raise InputError(f"executor: dask needs 'pip install fabricvp[sweeps]' ({error})") from None
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
    import distributed

    try:
        record: Record = future.result()
    except (distributed.KilledWorker, distributed.CancelledError):
        return None
    return record


def _without_worker() -> Record:
    return Record(PointOutcome.CRASHED, f"its worker died {MAX_LOST_WORKERS + 1} times", killed_from_outside=True)
