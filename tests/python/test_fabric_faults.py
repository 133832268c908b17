# SPDX-License-Identifier: Apache-2.0
"""Bits that are wrong on links of the fabric, in machines that run: what the link-level CRC sees is sent again and
changes nothing but time; what flips behind it changes what is delivered, or is an error, or is padding."""

import fabricvp
import pytest
from fabricvp import topology

SLOW = "node0.fabric.cluster0.to_cluster1"
PARTS = {"kind": "netcrafter", "stitching": True, "pooling": "selective", "trimming": True, "sequencing": "page_tables"}
WRITES, REQUESTS = (
    {"requests": 400, "writes": 1, "pattern": "hot_spot", "hot_spot": 1, "hot_share": 1, "span": "64 KiB"},
    400,
)


@pytest.fixture
def traffic(machine):
    """Makes two generators in a cluster each; the first writes to the second."""

    def make(netcrafter):
        shape = topology.clusters(2, 1, outer={"lane_rate": "2 GB/s"}, switch={"stage": PARTS} if netcrafter else None)
        return machine(text=shape.traffic_machine(WRITES), overrides={"node.fabric.generators.1.start": "1000 s"})

    return make


def counts(platform):
    found = platform.statistics.snapshot("node0.fabric.")
    assert found["node0.fabric.packets_in_flight"] == 0
    assert found["node0.fabric.device0.responses"] == REQUESTS
    assert found["node0.fabric.device0.unexpected"] == found["node0.fabric.device1.unexpected"] == 0
    return (
        found["node0.fabric.device1.corrupt"],
        found["node0.fabric.device0.refused"],
        sum(v for k, v in found.items() if k.endswith(".malformed")),
    )


@pytest.mark.parametrize("netcrafter", [False, True])
def test_what_the_crc_sees_is_sent_again(traffic, netcrafter):
    platform = traffic(netcrafter)
    platform.inject(SLOW, "bit_errors", at="500 ns", rate="1e-4", lasting="1 us")
    platform.run("100 us")
    assert platform.statistics[f"{SLOW}.transmitter.replays"] > 0
    assert counts(platform) == (0, 0, 0)


@pytest.mark.parametrize("reversible, max_lanes", [({}, 8), ({"reversible": {"policy": "milic2017"}}, 15)])
def test_no_more_lanes_fail_than_a_direction_may_have(machine, reversible, max_lanes):
    text = topology.clusters(2, 1, outer=reversible).traffic_machine(WRITES)
    line = text.count("\n") + 2
    wrong = rf"lanes: {max_lanes + 1} is out of range: give 1 … {max_lanes}$"
    with pytest.raises(fabricvp.InputError, match=rf"text:{line}: faults\.0\.{wrong}"):
        fabricvp.spawn(text=f"{text}faults:\n  - {{at: 1 us, target: {SLOW}, kind: lanes, lanes: {max_lanes + 1}}}\n")
    platform = machine(text=text)
    with pytest.raises(fabricvp.InputError, match=wrong):
        platform.inject(SLOW, "lanes", at="1 us", lanes=max_lanes + 1)
    platform.inject(SLOW, "lanes", at="1 us", lanes=max_lanes, lasting="1 us")
    platform.run("100 us")
    assert platform.statistics[f"{SLOW}.faults.lanes"] == 1
    counts(platform)


#: A write of 76 bytes: header, address, a line. Behind it 4 bytes of padding, which NetCrafter may let others ride in.
@pytest.mark.parametrize(
    "netcrafter, bit, corrupt, refused, malformed",
    [
        (False, 8 * 12, 1, 0, 0),
        (False, 8 * 75 + 7, 1, 0, 0),  # the line
        (False, 8 * 4 + 6, 1, 0, 0),  # the address: another line, whose contents follow from its own
        (False, 8 * 4, 0, 1, 0),  # bits of the address that mean nothing
        (False, 3, 0, 1, 0),
        (False, 20, 0, 1, 0),  # type and ID
        (False, 8 * 77, 0, 0, 0),  # padding
        (True, 8 * 12, 1, 0, 0),
        (True, 8 * 75 + 7, 1, 0, 0),
        (True, 8 * 4 + 6, 1, 0, 0),
        (True, 8 * 4, 0, 1, 1),
        (True, 3, 0, 1, 1),
        (True, 20, 0, 1, 1),
        (True, 8 * 77, 0, 0, 0),
    ],
)
def test_what_it_does_not_see(traffic, netcrafter, bit, corrupt, refused, malformed):
    platform = traffic(netcrafter)
    platform.inject(SLOW, "flip", at="500 ns", bit=bit)
    platform.run("100 us")
    assert platform.statistics[f"{SLOW}.faults.flip"] == 1 and platform.statistics[f"{SLOW}.transmitter.replays"] == 0
    assert counts(platform) == (corrupt, refused, malformed)


SMALL_GPU = {"compute_units": 4, "memory": {"capacity": "256 MiB"}}


def transposes(machine, netcrafter):
    """A machine of two GPUs in a cluster each, about to transpose."""
    shape = topology.clusters(2, 1, outer={"lane_rate": "2 GB/s"}, switch={"stage": PARTS} if netcrafter else None)
    platform = machine(text=shape.machine(gpu=SMALL_GPU))
    platform.load_app("transpose", size=128, placement="interleaved", dispatch="round_robin")
    return platform


@pytest.mark.timeout(120)
@pytest.mark.parametrize("netcrafter", [False, True])
def test_a_kernel_whose_links_correct_errors_has_the_right_result(machine, netcrafter):
    platform = transposes(machine, netcrafter)
    for link in (SLOW, "node0.fabric.cluster1.to_cluster0"):
        platform.inject(link, "bit_errors", rate="1e-4")
    assert platform.run("1 s").outcome == "power_off"
    assert platform.app_ok and platform.statistics[f"{SLOW}.transmitter.replays"] > 10
    assert platform.statistics["node0.fabric.packets_in_flight"] == 0


@pytest.mark.timeout(120)
@pytest.mark.parametrize("netcrafter", [False, True])
def test_a_kernel_notices_what_they_do_not(machine, netcrafter):
    """Bits of lines flip behind the CRC, each in a packet of its own: the check of the result finds it."""
    platform = transposes(machine, netcrafter)
    platform.run(until=fabricvp.Marker("kernels", "reset"))
    platform.run("8 us")  # code and page tables have crossed by then; one that is hit ends the kernel otherwise
    for byte in range(20, 76, 8):
        platform.inject(SLOW, "flip", bit=8 * byte)
    platform.run("1 s")
    assert not platform.app_ok
    output = platform.nodes[0].console.output
    assert "wrong" in output or "poisoned" in output, output


@pytest.mark.timeout(120)
def test_a_kernel_whose_link_dies_ends_with_one_clear_error(machine):
    platform = transposes(machine, True)
    platform.run(until=fabricvp.Marker("kernels", "reset"))
    platform.inject(SLOW, "dead")
    result = platform.run("1 s")
    assert result.outcome in ("power_off", "guest_failure") and not platform.app_ok, result
    output = platform.nodes[0].console.output
    assert "bus error" in output.lower(), output
    assert platform.statistics["node0.fabric.packets_in_flight"] == 0


TRIANGLE = """
base: netcrafter_quad
node:
  gpus:
    - &gpu {below: switch0, compute_units: 4, memory: {capacity: 1 GiB}}
    - *gpu
    - *gpu
  fabric:
    switches:
      - {name: c0, cluster: 0, stage: &stage {kind: netcrafter, stitching: true, entries: 16}}
      - {name: c1, cluster: 1, stage: *stage}
      - {name: c2, cluster: 2, stage: *stage}
    links:
      - {from: gpu0, to: c0, lanes: 8, lane_rate: 16 GB/s}
      - {from: gpu1, to: c1, lanes: 8, lane_rate: 16 GB/s}
      - {from: gpu2, to: c2, lanes: 8, lane_rate: 16 GB/s}
      - {from: c0, to: c1, lanes: 8, lane_rate: 2 GB/s}
      - {from: c1, to: c2, lanes: 8, lane_rate: 2 GB/s}
      - {from: c0, to: c2, lanes: 8, lane_rate: 2 GB/s}
"""


@pytest.mark.timeout(120)
def test_packets_of_a_dead_link_go_by_a_queue_that_was_made_for_fewer(machine):
    """A queue of 16 flits is enough for one other cluster and too small for two, which a link that dies makes of it."""
    platform = machine(text=TRIANGLE, app="spmv", size=512)
    platform.run(until=fabricvp.Marker("kernels", "reset"))
    platform.run("5 us")
    platform.inject("node0.fabric.c0.to_c2", "dead")
    platform.run("1 s")
    found = platform.statistics.snapshot("node0.fabric.")
    assert found["node0.fabric.rerouted"] == 1 and found["node0.fabric.packets_in_flight"] == 0
    assert platform.app_ok or "bus error" in platform.nodes[0].console.output.lower()
