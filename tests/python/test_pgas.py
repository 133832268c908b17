# SPDX-License-Identifier: Apache-2.0
"""Applications in a partitioned address space of two and four nodes (firmware/programs/pgas), by kernels that own their
queue pairs and by harts, from one source. Each node checks what it has; here is asked who did it, and what the network
saw."""

import fabricvp
import pytest

MACHINES = {2: ("gpurdma_pair", {"node__images__firmware": "firmware:pgas.elf"}), 4: ("gpurdma_cluster_4", {})}


def run(nodes, options, seconds="400 ms", **overrides):
    """Consoles of all nodes, statistics."""
    name, more = MACHINES[nodes]
    with fabricvp.spawn(name, node__images__append=options, **{**more, **overrides}) as platform:
        ended = platform.run(seconds)
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, (ended.detail, consoles)
        copied = platform.regions().loc["node0.gpu0.host_interface.sdma.bytes_copied"]
        assert len(copied) and (copied == 0).all()  # the kernel is loaded before
        return consoles, platform.statistics.snapshot()


def lasting_lines(text):
    """What does not depend on time; the first line is the GPU's."""
    return [line for line in text.splitlines() if not line.startswith("# ")][1:]


WORKS = {
    "reduce": "work=reduce count=240 rounds=3",
    "tree": "work=reduce count=240 rounds=3 algorithm=tree",
    "hash": "work=hash count=128 universe=120 buckets=7",
    "spmv": "work=spmv count=256 rounds=3",
    "find": "work=find count=300 divisor=5",
}


@pytest.mark.parametrize("nodes", MACHINES)
@pytest.mark.parametrize("work", WORKS)
def test_kernels(nodes, work):
    consoles, values = run(nodes, f"{WORKS[work]} groups=3")
    name = work.replace("tree", "reduce")
    assert all(lasting_lines(text) == [f"{name:<10} ok", "all ok, powering off"] for text in consoles), consoles
    for n in range(nodes):
        assert (
            values[f"node{n}.gpu0.dispatcher.dispatches"] == 1 and values[f"node{n}.gpu0.system.writes"] > 0
        )  # doorbells of lanes
        assert values[f"node{n}.hca0.bad_doorbells"] == values[f"node{n}.hca0.send_queues.failures"] == 0
    assert sum(values[f"node{n}.hca0.responder.atomics"] for n in range(nodes)) >= (
        nodes * 3 * 128 * 2 if work == "hash" else 0
    )


@pytest.mark.parametrize("nodes", MACHINES)
@pytest.mark.parametrize("work", WORKS)
def test_harts_do_the_same(nodes, work):
    consoles, values = run(nodes, f"{WORKS[work]} hart=1")
    assert all(lasting_lines(text)[-1] == "all ok, powering off" for text in consoles), consoles
    assert not any(values[f"node{n}.gpu0.dispatcher.dispatches"] for n in range(nodes))


@pytest.mark.parametrize("nodes", MACHINES)
def test_lanes_exchange_halos(nodes):
    """Jacobi's method by lanes that own their queue pairs: to the bit what the hosts solve."""
    consoles, values = run(
        nodes,
        "work=jacobi scheme=gpu_native rows=48 columns=64 groups=6 iterations=7 cores=1",
        node__images__firmware="firmware:compnet.elf",
    )
    assert all(lasting_lines(text) == ["jacobi     ok", "all ok, powering off"] for text in consoles), consoles
    assert all(
        values[f"node{n}.hca0.retries"] == 0 and values[f"node{n}.gpu0.dispatcher.dispatches"] == 1
        for n in range(nodes)
    )


def test_runs_are_the_same_to_the_picosecond():
    (text, first), (again, second) = (run(4, f"{WORKS['hash']} groups=2") for _ in range(2))
    assert text == again
    assert [key for key in first if first[key] != second[key] and not key.startswith("sim.")] == []


@pytest.mark.parametrize(
    "options, why",
    [
        ("count=0", "count=0: 1 at least"),
        ("work=4", "work=4: one of reduce, hash, spmv, find"),
        ("work=3", "work=3 is now work=find"),
        ("tree=0", "tree=0 is now algorithm=ring"),
        ("patience=9", "patience=9 is now wait_timeout_us=9"),
        ("timeout=9", "timeout=9 is now ack_timeout=9"),
        ("groups=30", "groups=30: 21 at most"),
        ("work=hash universe=100000 buckets=4", "universe=100000: 16 at most, half of all buckets"),
    ],
)
def test_invalid_options_are_reported(options, why):
    name, more = MACHINES[2]
    with fabricvp.spawn(name, node__images__append=options, **more) as platform:
        ended = platform.run("300 ms")
        assert ended.outcome == fabricvp.Outcome.REFUSED and ended.time < 0.01
        assert why in ended.detail
