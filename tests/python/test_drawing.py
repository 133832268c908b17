# SPDX-License-Identifier: Apache-2.0
"""Pictures of machines and runs, and `fabricvp draw`."""

import json
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import LAUNCHER
from fabricvp import drawing
from fabricvp.errors import InputError

SVG = "{http://www.w3.org/2000/svg}"


def command(folder, *arguments, status=0):
    done = subprocess.run([LAUNCHER, *arguments], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stderr


def texts(svg):
    return [text.text for text in xml.etree.ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of four GPUs, by the launcher."""
    folder = tmp_path_factory.mktemp("drawing")
    command(folder, "run", "netcrafter_quad", "--app", "transpose", "--size", "96", "--quiet", "--out", "out")
    return folder / "out"


def test_a_run_leaves_pictures(run):
    machine = texts((run / "machine.svg").read_text())
    assert machine.count("gpu0") == 2  # below PCIe, and on the fabric
    assert {"hart0", "uart", "bus", "root", "cluster1", "Gen3 x16"} <= set(machine)
    fabric = (run / "fabric.svg").read_text()
    assert any('region "kernels"' in text for text in texts(fabric))
    values = json.loads((run / "regions.json").read_text())[0]["statistics"]
    titles = [title.text for title in xml.etree.ElementTree.fromstring(fabric).iter(f"{SVG}title")]
    assert len(titles) == 2 * 5
    crossing = values["node0.fabric.cluster0.to_cluster1.transmitter.bytes"]
    assert crossing > 0 and any(t.startswith(f"cluster0 to cluster1: {crossing:.0f} bytes") for t in titles)
    assert not (run / "fabric.node1.svg").exists()


def test_draw_gives_the_same_files_again(run, tmp_path):
    shown = command(tmp_path, "draw", run, "--out", "new")
    assert shown.split() == ["new/machine.svg", "new/fabric.svg"]
    for name in ("machine.svg", "fabric.svg"):
        assert (tmp_path / "new" / name).read_bytes() == (run / name).read_bytes()
    command(tmp_path, "draw", run, "--out", "kernels", "--region", "kernels")
    assert (tmp_path / "kernels" / "fabric.svg").read_bytes() == (run / "fabric.svg").read_bytes()


def test_draw_takes_a_configuration(tmp_path):
    assert command(tmp_path, "draw", "hello", "--set", "node.host.harts=20") == "machine.svg\n"
    shown = texts((tmp_path / "machine.svg").read_text())
    assert {"hello", "hart16", "… hart19", "3 more"} <= set(shown) and "hart17" not in shown
    assert command(tmp_path, "draw", "linux_rdma_pair", "--svg", "pair.svg") == "pair.svg\n"
    assert {"network", "ethernet"} <= set(texts((tmp_path / "pair.svg").read_text()))


def test_describe_draws_the_picture_only(tmp_path):
    """Networks and GPUs come first, and what nodes have alike stands there once."""
    assert command(tmp_path, "describe", "rdma_cluster_16", "--svg", "all.svg") == "all.svg\n"
    shown = texts((tmp_path / "all.svg").read_text())
    assert shown.count("uart") == 1 and shown.count("bus") == 1
    titles = ["network", "node0.pcie (the same in node1 … node15)", "node0.host (the same in node1 … node15)"]
    assert [text for text in shown if text in titles] == titles
    assert command(tmp_path, "describe", "netcrafter_quad", "--svg=quad.svg") == "quad.svg\n"
    shown = texts((tmp_path / "quad.svg").read_text())
    assert shown.index("node0.fabric") < shown.index("node0.pcie") < shown.index("node0.host")
    command(tmp_path, "draw", "linux_rdma_pair", "--set", "node1.host.harts=3", "--svg", "pair.svg")
    assert {"node0.host", "node1.host"} <= set(texts((tmp_path / "pair.svg").read_text()))


def test_an_overview_shows_links_of_all_nodes_side_by_side(tmp_path):
    assert command(tmp_path, "draw", "cluster", "--overview") == "overview.svg\n"
    text = (tmp_path / "overview.svg").read_text()
    shown = texts(text)
    assert {"node0.pcie", "node1.pcie", "node0.fabric", "node1.fabric", "network"} <= set(shown)
    assert "bus" not in shown and "uart" not in shown
    frames = [r.attrib for r in xml.etree.ElementTree.fromstring(text).iter(f"{SVG}rect") if r.get("rx") == "10"]
    assert len(frames) == 5
    tops = {int(frame["y"]) for frame in frames}
    assert len(tops) == 3  # trees beside each other, below them fabrics, below these the network
    command(tmp_path, "draw", "rdma_cluster_16", "--overview", "--svg", "all.svg")
    assert "node15.pcie" in texts((tmp_path / "all.svg").read_text())


def test_draw_prints_a_graph(run, tmp_path):
    graph = command(tmp_path, "draw", run, "--dot")
    assert '"node0.pcie.switch0" -- "node0.pcie.gpu0";' in graph
    assert '"node0.pcie.gpu0" -- "node0.fabric.cluster0" [label="128 GB/s"];' in graph
    assert '"node0.fabric.cluster0" -- "node0.fabric.cluster1" [label="16 GB/s"];' in graph
    two = command(tmp_path, "draw", "two_nodes", "--dot")
    assert two.count("subgraph") == 2 and two.count("{") == two.count("}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["draw", "nonsense"], "nonsense"),
        (["draw", "hello", "--region", "kernels"], "--region: hello has not run"),
        (["draw", "hello", "--set", "node"], "must be KEY=VALUE"),
        (["draw", "."], "topology.json: cannot be read"),
        (["describe", "hello", "node0.host", "--svg", "m.svg"], "unrecognized arguments: node0.host"),
    ],
)
def test_bad_input_ends_in_one_line(arguments, says, tmp_path):
    errors = command(tmp_path, *arguments, status=2)
    assert errors.count("\n") == 1 and says in errors


def test_bad_input_of_a_run(run, tmp_path):
    assert "no region of interest 'x': there are kernels" in command(tmp_path, "draw", run, "--region", "x", status=2)
    (tmp_path / "topology.json").write_text("[1]")
    assert "not a topology of version 1" in command(tmp_path, "draw", ".", status=2)
    (tmp_path / "topology.json").write_text("{")
    assert "not JSON" in command(tmp_path, "draw", ".", status=2)


#: What corrupts topology.json of the run: a place, what stands there then, and which place is named.
CORRUPTED = [
    ("nodes", None, "nodes"),
    ("nodes", 5, "nodes"),
    ("nodes", [{}], "nodes.0.name"),
    ("nodes.0.host", {}, "nodes.0.host.bus"),
    ("nodes.0.host.targets.0.base", 1.5, "nodes.0.host.targets.0.base"),
    ("nodes.0.pcie.blocks", [], "nodes.0.pcie.links.0"),
    ("nodes.0.pcie.links", [], "nodes.0.pcie.traffic.0"),
    ("nodes.0.pcie.links.1.from", "gpu0", "nodes.0.pcie.links"),
    ("nodes.0.pcie.links.1.to", "nowhere", "nodes.0.pcie.links.1"),
    ("nodes.0.fabric.blocks.0.kind", "root", "nodes.0.fabric.blocks"),
    ("nodes.0.fabric.links.0.directions", [], "nodes.0.fabric.links.0"),
    ("nodes.0.fabric.links.0.directions.1", None, "nodes.0.fabric.links.0.directions.1"),
    ("nodes.0.fabric.traffic", [], "nodes.0.fabric.traffic"),
    ("nodes.0.fabric.traffic.1.region", None, "nodes.0.fabric.traffic.1"),
    ("nodes.0.fabric.traffic.1.links.0.0.busy", "much", "nodes.0.fabric.traffic.1.links.0.0.busy"),
    ("nodes.0.name", "\ud800", "not JSON"),
    ("nodes.0.fabric.traffic.0.seconds", float("nan"), "not JSON"),
    ("network", {}, "network.path"),
]


@pytest.mark.parametrize("place, value, says", CORRUPTED)
def test_a_corrupted_topology_is_named(run, tmp_path, place, value, says):
    topology = at = json.loads((run / "topology.json").read_text())
    *above, last = [int(key) if key.isdecimal() else key for key in place.split(".")]
    for key in above:
        at = at[key]
    at[last] = value
    if value is None and not above:
        del at[last]
    (tmp_path / "topology.json").write_text(json.dumps(topology))
    with pytest.raises(InputError) as refused:
        drawing.draw_run(tmp_path, tmp_path / "to")
    message = str(refused.value)
    assert says in message and "topology.json: " in message and "\n" not in message
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize(
    "options, says",
    [
        ("--dot --svg x.svg", "--dot does not go with --svg"),
        ("--dot --out y", "--dot does not go with --out"),
        ("--dot --overview", "--dot does not go with --overview"),
        ("--dot --region kernels", "--dot does not go with --region"),
        ("--svg x.svg --out y", "--svg does not go with --out"),
        ("--svg x.svg --region kernels", "--svg does not go with --region"),
        ("--overview --region kernels --out y", "--overview does not go with --region"),
        ("--region nope --out y", "no region of interest 'nope': there are kernels"),
        ("--set node.host.harts=2 --out y", "is a run that has ended"),
        ("--plugin none.so --out y", "is a run that has ended"),
    ],
)
def test_options_that_do_not_go_together_write_nothing(run, tmp_path, options, says):
    errors = command(tmp_path, "draw", run, *options.split(), status=2)
    assert errors.count("\n") == 1 and says in errors
    assert list(tmp_path.iterdir()) == []


def test_bad_input_leaves_no_folder(tmp_path):
    command(tmp_path, "draw", "nonsense", "--out", "y", status=2)
    command(tmp_path, "draw", ".", "--out", "y", status=2)
    command(tmp_path, "run", "hello", "--time", "1 us", "--quiet", "--console", "none", "--out", "hello")
    errors = command(tmp_path, "draw", "hello", "--region", "nope", "--out", "y", status=2)
    assert errors.count("\n") == 1 and "--region nope: no node of hello has a fabric" in errors
    assert not (tmp_path / "y").exists()
    assert command(tmp_path, "draw", "hello", "--overview", "--out", "y/z") == "y/z/overview.svg\n"


def _interval(region, seconds, *sent):
    carried = [{"bytes": amount, "flits": amount / 16, "busy": 0.1} for amount in sent]
    return {"region": region, "regions": 1, "seconds": seconds, "links": [carried]}


def test_the_picture_shows_regions_with_traffic():
    whole, long, short = _interval(None, 9, 50, 0), _interval("copy", 5, 0, 0), _interval("kernels", 1, 32, 16)
    assert drawing.busiest_traffic({"traffic": [whole, long, short]}) is short
    assert drawing.busiest_traffic({"traffic": [whole, long]}) is whole
    assert drawing.busiest_traffic({"traffic": [whole]}) is whole
    assert drawing.busiest_traffic({"traffic": [whole, long, short]}, "copy") is long
    with pytest.raises(InputError, match="there are copy, kernels"):
        drawing.busiest_traffic({"traffic": [whole, long, short]}, "none")
