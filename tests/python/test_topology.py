# SPDX-License-Identifier: Apache-2.0
"""Shapes of fabrics: every device reaches every other one, and what was sent arrives unchanged."""

import fabricvp
import pytest
import yaml
from fabricvp import topology

SHAPES = {
    "ring": topology.ring(5),
    "mesh": topology.mesh(3, 2),
    "torus": topology.mesh(3, 3, torus=True),
    "line": topology.mesh(4, 1, torus=True),
    "fat_tree": topology.fat_tree(3, 2, 2),
    "clusters": topology.clusters(3, 2, inner={"lane_rate": "16 GB/s"}, outer={"lane_rate": "2 GB/s"}),
    "one_cluster": topology.clusters(1, 3),
    "star": topology.star(4),
    "dragonfly": topology.dragonfly(4, 3, 2),
}
#: Switches, links between switches.
SIZES = {
    "ring": (5, 5),
    "mesh": (6, 7),
    "torus": (9, 18),
    "line": (4, 4),
    "fat_tree": (5, 6),
    "clusters": (3, 3),
    "one_cluster": (1, 0),
    "star": (1, 0),
    "dragonfly": (12, 4 * 3 + 6),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name):
    shape = SHAPES[name]
    parsed = yaml.safe_load(shape.machine())["node"]
    assert len(parsed["gpus"]) == shape.devices
    between = [link for link in parsed["fabric"]["links"] if not link["from"].startswith("gpu")]
    assert (len(parsed["fabric"]["switches"]), len(between)) == SIZES[name]
    assert sorted(link["from"] for link in parsed["fabric"]["links"] if link not in between) == sorted(
        f"gpu{n}" for n in range(shape.devices)
    )


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SHAPES)
def test_everybody_reaches_everybody(name, machine):
    """Each generator asks all others in turns; contents follow from addresses and are compared at both ends."""
    shape, requests = SHAPES[name], 400
    platform = machine(text=shape.traffic_machine({"requests": requests, "writes": 0.5}))
    result = platform.run("1 ms")
    found = platform.statistics.snapshot("node0.fabric.")
    for n in range(shape.devices):
        mine = {
            key: found[f"node0.fabric.device{n}.{key}"]
            for key in ("requests", "responses", "served", "refused", "corrupt")
        }
        assert mine["requests"] == mine["responses"] == requests and mine["refused"] == mine["corrupt"] == 0, (
            result,
            mine,
        )
        assert mine["served"] > requests / 4  # all alike, so about as many as sent
    assert sum(found[f"node0.fabric.device{n}.served"] for n in range(shape.devices)) == requests * shape.devices


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SHAPES)
def test_everybody_reaches_everybody_between_nodes(name, machine):
    """The same shapes as networks: nothing is lost, everything in order."""
    shape, packets = SHAPES[name], 200
    text = topology.Shape(
        shape.title,
        shape.devices,
        [{"name": s["name"]} for s in shape.switches],
        [{"from": link["from"], "to": link["to"]} for link in shape.links],
        shape.cyclic,
    ).network_machine({"packets": packets, "pattern": "all_to_all", "payload": "512 B"})
    platform = machine(text=text)
    platform.run("1 ms")
    found = platform.statistics.snapshot("network.")
    for n in range(shape.devices):
        mine = {key: found[f"network.generator{n}.{key}"] for key in ("sent", "missed", "late", "corrupt")}
        assert mine == {"sent": packets, "missed": 0, "late": 0, "corrupt": 0}
        assert found[f"network.generator{n}.received"] > packets / 2
    assert found["network.packets.delivered"] == found["network.packets.sent"] == packets * shape.devices
    assert found["network.packets.dropped"] == found["network.packets.in_flight"] == 0


def test_computers_in_a_shape_exchange_data(machine):
    """Each sends to all others by RDMA, and checks what comes."""
    shape = topology.fat_tree(2, 2, 1)
    platform = machine(
        text=shape.nodes_machine(
            "rdma_pair",
            node={
                "host": {"memory": "64 MiB", "harts": 1},
                "images": {"append": "check=0 latency=0 bandwidth=0 rate=0 multicast=0"},
            },
        )
    )
    platform.run("100 ms")
    assert [node.outcome.state for node in platform.nodes] == ["powered_off"] * 4
    assert "exchange   ok" in platform.nodes[3].console.output


def test_dragonflies_that_cannot_be():
    with pytest.raises(fabricvp.InputError, match="5 groups need 4 links each, 3 switches with 1 have 3"):
        topology.dragonfly(5, 3, 1)


@pytest.mark.timeout(200)
def test_gpus_share_memory_over_it(machine):
    small = {"compute_units": 2, "memory": {"capacity": "256 MiB"}}
    platform = machine(text=topology.ring(3).machine(gpu=small))
    platform.load_app("transpose", size=96)
    assert platform.run("1 s").outcome == "power_off" and platform.app_ok
    assert all(link.bytes > 0 for link in platform.nodes[0].fabric.traffic())


def test_options_reach_links_and_switches(machine):
    text = topology.clusters(
        2, 1, inner={"lanes": 4}, outer={"lane_rate": "1 GB/s"}, switch={"latency": "50 cycles"}
    ).traffic_machine({"requests": 1}, fabric={"packet": {"flit": "32 B"}})
    platform = machine(text=text)
    fabric = platform.nodes[0].fabric
    assert {(d.between_switches, d.crosses_clusters, d.bytes_per_second) for d in fabric.directions} == {
        (False, False, 4 * 16 * 10**9),
        (True, True, 8 * 10**9),
    }
    assert [(v.name, v.cluster, v.is_switch) for v in fabric.vertices] == [
        ("device0", 0, False),
        ("device1", 1, False),
        ("cluster0", 0, True),
        ("cluster1", 1, True),
    ]
    assert platform.config["node0.fabric.cluster0.latency"] == 50


@pytest.mark.parametrize(
    "make",
    [
        lambda: topology.ring(2),
        lambda: topology.mesh(0, 3),
        lambda: topology.fat_tree(2, 2, 0),
        lambda: topology.clusters("two", 2),
    ],
)
def test_nonsense_is_refused(make):
    with pytest.raises(fabricvp.InputError, match="must be a whole number of at least"):
        make()


def test_text_with_special_characters_stays_text():
    assert yaml.safe_load(
        "\n".join(topology._yaml({"a": {"b": "x: #1", "c": True, "d": "", "e": [1, "2 GB/s"], "f": 'q"'}}, 0))
    ) == {"a": {"b": "x: #1", "c": True, "d": "", "e": [1, "2 GB/s"], "f": 'q"'}}
