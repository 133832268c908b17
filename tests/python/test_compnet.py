# SPDX-License-Identifier: Apache-2.0
"""Experiments with networking from inside of kernels; tests/system/compnet_test.py has the schemes themselves."""

import pandas
import pytest

from fabricvp.experiments.compnet_latency.points import Found
from fabricvp.experiments.compnet_latency.study import joules


@pytest.mark.timeout(600)
def test_latency(experiment, tmp_path):
    rows = experiment("compnet-latency", checks=3).measured
    near = "250 ns at each end of the link to the root complex"
    far = near.replace("250", "500")
    # Who serves from behind the I/O bus pays for it; who does not, does not.
    assert rows[f"round trip, host threads, {far}"] > rows[f"round trip, host threads, {near}"] + 2
    for scheme in "command processor", "lanes":
        assert abs(rows[f"round trip, {scheme}, {far}"] - rows[f"round trip, {scheme}, {near}"]) < 0.3
    # One hart serves one request after the other; several, several at once.
    assert rows["round trip, command processor, 16 work-groups, 1 threads"] > 1.5 * rows["round trip, command processor, 16 work-groups, 4 threads"]
    threads = pandas.read_csv(tmp_path / "found" / "threads.csv")
    assert set(threads["threads"]) == {1, 2, 4, 8} and set(threads["scheme"]) == {"command processor", "host threads", "lanes"}
    assert (threads["slowest_us"] >= threads["round_trip_us"]).all()
    for name in ("sizes.png", "threads.png", "energy.svg", "bus.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


def test_energy_of_threads_that_poll():
    found = Found(instructions=4e9, seconds=1.0, messages=1000)
    # Two threads on each of two nodes, awake all the time: four times 0.27 + 0.47 W, and 0.29 nJ an instruction.
    assert joules("host threads", 2, found) == pytest.approx((4 * 0.74 + 4e9 * 0.29e-9) / 1000)
    assert joules("command processor", 2, found) == pytest.approx((4 * 0.51 + 4e9 * 0.15e-9) / 1000)
    assert joules("lanes", 1, found) is None


@pytest.mark.timeout(600)
def test_jacobi(experiment, tmp_path):
    rows = experiment("compnet-jacobi", checks=4).measured
    # CPUs alone win on small grids and lose on larger ones; a launch for each iteration costs what the driver takes.
    assert rows["CPUs alone, 32², driver 0 µs"] < rows["command processor, 32², driver 0 µs"]
    assert rows["CPUs alone, 128², driver 0 µs"] > rows["command processor, 128², driver 0 µs"]
    assert rows["host between kernels, 128², driver 20 µs"] - rows["host between kernels, 128², driver 0 µs"] == pytest.approx(20, abs=1)
    assert rows["command processor, 128², driver 20 µs"] - rows["command processor, 128², driver 0 µs"] == pytest.approx(2, abs=0.4)
    assert (tmp_path / "found" / "sizes.png").stat().st_size > 0
