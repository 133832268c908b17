# SPDX-License-Identifier: Apache-2.0
"""Sweeps on dask.distributed: workers that die lose no point, and none counts twice."""

import os
import random
import signal
import threading
import time

import dask
import distributed
import fabricvp
import pytest
from fabricvp.sweeps.dask_executor import Dask
from fabricvp.sweeps.store import ResultCache


def work(n, log, seconds):
    with open(log, "a") as file:
        file.write(f"{n}\n")
    time.sleep(seconds)
    if n == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    return n * n


@pytest.fixture
def cluster():
    """Two workers; a task whose worker dies is given up at once, so that the sweep itself has to see to it."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
    ):
        yield cluster


@pytest.mark.timeout(900)
def test_no_point_is_lost_or_counted_twice_when_workers_die(cluster, tmp_path):
    draw, ended, killed, log = random.Random(3), threading.Event(), [], tmp_path / "log"

    def kill_workers():
        """A while after a point has begun: all workers the first time, then one of them."""
        seen = 0
        while not ended.wait(0.02) and len(killed) < 5:
            begun = len(log.read_text().split()) if log.exists() else 0
            if begun > seen and not ended.wait(draw.uniform(0, 0.5)):
                seen = begun
                pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
                for pid in draw.sample(pids, 1) if killed and pids else pids:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)

    counted = []

    class Counted(Dask):
        def run(self, tasks, limits, on_result, on_alive):
            def count(index, record):
                counted.append(index)
                on_result(index, record)

            super().run(tasks, limits, count, on_alive)

    thread = threading.Thread(target=kill_workers)
    thread.start()
    try:
        frame = fabricvp.sweep(
            function=work,
            grid={"n": range(8), "log": [str(log)], "seconds": [2]},
            executor=Counted(cluster.scheduler_address),
            result_cache=tmp_path / "cache",
            progress=False,
        )
    finally:
        ended.set()
        thread.join()
    assert len(killed) >= 2
    assert sorted(counted) == [*range(8)]
    assert [*frame["n"]] == [*range(8)]
    assert [*frame["outcome"]] == ["crashed" if n == 3 else "ok" for n in range(8)]
    assert all(frame["value"][n] == n * n for n in range(8) if n != 3)
    assert {point.point["n"] for point in ResultCache(tmp_path / "cache").points()} == set(range(8))
    runs = log.read_text().split()
    assert set(map(int, runs)) == set(range(8)) and len(runs) > 8  # some ran again, on another worker


def test_a_local_cluster_gives_the_same_as_processes(tmp_path, command):
    study = "config: gpu\napp: vectoradd\ngrid: {size: [1024, 2048]}\nkeep: ['kernels:time_s']\n"
    (tmp_path / "s.yaml").write_text(study)
    for executor in ("processes", "dask"):
        done = command("sweep", "s.yaml", "--out", executor, "--executor", executor, "--jobs", 2)
        assert done.returncode == 0 and "2 points, 2 ok" in done.stdout, done.stderr
    assert command("diff", "processes", "dask").stdout == "0 of 2 figures changed\n"


def test_wrong_schedulers_are_input_errors():
    for scheduler, message in (("nonsense://x", "does not answer"), ("tcp://127.0.0.1:1", "does not answer")):
        with pytest.raises(fabricvp.InputError, match=message) as caught:
            fabricvp.sweep(function=lambda: 1, executor="dask", scheduler=scheduler, progress=False)
        assert "\n" not in str(caught.value)
    with pytest.raises(fabricvp.InputError, match="scheduler: is for the executor dask"):
        fabricvp.sweep(function=lambda: 1, scheduler="tcp://127.0.0.1:1", progress=False)
