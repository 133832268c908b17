# SPDX-License-Identifier: Apache-2.0
"""The study of all parts together; tests/system/cluster_test.py has the firmware itself."""

import pandas
import pytest
from fabricvp.experiments.crossed.points import BACKENDS, WORKLOADS, Result, points
from fabricvp.experiments.crossed.study import _frame, _gains


@pytest.mark.timeout(1800)
def test_quick(experiment, tmp_path):
    experiment("crossed", checks=4)
    frame = pandas.read_csv(tmp_path / "found" / "combinations.csv")
    assert len(frame) == 48 and (frame["computing_us"] < frame["step_us"]).all()
    # What is on changes what crosses between clusters; the backend does not.
    spmv = frame[frame["workload"] == "spmv"]
    assert spmv.groupby(["netcrafter", "lanes"])["inter_cluster_KB"].mean().nunique() > 1
    # Queues on the far side of PCIe cost the poster time.
    mean = frame[frame["backend"] == "ComP-Net"].groupby("queues")["step_us"].mean()
    assert mean["GPU"] < mean["host"]
    for name in ("combinations.svg", "gains.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


def test_gains_are_paired():
    """Each setting is held against the first one of its factor with all else the same."""

    def time(p):
        return (
            1e-5
            * (0.5 if p.netcrafter else 1)
            * (1 + list(BACKENDS).index(p.backend))
            * (2 if p.queues == "host" else 1)
        )

    found = {
        p: Result(time(p), time(p) / 2, True, 0, 0, 0, 0, 0)
        for p in points(WORKLOADS, tuple(BACKENDS), ("GPU", "host"))
    }
    gains = _gains(_frame(found)).set_index(["workload", "factor", "setting"])
    assert gains.loc[("jacobi", "netcrafter", "on"), "saved"] == pytest.approx(50)
    assert gains.loc[("spmv", "lanes", "on"), "saved"] == pytest.approx(0)
    assert gains.loc[("spmv", "queues", "host"), "saved"] == pytest.approx(-100)
    assert gains.loc[("spmv", "backend", "GPU-native"), "min"] == pytest.approx(-200)
