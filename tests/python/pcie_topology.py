# SPDX-License-Identifier: Apache-2.0
"""What a configuration's PCIe tree must look like to software that numbers buses depth first, lowest device first."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT_PORT, UPSTREAM, DOWNSTREAM, COPY_ENGINE, VIRTIO_BLK = 0xFAB01052, 0xFAB01050, 0xFAB01051, 0xFAB01F00, 0x1AF41042
ENDPOINTS = {"copy_engine": COPY_ENGINE, "virtio_blk": VIRTIO_BLK}


@dataclass
class Function:
    bus: int
    device: int
    identity: int  # vendor << 16 | device ID
    name: str  # in the configuration, or that of the port's switch
    secondary: int = 0  # of bridges
    subordinate: int = 0
    node: dict | None = None  # the endpoint's entry


def expected(config) -> list[Function]:
    """All functions, a bridge before what lies behind it. `config` is a path or YAML text."""
    text = Path(config).read_text() if "\n" not in str(config) else config
    pcie = yaml.safe_load(text)["node"]["pcie"]
    switches, endpoints = pcie.get("switches", []), pcie.get("endpoints", [])
    found, last = [], 0

    def bridge(bus, device, identity, name, inside):
        nonlocal last
        last += 1
        f = Function(bus, device, identity, name, secondary=last)
        found.append(f)
        inside(f.secondary)
        f.subordinate = last

    def below(name, bus, first, port):
        device = first
        for s in switches:
            if s.get("below", "root") == name:
                bridge(
                    bus,
                    device,
                    port,
                    name,
                    lambda link, s=s: bridge(
                        link, 0, UPSTREAM, s["name"], lambda inner: below(s["name"], inner, 0, DOWNSTREAM)
                    ),
                )
                device += 1
        for e in endpoints:
            if e.get("below", "root") == name:
                bridge(
                    bus,
                    device,
                    port,
                    name,
                    lambda link, e=e: found.append(
                        Function(link, 0, ENDPOINTS[e.get("kind", "copy_engine")], e["name"], node=e)
                    ),
                )
                device += 1

    below("root", 0, 1, ROOT_PORT)
    return found


def lspci_tree(text: str) -> set[tuple[int, int, int, int]]:
    """(bus, device, secondary, subordinate) of every function that `lspci -t` draws; the last two are 0 for
    endpoints."""
    found, parent_at = set(), {}
    for line in text.splitlines():
        start = re.match(r"-\[(?:0000:)?00\]", line)
        behind = None  # secondary bus that the next token of the line lies on
        for token in re.finditer(
            r"([0-9a-f]{2})\.0(?:-\[([0-9a-f]{2})(?:-([0-9a-f]{2}))?\])?", line[start.end() :] if start else line
        ):
            column = token.start() + (start.end() if start else 0)
            bus = behind if behind is not None else parent_at.get(column, 0)
            parent_at[column] = bus
            secondary = int(token[2], 16) if token[2] else 0
            subordinate = int(token[3], 16) if token[3] else secondary
            found.add((bus, int(token[1], 16), secondary, subordinate))
            behind = secondary if token[2] else None
    return found
