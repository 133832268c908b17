# SPDX-License-Identifier: Apache-2.0
"""A stage of the fabric that is built outside of the tree (`fabricvp new stage`), in every command that takes one."""

import json
import subprocess
import sys

import fabricvp
import pytest

APP = ["--app", "lenet", "--size", "1", "--quiet", "--console", "none"]
AT = "node0.fabric.cluster1.to_cluster0_egress"
MACHINE = """\
base: netcrafter_quad
node:
  fabric:
    cluster0: {stage: {kind: combine, window: 100 ns}}
    cluster1: {stage: {kind: combine, window: 100 ns}}
"""
#: Two such nodes with a cable between them, for ranks.
NODES = (
    MACHINE.replace("node:\n", "nodes: 2\nnode:\n  hcas:\n    - below: switch0\n")
    + "simulation: {until: any}\nnetwork:\n  links:\n    - {from: node0.hca0, to: node1.hca0, propagation: 5 us}\n"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    command = [sys.executable, "-m", "fabricvp", "new", "stage", "combine", "--in", folder]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    done = subprocess.run(["make", "-C", folder / "combine", "run"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr
    return folder / "combine", done.stdout


@pytest.fixture
def plugin(project):
    return project[0] / "build" / "libcombine.so"


def values(folder):
    return json.loads((folder / "stats.json").read_text())


@pytest.mark.timeout(600)
def test_the_project(project):
    """Writes leave together, nothing is lost, and their time is accounted for."""
    folder, printed = project
    stats = values(folder / "results")
    assert stats[f"{AT}.combined"] > 100 and stats[f"{AT}.saved"] > 64 * 100
    assert f"{AT}.combined" in printed
    assert stats["app.ok"] == 1
    assert (
        stats["node0.fabric.cluster1.to_cluster0.sent.packets"]
        > stats["node0.fabric.cluster1.to_cluster0.sent.wire.packets"]
    )
    assert stats[f"{AT}.hold.spans.queueing_ps"] > 0
    assert sum(len(file.read_text().splitlines()) for file in folder.iterdir() if file.is_file()) <= 110


def events(folder):
    """(track, name) of slices and instants of a trace, each with how many there are and how long they last in all."""
    trace = json.loads((folder / "trace.json").read_text())["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"].split(" #")[0] for e in trace if e["name"] == "thread_name"}
    found = {}
    for event in trace:
        if event["ph"] in "Xi":
            count, time = found.get((tracks[event["tid"]], event["name"]), (0, 0.0))
            found[tracks[event["tid"]], event["name"]] = count + 1, time + event.get("dur", 0.0)
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("stage", "stages", "instant"),
    [
        ("{kind: combine, window: 100 ns}", ["hold"], ("combined", "combined")),
        ("{kind: netcrafter, stitching: true, pooling: plain, window: 100 cycles}", ["cluster_queue", "pooling"], None),
        ("{kind: none}", [], None),
    ],
)
def test_spans_and_traces(command, plugin, tmp_path, stage, stages, instant):
    """The stage that the configuration chooses shows in spans and in the trace, and none where it chooses none."""
    machine = MACHINE.replace("{kind: combine, window: 100 ns}", stage)
    assert stage in machine
    (tmp_path / "machine.yaml").write_text(machine)
    limit = ["--trace", "--trace-filter", f"{AT}*", "--trace-size", "1 GiB"]
    done = command("run", "machine.yaml", "--plugin", plugin, *APP, "--spans", *limit, "--out", "out")
    assert done.returncode == 0, done.stderr
    stats, shown = values(tmp_path / "out"), events(tmp_path / "out")
    assert {path.split(".")[-3] for path in stats if path.startswith(AT) and ".spans.count" in path} == set(stages)
    for each in stages:
        count, time = shown[AT, f"{each} (waits)"]
        assert 0 < count <= stats[f"{AT}.{each}.spans.count"]
        assert time * 1e6 == pytest.approx(stats[f"{AT}.{each}.spans.queueing_ps"])
    if instant:
        event, counter = instant
        assert 0 < shown[AT, event][0] <= stats[f"{AT}.{counter}"]
    expected = {f"{each} (waits)" for each in stages} | ({instant[0]} if instant else set())
    assert shown.keys() == {(AT, name) for name in expected}


@pytest.mark.timeout(600)
def test_commands(command, project, plugin, tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    assert "window = 100 ns" in command("describe", "machine.yaml", "--plugin", plugin).stdout
    described = command("describe", "machine.yaml", AT, "--plugin", plugin).stdout
    assert "combined" in described, described
    assert "writes that leave as one" in command("reference", "--plugin", plugin).stdout
    assert "max_writes" in command("schema", "--plugin", plugin).stdout
    done = command("check", "machine.yaml")
    assert done.returncode == 2 and "'combine' is not one of none, netcrafter" in done.stderr, done.stderr
    done = command(
        "run",
        "machine.yaml",
        "--plugin",
        plugin,
        *APP,
        "--out",
        "out",
        "--spans",
        "--trace",
        "--trace-filter",
        f"{AT}*",
    )
    assert done.returncode == 0, done.stderr
    assert f"{AT}" in (tmp_path / "out" / "trace.json").read_text()
    done = command("run", "out/config.resolved.yaml", "--quiet", "--console", "none", "--out", "again")
    assert done.returncode == 0, done.stderr
    first, again = values(tmp_path / "out"), values(tmp_path / "again")
    assert first[f"{AT}.combined"] == again[f"{AT}.combined"] > 0


@pytest.mark.timeout(600)
def test_replay(command, plugin, tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    done = command("run", "netcrafter_quad", *APP, "--record", "recorded")
    assert done.returncode == 0, done.stderr
    done = command("replay", "recorded", "machine.yaml", "--plugin", plugin, "--quiet", "--out", "played")
    assert done.returncode == 0, done.stderr
    assert values(tmp_path / "played")[f"{AT}.combined"] > 0


@pytest.mark.timeout(600)
def test_python(plugin, tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    seen = []
    for given in ({"path": tmp_path / "machine.yaml"}, {"text": MACHINE}):
        with fabricvp.spawn(**given, plugins=[plugin], app="lenet", size=1) as platform:
            assert platform.run().outcome == "power_off"
            seen.append(platform.statistics[f"{AT}.combined"])
    for call in (
        f"from_config('machine.yaml', plugins=[{str(plugin)!r}]",
        f"from_text({MACHINE!r}, plugins=[{str(plugin)!r}]",
    ):
        script = f"""
import fabricvp
platform = fabricvp.Platform.{call}, app="lenet", size=1)
platform.run()
print(platform.statistics["{AT}.combined"])
"""
        done = fabricvp_python(script, tmp_path)
        seen.append(float(done))
    assert len(set(seen)) == 1 and seen[0] > 0, seen


def fabricvp_python(script, folder):
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(600)
def test_ranks(command, plugin, tmp_path):
    """Each rank loads it, and the statistics are those of one process."""
    (tmp_path / "machine.yaml").write_text(NODES)
    for ranks in "1", "2":
        done = command("run", "machine.yaml", "--plugin", plugin, *APP, "--ranks", ranks, "--out", f"ranks{ranks}")
        assert done.returncode == 0, done.stderr
    one, two = values(tmp_path / "ranks1"), values(tmp_path / "ranks2")
    assert one[f"{AT}.combined"] > 0
    differing = [path for path in one if not path.startswith("sim.") and one[path] != two.get(path)]
    assert not differing
    done = command("run", "machine.yaml", "--plugin", "none.so", *APP, "--ranks", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "none.so: no such file" in done.stderr, done.stderr
