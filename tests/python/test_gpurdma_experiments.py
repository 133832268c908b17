# SPDX-License-Identifier: Apache-2.0
"""The experiments on RDMA that kernels control, in their quick form."""

import pandas
import pytest


@pytest.mark.timeout(400)
def test_placement(experiment, tmp_path):
    rows = experiment("gpurdma-placement", checks=5, timeout=380).rows
    both = rows["below one switch: queue pair GPU, completion queue GPU"]
    assert 3 < both["measured"] < 8 and both["published"] == 4.8 and both["unit"] == "µs"
    for topology in "below one switch", "below root ports":  # each look at a completion queue of the host crosses PCIe
        assert rows[f"{topology}: the completion queue in the GPU saves, queue pair in the GPU"]["measured"] > 0
    table = pandas.read_csv(tmp_path / "found" / "placement.csv")
    assert len(table) == 8 and (table["message_us"] > 0.5).all() and (table["message_us"] < table["us"]).all()
    looked = table[table["completion_queue"] == "host"]["lane_reads_host_us"]
    assert (looked > 0.3).all()
    spans = pandas.read_csv(tmp_path / "found" / "spans.csv")
    assert {"doorbell", "fetch", "payload", "scheduling", "receive"} <= set(spans["stage"])
    for name in ("placement.png", "placement.svg", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(600)
def test_throughput(experiment, tmp_path):
    rows = experiment("gpurdma-throughput", checks=4).measured
    steps = [rows[f"one at a time, 8 B: {step}"] for step in ("writing", "ringing", "polling")]
    assert sum(steps) == pytest.approx(rows["one at a time, 8 B: a message"], rel=0.01) and min(steps) > 0.3
    assert rows["what reused entries save"] > 0.1
    rates = [
        rows[f"{way}, 2 B"] for way in ("one at a time", "pipelined", "32 lanes, one queue pair", "queue pair a block")
    ]
    assert all(b > 1.5 * a for a, b in zip(rates, rates[1:])), rates
    assert 40 < rows["queue pair a block, 32 KiB"] < 54.55
    table = pandas.read_csv(tmp_path / "found" / "throughput.csv")
    assert set(table["topology"]) == {"switch", "root"} and (table["gbps"] > 0).all()


@pytest.mark.timeout(400)
def test_pingpong(experiment):
    rows = experiment("gpurdma-pingpong", checks=4, timeout=380).measured
    assert (
        rows["a notification there and back, answered by a CPU"]
        < rows["a notification there and back, answered by one work-group"]
        < 20
    )
    gbps = [
        rows[f"there by one queue pair and back by 30, answered by {who}"]
        for who in ("one kernel", "each work-group by itself")
    ]
    assert 20 < gbps[0] < gbps[1]  # parts that are answered at once overlap with those that still come


@pytest.mark.timeout(600)
def test_matvec(experiment, tmp_path):
    rows = experiment("gpurdma-matvec", checks=4).rows
    assert (
        rows["one kernel, 480 vectors"]["published"] == 11.7
        and rows["one kernel, 480 vectors"]["measured"]
        > 1.05 * rows["a kernel for each batch, 480 vectors"]["measured"]
        and rows["the same with 20 us a launch, 480 vectors"]["measured"] > 1.5
    )
    gains = [rows[f"one kernel over a kernel for each batch, {n} vectors"]["measured"] for n in (480, 1920)]
    assert gains[0] > gains[1] > 1
    assert (
        rows["… whose work-groups each get their part, 1920 vectors"]["measured"]
        > rows["one kernel, 1920 vectors"]["measured"]
    )  # what comes and goes overlaps
    table = pandas.read_csv(tmp_path / "found" / "matvec.csv")
    slower = table.pivot(index="vectors", columns="worker", values="us")
    assert (slower["… and 20 us a launch"] > slower["a kernel for each batch"] + 10).all()
    costs = pandas.read_csv(tmp_path / "found" / "costs.csv").set_index("cost")
    assert costs["us"].is_monotonic_increasing and costs["of_the_missing"].iloc[-1] < 1
    assert costs["us"].diff()["results through the host's memory"] > 4  # 61,440 bytes by 16 lanes of 1 GB/s: 3.9 us
    assert 5.5 < costs["us"].diff()["and 6 us a copy"] < 6.5


@pytest.mark.timeout(1200)
def test_what_if(experiment, tmp_path):
    assert len(experiment("gpurdma-what-if", checks=5, timeout=1180).rows) == 72
    table = pandas.read_csv(tmp_path / "found" / "what_if.csv")
    assert len(table) == 24 and (table["gbps"] > 30).all()
    us = {
        (tree, generation, pair, cq): value
        for tree, generation, pair, cq, value in table[
            ["tree", "generation", "queue_pair", "completion_queue", "us"]
        ].itertuples(index=False)
    }
    for tree in ("one switch", "two switches", "root ports"):
        for generation in (3, 5):  # each look at a completion queue of the host crosses PCIe
            assert us[tree, generation, "host", "GPU"] < us[tree, generation, "host", "host"]
    assert (
        us["two switches", 3, "GPU", "GPU"] > us["one switch", 3, "GPU", "GPU"] + 0.2
    )  # two more switches for what the adapter fetches
    assert (tmp_path / "found" / "what_if.png").stat().st_size > 0 and len(
        pandas.read_csv(tmp_path / "found" / "verdict.csv")
    ) == 18


@pytest.mark.timeout(1200)
def test_modern(experiment):
    rows = experiment("gpurdma-modern", checks=5, timeout=1180).rows
    for machine in "H200, ConnectX-7", "K40c, Connect-IB":

        def figure(name, machine=machine):
            return rows[f"{machine}: {name}"]["measured"]

        assert figure("to issue a write of 8 B, no fence") < figure("to issue a write of 8 B, a fence of the GPU")
        assert (
            figure("one lane")
            < figure("one lane, 32 entries a doorbell")
            < figure("32 lanes, one queue pair")
            < figure("many queue pairs")
        )
        assert figure("payload that does not stand in the entry: more") > 0.1
    assert (
        rows["H200, ConnectX-7: one lane"]["published"] == 1.8
        and rows["K40c, Connect-IB: one lane"]["published"] is None
    )
    assert rows["H200, ConnectX-7: one lane"]["measured"] > 2 * rows["K40c, Connect-IB: one lane"]["measured"]
