# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions end in one line that gives the new name; what was recorded under them still plays."""

import json
import pathlib
import subprocess
import sys

import fabricvp
import pytest

LAUNCHER = [sys.executable, "-m", "fabricvp"]
#: Of that run.
PLAYED_THEN = {
    "sim.time_s": 1.3327558e-05,
    "node0.fabric.cluster0.to_cluster1.sent.flits": 945,
    "node0.fabric.cluster1.to_cluster0.sent.flits": 301,
    "node0.fabric.gpu0.link.sent.flits": 923,
    "node0.fabric.gpu0.requests_served": 227,
    "node0.fabric.gpu3.requests_served": 0,
}


@pytest.mark.parametrize(
    ("machine", "old", "new"),
    [
        ("gpu", "node0.gpu0.front", "node0.gpu0.host_interface"),
        ("gpu", "node0.gpu0.sharing", "node0.gpu0.compute_units_per_scalar_cache"),
        ("gpu", "node0.gpu0.compute_unit.turn_branches", "node0.gpu0.compute_unit.divergence_quantum"),
        ("gpu", "node0.gpu0.memory.router.answer_latency", "node0.gpu0.memory.router.response_latency"),
        ("gpu", "node0.gpu0.memory.unit.past_l1", "node0.gpu0.memory.unit.outstanding_bypasses"),
        ("gpu", "node.gpus.*.sharing", "compute_units_per_scalar_cache"),
        ("rdma_pair", "node0.hca0.sends", "node0.hca0.send_queues"),
        ("rdma_pair", "node0.hca0.receives", "node0.hca0.receive_queues"),
        ("compnet_pair", "node0.energy.gpu_l1_pj_a_bit", "node0.energy.gpu_l1_pj_per_bit"),
    ],
)
def test_keys(machine, old, new):
    with pytest.raises(fabricvp.InputError, match="is now called .*" + new.replace(".", r"\.")) as caught:
        fabricvp.spawn(machine, overrides={old: 1} if "sharing" in old or "_" in old else {old + ".x": 1})
    assert "\n" not in str(caught.value)


def test_keys_in_files_are_named_with_their_line(tmp_path):
    config = tmp_path / "machine.yaml"
    config.write_text("node:\n  gpus:\n    - below: host\n      front: {queue: 4}\n")
    with pytest.raises(fabricvp.InputError, match=r"machine.yaml:4: .*front is now called .*host_interface"):
        fabricvp.spawn(config)


def test_values():
    with pytest.raises(fabricvp.InputError, match="'published' is now called 'milic2017'"):
        fabricvp.spawn("numa_quad", overrides={"node.fabric.links.0.reversible.policy": "published"})


def test_options():
    done = subprocess.run([*LAUNCHER, "replay", "--tiles", "beside", "x", "y"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "fabricvp: option --tiles is now called --replica-placement\n"


def test_blocks():
    done = subprocess.run([*LAUNCHER, "describe", "rdma_pair", "node0.hca0.sends"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "fabricvp: node0.hca0.sends is now called node0.hca0.send_queues\n"


def test_statistics():
    with fabricvp.spawn("gpu") as platform:
        with pytest.raises(KeyError, match="node0.gpu0.front is now called node0.gpu0.host_interface"):
            platform.statistics.snapshot("node0.gpu0.front")
        with pytest.raises(KeyError, match=r"in_all is now called node0.gpu0.wavefront_instructions_total"):
            platform.statistics["node0.gpu0.wavefront_instructions_in_all"]
        assert platform.statistics.snapshot("no.such.block") == {}


def test_a_recording_made_before_the_renames_plays_as_then(tmp_path):
    """Made and played by version 0.2 (`run netcrafter_quad --app spmv --size 512 --record …`): parameters of GPUs had
    other names."""
    recording = pathlib.Path(__file__).with_name("recordings") / "spmv_0_2.recording"
    done = subprocess.run(
        [*LAUNCHER, "replay", recording, "netcrafter_quad", "--out", tmp_path, "--quiet"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    statistics = json.loads((tmp_path / "stats.json").read_text())
    assert {path: statistics[path] for path in PLAYED_THEN} == PLAYED_THEN
