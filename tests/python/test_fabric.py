# SPDX-License-Identifier: Apache-2.0
"""GPUs that share memory over a fabric, from Python: what links carried, where loads spent their time, and a whole
computer that U-Boot starts."""

import json
import xml.etree.ElementTree

import fabricvp
import pytest
from fabricvp import topology
from fabricvp.experiments.gpu_workloads.attribution import Attribution
from fabricvp.experiments.gpu_workloads.measure import Point, observe_all
from fabricvp.experiments.gpu_workloads.roles import PartFinder, Roles, roles_of
from fabricvp.fabric import Direction, Vertex

LOADS = ("load", "atomic", "load reserved", "store conditional")


@pytest.mark.timeout(1200)
def test_traffic_and_the_time_of_loads():
    with fabricvp.spawn("netcrafter_quad") as machine:
        machine.load_app("spmv", size=2048)
        fabric = machine.nodes[0].fabric
        roles = roles_of(machine)
        assert [(d.source, d.destination) for d in roles.between_clusters] == [
            ("cluster0", "cluster1"),
            ("cluster1", "cluster0"),
        ] and roles.clusters == 2
        machine.run(until=fabricvp.Marker("kernels", "reset"))
        machine.spans.start(max_accesses=0)
        begin = machine.now
        machine.run(until=fabricvp.Marker("kernels", "dump"))
        values, passed = machine.statistics.snapshot("node0."), machine.now - begin
        paths, found = machine.spans.paths(), Attribution()
        found.add(paths, PartFinder(roles))
        assert machine.run().outcome == "power_off" and machine.app_ok

        directions = {(w.source, w.destination): w for w in fabric.traffic()}
        assert len(directions) == 10
        slow = directions["cluster0", "cluster1"]
        assert (
            slow.bytes == values["node0.fabric.cluster0.to_cluster1.transmitter.bytes"] > 0
            and slow.bytes == 16 * slow.flits
        )
        assert slow.busy == pytest.approx(values["node0.fabric.cluster0.to_cluster1.transmitter.busy"] / 1e12 / passed)
        assert fabric.to_pandas(values, passed)["bytes"].tolist() == fabric.to_pandas()["bytes"].tolist()
        picture = xml.etree.ElementTree.fromstring(fabric.draw(values=values, seconds=passed, title="a <b>"))
        assert "a <b>" in "".join(picture.itertext())
        with pytest.raises(ValueError, match="seconds"):
            fabric.draw(values=values)

    # All that compute units say of the latency is found again in the chains of spans.
    latency = sum(v for path, v in values.items() if path.endswith(".load_latency.sum")) / 1e12
    assert found.read_latency == pytest.approx(latency, rel=1e-9)
    assert paths.loc[list(set(paths.index.get_level_values("what")) & set(LOADS))][
        ["queueing", "service"]
    ].sum().sum() == pytest.approx(latency, rel=1e-9)
    assert not [key for key in (*found.queueing, *found.service) if key[1] in ("other", "unaccounted")]
    assert found.loads["own memory"] > 0
    near, far = found.mean("same cluster"), found.mean("other cluster")
    assert far > near + 70e-9  # one more switch each way, and slower lanes
    assert ("other cluster", "link between switches") in found.service and (
        "same cluster",
        "link between switches",
    ) not in found.service
    assert ("same cluster", "L2") in found.service and ("own memory", "switch") not in found.service


def test_queues_by_destination_avoid_head_of_line_blocking():
    """Two devices fill the link between the clusters with reads of device 0; its neighbour reads it, too. With one
    queue a virtual channel its responses wait behind those for the slow link; with queues by destination they pass, and
    the slow link is as full."""
    shape = topology.clusters(2, 2, outer={"lane_rate": "2 GB/s"})
    reads = {"requests": 6000, "outstanding": 512, "pattern": "hot_spot", "hot_spot": 0, "hot_share": 1}
    found = {}
    for apart in (False, True):
        text = shape.traffic_machine(reads, fabric={"device": {"queues_by_destination": apart}})
        with fabricvp.spawn(
            text=text, overrides={"node.fabric.generators.0.start": "1000 s", "node.fabric.generators.1.outstanding": 4}
        ) as machine:
            machine.run("20 us")
            found[apart] = [machine.statistics[f"node0.fabric.device{n}.responses"] for n in (1, 2, 3)]
    assert found[True][0] > 10 * found[False][0] > 0
    assert found[True][1] + found[True][2] > 0.95 * (found[False][1] + found[False][2]) > 3000


def test_queues_by_destination_keep_a_neighbours_rate():
    """Device 0 reads its neighbour, and both devices of the other cluster do, too. With one queue a channel all three
    get what the slow link leaves them; with queues by destination the neighbour keeps most of its link."""
    shape = topology.clusters(2, 2, inner={"lane_rate": "16 GB/s"}, outer={"lane_rate": "2 GB/s"})
    reads = {"outstanding": 512, "pattern": "hot_spot", "hot_spot": 1, "hot_share": 1}
    rates = {}
    for apart in (False, True):
        text = shape.traffic_machine(reads, fabric={"device": {"queues_by_destination": apart, "window": 48}})
        with fabricvp.spawn(text=text, overrides={"node.fabric.generators.1.start": "1000 s"}) as machine:
            machine.run("20 us")
            before = [machine.statistics[f"node0.fabric.device{n}.responses"] for n in range(4)]
            machine.run("20 us")
            after = [machine.statistics[f"node0.fabric.device{n}.responses"] for n in range(4)]
        rates[apart] = [(b - a) * 64 / 20e-6 for a, b in zip(before, after)]
    assert rates[False][0] < 12e9
    assert rates[True][0] > 80e9
    for apart in (False, True):
        assert rates[apart][2] + rates[apart][3] == pytest.approx(12.8e9, rel=0.02)


def _direction(source, destination, path, between=False):
    return Direction(source, destination, path, between, between, 1, {})


ROLES = Roles(
    ("node0.gpu1", "node0.gpu2"),
    (
        _direction("gpu2", "left", "node0.fabric.gpu2.link"),
        _direction("left", "gpu2", "node0.fabric.left.to_gpu2"),
        _direction("left", "right", "node0.fabric.left.to_right", True),
    ),
    (
        Vertex("gpu2", "node0.fabric.gpu2", 0, False),
        Vertex("left", "node0.fabric.left", 0, True),
        Vertex("right", "node0.fabric.right", 1, True),
    ),
)


@pytest.mark.parametrize(
    "component, stage, part",
    [
        ("node0.gpu1.memory.unit12.tlb", "lookup", "translation"),
        ("node0.gpu1.memory.gmmu", "walk", "translation"),
        ("node0.gpu1.memory.unit3.l1", "merge", "L1"),
        ("node0.gpu1.memory.unit3", "coalesce", "L1"),
        ("node0.gpu1.memory.router", "request", "crossbar"),
        ("node0.gpu1.memory.l2.bank7", "response", "L2"),
        ("node0.gpu1.memory.hbm", "access", "HBM"),
        ("node0.fabric.gpu2", "held", "GPU's port"),
        ("node0.fabric.gpu2.link", "wire", "GPU's link"),
        ("node0.fabric.left", "pipeline", "switch"),
        ("node0.fabric.left.to_right", "lanes", "link between switches"),
        ("node0.fabric.left.to_right_egress", "pooling", "link between switches"),
        ("node0.fabric.left.to_gpu2", "lanes", "switch's link to a GPU"),
        ("node0.fabric.left.to_gpu2_egress", "hold", "switch's link to a GPU"),
        ("node0.gpu2.system", "wait", "PCIe"),
        ("node0.pcie.switch0.upstream_port", "queue", "PCIe"),
        ("", "unaccounted", "unaccounted"),
        ("node0.somewhere", "else", "other"),
        ("node0.gpu11.memory.hbm", "access", "other"),
    ],
)
def test_parts_of_the_machine(component, stage, part):
    assert PartFinder(ROLES)(component, stage) == part


@pytest.mark.timeout(1200)
def test_a_node_without_a_fabric(machine):
    platform = machine()
    with pytest.raises(fabricvp.InputError, match="has no fabric"):
        platform.nodes[0].fabric.traffic()


def boot(console, arguments):
    """Lets U-Boot start the applications."""
    console.expect("Hit any key to stop autoboot", timeout="2 s")
    console.type(" ")
    console.expect("=> ", timeout="1 s")
    assert "blocks read: OK" in console.command("virtio scan; virtio read ${kernel_addr_r} 0 800", "=> ")
    console.command(f"setenv bootargs {arguments}", "=> ")
    console.type("booti ${kernel_addr_r} - ${fdtcontroladdr}\n")


@pytest.mark.timeout(600)
def test_sizes_in_u_boots_arguments():
    """The guest refuses what it cannot hold, and nothing to do; what is right beside it runs."""
    with fabricvp.spawn("netcrafter_quad_uboot") as machine:
        console = machine.nodes[0].console
        boot(console, "app=gups size=4294967296 app=mm size=0 app=vectoradd size=1024")
        result = machine.run("1 s")
        assert (result.outcome, result.guest_status) == ("guest_failure", 1)
        output = console.output[console.output.index("Starting kernel") :]
        assert "size=4294967296: gups takes 1 to 4294967040" in output and "size=0: mm takes 1 to" in output
        assert output.count("FAILED") == 2 and output.count(" ok\r\n") == 1


@pytest.mark.timeout(1800)
def test_u_boot_starts_applications_on_four_gpus(tmp_path):
    with fabricvp.spawn("netcrafter_quad_uboot") as machine:
        console = machine.nodes[0].console
        boot(console, "app=transpose size=96 app=mis size=1024 gpus=2 app=reduction size=5000")
        found = observe_all(machine, [Point("transpose", "quad"), Point("mis", "quad"), Point("reduction", "quad")])
        assert machine.run().outcome == "power_off"  # nothing is left that could run
        assert [m.correct for m in found] == [True] * 3 and all(m.kernels_s > 0 for m in found)
        # Command processors of GPUs that rest may still tidy up.
        assert [{g for (g, _), n in m.accesses.items() if n > 0.01 * sum(m.accesses.values())} for m in found] == [
            {0, 1, 2, 3},
            {0, 1},
            {0, 1, 2, 3},
        ]
        output = console.output
        assert "U-Boot 20" in output and "Starting kernel" in output and output.count(" ok\r\n") == 3
        machine.write_results(tmp_path / "out")
    assert len(json.loads((tmp_path / "out" / "regions.json").read_text())) >= 3
    assert (tmp_path / "out" / "fabric.svg").stat().st_size > 2000
