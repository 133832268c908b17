# SPDX-License-Identifier: Apache-2.0
"""Wall time from the start of the program until unmodified software shows a certain text; QEMU runs the same files."""

import functools
import pathlib
import re

import tools
from registry import Result, Unavailable, alternately, measurement

OPENSBI = pathlib.Path("/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.bin")
OPENSBI_DYNAMIC = OPENSBI.with_name("fw_dynamic.bin")
U_BOOT = pathlib.Path("/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin")
LINUX = tools.TREE / "build" / "linux"


def need(*files):
    for file in files:
        if not file.exists():
            raise Unavailable(f"no {file}")


@measurement("boot_uboot_s", 'reset to U-Boot\'s "Hit any key", against QEMU', "s", goal="under 1 s")
def uboot():
    need(OPENSBI, U_BOOT)
    prompt = "Hit any key"
    value, baseline = alternately(
        tools.sized(5, 1),
        lambda: tools.seconds_to_text(tools.fabricvp("uboot.yaml"), prompt)[0],
        lambda: tools.seconds_to_text(tools.qemu("-bios", OPENSBI, "-kernel", U_BOOT), prompt)[0],
    )
    return Result(value, baseline, "s")


@functools.cache
def linux_seconds():
    reason = LINUX / "unavailable"
    if reason.exists():
        raise Unavailable(reason.read_text().strip())
    image, initrd = LINUX / "Image", LINUX / "initramfs.cpio"
    if not (image.exists() and initrd.exists()):
        raise Unavailable("no Linux in build/linux; `make linux` fetches one")
    need(OPENSBI_DYNAMIC)
    append = re.search(
        r"^ *append: *(.*?)(?: +#.*)?$", (tools.TREE / "configs" / "linux.yaml").read_text(), re.MULTILINE
    )[1]
    # Medians of wall and of processor time, each.
    return alternately(
        tools.sized(3, 1),
        lambda: tools.seconds_to_text(tools.fabricvp("linux.yaml"), "~ # "),
        lambda: tools.seconds_to_text(
            tools.qemu("-bios", OPENSBI_DYNAMIC, "-kernel", image, "-initrd", initrd, "-append", append), "~ # "
        ),
    )


@measurement("boot_linux_s", "reset to the Linux shell, against QEMU", "s", goal="under 15 s")
def linux():
    own, theirs = linux_seconds()
    return Result(own[0], theirs[0], "s")


@measurement("iss_vs_qemu_linux", "Linux boot under Sv39, against QEMU TCG", "boots/min", goal="ratio ≥ 0.16")
def linux_speed():
    own, theirs = linux_seconds()
    return Result(
        60 / own[1],
        60 / theirs[1],
        "boots/min",
        note="of processor time, since QEMU sits out the guest's waits in real time",
    )
