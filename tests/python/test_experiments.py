# SPDX-License-Identifier: Apache-2.0
"""The frame of the experiments, and the experiments themselves on small samples."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fabricvp
import pandas
import pytest
from fabricvp import source_tree, topology
from fabricvp.errors import InputError
from fabricvp.experiments import Experiment, Missing, PointFailed, Report
from fabricvp.experiments.frame import Run
from fabricvp.experiments.gpu_workloads.measure import Point, as_record, measure
from fabricvp.experiments.gpu_workloads.roles import Counts
from fabricvp.experiments.machines import Machine, hash_of_all
from fabricvp.experiments.points import run_points
from fabricvp.experiments.result_cache import ResultCache
from fabricvp.experiments.scale.measure import Load, run_load
from fabricvp.experiments.writing import Cost, write
from fabricvp.sweeps.code_hash import simulator_hash
from fabricvp.sweeps.progress import Progress


def work(point):
    if point == "bad":
        raise InputError("the machine has no tree")
    if point == "wrong":
        raise KeyError("lost")
    if point == "dies":
        os._exit(7)
    if point == "sleeps":
        time.sleep(60)
    return point, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_points_run_in_processes_of_their_own_and_in_order(jobs):
    ended = []
    results = run_points(work, [3, 1, 2], jobs, ended.append)
    assert [value for value, _ in results] == [3, 1, 2]
    assert len({pid for _, pid in results} | {os.getpid()}) == 4
    assert sorted(ended) == [0, 1, 2]


@pytest.mark.parametrize(
    "point, error, text",
    [("bad", InputError, "no tree"), ("wrong", PointFailed, "lost"), ("dies", PointFailed, "status 7")],
)
def test_a_point_that_fails_ends_the_others(point, error, text):
    begin = time.monotonic()
    with pytest.raises(error, match=text):
        run_points(work, ["sleeps", point], 2, lambda index: None)
    assert time.monotonic() - begin < 30


def test_a_report_is_written_whole(tmp_path):
    report = Report()
    report.row("speed", "GB/s", 12.5, 11.6, "a paper")
    report.row("nothing", "1", float("nan"), None, "")
    report.row("none", "1", Missing("it was not measured"), 4, "a paper")
    report.add_machines([Machine("m", "ab", 7), Machine("m", "ab", 7)])
    report.check("conservation", True, "all <bytes>")
    report.text("Why", "because")
    report.conclude("It <works>.")
    report.table("numbers", pandas.DataFrame({"a": [1, 2, 3]}), "three", shown=2)
    from matplotlib.figure import Figure

    (figure := Figure()).subplots().plot([1, 2])
    report.plot("line", figure, "a line")
    report.svg_figure("drawing", "<svg xmlns='http://www.w3.org/2000/svg'/>", "a drawing")
    trial = Experiment("trial", "A trial", "Does it work?", lambda run: None)
    write(tmp_path, trial, report, "fabricvp experiment trial", Cost(1.0, 2.0), {"quick": True})
    result = json.loads((tmp_path / "result.json").read_text())
    assert result == {
        "experiment": "trial",
        "version": fabricvp.__version__,
        "commit": source_tree.commit(),
        "simulator_sha256": simulator_hash(),
        "code_sha256": trial.code_hash,
        "command": "fabricvp experiment trial",
        "options": {"quick": True},
        "seed": 7,
        "config_sha256": hash_of_all([Machine("m", "ab", 7)]),
        "machines": [{"name": "m", "sha256": "ab", "seed": 7}],
        "title": "A trial",
        "question": "Does it work?",
        "cost": {"wall_s": 1.0, "core_s": 2.0},
        "verdict": ["It <works>."],
        "plots": [{"name": "line", "caption": "a line"}, {"name": "drawing", "caption": "a drawing"}],
        "rows": [
            {"figure": "speed", "unit": "GB/s", "measured": 12.5, "published": 11.6, "source": "a paper"},
            {
                "figure": "nothing",
                "unit": "1",
                "measured": None,
                "published": None,
                "source": "",
                "missing": "came out as nan",
            },
            {
                "figure": "none",
                "unit": "1",
                "measured": None,
                "published": 4,
                "source": "a paper",
                "missing": "it was not measured",
            },
        ],
        "checks": [{"name": "conservation", "ok": True, "detail": "all <bytes>"}],
        "tables": {"numbers": {"columns": ["a"], "rows": [[1], [2], [3]]}},
    }
    assert (tmp_path / "table.csv").read_text().splitlines() == [
        "figure,unit,measured,published,source,missing",
        "speed,GB/s,12.5,11.6,a paper,",
        "nothing,1,,,,came out as nan",
        "none,1,,4.0,a paper,it was not measured",
    ]
    assert len(pandas.read_csv(tmp_path / "numbers.csv")) == 3
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page and "all &lt;bytes&gt;" in page and 'src="http' not in page
    assert page.count("data:image/svg+xml;base64,") == 2 and (tmp_path / "drawing.svg").read_text().startswith("<svg")
    assert (tmp_path / "line.png").stat().st_size > 1000 and (tmp_path / "line.svg").exists()
    assert "it was not measured" in page
    order = [
        page.index(text)
        for text in ("It &lt;works&gt;.", "a line", "<h2>Figures", "<h2>Invariants", "because", "a drawing")
    ]
    assert order == sorted(order)  # the page begins with what came out, and the plots
    drawing = (tmp_path / "line.svg").read_text()
    assert "<text" in drawing and drawing.count("\n") < 400  # text is text, not a path for each letter
    assert not list(tmp_path.glob(".*"))


def test_cached_points_are_not_run_again(tmp_path, capsys):
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    result_cache = ResultCache(tmp_path / "result_cache")

    first = Run(True, 1, None, Progress(), result_cache=result_cache)
    assert first.map("files", work, ["x"], fresh=True)[0][0] == "x" and not list((tmp_path / "result_cache").iterdir())
    values = [value for value, _ in first.map("files", work, paths)]
    again = Run(True, 1, None, Progress(), result_cache=result_cache)
    assert [v for v, _ in again.map("files", work, [*paths, "new"])] == [*values, "new"]
    assert "files: 2 of 3 are in the result cache" in capsys.readouterr().err
    pids = {pid for _, pid in first.map("files", work, paths)} | {pid for _, pid in again.map("files", work, paths)}
    assert len(pids) == 2  # those of the first time
    assert {pid for _, pid in again.map("files", work, paths, fresh=True)}.isdisjoint(pids)
    # A point is another one when a file that it names changes.
    (tmp_path / "a").write_text("a machine")
    assert again.map("files", work, paths)[0][1] not in pids


def test_a_cut_run_loses_nothing(tmp_path):
    result_cache = ResultCache(tmp_path)
    with pytest.raises(PointFailed):
        Run(True, 1, None, Progress(shown=False), result_cache=result_cache).map("points", work, ["done", "dies"])
    assert result_cache.find(work, "dies") is None and (found := result_cache.find(work, "done"))[0][0] == "done"
    next(tmp_path.glob("*/*.parquet")).write_bytes(b"cut short")
    assert (
        Run(True, 1, None, Progress(shown=False), result_cache=result_cache).map("points", work, ["done"])[0]
        != found[0]
    )


def test_heavy_points_start_first():
    ended = []
    run_points(work, [1, 2, 3], 1, ended.append, costs=[1.0, 5.0, 3.0])
    assert ended == [1, 2, 0]


def test_a_broken_invariant_is_not_ok():
    run = Run(True, 1, None, Progress(shown=False))
    assert run.map("numbers", work, [5])[0][0] == 5
    assert run.report.ok and not run.report.check("holds", False, "no") and not run.report.ok


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["experiment"], "NAME"),
        (["experiment", "pcie-congestion"], "--out"),
        (["experiment", "pcie-congestio", "--out", "x"], "did you mean 'pcie-congestion'"),
        (["experiment", "pcie-congestion", "--out", "x", "--jobs", "0"], "jobs"),
        (["experiment", "pcie-congestion", "--out", "x", "--graphs", "many"], "many"),
        (["experiment", "pcie-congestion", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["experiment", "pcie-congestion", "--out", "x", "--machine", "hello"], "no PCIe tree"),
    ],
)
def test_bad_input_is_one_line(command, arguments, says):
    done = command(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_help_lists_the_experiments(command):
    done = command("experiment", "--help")
    assert done.returncode == 0 and "pcie-congestion" in done.stdout and "example: fabricvp experiment" in done.stdout
    shown = command("experiment", "pcie-congestion", "--help").stdout
    assert "--graphs" in shown and " of a core, with --quick " in shown


@pytest.mark.timeout(1800)
def test_pcie_congestion(experiment, tmp_path):
    ran = experiment("pcie-congestion", "--graphs", "12")
    assert ran.result["machines"] and ran.result["options"]["graphs"] == 12 and ran.result["seed"] == 1
    rows = ran.measured
    # 128 bytes in 152 and 64 in 88 at 15.75 GB/s, and the sizes' ratio: what the tree is made of, found again.
    assert rows["a message alone, below one switch"] == pytest.approx(15.754 * 128 / 152, rel=0.01)
    assert rows["a message alone, across the root complex"] == pytest.approx(15.754 * 64 / 88, rel=0.01)
    assert rows["τ: penalty of crossing the root complex"] == pytest.approx(1 / 2 - 1 / 3, abs=0.005)
    assert rows["random graphs solved in closed form"] == 22_259
    for family in ("scatter", "gather"):
        assert rows[f"{family}, max-min, two rates: within ±10 %"] == 100
        assert rows[f"{family}, max-min, two rates: median of |error|"] < 1
    assert rows["2d, 254 KB, in steps: gain of the best order over the worst one"] > 20
    for name in (
        "table.csv",
        "index.html",
        "communications.csv",
        "families.csv",
        "error_histogram.png",
        "predicted.svg",
    ):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_netcrafter(experiment, tmp_path):
    rows = experiment(
        "netcrafter", "--only", "gups", "--points", "sector-cache", "trimming", "sequencing", "all"
    ).measured
    # gups wants a word of each line that it reads; how many it reads depends on its form.
    assert rows["trimming: flits saved by trimming, mean"] > 0
    assert rows["all: flits saved by trimming, mean"] > 0
    assert rows["all: flits saved by stitching, mean"] > 1
    assert "sequencing: flits saved by trimming, mean" not in rows
    assert rows["memory of a controller"] == 16400
    assert rows["memory of a controller, of a GPU's L2 (MI250X)"] == pytest.approx(0.098, abs=5e-4)
    assert rows["memory of a controller, of a switch's buffers"] == pytest.approx(0.024, abs=5e-4)
    runs = pandas.read_csv(tmp_path / "found" / "runs.csv").set_index("point")
    assert runs["correct"].all() and set(runs.index) == {"baseline", "sector-cache", "trimming", "sequencing", "all"}
    for name in ("speedup.png", "saved.png", "speedups.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_netcrafter_as_published(experiment, tmp_path):
    rows = experiment("netcrafter-mgpusim", "--only", "gups", "--points", "ideal", "all").measured
    assert rows["ideal: speed-up, largest"] > rows["all: speed-up, largest"] > 1
    found = json.loads((tmp_path / "found" / "result.json").read_text())
    machines = {each["name"] for each in found["machines"]}
    assert {f"gups on netcrafter_quad_mgpusim{rest}" for rest in ("", "_ideal")} <= machines
    assert not machines & {f"gups on netcrafter_quad{rest}" for rest in ("", "_ideal")}


@pytest.mark.timeout(1800)
def test_netcrafter_against_load(experiment, tmp_path):
    rows = experiment("netcrafter-load", "--only", "transpose", "--points", "trimming", checks=3).measured
    load = pandas.read_csv(tmp_path / "found" / "load.csv").set_index("size")
    assert list(load.index) == [128, 256] and set(load["reach"]) == {512}
    assert rows["512 entries, slow-down, mean"] == pytest.approx(load.loc[256, "ideal"])
    assert rows["512 entries, all: speed-up, largest"] == pytest.approx(load.loc[256, "all"])
    # More bytes for as many links, and kernels alone wait longer for them than regions with launches.
    assert 1 <= load.loc[128, "ideal"] < load.loc[256, "ideal"]
    assert (load["region_slowdown"] < load["ideal"]).all()
    for name in ("load_512.png", "load.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_netcrafter_of_training(experiment, tmp_path):
    experiment("netcrafter-training", checks=3)
    ways = pandas.read_csv(tmp_path / "found" / "training.csv").set_index("way")
    assert list(ways.index) == ["one network", "split products", "copies", "copies, split products"]
    assert set(ways["network"]) == {"lenet"} and set(ways["batch"]) == {4}
    # Copies exchange gradients only; one network fetches what other GPUs have made.
    assert ways.loc["copies", "packets"] < 0.5 * ways.loc["one network", "packets"]
    assert ways.loc["split products", "kernel_time_ms"] < 0.7 * ways.loc["one network", "kernel_time_ms"]


@pytest.mark.timeout(1800)
def test_netcrafter_sensitivity(experiment, tmp_path):
    rows = experiment("netcrafter-sensitivity", "--only", "rates", "queues", checks=5).rows
    # Where all links are alike none waits for the one between clusters, so there is less to gain.
    assert rows["NetCrafter gains more at 8 : 1 than where all links are alike"]["measured"] == 1
    assert rows["selective pooling repairs it"]["missing"] == "its points were not run"
    queues = pandas.read_csv(tmp_path / "found" / "queues.csv")
    # At these sizes nothing piles up (test_fabric.py has a case where it does), but the setting reaches the machines.
    times = queues[queues["point"] == "baseline"].pivot(index="workload", columns="setting", values="kernels_us")
    assert (
        set(times.columns) == {"by destination", "one a channel"}
        and (times["by destination"] != times["one a channel"]).any()
    )
    assert (queues["same_cluster_read_us"] > 0).all()
    for name in ("rates.png", "queues.png", "rates.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_netcrafter_that_predicts_reuse(experiment, tmp_path):
    experiment("netcrafter-sensitivity", "--only", "predictor", checks=5)
    found = pandas.read_csv(tmp_path / "found" / "predictor.csv").set_index(["workload", "setting", "point"])
    # Lanes of spmv come back for other sectors, so its lines are kept whole; those of gups hardly do.
    spmv, gups = (found.loc[w, "history of 2", "trimming"] for w in ("spmv", "gups"))
    assert spmv["speed_up"] > found.loc["spmv", "published rule", "trimming"]["speed_up"]
    assert spmv["kept_whole"] > spmv["trimmed"] > 0 and spmv["reused"] > spmv["unused"] > 0
    assert gups["trimmed"] > 2 * gups["kept_whole"]
    # Points without a predictor, and without controllers, have no decisions.
    assert found.loc["spmv", "published rule", "trimming"][["trimmed", "kept_whole"]].isna().all()


@pytest.mark.timeout(1800)
def test_rdma(experiment, tmp_path):
    rows = experiment("rdma", checks=5).rows
    write = rows["latency, write, 2 B"]
    assert 0.2 < write["measured"] < 2 and write["published"] == 0.89 and write["unit"] == "µs"
    # What was bought with each way of posting, and what it costs to have a GPU in between.
    assert rows["what inline data save, write, 8 B"]["measured"] > 0.05
    assert rows["what a network switch adds, write, 8 B"]["measured"] > 0.05
    assert (
        rows["rate of writes, 16 a doorbell, a completion for 16"]["measured"]
        > 2 * rows["rate of writes, the same, inline"]["measured"]
    )
    assert (
        rows["all in the GPU: write of 8 B, to its completion"]["measured"]
        > rows["all in the host: write of 8 B, to its completion"]["measured"] + 1
    )
    latency = pandas.read_csv(tmp_path / "found" / "latency.csv")
    assert set(latency["verb"]) == {"write", "send", "read", "write_completion", "fetch_add", "compare_swap"}
    spans = pandas.read_csv(tmp_path / "found" / "spans.csv")
    assert {"fetch", "payload", "doorbell", "receive"} <= set(spans["stage"])
    for name in ("latency.png", "bandwidth.png", "rates.svg", "spans.png", "places.csv", "index.html"):
        assert (tmp_path / "found" / name).stat().st_size > 0, name


@pytest.mark.timeout(1800)
def test_scale(experiment, tmp_path):
    experiment("scale", "--devices", "4", "16", "--patterns", "uniform", "neighbour", "gups", checks=2)
    table = pandas.read_csv(tmp_path / "found" / "scale.csv").set_index(["pattern", "devices"]).sort_index()
    assert set(table.index) == {(p, n) for p in ("uniform", "neighbour", "gups") for n in (4, 16)}
    assert (table["packet_hops"].drop(index="gups") > 100_000).all()
    assert (table.loc["gups", "packet_hops"] > 40_000).all()  # all of a recording, with four devices
    assert (table["ns_per_hop"] > 1).all() and table["events_per_hop"].between(1, 3).all()
    assert (tmp_path / "found" / "cost.png").stat().st_size > 0


@pytest.mark.timeout(1800)
def test_replay(experiment, tmp_path):
    experiment("replay", "--only", "transpose", "pagerank", checks=4)
    table = pandas.read_csv(tmp_path / "found" / "replay.csv").set_index("workload")
    assert list(table.index) == ["transpose", "pagerank"]
    assert (table["error_%"].abs() < 10).all() and (table["error_where_recorded_%"].abs() < 10).all()
    assert (table["slow_down"] > 1.3).all()  # the slow link counts
    # Which loads share a miss of an L1 depends on the fabric, so the recording may have a little more.
    assert (table["played_slow_flits_%"].between(99.5, 100.5)).all() and (table["speed_up"] > 0).all()


def test_a_fabric_of_1024_devices():
    """Built, resolved, and every packet accounted for."""
    cost = run_points(run_load, [Load(1024, "transpose", 2_000)], 1, lambda index: None)[0]
    assert (
        cost.hops > 500 and cost.sent == cost.received + cost.failed + cost.in_flight and cost.wrong == cost.failed == 0
    )


SMALL_GPU = {"compute_units": 4, "memory": {"capacity": "256 MiB"}}


@pytest.mark.timeout(300)
def test_workloads_are_measured_by_roles_and_not_by_names(tmp_path):
    """Whatever switches are called, traffic between clusters is found; where there are no clusters, nothing is said to
    be zero."""
    named = topology.clusters(2, 1, outer={"lane_rate": "2 GB/s"}).machine(gpu=SMALL_GPU)
    texts = {
        "other_names": named.replace("cluster0", "left").replace("cluster1", "far_right"),
        "one_switch": topology.clusters(1, 2).machine(gpu=SMALL_GPU),
        "alone": (
            fabricvp.config_path("gpu")
            .read_text()
            .replace("switch0\n", "switch0\n      compute_units: 4\n", 2)
            .replace("- name: switch0\n      compute_units: 4", "- name: switch0")
        ),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    simulated = []
    points = [
        Point("transpose", str(tmp_path / f"{name}.yaml"), 256, "interleaved", "round_robin", spans=True)
        for name in texts
    ]
    found = dict(zip(texts, run_points(measure, points, 2, lambda index: None, machines=simulated.extend)))
    assert (
        all(m.correct and m.kernels_s > 0 for m in found.values())
        and len({m.sha256 for m in simulated}) == len(simulated) == 3
    )
    crossing = found["other_names"]
    assert (
        set(crossing.utilisation) == {"left → far_right", "far_right → left"}
        and min(crossing.utilisation.values()) > 0.1
    )
    assert (
        sum(crossing.packets.values()) > 1000
        and sum(crossing.flits.values()) == sum(b for n, b in crossing.links.items() if n in crossing.utilisation) / 16
    )
    assert (
        all(sum(values) > 0 for values in crossing.load.values())
        and ("other cluster", "link between switches") in crossing.attribution.service
    )
    record = as_record(crossing)
    assert record["other_cluster_%"] > 20 and record["slow_link_busy_%"] > 10 and record["same_cluster_%"] == 0
    record = as_record(found["one_switch"])
    assert record["same_cluster_%"] > 20 and record["other_cluster_%"] == record["slow_link_busy_%"] == Missing(
        "no link of the machine joins clusters"
    )
    record = as_record(found["alone"])
    assert (
        record["local_%"] == 100
        and record["same_cluster_%"] == Missing("no fabric joins GPUs")
        and isinstance(record["flits_padded_25_or_75_%"], Missing)
    )


TWO_NODES = """
node: {images: {firmware: "firmware:hello.elf"}, host: {memory: 256 MiB}}
nodes:
  - gpus: [{compute_units: 2, memory: {capacity: 256 MiB}}]
  - gpus: [{compute_units: 8, memory: {capacity: 256 MiB}}]
  - {}
"""


@pytest.mark.timeout(200)
def test_the_node_asked_for_is_measured(tmp_path):
    """Beside others that run something else it gives what it gives alone."""
    two, alone = tmp_path / "two.yaml", tmp_path / "alone.yaml"
    two.write_text(TWO_NODES)
    alone.write_text("node: {host: {memory: 256 MiB}, gpus: [{compute_units: 8, memory: {capacity: 256 MiB}}]}\n")
    points = [
        Point("transpose", str(two), 256, node=1),
        Point("transpose", str(two), 256, node=0),
        Point("transpose", str(alone), 256),
    ]
    second, first, single = run_points(measure, points, 2, lambda index: None)
    assert second.correct and first.correct and single.correct
    keys = ("kernels_s", "wavefront_instructions", "transactions", "l1_misses", "accesses", "page_table_reads")
    assert [getattr(second, key) for key in keys] == [getattr(single, key) for key in keys]
    assert first.kernels_s > 1.2 * second.kernels_s > 0  # it has a quarter of the compute units


def test_a_machine_of_several_nodes_is_not_guessed_at(command, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO_NODES)
    given = ["experiment", "gpu-workloads", "--quick", "--only", "reduction", "--out", "found", "--machine", "two.yaml"]
    for wrong, expected_error in (
        ([], "two.yaml: node0 and node1 have a GPU: say which one is measured, as in --node node0"),
        (["--node", "node2"], "--node node2: node2 of two.yaml has no GPU; node0 and node1 have"),
        (["--node", "node3"], "--node node3: two.yaml has 3 nodes, node0 to node2"),
        (["--node", "2nd"], "--node: no node is called '2nd'"),
        (["--node", "node1"], "accesses of all nodes' GPUs are recorded together: give --no-spans"),
        (["--node", "node1", "--machine", "gpu"], "--node node1: gpu and netcrafter_quad_ideal have node0 alone"),
    ):
        done = command(*given, *wrong)
        assert (
            done.returncode == 2
            and expected_error in done.stderr
            and done.stderr.splitlines()[-1].startswith("fabricvp")
        ), done.stderr
    done = command(
        "experiment", "pcie-congestion", "--quick", "--out", "found", "--machine", "cs_storm", "--node", "node1"
    )
    assert done.returncode == 2 and "--node node1: cs_storm has node0 alone" in done.stderr
    assert not (tmp_path / "found").exists()  # nothing was measured


def test_an_experiment_on_machines_of_its_own_takes_no_node(command, tmp_path):
    done = command("experiment", "compnet-latency", "--quick", "--node", "node1", "--out", "found")
    assert done.returncode == 2 and "unrecognized arguments: --node node1" in done.stderr, done.stderr
    assert not (tmp_path / "found").exists()


def test_bad_input_leaves_what_was_there(command, tmp_path):
    (tmp_path / "found").mkdir()
    wrong = ("--machine", "cs_storm", "--node", "node1")
    done = command("experiment", "pcie-congestion", "--out", "found", "--result-cache", "a/b", *wrong)
    assert done.returncode == 2 and [path.name for path in tmp_path.iterdir()] == ["found"], done.stderr


@pytest.mark.timeout(200)
def test_an_experiment_on_one_of_two_nodes(command, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO_NODES)
    done = command(
        "experiment",
        "gpu-workloads",
        "--quick",
        "--only",
        "reduction",
        "--no-spans",
        "--no-sizes",
        "--machine",
        "two.yaml",
        "--ideal",
        "two.yaml",
        "--node",
        "node1",
        "--out",
        "found",
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "found" / "result.json").read_text())
    assert result["options"]["node"] == "node1" and all(c["ok"] for c in result["checks"])
    rows = {r["figure"]: r["measured"] for r in result["rows"]}
    assert rows["lines accessed, local, mean"] == 100 and rows["reduction: speed-up of the all-fast fabric"] == 1


def test_what_the_model_does_not_count_is_an_error():
    counts = Counts({"node0.gpu0.l1.hits": 3.0, "node0.gpu1.l1.hits": 4.0, "node0.gpu10.l1.hits": 5.0})
    assert counts.total(["node0.gpu0", "node0.gpu1"], r"l1\.hits") == 7
    for call in (
        lambda: counts.of("node0.gpu0.l1.hit"),
        lambda: counts.total(["node0.gpu0", "node0.gpu2"], r"l1\.hits"),
        lambda: counts.total(["node0.gpu0"], "l1"),
    ):
        with pytest.raises(LookupError, match="calls otherwise"):
            call()


def test_gpu_workloads_bad_input(command):
    for wrong, expected_error in (
        (["--only", "doom"], "doom"),
        (["--set", "nonsense"], "--set nonsense: KEY=VALUE"),
        (["--only", "reduction", "--set", "node.gpus.*.memory.l2_tlb.sts=1"], "did you mean 'sets'?"),
    ):
        done = command("experiment", "gpu-workloads", "--quick", *wrong, "--out", "found")
        assert done.returncode == 2 and expected_error in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_code_that_measures_makes_other_points_and_plots_do_not(tmp_path):
    """Modules count that an experiment uses by way of others, such as statistics.py, and what runs in children."""
    package = tmp_path / "fabricvp"
    built = Path(fabricvp._fabricvp.__file__).resolve().parent
    shutil.copytree(Path(fabricvp.__file__).resolve().parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in os.listdir(built):
        if not (package / name).exists():
            (package / name).symlink_to(built / name)

    def key():
        script = (
            "from fabricvp.experiments import result_cache\n"
            "from fabricvp.experiments.lanes.synthetic import run_traffic\n"
            "print(result_cache._key(run_traffic, 1))"
        )
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
        ).stdout

    first = key()
    assert key() == first
    for name, counts in (
        ("statistics.py", True),
        ("_child.py", True),
        ("experiments/lanes/__init__.py", True),
        ("experiments/lanes/plots.py", False),
        ("drawing.py", False),
        ("experiments/rdma/points.py", False),
    ):
        path = package / name
        original = path.read_text()
        path.write_text(original + "\n#\n")
        assert (key() != first) is counts, name
        path.write_text(original)
    assert key() == first
