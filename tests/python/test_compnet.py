# SPDX-License-Identifier: Apache-2.0
"""Experiments with intra-kernel networking; tests/system/compnet_test.py has the backends themselves."""

import pandas
import pytest
from fabricvp.errors import InputError
from fabricvp.experiments.compnet_latency.points import Result
from fabricvp.experiments.compnet_latency.study import energy
from fabricvp.experiments.compnet_reduction.points import byte_count
from fabricvp.experiments.compnet_training.projection import minibatch, speedup, time_of
from fabricvp.experiments.compnet_training.workloads import WORKLOADS


def spread_of(folder):
    """The table `spread` of a quick run, by what it is about."""
    table = pandas.read_csv(folder / "found" / "spread.csv").set_index("what")
    assert (table["runs"] == 3).all() and (table["min"] < table["max"]).any()
    return table


def grid_of(folder, runs=3):
    """The table `spread` of a quick run that has rows and columns, by both."""
    table = pandas.read_csv(folder / "found" / "spread.csv").set_index(["row", "column"])
    assert list(table.columns) == ["runs", "mean", "min", "max"] and (table["runs"] == runs).all()
    assert (table["min"] <= table["mean"]).all() and (table["mean"] <= table["max"]).all()
    assert (table["min"] < table["max"]).any()  # steps of the clocks change something
    return table


BACKENDS_OF_THE_BUS = ("GHN", "ComP-Net", "GPU-native")


@pytest.mark.timeout(1800)
def test_latency(experiment, refreshed, tmp_path):
    rows = experiment("compnet-latency", checks=3).measured
    tables, left = refreshed("compnet-latency")
    assert left == [] and [row[0] for row in tables["round_trips"]["rows"]] == [
        "ComP-Net",
        "GHN",
        "GHN, APU",
        "GPU-native",
        "GDS",
    ]
    assert len(tables["wider_cores"]["rows"]) == 6 and all(len(row) == 4 for row in tables["wider_cores"]["rows"])
    near = "50 ns at each end of the link to the root complex"
    far = near.replace("50", "275")
    # A backend behind the I/O bus takes longer with a slower bus. Lanes that post wait for it in the two releases of a
    # post, whose reads of the host's memory cross both ends; the command processor's requests do not.
    slower = {b: rows[f"round trip, {b}, {far}"] - rows[f"round trip, {b}, {near}"] for b in BACKENDS_OF_THE_BUS}
    assert slower["GHN"] > 1.8
    assert abs(slower["ComP-Net"]) < 0.3
    assert slower["GPU-native"] == pytest.approx(2 * 2 * (275 - 50) / 1000, abs=0.2)
    spread = spread_of(tmp_path)
    line = spread.loc["round trip, GHN, 2 threads, µs"]
    assert len(spread) == 4 and line["min"] <= rows["round trip, GHN, 16 work-groups, 2 threads"] + 1e-5
    assert rows["round trip, GHN, 16 work-groups, 2 threads"] <= line["max"] + 1e-5
    # Cores that retire more in a cycle answer sooner, on the mean.
    assert (
        pandas.read_csv(tmp_path / "found" / "cores.csv")[["min_us", "round_trip_us", "max_us"]]
        .diff(axis=1)
        .iloc[:, 1:]
        >= 0
    ).all(axis=None)
    for backend, (fewest, most) in {"GHN": (1, 4), "ComP-Net": (1, 2)}.items():
        assert (
            rows[f"round trip, {backend}, 16 work-groups, {fewest} instructions a cycle"]
            > rows[f"round trip, {backend}, 16 work-groups, {most} instructions a cycle"]
        )
    # On an APU requests and their status stay on the host's bus; only the adapter's part crosses PCIe.
    for size in 8, 64:
        assert (
            rows[f"round trip, ComP-Net, {size} B"]
            < rows[f"round trip, GHN, APU, {size} B"]
            < rows[f"round trip, GHN, {size} B"]
        )
    # Kernels that begin and end for each message take longer than one that goes on.
    assert rows["round trip, GDS, 64 B"] > rows["round trip, ComP-Net, 64 B"]
    # One hart serves one request after the other; several, several at once.
    assert (
        rows["round trip, ComP-Net, 16 work-groups, 1 threads"]
        > 1.5 * rows["round trip, ComP-Net, 16 work-groups, 4 threads"]
    )
    # Host threads that read requests through the BAR take longer, the more so the more queues each has.
    slower = [
        rows[f"round trip, GHN, {groups} work-groups, queues in the GPU memory"]
        / rows[f"round trip, GHN, {groups} work-groups, queues in host memory"]
        for groups in (8, 16)
    ]
    assert 1.3 < slower[0] < slower[1]
    # Each attachment to the host's bus saves crossings of what is between.
    machines = tables["attachments"]["columns"][1:]
    assert len(machines) == 3 and len(tables["attachments"]["rows"]) == 6
    for groups in 1, 16:
        by = [rows[f"round trip, GHN, {groups} work-groups, {machine}"] for machine in machines]
        assert by[0] > by[1] > by[2]
    # A program that sleeps while its kernel runs leaves its core to leakage, with every backend.
    for groups in 1, 16:
        for wait in "sleeps", "polls":
            assert rows[f"energy of both nodes, GHN ÷ ComP-Net, {groups} work-groups, the host {wait}"] > 1
    waits = pandas.read_csv(tmp_path / "found" / "waits.csv")
    waits["watts"] = waits["uJ_of_host_cores"] / waits["round_trip_us"]
    by = waits.pivot(index=["backend", "groups"], columns="wait", values="watts")
    assert len(by) == 6 and (by["sleep"] < 0.97 * by["poll"]).all()
    threads = pandas.read_csv(tmp_path / "found" / "threads.csv")
    assert set(threads["threads"]) == {1, 2, 4, 8} and set(threads["backend"]) == {
        "ComP-Net",
        "GHN",
        "GHN, APU",
        "GPU-native",
    }
    assert (threads["slowest_us"] >= threads["round_trip_us"]).all()
    for name in ("sizes.png", "threads.png", "energy.svg", "bus.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


def test_energy_of_threads_that_poll():
    found = Result(instructions=4e9, seconds=1.0, messages=1000)
    # Two threads on each of two nodes, awake all the time: four times 0.27 + 0.47 W, and 0.29 nJ an instruction.
    assert energy("GHN", 2, found) == pytest.approx((4 * 0.74 + 4e9 * 0.29e-9) / 1000)
    assert energy("ComP-Net", 2, found) == pytest.approx((4 * 0.51 + 4e9 * 0.15e-9) / 1000)
    assert energy("GPU-native", 1, found) is None


@pytest.mark.timeout(1800)
def test_locking(experiment, refreshed, tmp_path):
    rows = experiment("compnet-locking", checks=3).measured
    tables, left = refreshed("compnet-locking")
    assert left == [] and [row[1] for row in tables["load"]["rows"]][:2] == ["–", "24"]
    assert [row[1] for row in tables["spread"]["rows"]] == ["3", "3", "3"]  # runs of each
    # What streams drives lines of queues out, and those that are locked stay.
    assert (
        rows["residency, 64 work-groups, 0 stream, not locked"]
        > rows["residency, 64 work-groups, 24 stream, not locked"]
    )
    assert (
        rows["residency, 64 work-groups, 24 stream, locked"] > rows["residency, 64 work-groups, 24 stream, not locked"]
    )
    assert rows["traffic of memory, 64 work-groups, 24 stream, locked"] > 50
    for name in ("residency.png", "latency.svg", "traffic.png", "caps.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_jacobi(experiment, refreshed, tmp_path):
    rows = experiment("compnet-jacobi", checks=4).measured
    tables, left = refreshed("compnet-jacobi")
    assert left == [] and tables["time"]["columns"] == ["rows and columns of a node", "32²", "128²"]
    assert [len(tables[name]["rows"]) for name in ("time", "energy")] == [7, 7]
    # CPUs alone win on small grids and lose on larger ones; a launch for each iteration costs what the driver takes.
    assert rows["CPU only, 32², driver 0 µs"] < rows["ComP-Net, 32², driver 0 µs"]
    assert rows["CPU only, 128², driver 0 µs"] > rows["ComP-Net, 128², driver 0 µs"]
    assert rows["HDN, 128², driver 20 µs"] - rows["HDN, 128², driver 0 µs"] == pytest.approx(20, abs=1)
    assert rows["ComP-Net, 128², driver 20 µs"] - rows["ComP-Net, 128², driver 0 µs"] == pytest.approx(2, abs=0.4)
    assert rows["GHN, APU, 32², driver 0 µs"] < rows["HDN, 32², driver 0 µs"]
    spread = grid_of(tmp_path)
    assert len(spread) == 10
    for size in "32²", "128²":
        nominal = rows[f"GHN, {size}, driver 0 µs"] / rows[f"ComP-Net, {size}, driver 0 µs"]
        line = spread.loc["GHN over ComP-Net", size]
        assert line["min"] - 1e-5 <= nominal <= line["max"] + 1e-5
    assert (tmp_path / "found" / "sizes.png").stat().st_size > 0


@pytest.mark.timeout(1800)
def test_reduction(experiment, refreshed, tmp_path):
    rows = experiment("compnet-reduction", checks=4).measured
    tables, left = refreshed("compnet-reduction")
    assert left == [] and tables["time"]["columns"] == ["µs an all-reduce", "64 KiB: 2 nodes", "4"]
    launched = [row for row in tables["time"]["rows"] if row[0] == "… 20 µs a launch for the driver"]
    assert len(launched) == 3 and all(row[1] == "" and row[2] for row in launched)
    spread = spread_of(tmp_path)
    line = spread.loc["all-reduce, ComP-Net, 2 nodes, 65536 B, µs"]
    nominal = rows["all-reduce, ComP-Net, 2 nodes, 65536 B"]
    assert len(spread) == 4 and line["min"] - 1e-5 <= nominal <= line["max"] + 1e-5
    # Launches: HDN has three of them on four nodes, one kernel for all needs one for two rounds. How long the
    # kernel itself takes depends by some µs on when its nodes' polls meet.
    slow = "all-reduce, HDN, 4 nodes, 65536 B"
    assert rows[f"{slow}, ring, driver 20 µs"] - rows[slow] == pytest.approx(60, abs=3)
    frames = [pandas.read_csv(tmp_path / "found" / f"{name}.csv") for name in ("reduction", "launches")]
    without, behind = (frame[frame["backend"].eq("ComP-Net") & frame["nodes"].eq(4)].iloc[0] for frame in frames)
    outside = [line["time_us"] - line["inside_us"] for line in (without, behind)]
    assert outside[1] - outside[0] == pytest.approx(10, abs=1)
    # The APU's threads poll as well.
    for nodes in 2, 4:
        assert rows[f"APU against ComP-Net, energy of cores, {nodes} nodes, 65536 B"] > 1
    # The queue's launches are submitted ahead: the driver's time is partly hidden behind what was submitted before.
    ahead = "all-reduce, GDS, 4 nodes, 65536 B"
    assert 10 < rows[f"{ahead}, ring, driver 20 µs"] - rows[ahead] < 55
    # Host threads that poll cost more than those of the command processor, whether or not the program polls as well.
    assert rows["the same of cores alone"] > 1 and rows["the same of cores alone, the host polls"] > 1
    waits = pandas.read_csv(tmp_path / "found" / "waits.csv")
    waits["watts"] = 1e3 * waits["CPU cores"] / waits["time_us"]
    by = waits.pivot(index=["nodes", "backend"], columns="wait", values="watts")
    assert len(by) == 4 and (by["sleep"] < 0.98 * by["poll"]).all()
    assert [row[0] for row in tables["waits"]["rows"]][::2] == [
        "the host sleeps, all parts",
        "the host polls, all parts",
    ]
    frame = pandas.read_csv(tmp_path / "found" / "reduction.csv")
    assert set(frame["nodes"]) == {2, 4} and set(frame["backend"]) == {
        "CPU only",
        "HDN",
        "GDS",
        "GHN",
        "GHN, APU",
        "ComP-Net",
        "GPU-native",
    }
    assert (
        frame[frame["nodes"] == 4].set_index("backend")["mJ"] > frame[frame["nodes"] == 2].set_index("backend")["mJ"]
    ).all()
    assert (tmp_path / "found" / "parts.png").stat().st_size > 0


def test_sizes_of_vectors():
    assert byte_count("64MiB") == 64 << 20 and byte_count("64KB") == 64000 and byte_count("12") == 12
    for text in ("64GiB", "1", "65MiB", "MiB", "-4"):
        with pytest.raises(InputError):
            byte_count(text)


def test_projection_of_training():
    curve = [(64, 10e-6), (1024, 20e-6), (2048, 40e-6)]
    assert time_of(curve, 4) == 10e-6 and time_of(curve, 1536) == pytest.approx(30e-6)
    assert time_of(curve, 4096) == pytest.approx(80e-6)  # on by the bandwidth of the last two
    assert minibatch(curve, (1, 512)) == pytest.approx(10e-6 + 40e-6)
    assert speedup(0.5, 1) == 1 and speedup(0.5, 1e12) == pytest.approx(2)
    assert {w.name: len(w.tensors) for w in WORKLOADS} == {
        "AlexNet": 16,
        "AN4 LSTM": 23,
        "CIFAR": 10,
        "Large Synth": 0,
        "MNIST Conv": 8,
        "MNIST Hidden": 4,
    }


@pytest.mark.timeout(1800)
def test_training(experiment, tmp_path):
    result = experiment("compnet-training", checks=3)
    spread = grid_of(tmp_path)
    assert len(spread) == sum(bool(w.tensors) for w in WORKLOADS)
    line, name = spread.loc["AN4 LSTM", "ComP-Net"], "training, AN4 LSTM, ComP-Net, 0 µs a launch for the driver"
    assert line["min"] - 1e-5 <= result.measured[name] <= line["max"] + 1e-5
    for name, bound in (("AN4 LSTM", 2.0), ("CIFAR", 1 / 0.96)):
        gain = result.measured[f"training, {name}, ComP-Net, 20 µs a launch for the driver"]
        assert 1 < gain < bound


@pytest.mark.timeout(1800)
def test_scaling(experiment, refreshed, tmp_path):
    rows = experiment("compnet-scaling", checks=3).measured
    tables, left = refreshed("compnet-scaling")
    assert left == [] and tables["round_trips"]["columns"][-1] == "requests a second, at most"
    # A bit for each queue saves the command processor the looks at all of them.
    for groups in 8, 32:
        misses = [
            rows[f"cache misses a request, {groups} work-groups, 1 hart, {how}"]
            for how in ("all queues read", "doorbells")
        ]
        assert misses[1] < misses[0]
    spread = grid_of(tmp_path)
    assert len(spread) == 4 and len(tables["spread"]["rows"]) == 2
    slow, fast = (rows[f"round trip, 32 work-groups, 1 hart, {how}"] for how in ("doorbells", "all queues read"))
    line = spread.loc["1 hart, doorbells over all queues read", "32 work-groups"]
    assert line["min"] - 1e-5 <= slow / fast <= line["max"] + 1e-5
    assert len(tables["doorbells"]["rows"]) == 4
    rate = {harts: rows[f"requests a second, {harts} harts, at most"] for harts in (1, 2, 4, 8)}
    assert rate[2] > 1.5 * rate[1] and rate[4] > 1.4 * rate[2]  # each hart performs what it can
    assert rows["work-groups from which on lanes are faster than 1 harts"] <= 32
    # Without replies to wait for, each backend always has a message to begin with.
    streams = {harts: rows[f"unanswered messages a second, {harts} harts, at most"] for harts in (1, 2, 4, 8)}
    assert all(streams[harts] > rate[harts] for harts in streams)
    assert streams[1] < streams[2] < streams[4] < streams[8] < rows["unanswered messages a second, lanes, at most"]
