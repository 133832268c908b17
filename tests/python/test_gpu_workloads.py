# SPDX-License-Identifier: Apache-2.0
"""The experiment on workloads on four GPUs, on small samples."""

import json

import pandas
import pytest


@pytest.mark.timeout(1800)
def test_gpu_workloads(experiment, tmp_path):
    ran = experiment("gpu-workloads", "--only", "transpose", "gups")
    assert (
        ran.result["options"]["only"] == ["transpose", "gups"]
        and ran.result["seed"] == 1
        and "--quick" in ran.result["command"]
    )
    assert {m["name"] for m in ran.result["machines"]} == {
        f"{w} on {m}" for w in ("transpose", "gups") for m in ("netcrafter_quad", "netcrafter_quad_ideal")
    }
    rows = ran.rows
    # Both move most of their lines over the slow link, which is an eighth as fast as the others.
    assert 1.3 < rows["transpose: speed-up of the all-fast fabric"]["measured"] < 8
    assert rows["gups: speed-up of the all-fast fabric"]["measured"] > 1.0
    assert rows["speed-up of the all-fast fabric, mean"]["published"] == 1.5
    table = pandas.read_csv(tmp_path / "found" / "workloads.csv").set_index(["workload", "machine"])
    shares = table[["local_%", "same_cluster_%", "other_cluster_%"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(100, abs=0.01)
    assert (table["correct"]).all() and (table["l1_transactions"] > 0).all()
    # Transpose's input is local; its output is bound to columns that are narrower than a page, so it lies everywhere
    # alike.
    assert table.loc[("transpose", "netcrafter_quad"), "other_cluster_%"] == pytest.approx(25, abs=1.5)
    assert rows["speed-up of the all-fast fabric, mean"]["measured"] >= rows["… geometric mean"]["measured"] > 1
    assert (
        rows["page-table flits between clusters, mean"]["measured"]
        < rows["page-table packets between clusters, mean"]["measured"]
    )
    sizes = pandas.read_csv(tmp_path / "found" / "sizes.csv")
    assert sizes.groupby("workload")["size"].apply(list).to_dict() == {
        "transpose": [192, 384, 768],
        "gups": [1 << 16, 1 << 17, 1 << 18],
    }
    assert (sizes["slowdown"] > 0.9).all()
    queues = pandas.read_csv(tmp_path / "found" / "queues.csv").set_index("workload")
    assert set(queues.index) == {"transpose", "gups"} and (queues["slow_queues_us"] != queues["slow_us"]).all()
    ratio = queues["slow_queues_us"] / queues["ideal_queues_us"]
    assert queues["slowdown_queues"].to_list() == pytest.approx(ratio.to_list(), rel=1e-4)
    assert "workloads 1/4: " in ran.stderr and "workloads 4/4: " in ran.stderr
    parts = pandas.read_csv(tmp_path / "found" / "attribution.csv")
    sums = parts.groupby(["workload", "memory"])[["queueing_ns", "service_ns", "share_%"]].sum()
    means = parts.groupby(["workload", "memory"])["mean_ns"].first()
    assert (sums["queueing_ns"] + sums["service_ns"]).to_numpy() == pytest.approx(means.to_numpy(), rel=1e-3)
    assert "own memory" in set(parts["memory"]) and {"translation", "L1", "crossbar", "L2"} <= set(parts["part"])
    for name in (
        "by_gpu.csv",
        "padding.csv",
        "places.svg",
        "utilisation.png",
        "attribution.png",
        "fabric_gups.svg",
        "index.html",
    ):
        assert (tmp_path / "found" / name).stat().st_size > 200


@pytest.mark.timeout(1800)
def test_gpu_workloads_on_changed_machines(command, tmp_path):
    done = command(
        "experiment",
        "gpu-workloads",
        "--quick",
        "--only",
        "reduction",
        "--no-spans",
        "--set",
        "node.gpus.*.memory.l2_tlb.sets=1",
        "node.gpus.*.memory.l2_tlb.ways=16",
        "--out",
        "found",
        timeout=1780,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {r["figure"]: r["measured"] for r in json.loads((tmp_path / "found" / "result.json").read_text())["rows"]}
    # All GPUs read pages in turns that 16 entries do not hold, so walks are most of what crosses the link.
    assert rows["page-table packets between clusters, mean"] > 30
