# SPDX-License-Identifier: Apache-2.0
"""The experiments on RDMA that kernels control, in their quick form."""

import pandas
import pytest


def spread_of(folder, runs=3):
    """The table `spread` of a quick run, by what it is about."""
    table = pandas.read_csv(folder / "found" / "spread.csv").set_index("what")
    assert list(table.columns) == ["runs", "mean", "min", "max"] and (table["runs"] == runs).all()
    assert (table["min"] <= table["mean"]).all() and (table["mean"] <= table["max"]).all()
    assert (table["min"] < table["max"]).any()  # steps of the clocks change something
    return table


def is_within(line, value):
    return line["min"] - 1e-5 <= value <= line["max"] + 1e-5


@pytest.mark.timeout(1800)
def test_placement(experiment, tmp_path):
    rows = experiment("gpurdma-placement", checks=5).rows
    both = rows["below one switch: queue pair GPU, completion queue GPU"]
    assert 3 < both["measured"] < 8 and both["published"] == 4.8 and both["unit"] == "µs"
    for topology in "below one switch", "below root ports":  # each look at a completion queue of the host crosses PCIe
        assert rows[f"{topology}: the completion queue in the GPU saves, queue pair in the GPU"]["measured"] > 0
    table = pandas.read_csv(tmp_path / "found" / "placement.csv")
    assert len(table) == 8 and (table["message_us"] > 0.5).all() and (table["message_us"] < table["us"]).all()
    looked = table[table["completion_queue"] == "host"]["lane_reads_host_us"]
    assert (looked > 0.3).all()
    cpu = [
        rows[f"{place}: the CPU through the verbs library, queues in the host"]
        for place in ("below one switch", "below root ports")
    ]
    assert all(1 < row["measured"] < both["measured"] and row["published"] is None for row in cpu)
    spread = spread_of(tmp_path)
    assert len(spread) == 8 and is_within(spread.loc["queue pair GPU, completion queue GPU, µs"], both["measured"])
    forms = pandas.read_csv(tmp_path / "found" / "forms.csv").set_index("form")
    us = forms[["host, host", "GPU, host", "host, GPU", "GPU, GPU"]]
    one, sending = (us.loc[f"behind writes, one a post{how}"] for how in ("", ", none on receiving"))
    assert (one - sending)[:-1].between(0.4, 0.7).all()  # a read of the host's memory; with both in the GPU the next
    assert abs(one - sending)["GPU, GPU"] < 0.02  # post's fence waits behind the doorbell in place of the receive's
    spans = pandas.read_csv(tmp_path / "found" / "spans.csv")
    assert {"doorbell", "fetch", "payload", "scheduling", "receive"} <= set(spans["stage"])
    for name in ("placement.png", "placement.svg", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
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
    cpu = "CPU, 30 queue pairs"  # a call for each message, for 32, and none of either
    assert rows[f"{cpu}, 2 B"] < rows[f"{cpu}, 32 requests a call, 2 B"] < rows[f"{cpu}, pre-written entries, 2 B"]
    over = [
        rows[f"a queue pair a block over the CPU with as many{how}, 2 B"]
        for how in ("", ", 32 requests a call", ", pre-written entries")
    ]
    assert over[0] > over[1] > over[2]
    spread = spread_of(tmp_path)
    assert is_within(spread.loc["queue pair a block, 2 B, M/s"], rows["queue pair a block, 2 B"])
    assert is_within(spread.loc["a queue pair a block over the CPU with as many, 2 B"], over[0])
    table = pandas.read_csv(tmp_path / "found" / "throughput.csv")
    assert set(table["topology"]) == {"switch", "root"} and (table["gbps"] > 0).all()


@pytest.mark.timeout(1800)
def test_pingpong(experiment, tmp_path):
    rows = experiment("gpurdma-pingpong", checks=4).measured
    assert (
        rows["a notification there and back, answered by a CPU"]
        < rows["a notification there and back, answered by one work-group"]
        < 20
    )
    gbps = [
        rows[f"there by one queue pair and back by 30, answered by {who}"]
        for who in ("one kernel", "each work-group by itself")
    ]
    spread = spread_of(tmp_path)
    notified = "a notification there and back, answered by one work-group"
    assert len(spread) == 2 and is_within(spread.loc[f"{notified}, µs"], rows[notified])
    assert 20 < gbps[0] < gbps[1]  # parts that are answered at once overlap with those that still come


@pytest.mark.timeout(1800)
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
    spread = spread_of(tmp_path)
    assert is_within(spread.loc["one kernel over a kernel for each batch, 480 vectors"], gains[0]) and len(spread) == 6
    table = pandas.read_csv(tmp_path / "found" / "matvec.csv")
    slower = table.pivot(index="vectors", columns="worker", values="us")
    assert (slower["… and 20 us a launch"] > slower["a kernel for each batch"] + 10).all()
    costs = pandas.read_csv(tmp_path / "found" / "costs.csv").set_index("cost")
    assert costs["us"].is_monotonic_increasing and costs["of_the_missing"].iloc[-1] < 1
    assert costs["us"].diff()["results through the host's memory"] > 4  # 61,440 bytes by 16 lanes of 1 GB/s: 3.9 us
    assert 5.5 < costs["us"].diff()["and 6 us a copy"] < 6.5


@pytest.mark.timeout(1800)
def test_what_if(experiment, tmp_path):
    assert len(experiment("gpurdma-what-if", checks=5).rows) == 72
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
    cpu = pandas.read_csv(tmp_path / "found" / "cpu.csv")  # its queues are in the host: one switch more is for payload
    assert len(cpu) == 6 and (cpu["gbps"] > 30).all() and (cpu["us"] < min(us.values())).all()
    assert (tmp_path / "found" / "what_if.png").stat().st_size > 0 and len(
        pandas.read_csv(tmp_path / "found" / "verdict.csv")
    ) == 18
    spread = pandas.read_csv(tmp_path / "found" / "spread.csv").set_index(["row", "column"])
    assert len(spread) == 3 and (spread["runs"] == 3).all() and (spread["min"] < spread["max"]).any()
    line = spread.loc["latency, one switch, generation 3", "host, host"]
    assert is_within(line, us["one switch", 3, "host", "host"] / us["one switch", 3, "GPU", "GPU"])


@pytest.mark.timeout(1800)
def test_modern(experiment, tmp_path):
    rows = experiment("gpurdma-modern", checks=5).rows
    for machine in "H200, ConnectX-7", "K40c, Connect-IB":

        def figure(name, machine=machine):
            return rows[f"{machine}: {name}"]["measured"]

        issue = [
            figure(f"to issue a write of 8 B, {fence}")
            for fence in ("no fence", "a fence of the GPU", "a fence of the GPU in front of the record, too")
        ]
        assert issue[0] < issue[1] < issue[2]
        assert (
            figure("one lane")
            < figure("one lane, 32 entries a doorbell")
            < figure("32 lanes, one queue pair")
            < figure("many queue pairs")
        )
        assert figure("32 queue pairs in one work-group") <= 1.02 * figure("64 queue pairs in one work-group")
        apart = figure("16 queue pairs, a work-group each")
        assert 2 * figure("16 queue pairs, a work-group each, an entry a doorbell") < apart
        assert apart < figure("64 queue pairs, a work-group each") < 261
        assert figure("payload that does not stand in the entry: more") > 0.1
    new = "H200, ConnectX-7"
    assert rows[f"{new}: one lane"]["published"] == 1.79 and rows["K40c, Connect-IB: one lane"]["published"] is None
    assert rows[f"{new}: 64 queue pairs, a work-group each"]["published"] is None  # the adapter's ceiling is an input
    assert rows[f"{new}: until its completion is seen, a fence of system scope"]["published"] == 5.92
    assert rows[f"{new}: one lane"]["measured"] > 2 * rows["K40c, Connect-IB: one lane"]["measured"]
    there = f"{new}: 8 B there and back between two work-groups"
    never, waits = (rows[f"{there}, {how}"] for how in ("a fence that never waits for PCIe", "a fence of system scope"))
    assert never["published"] == 6.85 and waits["published"] is None
    assert 3 < never["measured"] < waits["measured"] - 0.5
    spread = spread_of(tmp_path)
    assert len(spread) == 6 and is_within(spread.loc["one lane, M/s"], rows[f"{new}: one lane"]["measured"])
    fences = pandas.read_csv(tmp_path / "found" / "fences.csv")
    fences = fences[fences["machine"] == new].set_index("fence")
    system = fences.loc[[f for f in fences.index if f.startswith("a fence of system scope") and "record" not in f]]
    assert list(system["published_issue_us"]) == [2.62] * 3
    waits, never, always = system["us"]
    assert never + 0.2 < waits < always - 0.2  # each form waits for one read of the host's memory more
