# SPDX-License-Identifier: Apache-2.0
"""Sweeps on a Slurm cluster by dask-jobqueue; `scripts/deep/slurm.sh` brings one."""

import os
import signal
import subprocess
import sys
import threading
import time

import fabricvp
import pytest

jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
pytestmark = pytest.mark.skipif("SLURM_CONF" not in os.environ, reason="needs Slurm: make test-deep PARTS=slurm")

GRID = {"size": [1024, 2048, 4096], "node.gpus.0.compute_units": [2, 4]}


def jobs():
    """Numbers of jobs that run."""
    done = subprocess.run(["squeue", "--noheader", "--format=%i %t"], check=True, capture_output=True, text=True)
    return [line.split()[0] for line in done.stdout.splitlines() if line.split()[1] == "R"]


@pytest.fixture
def cluster(tmp_path):
    with jobqueue.SLURMCluster(
        queue="main",
        cores=1,
        processes=1,
        memory="2 GiB",
        walltime="02:00:00",
        interface="lo",
        python=sys.executable,
        local_directory=str(tmp_path),
        log_directory=str(tmp_path),
        scheduler_options={"dashboard_address": None},
    ) as cluster:
        cluster.scale(jobs=2)
        yield cluster


@pytest.mark.timeout(3000)
def test_points_run_in_jobs(cluster, tmp_path):
    options = {"app": "vectoradd", "grid": GRID, "statistics": ["kernels:*"], "progress": False}
    frame = fabricvp.sweep("gpu", executor="dask", scheduler=cluster.scheduler_address, **options)
    here = fabricvp.sweep("gpu", **options)
    assert set(frame["outcome"]) == {"ok"}, [*frame["error"]]
    columns = [name for name in here if name not in ("wall_s", "log")]
    assert frame[columns].equals(here[columns])


def where(n, folder):
    with open(f"{folder}/{n}.{os.getpid()}", "w"):
        time.sleep(4)
    return os.environ["SLURM_JOB_ID"]


@pytest.mark.timeout(3000)
def test_a_cancelled_job_loses_no_point(cluster, tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    cluster.adapt(minimum_jobs=2, maximum_jobs=2)  # a new job for one that ends

    def cancel_one():
        while not os.listdir(begun):
            time.sleep(0.1)
        subprocess.run(["scancel", f"--signal={signal.SIGKILL.value}", "--full", jobs()[0]], check=True)

    thread = threading.Thread(target=cancel_one)
    thread.start()
    frame = fabricvp.sweep(
        function=where,
        grid={"n": range(6), "folder": [str(begun)]},
        executor="dask",
        scheduler=cluster.scheduler_address,
        progress=False,
    )
    thread.join()
    assert [*frame["n"]] == [*range(6)] and set(frame["outcome"]) == {"ok"}
    assert len(os.listdir(begun)) > 6 and frame["value"].nunique() >= 2
