# SPDX-License-Identifier: Apache-2.0
"""Applications of kernels that own their queue pairs (firmware/programs/pgas), while the network loses packets, a link
goes down, or a node takes its memory back: what they find is right, or they say what failed; nothing hangs."""

import re

import fabricvp
import pytest

WORKS = {
    "reduce": "work=reduce count=16384 rounds=2",
    "tree": "work=reduce count=8192 rounds=2 algorithm=tree",
    "hash": "work=hash count=512 universe=1000",
    "spmv": "work=spmv count=16384 rounds=4",
    "find": "work=find count=4000 divisor=2",
}
KERNELS = {work: "pgas_" + work.replace("tree", "reduce") for work in WORKS}
PORTS = [f"network.switch0.to_node{n}_hca0" for n in range(4)]
ENDS = [f"node{n}.hca0.network.link" for n in range(4)]
SAYS = re.compile(
    r"^rank (\d), caller (\d+):"
    r" (?:what was asked of rank (\d)|waiting for rank (\d), step \d+|waiting for active messages):"
    r" (.+)$",
    re.MULTILINE,
)


def run(work, disturb, options="", begin="50 us"):
    """Outcome, consoles of all nodes, statistics, of a run that `disturb(platform)` disturbs once its kernels have
    begun."""
    with fabricvp.spawn("gpurdma_cluster_4", node__images__append=f"groups=3 {WORKS[work]} {options}") as platform:
        assert platform.run("100 ms", until=fabricvp.Marker(KERNELS[work], "reset")).outcome == fabricvp.Outcome.EVENT
        platform.run(begin)
        disturb(platform)
        ended = platform.run("900 ms", until=fabricvp.Marker(KERNELS[work], "dump"))
        for port in [*PORTS, *ENDS]:  # what nodes tell each other to check it all has no second chance
            platform.inject(port, "loss", rate=0, lasting="1 us")
        values = platform.statistics.snapshot()
        ended = platform.run("900 ms")
        return ended.outcome, [node.console.output.replace("\r", "") for node in platform.nodes], values


def total(values, what):
    return sum(value for key, value in values.items() if re.fullmatch(what, key))


@pytest.mark.parametrize("work", WORKS)
def test_loss_of_one_packet_in_a_thousand(work):
    def drop_packets(platform):
        for port in [*PORTS, *ENDS]:
            platform.inject(port, "loss", rate=1e-3, lasting="1 s")

    outcome, consoles, values = run(work, drop_packets)
    assert outcome == fabricvp.Outcome.POWER_OFF, consoles
    assert all("all ok" in text for text in consoles), consoles
    assert total(values, r".*\.dropped\.injected") > 0 and total(values, r"node\d\.hca0\.requester\.retries") > 0


@pytest.mark.parametrize("work", WORKS)
def test_a_link_that_goes_down_and_comes_back(work):
    outcome, consoles, values = run(
        work, lambda platform: platform.inject(PORTS[1], "down", lasting="100 us"), begin="20 us"
    )
    assert outcome == fabricvp.Outcome.POWER_OFF, consoles
    assert all("all ok" in text for text in consoles), consoles
    assert values[f"{PORTS[1]}.link_downs"] >= 1 and total(values, r"node\d\.hca0\.requester\.retries") > 0


@pytest.mark.parametrize(
    "work", [work for work in WORKS if work != "find"]
)  # whose last node sends, and is asked for nothing
def test_memory_that_is_taken_back(work):
    """Kernels whose requests are refused say so, waiting callers name the rank; each node comes to its end."""
    outcome, consoles, _ = run(work, lambda platform: None, "revoke=60 wait_timeout_us=20000")
    assert outcome == fabricvp.Outcome.GUEST_FAILURE
    errors = [errors for text in consoles for errors in SAYS.findall(text)]
    assert all(text.endswith("FAILED\n") for text in consoles), consoles
    assert {why for *_, why in errors} & {"remote access", "local protection"}, errors
    assert {int(rank) for rank, *_ in errors} == {0, 1, 2, 3}


def test_a_network_that_dies():
    """No request is answered any more: the adapters give up, and the kernels hear it."""
    outcome, consoles, _ = run("reduce", lambda platform: platform.inject("network.switch0", "dead"), "ack_timeout=4")
    assert outcome == fabricvp.Outcome.GUEST_FAILURE
    for text in consoles:
        assert SAYS.findall(text) and "nothing comes from node" in text, text  # the kernel, then the host
