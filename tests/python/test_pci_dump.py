# SPDX-License-Identifier: Apache-2.0
"""`fabricvp describe --pci-dump` holds what lspci finds in a real machine: every capability decodes, the topology is
the configuration's."""

import re
import shutil
import subprocess

import pytest
from conftest import REPOSITORY
from pcie_topology import COPY_ENGINE, DOWNSTREAM, ROOT_PORT, UPSTREAM, VIRTIO_BLK, expected, lspci_tree

LSPCI = shutil.which("lspci") or shutil.which("lspci", path="/usr/sbin:/sbin")
pytestmark = pytest.mark.skipif(not LSPCI, reason="no lspci: package pciutils")

EVERY_KIND = """
node:
  pcie:
    switches:
      - {name: top, below: root}
      - {name: low, below: top}
    endpoints:
      - {name: ce0, below: low, memory: 256 MiB, resizable_from: 8 MiB}
      - {name: ce1, below: root}
      - {name: disk0, below: low, kind: virtio_blk}
      - {name: disk1, below: top, kind: virtio_blk, queues: 4}
"""

COMMON = ["Power Management version 3", "Express (v2)", "Advanced Error Reporting"]
CAPABILITIES = {
    ROOT_PORT: [*COMMON, "Express (v2) Root Port"],
    UPSTREAM: [*COMMON, "Express (v2) Upstream Port"],
    DOWNSTREAM: [*COMMON, "Express (v2) Downstream Port", "Access Control Services"],
    COPY_ENGINE: [
        *COMMON,
        "Express (v2) Endpoint",
        "MSI-X: Enable-",
        "Device Serial Number",
        "Alternative Routing-ID Interpretation (ARI)",
    ],
    VIRTIO_BLK: [
        *COMMON,
        "Express (v2) Endpoint",
        "MSI-X: Enable-",
        "Device Serial Number",
        "Alternative Routing-ID Interpretation (ARI)",
        "VirtIO: CommonCfg",
        "VirtIO: ISR",
        "VirtIO: DeviceCfg",
        "VirtIO: Notify",
    ],
}
COMPLAINTS = re.compile(
    r"!!!|<unknown|<chain broken|<chain looped|<access denied|<ignored>|<unassigned>|<invalid|\bUnknown\b|<\?\?>"
)


@pytest.fixture
def dump(command, tmp_path):
    def make(config):
        done = command("describe", config, "--pci-dump")
        assert done.returncode == 0, done.stderr
        path = tmp_path / "dump.txt"
        path.write_text(done.stdout)
        return path

    return make


def lspci(path, *options):
    done = subprocess.run([LSPCI, "-F", path, *options], capture_output=True, text=True, timeout=300, check=True)
    assert [line for line in done.stderr.splitlines() if "libkmod" not in line] == []
    return done.stdout


def by_function(text):
    """bus:device.function → lines of `lspci -v`."""
    return {block.split(maxsplit=1)[0]: block for block in text.strip().split("\n\n")}


@pytest.fixture
def every_kind(tmp_path):
    path = tmp_path / "every.yaml"
    path.write_text(EVERY_KIND)
    return path


def test_every_function_is_dumped_whole(dump, every_kind):
    blocks = dump(every_kind).read_text().strip().split("\n\n")
    assert len(blocks) == len(expected(EVERY_KIND))
    for block in blocks:
        header, *rows = block.splitlines()
        assert re.fullmatch(
            r"[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] Class [0-9a-f]{4}: [0-9a-f]{4}:[0-9a-f]{4} \(rev 01\)", header
        )
        assert [row.split(":")[0] for row in rows] == [f"{at:02x}" for at in range(0, 4096, 16)]
        assert all(len(row.split()) == 17 for row in rows)


def test_every_capability_of_every_kind_decodes(dump, every_kind):
    path = dump(every_kind)
    shown = by_function(lspci(path, "-vvv"))
    numbers = by_function(lspci(path, "-n"))
    functions = expected(EVERY_KIND)
    assert {f.identity for f in functions} == set(CAPABILITIES)
    for f in functions:
        text = shown[f"{f.bus:02x}:{f.device:02x}.0"]
        for capability in CAPABILITIES[f.identity]:
            assert capability in text, (f, text)
        assert not COMPLAINTS.search(text), COMPLAINTS.search(text)
        if f.secondary:
            assert f"primary={f.bus:02x}, secondary={f.secondary:02x}, subordinate={f.subordinate:02x}" in text
    assert numbers
    resizable = shown[next(f"{f.bus:02x}:{f.device:02x}.0" for f in functions if f.name == "ce0")]
    assert "Physical Resizable BAR" in resizable
    assert "BAR 2: current size: 8MB, supported: 8MB 16MB 32MB 64MB 128MB 256MB" in resizable


GPUS = """
node:
  pcie:
    switches:
      - {name: top, below: root}
  gpus:
    - {below: top, compute_units: 1, memory: {capacity: 256 MiB}, resizable_from: 32 MiB}
    - {below: root, compute_units: 1, memory: {capacity: 4 GiB}}
"""


def test_gpus_decode(dump, tmp_path):
    source = tmp_path / "gpus.yaml"
    source.write_text(GPUS)
    path = dump(source)
    assert lspci_tree(lspci(path, "-t")) == {
        (0, 1, 1, 3),
        (1, 0, 2, 3),
        (2, 0, 3, 3),
        (3, 0, 0, 0),
        (0, 2, 4, 4),
        (4, 0, 0, 0),
    }
    shown = by_function(lspci(path, "-vvv"))
    for function in "03:00.0", "04:00.0":
        text = shown[function]
        for wanted in [
            *COMMON,
            "3D controller",
            "Express (v2) Endpoint",
            "MSI-X: Enable- Count=4",
            "AtomicOpsCap: 32bit+ 64bit+ 128bitCAS-",
            "Alternative Routing-ID Interpretation (ARI)",
            "Device Serial Number",
            "Region 4: Memory at",
        ]:
            assert wanted in text, (function, wanted)
        # Of a dump, lspci shows the upper half of an address above 4 GiB as a region of its own.
        text = re.sub(
            r"(Region [02]: Memory at [0-9a-f]{9,} .*\n)\s*Region [13]: (?:Memory|I/O ports) at <unassigned>.*\n",
            r"\1",
            text,
        )
        assert not COMPLAINTS.search(text), COMPLAINTS.search(text)
    assert "BAR 0: current size: 32MB, supported: 32MB 64MB 128MB 256MB" in shown["03:00.0"]
    assert "Resizable BAR" not in shown["04:00.0"]


@pytest.mark.parametrize("config", ["every", "cs_storm"])
def test_the_topology_is_the_configurations(dump, every_kind, config):
    source = every_kind if config == "every" else REPOSITORY / "configs" / "cs_storm.yaml"
    wanted = {(f.bus, f.device, f.secondary, f.subordinate) for f in expected(source)}
    assert lspci_tree(lspci(dump(source), "-t")) == wanted


def test_windows_hold_what_lies_behind_them(dump, every_kind):
    shown = by_function(lspci(dump(every_kind), "-vvv"))
    functions = expected(EVERY_KIND)

    def regions(f):
        text = shown[f"{f.bus:02x}:{f.device:02x}.0"]
        return [
            (int(base, 16), "non-prefetchable" not in rest)
            for base, rest in re.findall(r"Memory at ([0-9a-f]+) \((.*)\)", text)
        ]

    taken = []
    for f in functions:
        if f.secondary:
            continue
        taken += regions(f)
        for bridge in (b for b in functions if b.secondary and b.secondary <= f.bus <= b.subordinate):
            text = shown[f"{bridge.bus:02x}:{bridge.device:02x}.0"]
            windows = {
                kind: re.search(rf"^\s*{name} behind bridge: ([0-9a-f]+)-([0-9a-f]+)", text, re.M)
                for kind, name in ((False, "Memory"), (True, "Prefetchable memory"))
            }
            for base, prefetchable in regions(f):
                low, high = (int(n, 16) for n in windows[prefetchable].groups())
                assert low <= base <= high, (f, bridge)
    assert len(taken) == len(set(taken)) == 8


def test_prefetchable_memory_goes_above_4_gib_where_it_must(dump, tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("node: {pcie: {endpoints: [{name: a, memory: 2 GiB}, {name: b, memory: 2 GiB}]}}\n")
    text = lspci(dump(path), "-vv")
    assert (
        "Region 2: Memory at 400000000 (64-bit, prefetchable)" in text
        and "Region 2: Memory at 480000000 (64-bit, prefetchable)" in text
    )


def test_nodes_are_domains(dump, tmp_path):
    path = tmp_path / "nodes.yaml"
    path.write_text("nodes: 2\nnode: {pcie: {endpoints: [{name: a}]}}\n")
    assert [line.split()[0] for line in lspci(dump(path), "-D").splitlines()] == [
        "0000:00:01.0",
        "0000:01:00.0",
        "0001:00:01.0",
        "0001:01:00.0",
    ]


def test_the_window_above_4_gib_grows_with_what_is_plugged_in(dump, tmp_path):
    path = tmp_path / "huge.yaml"
    path.write_text(
        "node: {pcie: {endpoints: [{name: a, memory: 32 GiB}, {name: b, memory: 1 GiB}, {name: c, memory: 64 GiB}]}}\n"
    )
    text = lspci(dump(path), "-vv")
    at = [int(base, 16) for base in re.findall(r"Region 2: Memory at ([0-9a-f]+) \(64-bit, prefetchable\)", text)]
    sizes = [32 << 30, 1 << 30, 64 << 30]
    assert len(at) == 3 and all(base % size == 0 and base >= 256 << 30 for base, size in zip(at, sizes))
    assert all(a + sizes[i] <= b or b + sizes[j] <= a for i, a in enumerate(at) for j, b in enumerate(at) if i != j)


def test_a_machine_without_a_tree_has_nothing_to_dump(command):
    done = command("describe", "hello", "--pci-dump")
    assert (done.returncode, done.stdout) == (0, "")
