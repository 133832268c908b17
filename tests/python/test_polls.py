# SPDX-License-Identifier: Apache-2.0
"""Harts that sleep over polls give what harts that execute them give: statistics, consoles, memory and registers, at
times drawn at random. The programs are short here; FABRICVP_POLLS=deep (`make test-deep PARTS=polls`) adds longer ones
and more seeds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DEEP = os.environ.get("FABRICVP_POLLS") == "deep"
STOPS = 20
TREE = Path(__file__).resolve().parents[2]

#: Runs a machine of configs/ with stops at random times, and prints what one can see at each.
SCRIPT = """
import hashlib, json, random, sys
import fabricvp
config, append, skip, total, seed, stops, after = sys.argv[1:]
overrides = {"simulation.skip_polls": skip == "true"}
if append:
    overrides["node.images.append"] = append
platform = fabricvp.Platform.from_config(config, overrides=overrides)
draw = random.Random(int(seed))
times = sorted(draw.randrange(int(total)) for _ in range(int(stops)))
seen, polls = [], {}

def look():
    values = platform.statistics.snapshot()
    polls.update({name: value for name, value in values.items() if name.startswith("sim.polls.")})
    memory = [hashlib.sha256(bytes(node.memory.read(0x80000000, 8 << 20))).hexdigest() for node in platform.nodes]
    consoles = [node.console.output for node in platform.nodes]
    harts = [[hart.pc] + [hart.x[i] for i in range(1, 32)] for node in platform.nodes for hart in node.harts]
    seen.append({
        "now": platform.now_ps, "memory": memory, "consoles": consoles, "harts": harts,
        "statistics": {name: value for name, value in values.items() if not name.startswith("sim.")},
    })

outcome = "time_limit"
for time in [*times, times[-1] + int(after)]:
    if outcome == "time_limit" and time > platform.now_ps:
        outcome = platform.run((time - platform.now_ps) / 1e12).outcome
        look()
print(json.dumps({"seen": seen, "polls": polls, "outcome": str(outcome)}))
"""

#: name: (configuration, options, simulated time in which to stop, whether polls must be skipped)
PROGRAMS = {
    "rdma": ("rdma_pair", "rate=1500 batch=16 signal=16 inline=28 check=0 exchange=0 latency=0 bandwidth=0", 7.2, True),
    "rdma_plain": (
        "rdma_pair",
        "rate=800 batch=1 signal=1 inline=0 check=0 exchange=0 latency=0 bandwidth=0",
        7.4,
        True,
    ),
    "rdma_latency": ("rdma_pair", "rate=0 check=0 exchange=2 latency=10 bandwidth=0 max=4096", 7.4, True),
    # Rounds that load a completion entry, call functions and save registers; packets that are lost and sent again.
    "rdma_exchange": ("rdma_pair", "rate=0 check=0 exchange=8 latency=0 bandwidth=0 max=64", 7.4, True),
    "rdma_errors": ("noisy", "rate=100 batch=4 check=0 exchange=4 latency=0 bandwidth=0 max=64", 9.0, True),
    "gpurdma": (
        "gpurdma_pair",
        "runs=1 size=8 messages=256 poster_groups=2 lanes=16 batch=16 signal=16 window=64",
        8.6,
        True,
    ),
    "compnet": ("compnet_pair", "scheme=compnet threads=2 min=8 max=8 work=rate groups=4 messages=40", 8.2, True),
    "compnet_host": ("compnet_pair", "scheme=ghn threads=2 min=8 max=8 work=echo groups=4 rounds=4", 8.2, True),
    "compnet_native": ("compnet_pair", "scheme=gpu_native min=8 max=8 work=echo groups=4 rounds=4", 8.2, True),
    "pgas": ("gpurdma_cluster_4", "work=hash groups=2", 9.0, True),
    "uboot": ("uboot", "", 40.0, False),
}
#: Programs of which harts must sleep over rounds of many instructions.
LOADING = {"rdma_exchange", "rdma_errors"}
#: Machines that are not in configs/.
MACHINES = {
    "noisy": f"""
base: {TREE}/configs/rdma_pair.yaml
network:
  links: [{{from: node0.hca0, to: node1.hca0, bit_error_rate: 1e-5}}]
"""
}
#: Milliseconds after the last stop, for which a program runs on if it has not ended; 50 unless it stands here.
AFTER = {"rdma_errors": 2}  # it waits long for what is lost
#: What takes longer: all that rdma_pair does.
LONG = {"rdma_all": ("rdma_pair", "latency=5 rate=200 max=4096", 68.0, True)}
ALL = PROGRAMS | (LONG if DEEP else {})


def seen(name, skip, seed, folder):
    config, append, milliseconds, _ = ALL[name]
    if config in MACHINES:
        file = folder / f"{config}.yaml"
        file.write_text(MACHINES[config])
        config = str(file)
    command = [sys.executable, "-c", SCRIPT, config, append, skip, str(int(milliseconds * 1e9)), str(seed), str(STOPS)]
    command.append(str(int(AFTER.get(name, 50) * 1e9)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("seed", range(1, 6 if DEEP else 2))
@pytest.mark.parametrize("name", ALL)
def test_results_are_the_same(name, seed, tmp_path):
    executed, slept = (seen(name, skip, seed, tmp_path) for skip in ("false", "true"))
    assert executed["polls"]["sim.polls.skipped_slices"] == 0
    if ALL[name][3]:
        assert slept["polls"]["sim.polls.skipped_slices"] > 1000, slept["polls"]
    if name in LOADING:
        polls = slept["polls"]
        assert polls["sim.polls.skipped_instructions"] > 4 * polls["sim.polls.skipped_slices"], polls
    assert slept["outcome"] == executed["outcome"]
    for one, other in zip(executed["seen"], slept["seen"], strict=True):
        for what in one:
            assert other[what] == one[what], f"{what} at {one['now']} ps"
