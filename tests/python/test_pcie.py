# SPDX-License-Identifier: Apache-2.0
"""U-Boot finds the PCIe tree of configs/cs_storm.yaml, gives it addresses, and reaches the memory of its endpoints."""

import re

import pytest

import fabricvp

PROMPT = "=> "


@pytest.fixture(scope="module")
def storm():
    platform = fabricvp.spawn("cs_storm")
    console = platform.nodes[0].console
    console.expect("Hit any key to stop autoboot", timeout="2 s")
    console.type(" ")
    console.expect(PROMPT, timeout="1 s")
    console.command("pci enum", PROMPT)
    yield console
    platform.close()


def functions(console, bus):
    """(device number, device ID) of what `pci BUS` lists."""
    rows = re.findall(r"^[0-9a-f]{2}\.([0-9a-f]{2})\.00\s+0xfab0\s+0x([0-9a-f]{4})", console.command(f"pci 0x{bus:x}", PROMPT), re.M)
    return [(int(device, 16), int(identity, 16)) for device, identity in rows]


def test_every_level_of_the_tree_is_found(storm):
    root_port, upstream, downstream, copy_engine = 0x1052, 0x1050, 0x1051, 0x1F00
    assert functions(storm, 0) == [(1, root_port), (2, root_port)]
    # Depth first: socket switch, its internal bus, then each board's link, internal bus and two endpoints.
    bus = 1
    for _socket in range(2):
        assert functions(storm, bus) == [(0, upstream)]
        assert functions(storm, bus + 1) == [(0, downstream), (1, downstream)]
        bus += 2
        for _board in range(2):
            assert functions(storm, bus) == [(0, upstream)]
            assert functions(storm, bus + 1) == [(0, downstream), (1, downstream)]
            assert functions(storm, bus + 2) == functions(storm, bus + 3) == [(0, copy_engine)]
            bus += 4
    assert "No such bus" in storm.command(f"pci 0x{bus:x}", PROMPT)


def test_memory_behind_a_bar_keeps_what_is_written(storm):
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
    assert "ffffffff" in storm.command("md.l 41000000 1", PROMPT)  # between gpu0's two BARs


@pytest.mark.parametrize("change, message", [
    ({"node.pcie.endpoints.0.below": "nowhere"}, "nowhere"),
    ({"node.pcie.switches.0.name": "board0"}, "board0"),
    ({"node.pcie.endpoints.3.copy_engine.memory": "100 MiB"}, "gpu3.copy_engine.memory.*power of two"),
    ({"node.pcie.root.port.max_payload": "200"}, "max_payload.*power of two"),
])
def test_a_tree_that_does_not_hang_together_is_refused(change, message):
    with pytest.raises(fabricvp.InputError, match=message):
        fabricvp.spawn("cs_storm", overrides=change)
