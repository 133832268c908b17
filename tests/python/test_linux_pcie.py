# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux finds the PCIe tree, as its lspci says, and keeps files on a virtio disk; `make linux` fetches
both."""

import hashlib
import random
import re
import shutil
import subprocess
from pathlib import Path

import fabricvp
import pytest
from pcie_topology import expected, lspci_tree

IMAGES = [Path(__file__).resolve().parents[2] / "build" / "linux" / name for name in ("Image", "initramfs.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
PROMPT = "~ # "
MKFS = shutil.which("mkfs.ext4") or shutil.which("mkfs.ext4", path="/usr/sbin:/sbin")
TREE = """
  pcie:
    switches:
      - {name: top, below: root}
      - {name: low, below: top}
    endpoints:
      - {name: ce0, below: low}
      - {name: disk0, below: low, kind: virtio_blk, image: disk.img, mode: writable}
"""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.skipif(bool(MISSING), reason=f"make linux has not made {', '.join(MISSING)}")
@pytest.mark.skipif(
    not MISSING and b"bin/lspci-full" not in IMAGES[1].read_bytes(),
    reason="the initramfs has no lspci: scripts/linux.sh --again",
)
@pytest.mark.skipif(not MKFS, reason="no mkfs.ext4: package e2fsprogs")
@pytest.mark.timeout(6000)
def test_linux_uses_the_pcie_tree_and_a_disk(tmp_path):
    contents = random.Random(2).randbytes(100_000)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "random.bin").write_bytes(contents)
    subprocess.run([MKFS, "-q", "-d", tmp_path / "files", tmp_path / "disk.img", "8M"], check=True, timeout=600)
    text = (Path(__file__).resolve().parents[2] / "configs" / "linux.yaml").read_text()
    text = text.replace("../build/linux", str(IMAGES[0].parent)) + TREE
    (tmp_path / "linux.yaml").write_text(text)

    with fabricvp.spawn(tmp_path / "linux.yaml") as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")

        def shell(line):
            return console.command(line, PROMPT, timeout="60 s")

        functions = expected(text)
        assert lspci_tree(shell("lspci-full -t")) == {(f.bus, f.device, f.secondary, f.subordinate) for f in functions}
        found = re.findall(r"^(..):(..)\.0 .*?([0-9a-f]{4}):([0-9a-f]{4})", shell("lspci-full -n"), re.M)
        assert [(int(b, 16), int(d, 16), int(v + i, 16)) for b, d, v, i in found] == sorted(
            (f.bus, f.device, f.identity) for f in functions
        )
        detail = shell("lspci-full -vv 2>&1")
        assert detail.count("Express (v2)") == len(functions) and detail.count("Advanced Error Reporting") == len(
            functions
        )
        assert "Kernel driver in use: virtio-pci" in detail and not re.search(
            r"!!!|<unknown|<chain|<access denied", detail
        )

        shell("modules")
        assert shell("mount -t ext4 /dev/vda /mnt && echo mounted").strip() == "mounted"
        assert shell("sha256sum /mnt/random.bin").split()[0] == digest(contents)
        shell("cat /mnt/random.bin /mnt/random.bin > /mnt/twice; umount /mnt; mount -t ext4 /dev/vda /mnt")
        assert shell("sha256sum /mnt/twice").split()[0] == digest(2 * contents)
        assert shell("umount /mnt && echo away").strip() == "away"
        statistics = platform.statistics.snapshot()
        assert statistics["node0.pcie.disk0.bytes_written"] > 200_000 and statistics["node0.pcie.disk0.errors"] == 0
    debugfs = Path(MKFS).with_name("debugfs")
    assert (
        subprocess.run([debugfs, "-R", "cat twice", tmp_path / "disk.img"], capture_output=True, timeout=600).stdout
        == 2 * contents
    )
