# SPDX-License-Identifier: Apache-2.0
"""The network between nodes in machines: what is refused, faults by configuration and by Python, captures."""

import csv
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import fabricvp
import pytest
from fabricvp import topology

LAUNCHER = Path(sys.prefix) / "bin" / "fabricvp"
SHAPE = topology.fat_tree(2, 2, 2)


def text_with(**keys):
    """A network of four generators, with more keys."""
    return SHAPE.network_machine({"packets": 300, "payload": "1 KiB"}) + "".join(
        f"{key}: {value}\n" for key, value in keys.items()
    )


@pytest.mark.parametrize(
    "lines, why",
    [
        (
            "links: [{from: a, to: s}, {from: b, to: s}, {from: a, to: s}]",
            r"machine.yaml:7: network: 'a' is linked twice: it has one port",
        ),
        ("links: [{from: a, to: s}, {from: b, to: q}]", r"machine.yaml:7: network: 'q' is none of: a, b, s"),
        (
            "links: [{from: a, to: s}, {from: b, to: s}, {from: s, to: s}]",
            r"machine.yaml:7: network: a link goes from 's' to itself",
        ),
        (
            "links: [{from: a, to: s, rate: XYZ}]",
            r"machine.yaml:7: .*rate.*XYZ.*SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR",
        ),
        ("links: [{from: a, to: s, width: 3x}]", r"machine.yaml:7: .*width.*3x.*1x, 2x, 4x, 8x, 12x"),
        ("links: [{from: a, to: b}], adapters: [{name: node0.hca9, lid: 4}]", r"there is no adapter 'node0.hca9'"),
        ("links: [{from: a, to: b}], rooting: min_hop", r"machine.yaml:7: .*rooting.*routing"),
    ],
)
def test_refusals(tmp_path, lines, why):
    config = tmp_path / "machine.yaml"
    first, *more = lines.split("], ")
    config.write_text(
        "# one\n# two\n# three\n# four\nnetwork:\n  switches: [{name: s}]\n  "
        + first
        + "]" * bool(more)
        + "".join(f"\n  {line}" for line in more)
        + "\n  generators: [{name: a, lid: 3}, {name: b}]\n"
    )
    done = subprocess.run([LAUNCHER, "run", config, "--time", "1us"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, done
    if more and "rooting" in lines:
        why = why.replace(":7:", ":8:")
    with pytest.raises(fabricvp.InputError, match=why):
        fabricvp.spawn(config)


def test_two_ports_with_one_lid():
    with pytest.raises(fabricvp.InputError, match="network: a and b have one LID, 9"):
        fabricvp.spawn(text="network: {links: [{from: a, to: b}], generators: [{name: a, lid: 9}, {name: b, lid: 9}]}")


def test_a_ring_needs_routes_that_cannot_deadlock():
    text = topology.ring(5).network_machine({"packets": 10})
    with pytest.raises(fabricvp.InputError, match="routing: up_down has none"):
        fabricvp.spawn(text=text.replace("routing: up_down", "routing: min_hop"))


def totals(platform):
    found = platform.statistics.snapshot("network.packets.")
    return {key.rsplit(".", 1)[1]: int(value) for key, value in found.items()}


def test_faults_of_a_configuration(machine):
    faults = (
        "[{at: 0 us, target: network.generator0.link, kind: drop, count: 7}, {at: 5 us, target: network.spine0, kind:"
        " dead}]"
    )
    platform = machine(text=text_with(faults=faults))
    platform.run("2 ms")
    found = totals(platform)
    assert found["sent"] == 1200 and found["dropped"] >= 7 and found["in_flight"] == 0
    assert found["sent"] == found["delivered"] + found["dropped"]
    values = platform.statistics.snapshot("network.")
    assert values["network.generator0.link.dropped.injected"] == 7
    assert values["network.sweeps"] == 1 and values["network.spine0.faults.dead"] == 1
    assert sum(values[f"network.generator{n}.late"] + values[f"network.generator{n}.corrupt"] for n in range(4)) == 0


def test_faults_from_python(machine):
    platform = machine(text=text_with())
    platform.inject("network.leaf0.to_generator0", "down", at="3 us", lasting="10 us")
    platform.inject("network.generator1.link", "loss", at="0 us", rate=0.2, lasting="1 ms")
    platform.inject("network.generator2.link", "corrupt", at="1 us", count=3, where="payload")
    platform.run("2 ms")
    found, values = totals(platform), platform.statistics.snapshot("network.")
    assert found["sent"] == found["delivered"] + found["dropped"] == 1200
    assert values["network.generator0.link.link_downs"] == values["network.leaf0.to_generator0.link_downs"] == 1
    assert 30 < values["network.generator1.link.dropped.injected"] < 95
    assert sum(values[f"network.generator{n}.bad_icrc"] for n in range(4)) == 3


def test_captures(machine, tmp_path):
    platform = machine(text=text_with())
    platform.start_capture(tmp_path / "packets.csv")
    platform.run("2 us")
    platform.stop_capture()
    early = (tmp_path / "packets.csv").read_text()
    platform.start_capture(tmp_path / "spine.pcap", filter="network.spine0.*")
    platform.run("2 ms")
    assert (tmp_path / "packets.csv").read_text() == early
    rows = list(csv.DictReader(early.splitlines()))
    assert len(rows) > 20 and {row["port"] for row in rows} == {f"network.generator{n}.link" for n in range(4)}
    assert all(
        row["opcode"] == "101" and row["payload"] == "1024" and row["length"] == str((8 + 12 + 8 + 4 + 1024 + 4) // 4)
        for row in rows
    )
    assert [int(row["time_ps"]) for row in rows] == sorted(int(row["time_ps"]) for row in rows)
    raw = (tmp_path / "spine.pcap").read_bytes()
    assert struct.unpack("<IHHIIII", raw[:24]) == (0xA1B23C4D, 2, 4, 0, 0, 65535, 197)
    assert (len(raw) - 24) % (16 + 16 + 1062) == 0 and len(raw) > 100_000
    with pytest.raises(
        fabricvp.InputError, match="no port of the network has a name such as 'missing': names begin with network"
    ):
        platform.start_capture(tmp_path / "x", filter="missing")
    with pytest.raises(fabricvp.InputError, match=r"did you mean 'network\.spine0\.\*'"):
        platform.start_capture(tmp_path / "x", filter="network.spnie0.*")
    with pytest.raises(fabricvp.InputError, match="No such file"):
        platform.start_capture(tmp_path / "nowhere" / "x")


def test_a_capture_without_a_network(machine, tmp_path):
    with pytest.raises(fabricvp.InputError, match="needs a network"):
        machine().start_capture(tmp_path / "x.pcap")


@pytest.mark.skipif(not shutil.which("tshark"), reason="no tshark")
def test_what_wireshark_makes_of_a_run(tmp_path):
    capture = tmp_path / "run.pcap"
    done = subprocess.run(
        [LAUNCHER, "run", "network_fat_tree", "--time", "50us", "--capture", capture],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen = subprocess.run(
        [
            "tshark",
            "-r",
            capture,
            "-o",
            "infiniband.try_heuristic_first:FALSE",
            "-T",
            "fields",
            "-e",
            "infiniband.bth.opcode",
            "-e",
            "_ws.malformed",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout.splitlines()
    assert (
        len(seen) > 1000
        and {line.split("\t")[0] for line in seen} <= {"101", "0x65"}
        and not any(line.split("\t")[1:] != [""] for line in seen)
    )


def test_the_same_configuration_runs_identically(machine):
    found = []
    for _ in range(2):
        platform = machine(
            text=text_with(faults="[{at: 1 us, target: network.leaf1.to_spine0, kind: bit_errors, rate: 1e-6}]")
        )
        platform.run("1 ms")
        found.append(platform.statistics.snapshot("network."))
    assert found[0] == found[1] and found[0]["network.packets.dropped"] > 0
