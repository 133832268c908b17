# SPDX-License-Identifier: Apache-2.0
"""U-Boot finds the PCIe tree of configs/cs_storm.yaml, gives it addresses, and reaches the memory of its endpoints."""

import re

import fabricvp
import pytest
from conftest import REPOSITORY
from pcie_topology import COPY_ENGINE, expected

PROMPT = "=> "
ECAM = 0x3000_0000
CONFIG = REPOSITORY / "configs" / "cs_storm.yaml"
ABI = REPOSITORY / "abi" / "copy_engine.h"


@pytest.fixture(scope="module")
def storm():
    platform = fabricvp.spawn("cs_storm")
    console = platform.nodes[0].console
    console.expect("Hit any key to stop autoboot", timeout="2 s")
    console.type(" ")
    console.expect(PROMPT, timeout="1 s")
    console.command("pci enum", PROMPT)
    yield platform
    platform.close()


def configuration(memory, f, register, size=4):
    """What the platform reads of a function's configuration space by debug."""
    return memory.read_int(ECAM | f.bus << 20 | f.device << 15 | register, size)


def test_u_boot_sees_the_platforms_topology(storm):
    """Every bus and device, identity and class, bus numbers, BARs with size and value."""
    console, memory = storm.nodes[0].console, storm.nodes[0].memory
    functions = expected(CONFIG)
    for bus in range(max(f.secondary for f in functions) + 1):
        rows = re.findall(
            r"^([0-9a-f]{2})\.([0-9a-f]{2})\.00\s+0x([0-9a-f]{4})\s+0x([0-9a-f]{4})\s+(\S.*?)\s{2,}0x([0-9a-f]{2})",
            console.command(f"pci 0x{bus:x}", PROMPT),
            re.M,
        )
        assert [(int(b, 16), int(d, 16), int(vendor + device, 16)) for b, d, vendor, device, *_ in rows] == [
            (f.bus, f.device, f.identity) for f in functions if f.bus == bus
        ]
        assert all(
            (
                kind == ("Bridge device", "04")
                if int(device, 16) != COPY_ENGINE & 0xFFFF
                else kind != ("Bridge device", "04")
            )
            for *_, device, class_name, subclass in rows
            for kind in [(class_name, subclass)]
        )
    assert "No such bus" in console.command(f"pci 0x{bus + 1:x}", PROMPT)

    taken = []
    for f in functions:
        where = f"{f.bus:x}.{f.device:x}.0"
        header = dict(re.findall(r"^\s*(.+?) =\s+0x([0-9a-f]+)", console.command(f"pci header {where}", PROMPT), re.M))
        header = {name: int(value, 16) for name, value in header.items()}
        assert header["vendor ID"] << 16 | header["device ID"] == f.identity
        assert configuration(memory, f, 0) == header["device ID"] << 16 | header["vendor ID"]
        assert configuration(memory, f, 4, 2) == header["command register ID"]
        assert (
            configuration(memory, f, 8) >> 8
            == header["class code"] << 16 | header["sub class code"] << 8 | header["programming interface"]
        )
        for n in range(2 if f.secondary else 6):
            assert configuration(memory, f, 0x10 + 4 * n) == header[f"base address {n}"]
        if f.secondary:
            numbers = [header[f"{which} bus number"] for which in ("primary", "secondary", "subordinate")]
            assert numbers == [f.bus, f.secondary, f.subordinate]
            assert configuration(memory, f, 0x18) & 0xFFFFFF == f.bus | f.secondary << 8 | f.subordinate << 16
            assert configuration(memory, f, 0x20) == header["memory limit"] << 16 | header["memory base"]
            continue
        bars = re.findall(
            r"^\s*(\d)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\d+)\s+MEM(\s+Prefetchable)?",
            console.command(f"pci bar {where}", PROMPT),
            re.M,
        )
        registers = int(re.search(r"COPY_ENGINE_REGISTERS_SIZE = (\w+)", ABI.read_text())[1], 0)
        assert [
            (int(n), int(size, 16), int(width), bool(prefetchable)) for n, _, size, width, prefetchable in bars
        ] == [(0, registers, 32, False), (2, 64 << 20, 64, True)]
        for n, base, size, width, _ in bars:
            value = configuration(memory, f, 0x10 + 4 * int(n))
            if width == "64":
                value |= configuration(memory, f, 0x14 + 4 * int(n)) << 32
            assert value & ~0xF == int(base, 16) and int(base, 16) % int(size, 16) == 0
            taken.append((int(base, 16), int(base, 16) + int(size, 16)))
    taken.sort()
    assert len(taken) == 16 and all(a[1] <= b[0] for a, b in zip(taken, taken[1:]))


def test_memory_behind_a_bar_keeps_what_is_written(storm):
    storm = storm.nodes[0].console
    bases = {}
    for bus in (0x5, 0x13):  # the first of the first board, and one behind the other root port
        bars = storm.command(f"pci bar {bus:x}.0.0", PROMPT)
        base, size = re.search(r"^\s*2\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)", bars, re.M).groups()
        assert int(size, 16) == 64 << 20
        bases[bus] = int(base, 16)
    for bus, base in bases.items():
        storm.command(f"mw.l {base + 0x1230:x} {0xC0FFEE00 + bus:x}", PROMPT)
    for bus, base in bases.items():
        assert f"{0xC0FFEE00 + bus:x}" in storm.command(f"md.l {base + 0x1230:x} 1", PROMPT)


def test_what_no_bar_claims_reads_as_ones(storm):
    assert "ffffffff" in storm.nodes[0].console.command("md.l 41000000 1", PROMPT)  # between gpu0's two BARs


def test_python_reads_and_writes_configuration_space_and_reaches_no_bar():
    with fabricvp.spawn("gpu") as platform:
        memory = platform.nodes[0].memory
        port = 0x30000000 + (1 << 15)
        words = [memory.read(port + at, 4) for at in range(0, 64, 4)]
        assert words[0] == bytes.fromhex("b0fa5210")
        assert memory.read(port, 64) == b"".join(words)
        assert memory.read(port + 3, 8) == memory.read(port, 16)[3:11]
        memory.write(port + 0x18, bytes([0, 1, 2, 3]))
        memory.write(port + 0x19, bytes([7, 8]))
        assert memory.read(port + 0x18, 4)[:3] == bytes([0, 7, 8])
        memory.write(port + 2, bytes(3) + b"\x06")  # the ID is read-only, Command takes its second byte
        assert memory.read(port, 8)[:4] == words[0]
        assert memory.read(0x30000000 + (9 << 20), 16) == b"\xff" * 16
        for access in (lambda: memory.read(0x40000000, 8), lambda: memory.write(0x40000000, b"12345678")):
            with pytest.raises(fabricvp.AddressError):
                access()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"node.pcie.endpoints.0.below": "nowhere"}, "nowhere"),
        ({"node.pcie.switches.0.name": "board0"}, "board0"),
        ({"node.pcie.endpoints.3.memory": "100 MiB"}, "gpu3: memory.*power of two"),
        ({"node.pcie.root.root_port.max_payload": "200"}, "max_payload.*power of two"),
        ({"node.pcie.gpu0.link.posted_buffer": "128 B"}, "gpu0.link.posted_buffer is 128 B: a payload of 256 B"),
    ],
)
def test_a_disconnected_tree_is_rejected(change, message):
    with pytest.raises(fabricvp.InputError, match=message):
        fabricvp.spawn("cs_storm", overrides=change)
