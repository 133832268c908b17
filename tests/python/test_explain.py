# SPDX-License-Identifier: Apache-2.0
"""`fabricvp explain` names a bottleneck that was planted, and the change that it advises makes the region shorter."""

import json
import re
import shutil
from pathlib import Path

import pytest
from fabricvp import _fabricvp
from fabricvp.explain import explain
from fabricvp.explain.block import Block
from fabricvp.explain.quantities import quantity
from fabricvp.explain.resources import RESOURCES
from fabricvp.explain.run import Window, read_run

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))

#: Machine, application, size, what is planted; the resource and its block, as the first line must name them, and the
#: parameter that it must advise.
PLANTS = {
    "slow link between clusters": (
        ("netcrafter_quad", "gups", 16384),
        ["node.fabric.links.4.lane_rate=0.25 GB/s"],
        ("link", "node0.fabric.cluster", "node.fabric.links.4.lane_rate"),
    ),
    "one HBM channel": (
        ("gpu", "vectoradd", 262144),
        ["node.gpus.*.memory.hbm.channels=1"],
        ("HBM channels", "node0.gpu0.memory.hbm", "node.gpus.*.memory.hbm.channels"),
    ),
    "slow L2 banks": (
        ("gpu", "vectoradd", 65536),
        ["node.gpus.*.memory.l2.service=64 cycles"],
        ("L2 bank", "node0.gpu0.memory.l2.bank", "node.gpus.*.memory.l2.service"),
    ),
    "one page walker": (
        ("gpu", "gups", 262144),
        ["node.gpus.*.memory.gmmu.walkers=1"],
        ("page walkers", "node0.gpu0.memory.gmmu", "node.gpus.*.memory.gmmu.walkers"),
    ),
    "one MSHR of the L1": (
        ("gpu", "vectoradd", 65536),
        ["node.gpus.*.memory.unit.l1.mshrs=1"],
        ("L1 fetches in flight", "node0.gpu0.memory.unit", "node.gpus.*.memory.unit.l1.mshrs"),
    ),
    "one line in flight": (
        ("gpu", "vectoradd", 65536),
        ["node.gpus.*.memory.unit.l1.in_flight=1"],
        ("L1 fetches in flight", "node0.gpu0.memory.unit", "node.gpus.*.memory.unit.l1.in_flight"),
    ),
    "slow instructions": (
        ("gpu", "mm", 64),
        ["node.gpus.*.compute_unit.issue.alu=64"],
        ("instruction issue", "node0.gpu0.compute_unit", "node.gpus.*.compute_unit.issue.alu"),
    ),
    "one bank of the local data share": (
        ("gpu", "transpose", 512),
        ["node.gpus.*.compute_unit.lds.banks=1"],
        ("local data share", "node0.gpu0.compute_unit", "node.gpus.*.compute_unit.lds.banks"),
    ),
    "slow command processor": (
        ("gpu", "vectoradd", 256),
        ["node.gpus.*.processor.hart.clock=20 MHz"],
        ("command processor", "node0.gpu0", "node.gpus.*.processor.hart.clock"),
    ),
    "slow launches": (
        ("gpu", "bitonicsort", 1024),
        ["node.gpus.*.launches.software_overhead=20 us"],
        ("launch overhead", "node0.gpu0", "node.gpus.*.launches.software_overhead"),
    ),
    "slow network": (
        ("compnet_pair", "allreduce", 16384),
        ["node.hcas.*.network.link.rate=SDR", "node.hcas.*.network.link.width=1x"],
        ("link", ".hca0.network.link", "node.hcas.*.network.link.rate"),
    ),
    "one PCIe lane at the adapter": (
        ("rdma_cluster_4", "allreduce", 16384),
        ["node.hcas.*.link.generation=1", "node.hcas.*.link.width=1"],
        ("link", ".hca0.link", "node.hcas.*.link.width"),
    ),
    "one PCIe read at a time": (
        ("compnet_pair", "allreduce", 16384),
        ["node.hcas.*.dma.tags=1"],
        ("PCIe reads in flight", ".hca0.dma", "node.hcas.*.dma.tags"),
    ),
}


def run(command, folder, machine, settings):
    config, app, size = machine
    sets = [text for setting in settings for text in ("--set", setting)]
    arguments = ["--app", app, "--size", size, "--console", "none", "--quiet", "--out", folder]
    done = command("run", config, *arguments, *sets)
    assert done.returncode == 0, done.stderr
    return explain(folder)


@pytest.fixture
def results(command, tmp_path):
    """The folder of a small run."""
    run(command, tmp_path / "results", ("gpu", "spmv", 256), [])
    return tmp_path / "results"


@pytest.mark.parametrize("plant", PLANTS)
def test_planted_bottleneck_comes_first_and_the_advice_helps(command, tmp_path, plant):
    machine, settings, (resource, block, key) = PLANTS[plant]
    before = run(command, tmp_path / "before", machine, settings)
    first = before.findings[0]
    assert first.resource.startswith(resource) and block in first.block, before.findings
    assert first.queue
    assert key in [change.parameter.key for change in first.changes], first.changes
    advised = [change.setting for change in first.changes]
    after = run(command, tmp_path / "after", machine, [*settings, *advised])
    assert after.title == before.title
    assert after.seconds < 0.97 * before.seconds, (before.seconds, after.seconds)


def changes_of_all_blocks(folder):
    """What would be advised for each block that could be the busiest, by the block and its resource."""
    run = read_run(folder)
    window = Window("all", "all", 1e-3, dict.fromkeys(run.windows[-1].statistics, 1e9))
    for resource in RESOURCES:
        for path in window.statistics:
            if match := re.fullmatch(resource.pattern, path):
                yield match[1], resource.title, resource.changes(Block(match[1], window, run.machine))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_advice_for_shipped_machines_is_what_set_takes(command, tmp_path, config):
    """Against the configuration as it is shipped: keys of `--set` are of it, not of config.resolved.yaml."""
    done = command("run", config, "--time", "1 us", "--console", "none", "--quiet", "--out", tmp_path / "r")
    if "make linux" in done.stderr or "opensbi" in done.stderr or "u-boot" in done.stderr:
        pytest.skip(done.stderr)
    assert (tmp_path / "r" / "stats.json").is_file(), done.stderr
    check_advice(tmp_path / "r", config)


def check_advice(folder, config):
    """`--set` takes all advice, and only an overhead of zero has none. \returns the blocks with advice"""
    advised = {}
    for block, resource, changes in changes_of_all_blocks(folder):
        assert changes or resource == "launch overhead", block
        advised[tuple((each.parameter.key, each.value) for each in changes)] = block
    for settings, block in advised.items():
        try:
            _fabricvp.resolved_parameters(config.read_text(), str(config), list(settings))
        except _fabricvp.InputError as error:
            pytest.fail(f"{block}: {error}")


#: Parameters of `gpu` at the end of their ranges, each with the resource that has no advice then.
LIMITS = {
    "memory.hbm.channels=256": "HBM channels",
    "memory.gmmu.walkers=1024": "page walkers",
    "memory.unit.l1.mshrs=1024": "L1 fetches in flight",
    "memory.unit.tlb.mshrs=1024": "L1 TLB misses in flight",
    "dma.tags=1024": "PCIe reads in flight",
    "compute_unit.lds.banks=64": "local data share",
    "memory.unit.queue=4096": "memory instructions in flight",
}


def test_nothing_is_advised_beyond_the_range_of_a_parameter(command, tmp_path):
    sets = [text for limit in LIMITS for text in ("--set", f"node.gpus.*.{limit}")]
    done = command("run", "gpu", "--time", "1 us", "--console", "none", "--quiet", "--out", tmp_path / "r", *sets)
    assert done.returncode in (0, 1), done.stderr
    advised = {}
    for block, resource, changes in changes_of_all_blocks(tmp_path / "r"):
        if ".gpu0" in block:
            advised.setdefault(resource, []).extend(changes)
    assert [resource for resource in LIMITS.values() if advised[resource]] == []
    assert advised["L2 bank"]


def advice(folder, block, name):
    """What would be advised for a parameter of a block."""
    run = read_run(folder)
    return [change.setting for change in Block(block, run.windows[-1], run.machine).change(name, 2)]


def test_links_that_join_the_same_blocks_are_told_apart(command, tmp_path):
    links = [{"from": f"gpu{n}", "to": f"cluster{n // 2}"} for n in range(4)]
    links += [{"from": "cluster0", "to": "cluster1"}, {"from": "cluster1", "to": "cluster0", "lane_rate": "0.1 GB/s"}]
    fabric = {"links": [{"lanes": 8, "lane_rate": "16 GB/s"} | link for link in links]}
    (tmp_path / "m.yaml").write_text(json.dumps({"base": "netcrafter_quad", "node": {"fabric": fabric}}))
    done = command("run", "m.yaml", "--time", "1 us", "--console", "none", "--quiet", "--out", tmp_path / "r")
    machine = read_run(tmp_path / "r").machine
    for port, advised in (
        ("cluster0.to_cluster1", "node.fabric.links.4.lane_rate=32 GB/s"),
        ("cluster0.to_cluster1_1", "node.fabric.links.5.lane_rate=200 MB/s"),
        ("cluster1.to_cluster0_1", "node.fabric.links.5.lane_rate=200 MB/s"),
    ):
        changes = machine.link_changes(f"node0.fabric.{port}")
        assert [change.setting for change in changes] == [advised], done.stderr


def test_a_gpu_that_is_unlike_the_others_has_advice_of_its_own(command, tmp_path):
    """A common value would throttle the others."""
    for number, (where, one, other) in enumerate(
        (
            ("node.gpus.1", "node0.gpu1 node.gpus.1 2", "node1.gpu0 node.gpus.0 64"),
            ("node1.gpus.1", "node1.gpu1 node1.gpus.1 2", "node0.gpu1 node0.gpus.* 64"),
            ("node1.gpus.*", "node1.gpu1 node1.gpus.* 2", "node0.gpu1 node0.gpus.* 64"),
            ("node.gpus.*", "node1.gpu1 node.gpus.* 2", "node0.gpu1 node.gpus.* 2"),
        )
    ):
        folder = tmp_path / str(number)
        fault = ("--set", f"{where}.memory.unit.l1.mshrs=1")
        done = command("run", "cluster", "--time", "1 us", "--console", "none", "--quiet", "--out", folder, *fault)
        for block, key, value in (one.split(), other.split()):
            advised = advice(folder, f"{block}.memory.unit2.l1", "mshrs")
            assert advised == [f"{key}.memory.unit.l1.mshrs={value}"], (where, done.stderr)


def test_units_are_those_of_the_simulator():
    """All that parameters may have: a rate that reads as 0 has no advice."""
    text = (CONFIGS[0].parents[1] / "models" / "base" / "quantity.cpp").read_text()
    scales = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
        f"{letter}i": 1024**n for n, letter in enumerate("KMGT", 1)
    }
    units = re.findall(r'\{"([^"]+)", (\w+)(?:, (\d))?(?:, false)?\}', text)
    assert len(units) > 30
    for name, scale, divisor in units:
        value = scales.get(scale) or int(scale)
        base = 1e12 if name.endswith("s") and "/" not in name and len(name) < 8 and name != "cycles" else 1
        name = name.encode().decode("unicode_escape")
        assert quantity(f"3 {name}") == pytest.approx(3 * value / int(divisor or 1) / base), name


def test_a_file_that_is_no_machine_gives_no_advice(results):
    """One of another version, for instance: shares that need no parameter remain."""
    for text in (
        "nodes: 7\n",
        "nodes: [7]\n",
        "nodes: [{gpus: [{name: gpu0, clock: e}], host: {hart: {clock: '-'}}}]\n",
    ):
        (results / "config.resolved.yaml").write_text(text)
        found = explain(results).findings
        assert found and not any(each.changes for each in found)


def test_shares_are_of_the_region(results):
    """Against the statistics themselves. The GPU's clock is 1 GHz."""
    [region] = json.loads((results / "regions.json").read_text())
    seconds = region["to_s"] - region["from_s"]
    found = {each.resource: each for each in explain(results).findings}
    lines = [v for k, v in region["statistics"].items() if re.fullmatch(r".*\.unit\d+\.transactions", k)]
    assert found["L1 lookups"].share == pytest.approx(max(lines) * 1e-9 / seconds)
    idle = seconds * 1e12 - region["statistics"]["node0.kernels.time"]
    rung = region["statistics"]["node0.gpu0.launches.doorbell_to_launch.sum"]
    assert found["command processor before launches"].share == pytest.approx(min(idle, rung) / (seconds * 1e12))


def test_launches_are_kernels_rather_than_doorbells(results):
    [region] = json.loads((results / "regions.json").read_text())
    region["statistics"] |= {f"node0.gpu0.launches.doorbell_to_{step}.count": 2 for step in ("launch", "instruction")}
    region["statistics"]["node0.gpu0.launches.launch_to_start.count"] = 8
    (results / "regions.json").write_text(json.dumps([region]))
    idle = [each.queue for each in explain(results).findings if each.resource == "no kernel ran"]
    assert idle == ["launches: 8"]


def test_a_region_in_which_nothing_is_busy_waits_for_latency(command, tmp_path):
    run(command, tmp_path / "results", ("gpu", "spmv", 2048), [])
    done = command("explain", tmp_path / "results")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("region kernels of node0: ") and len(lines) <= 10
    assert "waits for latency" in lines[1]
    assert any(line.startswith("wavefronts waited for data") for line in lines)
    assert any(line.startswith("latency, mean and number: ") for line in lines)


def test_spans_of_the_run_are_told(command, tmp_path):
    done = command(
        "run", "gpu", "--app", "spmv", "--size", 256, "--console", "none", "--quiet", "--spans", "--out", tmp_path / "r"
    )
    assert done.returncode == 0, done.stderr
    done = command("explain", tmp_path / "r")
    assert "spans of the whole run, longest in sum: node0." in done.stdout and len(done.stdout.splitlines()) <= 10


def test_regions_have_names(command, results):
    by_label = command("explain", results, "--region", "kernels").stdout
    assert by_label == command("explain", results, "--region", "node0.kernels").stdout
    assert command("explain", results, "--region", "run").stdout.startswith("the whole run: ")
    shown = command("explain", results, "--top", 1).stdout
    assert "\n1. " in shown and "\n2. " not in shown


def test_a_machine_without_gpus(command, tmp_path):
    assert command("run", "hello", "--console", "none", "--quiet", "--out", tmp_path / "r").returncode == 0
    done = command("explain", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    assert "host's hart, polling included node0.host.hart0" in done.stdout.splitlines()[1]


def test_bad_input_ends_in_one_line(command, tmp_path, results):
    def refused(*arguments):
        done = command("explain", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        return done.stderr

    assert "example: fabricvp explain results --region kernels" in command("explain", "--help").stdout
    assert f"{tmp_path / 'none'}: no such folder" in refused(tmp_path / "none")
    assert "no such region (there are: node0.kernels, run)" in refused(results, "--region", "walk")
    assert "stats.json: cannot be read" in refused(tmp_path)
    assert "--top: invalid choice: 6 (choose from 1, 2, 3, 4, 5)" in refused(results, "--top", 6)
    assert "argument --top: " in refused(results, "--top", "1.5")
    torn = tmp_path / "torn"
    shutil.copytree(results, torn)
    (torn / "config.resolved.yaml").write_text("- no\n")
    assert "config.resolved.yaml: holds no configuration" in refused(torn)
    (torn / "config.resolved.yaml").write_text("a: [\n")
    assert "config.resolved.yaml: cannot be read" in refused(torn)
    shutil.copy(results / "config.resolved.yaml", torn)
    (torn / "topology.json").write_text("[]")
    assert "topology.json: not a topology" in refused(torn)
    (torn / "regions.json").write_text("[{}]")
    assert "regions.json: holds no regions of interest" in refused(torn)
    (torn / "run.json").write_text('{"complete": false}')
    assert "has not ended" in refused(torn)
