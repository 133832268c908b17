# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux to a busybox shell; `make linux` fetches it."""

import re
from pathlib import Path

import fabricvp
import pytest
from fabricvp import Outcome

IMAGES = [Path(__file__).resolve().parents[2] / "build" / "linux" / name for name in ("Image", "initramfs.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
PROMPT = "~ # "


WITH_IMAGES = pytest.mark.skipif(bool(MISSING), reason=f"make linux has not made {', '.join(MISSING)}")
CONFIG = Path(__file__).resolve().parents[2] / "configs" / "linux.yaml"


@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("harts", [1, 4])
def test_linux_to_a_shell(harts):
    with fabricvp.spawn(CONFIG, node__host__harts=harts) as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")
        assert console.command("nproc", PROMPT, timeout="10 s").strip() == str(harts)
        assert console.command("echo $((6 * 7))", PROMPT, timeout="10 s").strip() == "42"
        assert "riscv64" in console.command("uname -a", PROMPT, timeout="10 s")
        console.type("poweroff -f\n")
        assert platform.run("20 s").outcome == Outcome.POWER_OFF


@WITH_IMAGES
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("interrupts", ["aplic", "aplic_imsic"])
def test_linux_uses_the_interrupt_controllers_that_the_host_has(interrupts):
    with fabricvp.spawn(CONFIG, node__host__harts=2, node__host__interrupts=interrupts) as platform:
        console = platform.nodes[0].console
        console.expect(PROMPT, timeout="60 s")
        lines = console.command("cat /proc/interrupts", PROMPT, timeout="10 s")
        # Sources of the wired controller come straight, or as messages.
        assert re.search(
            r"APLIC-DIRECT +10 +Level +ttyS0" if interrupts == "aplic" else r"APLIC-MSI-\S+ +10 +Level .*ttyS0", lines
        ), lines
        assert "PLIC" not in re.sub("APLIC", "", lines), lines
        before = int(re.search(r"^\s*\d+:\s+(\d+)\s+(\d+).*ttyS0", lines, re.M)[1])
        assert before > 0
        console.type("poweroff -f\n")
        assert platform.run("20 s").outcome == Outcome.POWER_OFF
