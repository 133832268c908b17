# SPDX-License-Identifier: Apache-2.0
"""Parameters of adapters and generators that do not go together, and those at the ends of their ranges."""

import fabricvp
import pytest


@pytest.mark.parametrize(
    "settings, why",
    [
        ({"mtt_lines": 8, "mtt_ways": 64}, "mtt_lines of 8 is not a multiple of mtt_ways, 64"),
        ({"mtt_lines": 100, "mtt_ways": 8}, "mtt_lines of 100 is not a multiple of mtt_ways, 8"),
    ],
)
def test_lines_that_are_no_multiple_of_ways(settings, why):
    with pytest.raises(fabricvp.InputError, match=why):
        fabricvp.spawn("rdma_pair", overrides={f"node.hca0.translation.{key}": v for key, v in settings.items()})


def test_queues_that_are_all_reserved():
    with pytest.raises(fabricvp.InputError, match=r"log_cqs.*8 … 20"):
        fabricvp.spawn("rdma_pair", overrides={"node.hca0.limits.log_cqs": 7})


def ends_well(overrides, text):
    append = "latency=1 min=1 max=64 bandwidth=16 rate=32"
    with fabricvp.spawn("rdma_pair", overrides=overrides, node__images__append=append) as platform:
        ended = platform.run("2 s")
        consoles = [node.console.output for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, consoles
        assert all("all ok" in found and "FAILED" not in found for found in consoles), consoles
        assert text in consoles[0], consoles


def test_a_window_of_two_entries():
    ends_well({"node.hca0.send_queues.window": 2}, "node 0 of 2, MTU 2048")


@pytest.mark.parametrize("node", [0, 1])
def test_the_mtu_of_the_link_is_that_of_its_lesser_end(node):
    ends_well({f"node{node}.hca0.network.link.mtu": 1024}, "node 0 of 2, MTU 1024")


def generators(payload, more=""):
    return (
        "network:\n  switches: [{name: s0}]\n  links: [{from: g0, to: s0}, {from: g1, to: s0}]\n  generators:\n"
        f"    - {{name: g0, packets: 20, payload: {payload} B}}\n"
        f"    - {{name: g1, packets: 20, payload: {payload} B, link: {{mtu: 2048}}}}\n{more}"
    )


def test_payload_beyond_the_mtu_of_the_way():
    why = r"network: the generator 'g0' sends payloads of 2049 bytes, and .* 'g1' have an MTU of 2048"
    with pytest.raises(fabricvp.InputError, match=why):
        fabricvp.spawn(text=generators(2049))


def test_latency_of_packets_that_wait_for_milliseconds():
    stuck = "faults:\n  - {at: 0 us, kind: stuck, target: network.s0.to_g1, lane: 0, lasting: 10 ms}\n"
    with fabricvp.spawn(text=generators(256, stuck)) as platform:
        platform.run("20 ms")
        found = platform.statistics.snapshot("network.g1.")
        assert found["network.g1.received"] == 20
        assert 9e9 < found["network.g1.latency.max"] < 10.1e9
