# SPDX-License-Identifier: Apache-2.0
"""Microbenchmarks of the GPU of every shipped machine whose GPU differs, and what they are held against."""

import json
import subprocess

import pytest
from conftest import LAUNCHER, check_page_tables
from fabricvp.experiments.microbenchmarks.bench import ring
from fabricvp.experiments.microbenchmarks.limits import Limits, link_rate
from fabricvp.experiments.microbenchmarks.study import passes, units_in_use


def measure(tmp_path, machine):
    done = subprocess.run(
        [LAUNCHER, "experiment", "microbenchmarks", "--quick", "--machine", machine, "--out", "found"],
        capture_output=True,
        text=True,
        timeout=1100,
        cwd=tmp_path,
    )
    assert (tmp_path / "found" / "result.json").exists(), done.stdout + done.stderr
    result = json.loads((tmp_path / "found" / "result.json").read_text())
    assert [c for c in result["checks"] if not c["ok"]] == []
    assert done.returncode == 0, done.stderr
    return {row["figure"]: row["measured"] for row in result["rows"]}


@pytest.mark.timeout(1200)
def test_microbenchmarks(tmp_path):
    measured = measure(tmp_path, "gpu")
    assert 15 < measured["load, L1"] < measured["load, L2"] < measured["load, memory"] < measured["load, host"]
    for name in "latency.png", "bandwidth.svg", "lds.png", "hashing.png", "links.csv", "fairness.csv", "index.html":
        assert (tmp_path / "found" / name).stat().st_size > 100
    check_page_tables(tmp_path / "found")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("machine", ["apu", "compnet_pair", "gpurdma_pair", "gpurdma_modern", "netcrafter_quad"])
def test_machines(tmp_path, machine):
    assert measure(tmp_path, machine)["load, memory"] > 100


def test_a_ring_visits_all_of_its_words():
    words = ring(4096, 128)
    at, seen = 0, []
    for _ in range(32):
        seen.append(at)
        at = int(words[at // 8])
    assert at == 0 and sorted(seen) == list(range(0, 4096, 128))


def limits(**values):
    known = dict.fromkeys(Limits.__dataclass_fields__, 0)
    return Limits(**known | values)


@pytest.mark.parametrize("stride, expected", [(4, 2), (8, 4), (16, 8), (64, 32), (128, 64), (132, 2)])
def test_passes_of_the_lds(stride, expected):
    assert passes(limits(lds_size=64 << 10, lds_banks=32), stride) == expected


@pytest.mark.parametrize("stride, banks", [(64, 16), (128, 16), (256, 8), (2048, 1), (4096, 1)])
def test_banks_that_a_stride_uses(stride, banks):
    assert units_in_use(limits(l2_banks=16, l2_interleave=128), "L2", stride) == banks


def test_the_slowest_link_on_the_way_counts():
    link = {"lanes": 8, "lane_rate": 16e9}
    config = {
        "node0.fabric": {"links": None},
        "node0.fabric.links": {
            0: {"from": "gpu0", "to": "a", **link},
            1: {"from": "gpu1", "to": "a", **link},
            2: {"from": "gpu2", "to": "b", **link},
            3: {"from": "a", "to": "b", **link, "lane_rate": 2e9},
        },
    }
    assert link_rate(config, 0, 1) == 128e9 and link_rate(config, 0, 2) == link_rate(config, 2, 0) == 16e9
    assert link_rate(config, 0, 3) == 0
