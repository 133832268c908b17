# SPDX-License-Identifier: Apache-2.0
"""Published orderings of NetCrafter, judged on tables of speed-ups, and the points whose gains stand against load."""

import pandas
import pytest
from fabricvp.experiments.netcrafter.orderings import orderings
from fabricvp.experiments.netcrafter_load.study import shown_points
from fabricvp.experiments.netcrafter_sensitivity.orderings import evaluate

POINTS = ("stitching", "pooling", "selective-pooling", "trimming", "sequencing", "sector-cache", "all")


def judged(**workloads):
    gains = pandas.DataFrame.from_dict(workloads, orient="index", columns=list(POINTS))
    return {found.text: found.holds for found in orderings(gains)}


def test_what_was_published_of_workloads():
    found = judged(mis=(1.1, 1.0, 1.08, 1.2, 1.0, 1.1, 1.2), pagerank=(1.13, 1.12, 1.14, 1.4, 1.0, 1.3, 1.9))
    assert found == {
        "no workload loses by all parts": True,
        "trimming gains the most in mis": True,
        "a sector cache everywhere helps mis": True,
        "plain pooling hurts pagerank": True,
        "selective pooling repairs pagerank": True,
    }


def test_what_does_not_come_out():
    found = judged(spmv=(1.1, 1.1, 1.1, 0.7, 1.0, 0.8, 0.9), syr2k=(1.13, 1.14, 1.12, 1.4, 1.0, 1.3, 1.9))
    assert found == {
        "no workload loses by all parts": False,
        "trimming gains the most in spmv": False,
        "a sector cache everywhere helps spmv": False,
        "plain pooling hurts syr2k": False,  # so there is nothing to repair
    }


def test_a_hundredth_is_how_well_bars_can_be_read():
    assert judged(gups=(1.2, 1.2, 1.2, 1.2, 1.2, 1.0, 0.991))["no workload loses by all parts"]
    assert not judged(gups=(1.2, 1.2, 1.2, 1.2, 1.2, 1.0, 0.989))["no workload loses by all parts"]


def test_points_that_were_not_run_are_left_out():
    assert orderings(pandas.DataFrame({"baseline": {"gups": 1.0}, "trimming": {"gups": 1.2}})) == []


@pytest.mark.parametrize(
    "given, shown",
    [
        (None, ["ideal", "selective-pooling", "trimming", "sequencing", "all"]),
        ([], ["ideal", "all"]),  # --points without a name
        (["pooling", "all"], ["ideal", "pooling", "all"]),
    ],
)
def test_points_against_load(given, shown):
    assert shown_points(given) == shown


def lines(sweep, gains, point):
    columns = ("sweep", "setting", "workload", "point", "kernels_us", "speed_up")
    rows = [(sweep, setting, "gups", point, 1.0, gain) for setting, gain in gains.items()]
    return pandas.DataFrame(rows, columns=list(columns))


@pytest.mark.parametrize(
    "sweep, point, text, holds, fails",
    [
        (
            "window",
            "selective-pooling",
            "longer windows than 32 cycles gain less",
            {"32 cycles": 1.1, "64 cycles": 1.05, "128 cycles": 1.01},
            {"32 cycles": 1.1, "64 cycles": 1.15, "128 cycles": 1.01},
        ),
        (
            "flit",
            "all",
            "flits of 8 bytes gain, and less than those of 16",
            {"8 bytes": 1.1, "16 bytes": 1.2},
            {"8 bytes": 0.99, "16 bytes": 1.2},
        ),
        (
            "rates",
            "all",
            "NetCrafter gains at every rate of the links",
            {"128 : 16": 1.2, "128 : 32": 1.1, "32 : 32": 1.01},
            {"128 : 16": 1.2, "128 : 32": 1.1, "32 : 32": 0.9},
        ),
    ],
)
def test_what_was_published_of_dependences(sweep, point, text, holds, fails):
    assert {t: m for t, m, _, _ in evaluate(lines(sweep, holds, point))}[text] == 1
    assert {t: m for t, m, _, _ in evaluate(lines(sweep, fails, point))}[text] == 0
    assert text not in {t for t, *_ in evaluate(lines(sweep, dict(list(holds.items())[:1]), point))}
