# SPDX-License-Identifier: Apache-2.0
"""What runs leave behind, read back."""

import json
import os
import subprocess
import sys

import fabricvp
import guests
import numpy
import pytest

GPU = """
node:
  host: {memory: 256 MiB}
  pcie: {switches: [{name: switch0}]}
  gpus: [{below: switch0, compute_units: 4}]
"""

REGION = '[{"node": 0, "label": "a", "from_s": 0, "to_s": 1, "statistics": {"x": 1}}]'


def test_regions_as_columns(tmp_path):
    folders = []
    for size in (64, 128):
        with fabricvp.spawn(text=GPU, app="jacobi2d", size=size) as platform:
            platform.run("2 s")
            frame = platform.regions()
            folders.append(tmp_path / f"size{size}")
            platform.write_results(folders[-1])
        assert list(frame.columns) == [("node0", "kernels")] and list(frame.columns.names) == ["node", "region"]
        assert frame.index.name == "path"
        column = frame["node0", "kernels"]
        assert 0 < column["time_s"] < 1
    read = fabricvp.read_results(*folders, regions=True)
    assert list(read.columns) == [(str(folder), "node0", "kernels") for folder in folders]
    assert list(read.columns.names) == ["run", "node", "region"]
    assert read[str(folders[1]), "node0", "kernels"].equals(column.reindex(read.index))
    small, large = (read[str(folder), "node0", "kernels"]["node0.gpu0.wavefront_instructions"] for folder in folders)
    assert 0 < 2 * small < large


def test_regions_of_one_label_are_numbered(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "stats.json").write_text("{}")
    region = {"node": 1, "label": "a", "from_s": 1.0, "to_s": 1.5, "statistics": {"x": 1}}
    (out / "regions.json").write_text(
        json.dumps([region, region | {"node": 0}, region | {"to_s": 3.0}, region | {"label": "b"}])
    )
    read = fabricvp.read_results(out, regions=True)[str(out)]
    assert list(read.columns) == [("node1", "a"), ("node0", "a"), ("node1", "a#2"), ("node1", "b")]
    assert list(read.loc["time_s"]) == [0.5, 0.5, 2.0, 0.5]


def test_without_regions(machine, tmp_path):
    platform = machine(guests.HELLO)
    platform.run("10 ms")
    assert platform.regions().empty
    platform.write_results(tmp_path / "out")
    assert fabricvp.read_results(tmp_path / "out", regions=True).empty
    assert fabricvp.read_results(tmp_path / "out").loc["node0.host.uart.transmitted"].item() == 13


def test_results_of_launches_name_no_file_of_their_process(tmp_path):
    """What they boot is in memory; the machine is as it was described."""
    with fabricvp.spawn(text=GPU) as platform:
        program = platform.nodes[0].gpus[0].program("kernel void one(global int* x) { x[get_global_id(0)] = 1; }")
        program["one"](64, 64, ones := numpy.zeros(64, "i4"))
        assert ones.all()
        platform.write_results(tmp_path / "out")
    written = (tmp_path / "out" / "config.resolved.yaml").read_text()
    assert "/proc/self" not in written and "app=kernel" not in written
    with fabricvp.spawn(text=written) as platform:
        assert len(platform.nodes[0].gpus) == 1


def test_the_record_names_the_script(machine, tmp_path):
    machine(guests.HELLO).write_results(tmp_path / "out")
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["version"] == fabricvp.__version__ and run["command"] == sys.argv


def test_a_run_that_has_not_ended_has_no_results(machine, tmp_path):
    out = tmp_path / "out"
    machine(guests.HELLO).write_results(out)
    (out / "run.json").write_text('{"complete": false}')
    with pytest.raises(fabricvp.InputError, match="run.json: this run has not ended"):
        fabricvp.read_results(out)


#: What corrupts a file of results, and what is said.
CORRUPTED = [
    ("stats.json", '{"sim.time_s": "x"}', "stats.json: 'sim.time_s' is no number"),
    ("stats.json", '{"sim.time_s": 1e-3, "node0.memory": {"a": 1}}', "stats.json: 'node0.memory' is no number"),
    ("stats.json", '{"a": true}', "stats.json: 'a' is no number"),
    ("stats.json", f'{{"a": 1{"0" * 400}}}', "stats.json: 'a' is no number"),
    ("stats.json", "[" * 100_000, "stats.json: cannot be read as statistics"),
    ("stats.json", "[]", "stats.json: holds no statistics"),
    ("run.json", "[]", "run.json: is not the record of a run"),
    ("run.json", '{"complete": true, "version": 3}', "run.json: is not the record of a run"),
    ("regions.json", "{}", "regions.json: holds no regions of interest"),
    ("regions.json", "[{}]", "regions.json: holds no regions of interest"),
    ("regions.json", '[REGION, {"node": "0"}]', "regions.json: holds no regions of interest"),
    (
        "regions.json",
        '[{"node": 0, "label": "a", "from_s": 0, "to_s": Infinity, "statistics": {}}]',
        "holds no regions",
    ),
    ("regions.json", REGION.replace('{"x": 1}', "7"), "regions.json: holds no statistics"),
    ("regions.json", REGION.replace("1}", "[]}"), "regions.json: 'x' is no number"),
]


@pytest.mark.parametrize("name, text, says", CORRUPTED)
def test_a_corrupted_file_is_named(tmp_path, name, text, says):
    (tmp_path / "stats.json").write_text('{"sim.time_s": 1, "a.mean": null}')
    (tmp_path / "regions.json").write_text(REGION)
    assert list(fabricvp.read_results(tmp_path, regions=True).index) == ["time_s", "x"]
    assert len(fabricvp.read_results(tmp_path)) == 2
    (tmp_path / name).write_text(text.replace("REGION", REGION[1:-1]))
    with pytest.raises(fabricvp.InputError) as refused:
        fabricvp.read_results(tmp_path, regions=True)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_no_trace_is_left_in_the_temporary_folder(tmp_path):
    script = (
        "import os, fabricvp\nplatform = fabricvp.Platform.from_text('nodes: 1')\nplatform.start_trace()\n"
        "platform.run('1 ms')\nplatform.write_results('out')\n"
    )
    for end in "", "os._exit(1)":
        subprocess.run(
            [sys.executable, "-c", script + end], cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=600
        )
        assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_interrupted_runs_are_left_out_unless_asked_for(tmp_path):
    for ended in ("guest", "time", "interrupted"):
        folder = tmp_path / ended
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({"complete": True, "version": "0.3.0", "ended": ended}))
        (folder / "stats.json").write_text('{"sim.time_s": 1}')
    folders = [str(tmp_path / ended) for ended in ("guest", "time", "interrupted")]
    with pytest.warns(UserWarning, match="interrupted: left out"):
        assert list(fabricvp.read_results(*folders).columns) == folders[:2]
    shown = fabricvp.read_results(*folders, interrupted=True)
    assert shown.columns.names == ["run", "ended"]
    assert list(shown.columns) == list(zip(folders, ["guest", "time", "interrupted"]))
