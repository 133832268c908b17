# SPDX-License-Identifier: Apache-2.0
"""Sweeps and experiments on dask.distributed: workers that die lose no point, and none counts twice."""

import contextlib
import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import distributed
import fabricvp
import pytest
from fabricvp.experiments import Run
from fabricvp.experiments.result_cache import ResultCache as PointCache
from fabricvp.sweeps.dask_executor import Dask
from fabricvp.sweeps.process import Limits, pack
from fabricvp.sweeps.progress import Progress
from fabricvp.sweeps.store import ResultCache
from fabricvp.sweeps.task import Task
from fabricvp.sweeps.warm import MachineGroups
from fabricvp.sweeps.warm_pool import WarmPool


def work(n, file, seconds):
    with open(file, "a") as log:
        log.write(f"{n}\n")
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


@contextlib.contextmanager
def workers_that_die(cluster, log):
    """Kills workers a while after a point has begun, which a line of the log tells: all the first time, then one of
    them. Gives the process identifiers of those killed."""
    draw, ended, killed = random.Random(3), threading.Event(), []

    def kill_workers():
        seen = 0
        while not ended.wait(0.02) and len(killed) < 5:
            begun = len(log.read_text().split()) if log.exists() else 0
            if begun > seen and not ended.wait(draw.uniform(0, 0.5)):
                seen = begun
                pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
                for pid in draw.sample(pids, 1) if killed and pids else pids:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill_workers)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


@pytest.mark.timeout(900)
def test_no_point_is_lost_or_counted_twice_when_workers_die(cluster, tmp_path):
    log = tmp_path / "log"
    counted = []

    class Counted(Dask):
        def run(self, tasks, limits, on_result, on_alive):
            def count(index, record):
                counted.append(index)
                on_result(index, record)

            super().run(tasks, limits, count, on_alive)

    with workers_that_die(cluster, log) as killed:
        frame = fabricvp.sweep(
            function=work,
            grid={"n": range(8), "file": [str(log)], "seconds": [2]},
            executor=Counted(cluster.scheduler_address),
            result_cache=tmp_path / "cache",
            progress=False,
        )
    assert len(killed) >= 2
    assert sorted(counted) == [*range(8)]
    assert [*frame["n"]] == [*range(8)]
    assert [*frame["outcome"]] == ["crashed" if n == 3 else "ok" for n in range(8)]
    assert all(frame["value"][n] == n * n for n in range(8) if n != 3)
    assert {point.point["n"] for point in ResultCache(tmp_path / "cache").points()} == set(range(8))
    runs = log.read_text().split()
    assert set(map(int, runs)) == set(range(8)) and len(runs) > 8  # some ran again, on another worker


def boot(platform):
    """Leaves a line in a file each time that a machine is warmed up."""
    with open(os.environ["BOOTS"], "a") as file:
        file.write(f"{platform.config.simulation.seed} {os.getpid()}\n")
    platform.run("700 us")  # kernels begin at 715 us


def slower(platform, lanes):
    """Lets a link between clusters lose lanes."""
    if lanes:
        platform.call_in("1 us", lambda: platform.inject("node0.fabric.cluster0.to_cluster1", "lanes", lanes=lanes))
    platform.run()
    return {"us": platform.regions()[("node0", "kernels")]["time_s"] * 1e6, "good": platform.app_ok}


def test_workers_branch_from_warm_machines(tmp_path, monkeypatch):
    boots = tmp_path / "boots"
    monkeypatch.setenv("BOOTS", str(boots))
    options = {
        "app": "transpose",
        "size": 512,
        "warm_up": boot,
        "function": slower,
        "points": [
            *({"simulation.seed": seed, "lanes": lanes} for lanes in range(0, 6, 2) for seed in (3, 4)),
            {"simulation.seed": 5, "lanes": 0},  # shares its machine with none
        ],
        "statistics": ["*"],
        "executor": "dask",
        "jobs": 2,
        "progress": False,
    }
    branched = fabricvp.sweep("netcrafter_quad", **options)
    boots_of_branches = boots.read_text().splitlines()
    alone = fabricvp.sweep("netcrafter_quad", branch=False, **options)
    boots_alone = boots.read_text().splitlines()[len(boots_of_branches) :]
    assert len(boots_of_branches) < len(boots_alone) == 7
    assert [*branched["branched"]] == [True] * 6 + [False] and not alone["branched"].any()
    assert set(branched["outcome"]) == {"ok"} and branched["good"].all() and len(branched.columns) > 1000
    drop = ["wall_s", "branched", *(name for name in branched if name.startswith("sim."))]  # of the host
    assert branched.drop(columns=drop).equals(alone.drop(columns=drop))
    assert branched["us"].nunique() > 1


def warm(platform):
    with open(os.environ["BOOTS"], "a") as file:
        file.write(f"{os.getpid()}\n")
    platform.run("1 us")


def work_on(platform, n, file, seconds):
    with open(file, "a") as log:
        log.write(f"{n}\n")
    time.sleep(seconds)
    platform.run(f"{n} us")
    return {"us": round(platform.now * 1e6), "machine": os.getppid()}


@pytest.mark.timeout(900)
def test_no_branch_is_lost_when_workers_die(tmp_path, monkeypatch):
    log, boots = tmp_path / "log", tmp_path / "boots"
    monkeypatch.setenv("BOOTS", str(boots))  # before workers start
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        workers_that_die(cluster, log) as killed,
    ):
        frame = fabricvp.sweep(
            "bare",
            warm_up=warm,
            function=work_on,
            grid={"n": range(1, 9), "file": [str(log)], "seconds": [2]},
            executor=Dask(cluster.scheduler_address),
            progress=False,
        )
    machines = set(map(int, boots.read_text().split()))
    assert len(killed) >= 2 and len(machines) > 2  # and with them their machines
    assert [*frame["outcome"]] == ["ok"] * 8 and frame["branched"].all()
    assert [*frame["us"]] == [1 + n for n in range(1, 9)]
    assert set(frame["machine"]) <= machines and len(set(frame["machine"])) < 8  # points shared them
    deadline = time.monotonic() + 100
    while any(os.path.exists(f"/proc/{pid}") for pid in machines):  # none is left
        assert time.monotonic() < deadline
        time.sleep(0.05)


def machine_of(platform, wait_s=0.0):
    time.sleep(wait_s)
    return os.getppid()


def packed(config, **arguments):
    """A machine and a point on it, as a worker gets them."""
    task = Task(config, warm_up=lambda platform: platform.run("1 us") and None, function=machine_of)
    return MachineGroups([task]).keys[0], pack(dataclasses.replace(task, arguments=arguments))


def is_running(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_keeps_one_machine():
    bare, hello = packed("bare"), packed("hello")
    pool = WarmPool(idle_s=1000)

    def machine(sweep, point):
        record = pool.measure(sweep, *point, Limits())
        assert record.outcome == "ok" and record.branched, record
        return record.values["value"]

    first = machine("a", bare)
    assert machine("a", bare) == first
    other = machine("a", hello)
    assert other != first and is_running(other) and not is_running(first)
    again = machine("b", hello)  # of another sweep
    assert again != other and not is_running(other)
    os.kill(again, signal.SIGKILL)  # which says nothing about points: the next one has another
    last = machine("b", hello)
    assert last != again and is_running(last)
    with ThreadPoolExecutor(2) as threads:  # of a worker with two: both machines at once, then one
        long = packed("bare", wait_s=3)
        both = [threads.submit(machine, "b", point) for point in (long, packed("hello", wait_s=3))]
        pids = [each.result() for each in both]
    assert [is_running(pid) for pid in pids].count(True) == 1


def test_a_worker_gives_an_idle_machine_up():
    pool = WarmPool(idle_s=0.5)
    point = packed("bare")
    pid = pool.measure("a", *point, Limits()).values["value"]
    deadline = time.monotonic() + 100
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert pool.measure("a", *point, Limits()).outcome == "ok"


def mark_and_rest(n, pids):
    """Leaves the process as a file."""
    (Path(pids) / str(os.getpid())).touch()
    time.sleep(1000)


@pytest.mark.parametrize("is_warm", [False, True])
def test_points_end_with_their_sweep(cluster, tmp_path, is_warm):
    """On workers that go on; points that wait do not begin."""
    pids = tmp_path / "pids"
    pids.mkdir()
    machine = "'bare', warm_up=lambda platform: None, function=lambda platform, n, pids: work(n, pids)"
    script = (
        "import sys, fabricvp\n"
        f"sys.path.append('{Path(__file__).parent}')\n"
        "from test_sweep_dask import mark_and_rest as work\n"
        f"fabricvp.sweep({machine if is_warm else 'function=work'}, executor='dask', progress=False,\n"
        f"    scheduler='{cluster.scheduler_address}', grid={{'n': range(8), 'pids': ['{pids}']}})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    while len(found := os.listdir(pids)) < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=100)
    assert errors.endswith("KeyboardInterrupt\n")
    assert not any(is_running(pid) for pid in found)
    time.sleep(3)
    assert sorted(os.listdir(pids)) == sorted(found)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_lost_scheduler_ends_the_sweep(tmp_path, end):
    file = tmp_path / "scheduler.json"
    options = ["--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen([sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1:0", *options])
    while not file.exists():
        time.sleep(0.05)
    worker = subprocess.Popen([sys.executable, "-m", "dask", "worker", *options, "--nthreads", "1", "--no-nanny"])
    address = json.loads(file.read_text())["address"]

    def end_scheduler():
        while not os.listdir(tmp_path / "pids"):
            time.sleep(0.05)
        scheduler.send_signal(end)

    (tmp_path / "pids").mkdir()
    ending = threading.Thread(target=end_scheduler)
    ending.start()
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
            pytest.raises(fabricvp.InputError, match=f"scheduler: '{address}' is lost") as caught,
        ):
            fabricvp.sweep(
                function=mark_and_rest,
                grid={"n": [1, 2], "pids": [str(tmp_path / "pids")]},
                executor="dask",
                scheduler=address,
                progress=False,
            )
        assert "\n" not in str(caught.value)
    finally:
        ending.join()
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def work_of_experiment(point):
    n, log = point
    return n, [work(n if n != 3 else -3, log.removeprefix("to "), 2)]


@pytest.mark.timeout(900)
def test_an_experiment_loses_no_point_when_workers_die(cluster, tmp_path):
    log, cache = tmp_path / "log", PointCache(tmp_path / "cache")
    points = [(n, f"to {log}") for n in range(8)]
    where = Dask(cluster.scheduler_address)
    run = Run(True, 1, None, Progress(shown=False), result_cache=cache, executor=where, elsewhere=True)
    with workers_that_die(cluster, log) as killed:
        values = run.map("points", work_of_experiment, points)
    assert len(killed) >= 2 and len(log.read_text().split()) > 8  # some ran again, on another worker
    assert values == [(n, [n * n]) for n in range(8)]
    assert [cache.find(work_of_experiment, point)[0] for point in points] == values
    assert run.other_core_s == pytest.approx(sum(cache.find(work_of_experiment, point)[2] for point in points))


@pytest.mark.timeout(900)
def test_an_experiment_gives_the_same_on_a_local_cluster(tmp_path, command):
    results = []
    for executor in ("processes", "dask"):
        done = command("experiment", "locality", "--quick", "--out", executor, "--executor", executor, "--jobs", 2)
        assert done.returncode == 0, done.stderr
        results.append(json.loads((tmp_path / executor / "result.json").read_text()))
    for name in ("rows", "checks", "tables", "options", "machines"):
        assert results[0].get(name) == results[1].get(name), name
    assert results[0]["rows"] or results[0]["tables"]


def test_wrong_executors_of_experiments(command, tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    for options, says in (
        (["--executor", "slurm"], "invalid choice: 'slurm'"),
        (["--scheduler", "tcp://127.0.0.1:1"], "scheduler: 'tcp://127.0.0.1:1' does not answer"),
    ):
        done = command("experiment", "locality", "--quick", "--out", "found", *options)
        assert (done.returncode, done.stderr.splitlines()[-1].count(says)) == (2, 1), done.stderr


def test_a_local_cluster_gives_the_same_as_processes(tmp_path, command):
    study = "config: gpu\napp: vectoradd\ngrid: {size: [1024, 2048]}\nkeep: ['kernels:time_s']\n"
    (tmp_path / "s.yaml").write_text(study)
    for executor in ("processes", "dask"):
        done = command("sweep", "s.yaml", "--out", executor, "--executor", executor, "--jobs", 2)
        assert done.returncode == 0 and "2 points, 2 ok" in done.stdout, done.stderr
    assert command("diff", "processes", "dask").stdout == "0 of 2 figures changed\n"


def test_wrong_schedulers_are_input_errors():
    for scheduler, message in (("nonsense://x", "does not answer"), ("tcp://127.0.0.1:1", "does not answer")):
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            pytest.raises(fabricvp.InputError, match=message) as caught,
        ):
            fabricvp.sweep(function=lambda: 1, executor="dask", scheduler=scheduler, progress=False)
        assert "\n" not in str(caught.value)
    with pytest.raises(fabricvp.InputError, match="scheduler: is for the executor dask"):
        fabricvp.sweep(function=lambda: 1, scheduler="tcp://127.0.0.1:1", progress=False)
