# SPDX-License-Identifier: Apache-2.0
"""Machines of several nodes: each ends, fails and starts again on its own, and is spoken to by number or path."""

import fabricvp
import guests
import pytest
from fabricvp import NodeState, Outcome

TWO_GPUS = """
node:
  host: {memory: 256 MiB}
  pcie: {switches: [{name: switch0}]}
  gpus: [{below: switch0, compute_units: 2}]
nodes: [{}, {}]
"""


@pytest.fixture
def pair(machine, assemble):
    """Two nodes with a guest each."""

    def make(first, second, until="all"):
        platform = machine(text=f"nodes: 2\nsimulation: {{until: {until}}}\n")
        for node, source in enumerate((first, second)):
            platform.load_images(node, firmware=assemble(source))
        return platform

    return make


def test_each_node_has_an_outcome(pair):
    platform = pair(guests.HELLO, guests.FAILS)
    assert [node.outcome.state for node in platform.nodes] == ["running", "running"]
    result = platform.run("10 ms")
    assert result.outcome == Outcome.GUEST_FAILURE and result.guest_status == 7
    assert result.detail == "node1 reported failure 7; node0 powered off"
    first, second = result.nodes
    assert first.state == NodeState.POWERED_OFF and first.detail == "node0 powered off"
    assert second.state == NodeState.FAILED and second.status == 7
    assert 0 < second.time < first.time == result.time
    assert platform.nodes[1].outcome == second


def test_the_first_end_may_be_the_end(pair):
    platform = pair(guests.HELLO, guests.COUNTS, until="any")
    result = platform.run("10 ms")
    assert result.outcome == Outcome.POWER_OFF and result.time < 10e-3
    assert [node.state for node in result.nodes] == ["powered_off", "running"]
    before = platform.nodes[1].harts[0].x["s1"]
    assert platform.run("1 ms").outcome == Outcome.TIME_LIMIT  # the other goes on
    assert platform.nodes[1].harts[0].x["s1"] > before


def test_a_reset_of_one_node(pair):
    platform = pair(guests.HELLO, guests.COUNTS)
    platform.run("10 ms")
    count = platform.nodes[1].harts[0].x["s1"]
    assert platform.nodes[0].outcome.state == NodeState.POWERED_OFF
    platform.nodes[0].reset()
    assert platform.nodes[0].outcome == fabricvp.NodeOutcome(NodeState.RUNNING)
    platform.run("10 ms")
    assert platform.nodes[0].console.output == "hello, world\n" * 2
    assert platform.nodes[1].harts[0].x["s1"] > 1.5 * count


def test_conditions_of_a_node(pair):
    platform = pair(guests.COUNTS, guests.HELLO)
    assert platform.run("10 ms", until={"node1": "hello,"}).match.text == "hello,"
    assert platform.nodes[1].console.output == "hello,"
    with pytest.raises(ValueError, match="no node is called 'node01'"):
        platform.run(until={"node01": "x"})


def test_applications_of_nodes():
    with fabricvp.spawn(
        text=TWO_GPUS, app={0: "fir", "node1": "reduction"}, size={"node0": 512, 1: 1048576}
    ) as platform:
        assert platform.run("2 s", until={0: "fir        ok"}).outcome == Outcome.EVENT
        assert platform.app_ok is None and [node.app_ok for node in platform.nodes] == [None, None]
        assert platform.run("2 s").outcome == Outcome.POWER_OFF
        assert platform.app_ok is True and [node.app_ok for node in platform.nodes] == [True, True]
        assert platform.statistics["node1.app.ok"] == platform.statistics["app.ok"] == 1


def test_options_for_nodes_are_checked():
    with pytest.raises(TypeError, match="size= is about an application"):
        fabricvp.spawn(text=TWO_GPUS, app={1: "fir"}, size={0: 512})
    with pytest.raises(ValueError, match="no node is called 'second'"):
        fabricvp.spawn(text=TWO_GPUS, app={"second": "fir"})
    with pytest.raises(fabricvp.InputError, match="--gpus 2: node1 has 1 GPU"):
        fabricvp.spawn(text=TWO_GPUS, app={1: "fir"}, gpus={1: 2})
    with pytest.raises(IndexError, match="node 2"):
        fabricvp.spawn(text=TWO_GPUS, app={2: "fir"})


def test_parameters_of_nodes():
    with fabricvp.spawn(text=TWO_GPUS, overrides={"node1.host.harts": 3}) as platform:
        assert [len(node.harts) for node in platform.nodes] == [1, 3]
        assert platform.config.node1.host.harts == 3
        assert "nodes:\n  - images:" in platform.resolved_config
