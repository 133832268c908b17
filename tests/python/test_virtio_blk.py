# SPDX-License-Identifier: Apache-2.0
"""Debian's U-Boot reads a file from an ext4 image behind a virtio block device on the PCIe tree."""

import random
import shutil
import subprocess
import zlib

import fabricvp
import pytest

PROMPT = "=> "
MKFS = shutil.which("mkfs.ext4") or shutil.which("mkfs.ext4", path="/usr/sbin:/sbin")
MACHINE = """
node:
  images:
    firmware: /usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.bin
    kernel: /usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin
  host: {memory: 256 MiB}
  pcie:
    switches:
      - {name: top, below: root}
    endpoints:
      - {name: ce0, below: top}
      - {name: disk0, below: top, kind: virtio_blk, image: disk.img}
"""


@pytest.fixture
def disk(tmp_path):
    """machine.yaml beside disk.img; gives the contents of the file random.bin in the image."""
    if not MKFS:
        pytest.skip("no mkfs.ext4: package e2fsprogs")
    files = tmp_path / "files"
    files.mkdir()
    contents = random.Random(1).randbytes(300_000)
    (files / "random.bin").write_bytes(contents)
    subprocess.run([MKFS, "-q", "-d", files, tmp_path / "disk.img", "8M"], check=True, timeout=600)
    (tmp_path / "machine.yaml").write_text(MACHINE)
    return contents


def prompt(platform):
    console = platform.nodes[0].console
    console.expect("Hit any key to stop autoboot", timeout="2 s")
    console.type(" ")
    console.expect(PROMPT, timeout="1 s")
    console.command("pci enum", PROMPT)
    console.command("virtio scan", PROMPT)
    return console


def test_u_boot_reads_a_file(tmp_path, disk):
    image = (tmp_path / "disk.img").read_bytes()
    with fabricvp.spawn(tmp_path / "machine.yaml") as platform:
        console = prompt(platform)
        assert "Capacity: 8.0 MB = 0.0 GB (16384 x 512)" in console.command("virtio info", PROMPT)
        assert "random.bin" in console.command("ls virtio 0", PROMPT)
        assert f"{len(disk)} bytes read" in console.command("load virtio 0 84000000 random.bin", PROMPT)
        assert f"==> {zlib.crc32(disk):08x}" in console.command("crc32 84000000 $filesize", "\n" + PROMPT)
        memory = platform.nodes[0].memory
        assert memory.read(0x8400_0000, len(disk)) == disk
        # The same image without a file system in between: whole sectors, to the last.
        console.command("virtio read 84000000 0 4000", PROMPT)
        assert memory.read(0x8400_0000, len(image)) == image
        # Written sectors come back; the file keeps what it had (copy on write).
        memory.write(0x8500_0000, bytes(range(256)) * 4)
        assert "OK" in console.command("virtio write 85000000 3ffe 2", PROMPT)
        console.command("virtio read 86000000 3ffe 2", PROMPT)
        assert memory.read(0x8600_0000, 1024) == bytes(range(256)) * 4
        statistics = platform.statistics.snapshot()
        assert statistics["node0.pcie.disk0.bytes_written"] == 1024 and statistics["node0.pcie.disk0.errors"] == 0
    assert (tmp_path / "disk.img").read_bytes() == image


@pytest.mark.parametrize("mode, reply, kept", [("writable", "OK", True), ("read_only", "ERROR", False)])
def test_what_becomes_of_writes(tmp_path, disk, mode, reply, kept):
    with fabricvp.spawn(tmp_path / "machine.yaml", overrides={"node.pcie.disk0.mode": mode}) as platform:
        console = prompt(platform)
        platform.nodes[0].memory.write(0x8500_0000, b"fabric" * 100)
        assert reply in console.command("virtio write 85000000 3fff 1", PROMPT)
    assert (tmp_path / "disk.img").read_bytes().endswith((b"fabric" * 100)[:512]) == kept


@pytest.mark.parametrize(
    "change, message",
    [
        ({"image": "nowhere.img"}, "disk0.*nowhere.img.*No such file"),
        ({"image": "."}, "disk0.*no regular file"),
        ({"image": "machine.yaml"}, "disk0.*multiple of 512"),
        ({"queue_size": "100"}, "disk0.*queue_size.*power of two"),
        ({"mode": "sometimes"}, "mode.*read_only, copy_on_write, writable"),
        ({"kind": "toaster"}, "kind.*copy_engine, virtio_blk"),
        ({"memory": "1 MiB"}, "unknown key 'memory'"),
    ],
)
def test_bad_disks_are_rejected(tmp_path, disk, change, message, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where files that overrides name start from
    with pytest.raises(fabricvp.InputError, match=message):
        fabricvp.spawn(
            tmp_path / "machine.yaml",
            overrides={f"node.pcie.endpoints.1.{key}": value for key, value in change.items()},
        )
