# SPDX-License-Identifier: Apache-2.0
"""Bare-metal programs find each other, and exchange control messages, over a network that loses packets: datagrams
that are lost are repeated, and a queue pair whose adapter has given up starts again where it was."""

import re

import fabricvp
import pytest

#: Programs that do little or nothing beside the bring-up, by machine.
PROGRAMS = {
    ("rdma_pair", 2): "check=0 exchange=0 latency=0 bandwidth=0 rate=0",
    ("rdma_cluster_4", 4): "check=0 exchange=0 latency=0 bandwidth=0 rate=0",
    ("gpurdma_pair", 2): "messages=16 runs=1",
    ("gpurdma_cluster_4", 4): "groups=1 work=reduce count=1024 rounds=1",
    ("compnet_pair", 2): "max=8 rounds=1",
}


def ports(platform, nodes):
    ends = [f"node{n}.hca0.network.link" for n in range(nodes)]
    names = platform.statistics.snapshot()
    return [end for end in ends] + sorted(
        key.removesuffix(".packets_sent") for key in names if re.fullmatch(r"network\.\w+\.to_\w+\.packets_sent", key)
    )


def inject_loss(platform, nodes, rate, lasting):
    for port in ports(platform, nodes):
        platform.inject(port, "loss", rate=rate, lasting=lasting)


def total(values, what):
    return sum(value for key, value in values.items() if re.fullmatch(what, key))


SEEDS = range(1, 5)


def bring_up(machine, nodes, seed, rate, lasting):
    """Consoles at the end, and packets that were lost."""
    with fabricvp.spawn(machine, node__images__append=PROGRAMS[machine, nodes], simulation__seed=seed) as platform:
        inject_loss(platform, nodes, rate, lasting)
        ended = platform.run("2 s")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, consoles
        assert all("all ok" in text for text in consoles), consoles
        return total(platform.statistics.snapshot(), r".*\.dropped\.injected")


@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize("machine,nodes", PROGRAMS)
def test_nodes_find_each_other(machine, nodes, rate):
    assert sum(bring_up(machine, nodes, seed, rate, "20 ms") for seed in SEEDS) > 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("scheme", ["compnet", "gpu_native"])
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_kernels_wait_for_retries_of_their_queue_pairs(scheme, rate):
    append = f"nodes=2 scheme={scheme} work=echo groups=2 max=4096 rounds=4"
    dropped = retries = 0
    for seed in SEEDS:  # few packets are lost in a run, and some of them need no retry
        with fabricvp.spawn("compnet_pair", node__images__append=append, simulation__seed=seed) as platform:
            inject_loss(platform, 2, rate, "0 ps")
            ended = platform.run("2 s")
            consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
            assert ended.outcome == fabricvp.Outcome.POWER_OFF, consoles
            assert all("all ok" in text for text in consoles), consoles
            counts = platform.statistics.snapshot()
            dropped += total(counts, r".*\.dropped\.injected")
            retries += sum(counts[f"node{n}.hca0.retries"] for n in range(2))
    assert dropped > 0 and retries > 0


def test_an_adapter_aborts_during_the_bring_up():
    """Longer than its retries take. What was sent before is not lost, nor comes twice: tags would not agree."""
    with fabricvp.spawn("rdma_cluster_4", node__images__append="check=0 latency=0 bandwidth=0 rate=0") as platform:
        while platform.statistics.snapshot()["node3.hca0.responder.acknowledgements"] < 1:
            platform.run("100 us")
        inject_loss(platform, 4, 1, "12 ms")
        ended = platform.run("2 s")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        values = platform.statistics.snapshot()
    assert ended.outcome == fabricvp.Outcome.POWER_OFF, consoles
    assert all("all ok" in text for text in consoles), consoles
    assert total(values, r"node\d\.hca0\.retries") > 7
