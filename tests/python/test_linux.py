# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux to a busybox shell; `make linux` fetches it."""

from pathlib import Path

import pytest

import fabricvp
from fabricvp import Outcome

IMAGES = [Path(__file__).resolve().parents[2] / "build" / "linux" / name for name in ("Image", "initramfs.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
PROMPT = "~ # "


@pytest.mark.skipif(bool(MISSING), reason=f"make linux has not made {', '.join(MISSING)}")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("harts", [1, 4])
def test_linux_to_a_shell(harts):
    config = Path(__file__).resolve().parents[2] / "configs" / "linux.yaml"
    with fabricvp.spawn(config, node__host__harts=harts) as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")
        assert console.command("nproc", PROMPT, timeout="10 s").strip() == str(harts)
        assert console.command("echo $((6 * 7))", PROMPT, timeout="10 s").strip() == "42"
        assert "riscv64" in console.command("uname -a", PROMPT, timeout="10 s")
        console.type("poweroff -f\n")
        assert platform.run("20 s").outcome == Outcome.POWER_OFF
