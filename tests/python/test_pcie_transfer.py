# SPDX-License-Identifier: Apache-2.0
"""Messages between the copy engines of a tree."""

import fabricvp
import pytest

EXAMPLE = [
    ("gpu0", "gpu2", "256 KiB"),
    ("gpu1", "gpu4", "256 KiB"),
    ("gpu3", "gpu2", "256 KiB"),
    ("gpu6", "gpu4", "256 KiB"),
]


def test_messages_contend():
    with fabricvp.spawn("cs_storm", overrides={"node.images.firmware": "", "node.images.kernel": ""}) as storm:
        pcie = storm.nodes[0].pcie
        assert pcie.endpoints == [f"gpu{n}" for n in range(8)]
        alone = pcie.transfer([("gpu0", "gpu1", "256 KiB")])
        assert alone.intact and alone.tlp_hops >= 2 * 1024
        assert 9e9 < alone.deliveries[0].bandwidth < 15.75e9
        result = pcie.transfer(EXAMPLE)
        assert result.intact
        again = pcie.transfer(EXAMPLE)
        assert again.arrived == result.arrived and again.tlp_hops == result.tlp_hops
        frame = result.to_pandas()
        assert list(frame["destination"]) == [2, 4, 2, 4]
        # 0 -> 2 waits behind 1 -> 4, which loses at the root complex; 3 -> 2 takes what is left.
        slow, fast = frame["bandwidth"][:2], frame["bandwidth"][2:]
        assert slow.max() < 0.8 * fast.min()
        # A scatter of one engine: concurrent streams end together; through one channel they follow each other.
        scatter = pcie.transfer([(0, n, "64 KiB") for n in (1, 2, 3)]).arrived
        assert max(scatter) < 1.05 * min(scatter)
        queue = pcie.transfer([(0, n, "64 KiB", 0, 0) for n in (1, 2, 3)]).arrived
        assert queue[0] < 0.4 * queue[2]
        with pytest.raises(fabricvp.InputError, match="no endpoint 'gpu9'"):
            pcie.transfer([("gpu9", "gpu1", 1)])
        with pytest.raises(fabricvp.InputError, match="to itself"):
            pcie.transfer([(1, 1, 1)])
        with pytest.raises(fabricvp.InputError, match="no channel 8"):
            pcie.transfer([(0, 1, 1, 0, 8)])


def test_a_machine_without_a_tree():
    with fabricvp.spawn("bare") as machine:
        assert machine.nodes[0].pcie.endpoints == []
        with pytest.raises(fabricvp.InputError, match="no PCIe tree"):
            machine.nodes[0].pcie.transfer([(0, 1, 1)])


@pytest.mark.parametrize("where, turns", [("gpu0", 3), ("board", 3)])
def test_weighted_round_robin(tmp_path, where, turns):
    """Two streams meet at an egress; the one with more turns has that share of it until it ends."""
    rival = "board" if where == "gpu0" else "socket"  # who meets where the weight is
    weight = {name: f", arbitration_weight: {turns}" if name == where else "" for name in ("gpu0", "board")}
    tree = tmp_path / "tree.yaml"
    tree.write_text(f"""
node:
  pcie:
    switches:
      - {{name: socket}}
      - {{name: board, below: socket{weight["board"]}}}
    endpoints:
      - {{name: gpu0, below: board{weight["gpu0"]}}}
      - {{name: gpu1, below: {rival}}}
      - {{name: gpu2, below: {rival}}}
""")
    with fabricvp.spawn(tree) as machine:
        first, second = (
            machine.nodes[0].pcie.transfer([("gpu0", "gpu2", "256 KiB"), ("gpu1", "gpu2", "256 KiB")]).arrived
        )
        # Alone a stream takes 1; favoured three to one it takes 4/3, and the other one ends at 2.
        assert second / first == pytest.approx(1.5, rel=0.05)


GPUS = """
node:
  host: {memory: 256 MiB}
  pcie:
    switches: [{name: socket}, {name: board, below: socket}]
    endpoints: [{name: engine, below: board}]
  gpus:
    - {below: board, compute_units: 4, memory: {capacity: 512 MiB}}
    - {below: board, compute_units: 4, memory: {capacity: 512 MiB}}
    - {below: socket, compute_units: 4, memory: {capacity: 512 MiB}}
"""


@pytest.mark.parametrize("when", ["on_arrival", "at_bank"])
def test_gpus_are_ends(when):
    with fabricvp.spawn(text=GPUS, overrides={"node.gpus.*.host_interface.peer_writes": when}) as machine:
        pcie = machine.nodes[0].pcie
        assert pcie.endpoints == ["engine", "gpu0", "gpu1", "gpu2"]
        messages = [("gpu0", "gpu1", "100001 B"), ("gpu1", "gpu2", "256 KiB"), ("gpu2", "engine", "256 KiB")]
        messages += [("engine", "gpu0", "256 KiB"), ("gpu0", "gpu2", 7, "1 us", 1)]
        result = pcie.transfer(messages)
        assert result.intact and all(0 < d.sent < d.arrived for d in result.deliveries), result
        assert all(1e9 < d.bandwidth < 16e9 for d in result.deliveries[:4]), result
        assert result.tlp_hops > 2 * (100001 + 3 * 262144) / 256
        values = machine.statistics.snapshot("node0.gpu")
        assert values["node0.gpu0.host_interface.bytes_received"] == 256 << 10
        assert values["node0.gpu1.system.bytes_written"] == 256 << 10
        again = pcie.transfer(messages)
        assert again.intact
        # Two streams that share a GPU's link take twice as long as one.
        alone = pcie.transfer([("gpu0", "gpu1", "256 KiB")]).arrived[0]
        both = pcie.transfer([("gpu0", "gpu1", "256 KiB"), ("gpu0", "gpu2", "256 KiB")]).arrived
        assert max(both) == pytest.approx(2 * alone, rel=0.15)
        cut = pcie.transfer([("gpu0", "gpu1", "4 MiB")], limit="5 us")
        assert cut.arrived == [None] and not cut.intact
        assert pcie.transfer([("gpu2", "gpu0", "64 KiB")]).intact
        for message, says in (
            (("gpu3", "gpu0", 1), "no endpoint 'gpu3'"),
            (("gpu0", "gpu0", 1), "to itself"),
            (("gpu0", "gpu1", 1, 0, 2), "no channel 2"),
            (("gpu0", "gpu1", "1 GiB"), "do not fit"),
        ):
            with pytest.raises(fabricvp.InputError, match=says):
                pcie.transfer([message])
