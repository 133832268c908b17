# SPDX-License-Identifier: Apache-2.0
"""The frame that measures the simulator's speed (`make bench`), tried on little work: that it runs, not how fast."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"
NATIVE = [
    "calendar_vs_systemc",
    "pcie_tlp_hops_per_s",
    "fabric_packet_hops_per_s",
    "fabric_packet_hops_per_s_with_gpus",
    "fabric_packet_hops_netcrafter_per_s",
    "fabric_events_per_hop_netcrafter",
    "fabric_cost_ratio_1024_vs_4",
    "replay_speedup",
    "gpu_alu_wavefront_instructions_per_s",
    "gpu_wavefront_instructions_per_s",
    "gpu_memory_transactions_per_s",
    "gpu_mb_per_gpu",
    "transpose_2048_quad_s",
    "congestion_2d_s",
    "small_kernel_s",
    "fir_262144_s",
    "transpose_1024_s",
]


def bench(*arguments, timeout=600):
    return subprocess.run(
        [sys.executable, BENCH / "bench.py", *map(str, arguments)], capture_output=True, text=True, timeout=timeout
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Of a quick run over everything that needs no other simulator."""
    file = tmp_path_factory.mktemp("bench") / "results.json"
    done = bench("--quick", "--output", file, *NATIVE)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text())


@pytest.mark.timeout(700)
def test_every_measurement_gives_a_number(results):
    assert list(results) == NATIVE or set(results) == set(NATIVE)
    for key, row in results.items():
        assert row["value"] > 0, f"{key}: {row}"
        assert row["systemc"] > 100_000, f"{key}: {row}"  # events a second; any machine has more
        assert 100_000 < row["memory"] < 200_000_000, f"{key}: {row}"  # reads a second: 10 us to 5 ns each


def test_rates_are_multiples_of_the_yardsticks(results):
    for key, row in results.items():
        if row["unit"].endswith("/s"):
            assert row["of_systemc"] == pytest.approx(row["value"] / row["systemc"]), key
            assert row["of_memory"] == pytest.approx(row["value"] / row["memory"]), key
        else:
            assert row["of_systemc"] is None and row["of_memory"] is None, key
        assert ("systemc_events" in row) == (row["unit"] == "s"), key


def test_times_are_events_of_systemc(results):
    row = results["small_kernel_s"]
    assert row["systemc_events"] == pytest.approx(row["value"] * row["systemc"])


@pytest.mark.timeout(200)
def test_other_results_stay(tmp_path):
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"kept": {"value": 1}}))
    done = bench("--quick", "--output", file, "calendar_vs_systemc", timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(file.read_text())
    assert found["kept"] == {"value": 1} and found["calendar_vs_systemc"]["ratio"] > 0


def test_unknown_measurement():
    done = bench("no_such_key", timeout=60)
    assert done.returncode == 2
    assert "no measurement no_such_key; there are: calendar_vs_systemc" in done.stderr


@pytest.mark.timeout(200)
def test_missing_parts_are_reported(tmp_path):
    """A measurement that cannot be made here has no number, and says why."""
    file = tmp_path / "results.json"
    done = bench("--quick", "--output", file, "congestion_3d_s", timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    row = json.loads(file.read_text())["congestion_3d_s"]
    assert row["value"] is None and row["of_systemc"] is None and row["note"] == "takes too long for a quick run"
