# SPDX-License-Identifier: Apache-2.0
"""Machines that run as several processes, from Python."""

import os
import signal
import subprocess
import sys
import time

import fabricvp
import pytest

#: Two nodes with cables so long that ranks seldom have to talk.
MACHINE = """
base: rdma_pair
network:
  links:
    - {from: node0.hca0, to: node1.hca0, propagation: 5 us}
"""
SHORT = {"node.images.append": "exchange=0 latency=2 max=512 bandwidth=8 rate=64"}


def without_simulator(statistics):
    return {path: value for path, value in statistics.items() if not path.startswith("sim.")}


def test_results_are_those_of_one_process(tmp_path):
    run = fabricvp.run_ranks(text=MACHINE, overrides=SHORT, out=tmp_path / "out")
    with fabricvp.spawn(text=MACHINE, overrides=SHORT) as platform:
        result = platform.run()
        assert run.result == result
        assert without_simulator(run.statistics) == without_simulator(dict(platform.statistics.snapshot()))
        assert run.consoles == tuple(node.console.output for node in platform.nodes)
        regions = platform.regions()
        assert list(run.regions.columns) == list(regions.columns)
        assert run.regions.equals(regions.reindex(run.regions.index))
    assert len(run.statistics) > 500
    assert run.statistics["sim.rank1.windows"] > 0
    assert "all ok, powering off" in run.consoles[1]
    assert (tmp_path / "out" / "stats.json").exists()


def test_limits_and_scripts():
    run = fabricvp.run_ranks("rdma_pair", overrides=SHORT, time="200 us")
    assert run.result.outcome == fabricvp.Outcome.TIME_LIMIT
    assert run.result.time == pytest.approx(200e-6)
    assert all(node.state == fabricvp.NodeState.RUNNING for node in run.result.nodes)

    script = {0: "timeout 100 ms\nexpect ok\n", "node1": "timeout 100 ms\nexpect ok\n"}
    run = fabricvp.run_ranks(text=MACHINE, overrides=SHORT, script=script)
    assert (run.result.outcome, run.result.detail) == ("event", "the script is done")
    run = fabricvp.run_ranks(text=MACHINE, overrides=SHORT, script={1: "timeout 1 ms\nexpect never\n"})
    assert run.result.outcome == "guest_failure"
    assert "'expect never': not seen within 0.001 s" in run.result.detail


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "rdma_pair", "ranks": 3}, "3 ranks: this machine has 2 parts"),
        ({"path": "rdma_pair", "ranks": 0}, "must be a number from 1 to 1024"),
        ({"path": "two_nodes"}, "no network between its nodes"),
        ({"path": "rdma_pair", "transport": "pigeon"}, "must be shared_memory or mpi"),
        ({"path": "rdma_pair", "overrides": {"node.host.hartz": 1}}, "hartz"),
        ({"path": "rdma_pair", "script": {1: "exspect a\n"}}, "^node1.script:1: unknown word 'exspect'"),
        ({"text": "nodes: no\n", "name": "mine.yaml"}, "^mine.yaml:1: "),
        ({"text": "nodes: no\n", "name": "../of/another folder"}, "^../of/another folder:1: "),  # written nowhere
    ],
)
def test_what_cannot_be(arguments, message, tmp_path):
    with pytest.raises(fabricvp.InputError, match=message) as caught:
        fabricvp.run_ranks(**arguments, out=tmp_path / "out")
    assert "\n" not in str(caught.value)


def test_results_of_an_earlier_run_are_not_taken_for_its_own(tmp_path):
    fabricvp.run_ranks("rdma_pair", overrides=SHORT, time="10 us", out=tmp_path / "out")
    with pytest.raises(fabricvp.InputError, match="3 ranks"):
        fabricvp.run_ranks("rdma_pair", 3, out=tmp_path / "out")


def test_a_platform_has_no_ranks():
    for build in (fabricvp.Platform.from_config, fabricvp.spawn):
        with pytest.raises(fabricvp.InputError, match=r"ranks: fabricvp\.run_ranks\(\) runs a machine as several"):
            build("rdma_pair", ranks=2)


def test_classes_of_this_process_are_no_plugins_of_ranks():
    class Adder(fabricvp.PcieDevice):
        """Of this process."""

    with pytest.raises(fabricvp.InputError, match="plugins: Adder is a class of this process: ranks take files"):
        fabricvp.run_ranks("rdma_pair", plugins=[Adder])


def test_an_interrupt_ends_the_ranks(tmp_path):
    """Ctrl-C raises where run_ranks() was called, and leaves no processes."""
    program = f"import fabricvp\nfabricvp.run_ranks(text={MACHINE!r}, out={str(tmp_path / 'out')!r})\n"
    mark = f"ranks-python-{os.getpid()}-{time.monotonic_ns()}"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "RANKS_TEST": mark},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        ends = time.monotonic() + 600
        while not (tmp_path / "out" / "run.json").exists():
            assert child.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.1)
        os.kill(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=600)
    assert "KeyboardInterrupt" in said
    while left := [pid for pid in os.listdir("/proc") if pid.isdigit() and _has(pid, mark)]:
        assert time.monotonic() < ends, left
        time.sleep(0.1)


def _has(pid, mark):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark.encode() in file.read()
    except OSError:
        return False
