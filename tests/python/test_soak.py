# SPDX-License-Identifier: Apache-2.0
"""The soak test's own checks find what they are for, and its rounds run."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))

import checks
import machines
import soak

BALANCED = {
    "node0.fabric.gpu0.packets_sent": 3.0,
    "node0.fabric.gpu1.packets_received": 3.0,
    "node0.fabric.gpu0.requests_sent": 2.0,
    "node0.fabric.gpu1.requests_served": 2.0,
    "network.generator0.sent": 5.0,
    "network.generator1.received": 5.0,
}


@pytest.mark.parametrize("path", BALANCED)
def test_a_packet_more_is_found(path):
    assert checks.unbalanced(BALANCED) == []
    assert len(checks.unbalanced({**BALANCED, path: BALANCED[path] + 1})) == 1


def test_dropped_packets_balance_only_where_they_may_be_lost():
    counted = {**BALANCED, "network.generator1.received": 4.0, "network.packets.dropped": 1.0}
    dropped = {**counted, "network.leaf0.to_spine0.dropped.corrupted": 1.0}
    assert checks.unbalanced(dropped, {"corrupted", "injected"}) == []
    assert checks.unbalanced(dropped, {"injected"}) == ["1 packets were dropped as corrupted"]
    assert checks.unbalanced(counted, {"corrupted"}) == ["1 packets were dropped; ports count 0"]


def test_impossible_statistics_are_found():
    assert checks.impossible({"node0.fabric.packets_in_flight": 0, "a.utilisation": 1.0}) == []
    found = checks.impossible({"node0.fabric.packets_in_flight": 1, "a.utilisation": 1.5, "b": -1})
    assert len(found) == 3


def test_growth_is_told_from_chance():
    mib = 1 << 20
    assert not checks.grows([50 * mib + i % 3 * mib for i in range(24)])
    assert not checks.grows([i * 10 * mib for i in range(6)] + [60 * mib] * 18)  # it grows at the beginning alone
    assert "grew by" in checks.grows([50 * mib + i * mib for i in range(24)])


def test_rounds_repeat():
    assert machines.random_machine(5) == machines.random_machine(5) != machines.random_machine(6)
    assert machines.random_network(5) == machines.random_network(5) != machines.random_network(6)


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        (soak.machine_round, 6),
        (soak.network_round, 1),
        (soak.network_round, 21),  # bits that err on a link of InfiniBand lose packets
        (soak.memory_round, 7),
    ],
)
def test_a_round_of_each_kind_runs(kind, number, tmp_path):
    assert kind(number, tmp_path)


def test_a_wrong_result_fails_its_round(tmp_path, monkeypatch):
    def wrong(*arguments, **options):
        return {"output": "vectoradd  FAILED\n", "totals": {}, "statistics": {}}

    monkeypatch.setattr(soak, "run", wrong)
    with pytest.raises(soak.Failed, match="is not ok"):
        soak.machine_round(2, tmp_path)
