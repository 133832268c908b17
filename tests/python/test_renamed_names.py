# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions end in one line that gives the new name; what was recorded under them still plays."""

import argparse
import json
import pathlib
import pickle
import re
import subprocess
import sys

import fabricvp
import fabricvp.congestion
import fabricvp.experiments
import fabricvp.experiments.compnet
import fabricvp.experiments.frame
import fabricvp.fabric
import fabricvp.plot
import pandas
import pytest
from fabricvp import _fabricvp
from fabricvp.experiments.points import run_points

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


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: fabricvp.Platform.from_recording("r", "gpu", tiles="beside"),
            "tiles= is now called replica_placement=",
        ),
        (lambda: fabricvp.Platform.start_trace(None, most_bytes=1), "most_bytes= is now called max_bytes="),
        (lambda: fabricvp.spans.Spans().start(keep=1), "keep= is now called max_accesses="),
        (lambda: fabricvp.memory.Memory.read_string(None, 0, most=1), "most= is now called max_bytes="),
        (lambda: fabricvp.plot.bars({}, most=1), "most= is now called max_paths="),
        (lambda: fabricvp.congestion.random_graphs(None, 1, 1, most_edges=1), "most_edges= is now called max_edges="),
        (lambda: run_points(abs, [], 1, abs, arrived=abs), "arrived= is now called on_result="),
        (lambda: fabricvp.experiments.Run(True, 1, None, None, kept=None), "kept= is now called result_cache="),
        (lambda: fabricvp.gpu.Gpu.launch(None, "", 1, room=1), "room= is now called max_job_bytes="),
    ],
)
def test_keyword_arguments(call, says):
    with pytest.raises(TypeError, match=says):
        call()


def test_values_of_arguments():
    with pytest.raises(fabricvp.InputError, match="replica_placement='beside' is now called 'contiguous'"):
        fabricvp.Platform.from_recording("r", "gpu", replica_placement="beside")
    with pytest.raises(fabricvp.InputError, match="form='published' is now called 'martinasso2016'"):
        fabricvp.congestion.model("pcie", form="published")


def test_members_of_modules():
    with pytest.raises(AttributeError, match="Way is now called LinkTraffic"):
        fabricvp.fabric.Way  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        fabricvp.fabric.Nothing  # noqa: B018
    with pytest.raises(AttributeError, match="use is now called record_machine"):
        fabricvp.experiments.use  # noqa: B018
    with pytest.raises(AttributeError, match="Picture is now called SvgFigure"):
        fabricvp.experiments.frame.Picture  # noqa: B018
    with pytest.raises(AttributeError, match="SCHEMES is now called BACKENDS"):
        fabricvp.experiments.compnet.SCHEMES  # noqa: B018


def test_members_of_objects():
    report = fabricvp.experiments.Report()
    with pytest.raises(AttributeError, match="^Report.picture is now called svg_figure$"):
        report.picture("name", "<svg/>", "caption")
    with pytest.raises(AttributeError, match="^Report.used is now called add_machines$"):
        report.used([])
    with pytest.raises(AttributeError, match="^'Report' object has no attribute 'nothing'$"):
        report.nothing  # noqa: B018
    run = fabricvp.experiments.Run(True, 1, argparse.Namespace(), None)
    with pytest.raises(AttributeError, match="^Run.kept is now called result_cache$"):
        run.kept  # noqa: B018
    assert pickle.loads(pickle.dumps(report)).ok and run.result_cache is None


#: The tables of an experiment as version 0.2 wrote them, by experiment: columns, a row; the same with present names.
EARLIER_TABLES = {
    "compnet-locking": (["scheme", "most_ways"], ["host threads, APU", 4], ["backend", "max_ways"], ["GHN, APU", 4]),
    "compnet-training": (["way", "scheme"], ["ring", "lanes"], ["algorithm", "backend"], ["ring", "GPU-native"]),
    "crossed": (
        ["scheme", "crossing_KB", "least", "most"],
        ["host thread", 1, 2, 3],
        ["backend", "inter_cluster_KB", "min", "max"],
        ["GHN", 1, 2, 3],
    ),
    "gpurdma-throughput": (["way"], ["put"], ["method"], ["put"]),
    "gpurdma-ordering": (["read"], ["past L1"], ["read"], ["bypass L1"]),
    "lanes": (
        ["policy", "turns", "returns", "lane_time_turning_us", "right", "published as"],
        ["published", 1, 2, 3, True, "x"],
        ["policy", "reversals", "restored_lanes", "lane_time_reversing_us", "correct", "name in the paper"],
        ["milic2017", 1, 2, 3, True, "x"],
    ),
    "pcie-congestion": (["way", "right"], [1, 2], ["way", "right"], [1, 2]),
}


def of_experiment(folder, experiment, version, columns, row):
    folder.mkdir()
    (folder / "result.json").write_text(
        json.dumps(
            {"experiment": experiment, "version": version, "tables": {"points": {"columns": columns, "rows": [row]}}}
        )
    )
    return folder


@pytest.mark.parametrize("experiment", EARLIER_TABLES)
def test_tables_of_an_earlier_version_have_present_names(tmp_path, experiment):
    columns, row, present, values = EARLIER_TABLES[experiment]
    old = of_experiment(tmp_path / "old", experiment, "0.2.0", columns, row)
    table = fabricvp.experiments.read_tables(old)["points"]
    assert (list(table.columns), table.values.tolist()) == (present, [values])
    for before, now in zip(columns, present):
        if before != now and before not in present:
            with pytest.raises(KeyError, match=f"column {before} is now called {now}"):
                table[before]
            with pytest.raises(KeyError, match=f"column {before} is now called {now}"):
                table[table[now] == table[now]][[before]]
    new = of_experiment(tmp_path / "new", experiment, fabricvp.__version__, columns, row)
    table = fabricvp.experiments.read_tables(new)["points"]
    assert (list(table.columns), table.values.tolist()) == (columns, [row])


def test_tables_of_a_report_answer_earlier_names():
    report = fabricvp.experiments.Report()
    report.table("points", pandas.DataFrame({"backend": ["GHN"], "us": [1.0]}), "Points.")
    frame = report.sections[0].frame
    with pytest.raises(KeyError, match="column scheme is now called backend"):
        frame["scheme"]
    with pytest.raises(KeyError, match="^'nothing'$"):
        frame["nothing"]
    assert frame.groupby("backend")["us"].sum().to_dict() == {"GHN": 1.0}


def test_folders_of_experiments_and_runs_are_told_apart(tmp_path):
    folder = of_experiment(tmp_path / "found", "lanes", "0.2.0", ["turns"], [1])
    with pytest.raises(fabricvp.InputError, match=r"found: is the folder of an experiment.*read_tables\(\)"):
        fabricvp.read_results(folder)
    done = subprocess.run([*LAUNCHER, "diff", folder, folder], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "is the folder of an experiment" in done.stderr
    (tmp_path / "empty").mkdir()
    with pytest.raises(fabricvp.InputError, match=r"result\.json: cannot be read"):
        fabricvp.experiments.read_tables(tmp_path / "empty")


def test_regions_of_statistics():
    with (
        fabricvp.spawn("gpu") as platform,
        pytest.raises(KeyError, match=r"gpu0\.front is now called .*host_interface"),
    ):
        platform.statistics.reset("node0.gpu0.front")


def test_filters_of_traces():
    with fabricvp.spawn("rdma_pair") as platform:
        platform.start_trace(filter="hca0.send_queues,*.hart*")
        with pytest.raises(fabricvp.InputError, match=r"trace: hca0\.sends is now called hca0\.send_queues"):
            platform.start_trace(filter="*.hart*,hca0.sends")


def test_scopes_of_markers():
    with fabricvp.spawn("gpu", overrides={"node.host.marker.scope": "node0.gpu0.front"}) as platform:
        with pytest.raises(
            fabricvp.InputError, match=r"marker\.scope: node0\.gpu0\.front is now called .*host_interface"
        ):
            platform.run("1 us")


def of_version(folder, version, statistics, config=""):
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"complete": True, "version": version}))
    (folder / "stats.json").write_text(json.dumps(statistics))
    (folder / "config.resolved.yaml").write_text(config)
    return folder


OLD_STATISTICS = {
    "node0.hca0.sends.held_up": 1,
    "node0.hca0.receives.taken": 2,
    "node0.hca0.completions.lost": 3,
    "node0.hca0.commands.refused": 4,
    "node0.hca1.responder.answer.spans.count": 5,
    "node0.gpu0.launches.refused": 6,
    "node0.gpu0.memory.unit3.past_l1.spans.count": 7,
    "node0.pcie.root.answer.spans.count": 8,
    "node0.fabric.lanes_gpu0_cluster0.turns": 9,
    "network.switch0.managed": 10,
    "node0.hca0.events.events": 11,
    "node0.host.hart0.instructions": 12,
    "node0.fabric.cluster0.to_cluster1.overhead.of_16_mib_l2": 0.5,
}
NEW_STATISTICS = {
    "node0.hca0.send_queues.doorbell_queue_full": 1,
    "node0.hca0.receive_queues.consumed": 2,
    "node0.hca0.completion_queues.dropped": 3,
    "node0.hca0.commands.failed": 4,
    "node0.hca1.responder.response.spans.count": 5,
    "node0.gpu0.launches.rejected": 6,
    "node0.gpu0.memory.unit3.l1_bypass.spans.count": 7,
    "node0.pcie.root.completion.spans.count": 8,
    "node0.fabric.lanes_gpu0_cluster0.reversals": 9,
    "network.switch0.local_packets": 10,
    "node0.hca0.event_queues.events": 11,
    "node0.host.hart0.instructions": 12,
    "node0.fabric.cluster0.to_cluster1.overhead.of_16_mib_l2": 0.5,
}


GLOSSARY = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "glossary.md"


def example(pattern):
    """A path that a pattern of the glossary covers: an old and a new pattern have the same example."""
    pattern = re.sub(r"<\w+>", "gpu0", pattern).replace(".**.", ".switch0.to_gpu0.")
    pattern = re.sub(r"(?<=[a-z_])\*", "0", re.sub(r"^\*\.", "node0.", pattern))
    return re.sub(r"\*", "gpu0", pattern)


def test_every_path_of_the_glossary_gets_its_present_name():
    rows = re.findall(r"^\| (?:statistic|key) \| `([^` ]+)` \| `([^` ]+)` \|$", GLOSSARY.read_text(), re.MULTILINE)
    assert len(rows) > 60
    for old, new in rows:
        assert _fabricvp.current_path(example(old)) == example(new)
        assert _fabricvp.current_path(example(new)) == example(new)


def test_results_of_an_earlier_version_are_read_with_present_names(tmp_path):
    old = of_version(tmp_path / "old", "0.2.0", OLD_STATISTICS)
    assert fabricvp.read_results(old)[str(old)].to_dict() == NEW_STATISTICS
    (old / "regions.json").write_text(
        json.dumps([{"node": 0, "label": "a", "from_s": 0, "to_s": 1, "statistics": OLD_STATISTICS}])
    )
    regions = fabricvp.read_results(old, regions=True)
    assert regions[str(old), "node0", "a"].to_dict() == {"time_s": 1, **NEW_STATISTICS}
    # Those of this version are taken as they are.
    new = of_version(tmp_path / "new", fabricvp.__version__, OLD_STATISTICS)
    assert fabricvp.read_results(new)[str(new)].to_dict() == OLD_STATISTICS


def test_runs_of_an_earlier_version_are_compared_with_present_ones(tmp_path):
    config = "node:\n  fabric:\n    links:\n      - {lanes_there: 3, reversible: {policy: published}}\n"
    later = "node:\n  fabric:\n    links:\n      - {forward_lanes: 3, reversible: {policy: milic2017}}\n"
    old = of_version(tmp_path / "old", "0.2.0", OLD_STATISTICS, config)
    new = of_version(tmp_path / "new", "0.3.0", NEW_STATISTICS | {"node0.host.hart0.instructions": 13}, later)
    done = subprocess.run([*LAUNCHER, "diff", old, new], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Only the counter that differs is listed: names of the earlier version are those of today.
    assert [line.strip() for line in done.stdout.splitlines() if "→" in line and " us" not in line] == [
        "node0.host.hart0.instructions: 12 → 13 (+8.33 %)"
    ]


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
