# SPDX-License-Identifier: Apache-2.0
"""Wall time from the start of the program until unmodified software shows a certain text; QEMU runs the same files."""
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


@measurement("boot_uboot_s", "reset to U-Boot's \"Hit any key\", against QEMU", "s", goal="under 1 s")
def uboot():
    need(OPENSBI, U_BOOT)
    wanted = "Hit any key"
    value, baseline = alternately(
        5,
        lambda: tools.seconds_to_text(tools.fabricvp("uboot.yaml"), wanted),
        lambda: tools.seconds_to_text(tools.qemu("-bios", OPENSBI, "-kernel", U_BOOT), wanted))
    return Result(value, baseline, "s")


def linux_seconds():
    reason = LINUX / "unavailable"
    if reason.exists():
        raise Unavailable(reason.read_text().strip())
    image, initrd = LINUX / "Image", LINUX / "initramfs.cpio"
    if not (image.exists() and initrd.exists()):
        raise Unavailable("no Linux in build/linux; `make linux` fetches one")
    need(OPENSBI_DYNAMIC)
    append = re.search(r"^ *append: *(.*?)(?: +#.*)?$", (tools.TREE / "configs" / "linux.yaml").read_text(), re.MULTILINE)[1]
    if "linux" not in _measured:
        _measured["linux"] = alternately(
            3,
            lambda: tools.seconds_to_text(tools.fabricvp("linux.yaml"), "~ # "),
            lambda: tools.seconds_to_text(
                tools.qemu("-bios", OPENSBI_DYNAMIC, "-kernel", image, "-initrd", initrd, "-append", append), "~ # "))
    return _measured["linux"]


_measured: dict[str, list[float]] = {}


@measurement("boot_linux_s", "reset to the Linux shell, against QEMU", "s", goal="under 15 s")
def linux():
    return Result(*linux_seconds(), "s")


@measurement("iss_vs_qemu_linux", "Linux boot under Sv39, against QEMU TCG", "boots/min", goal="ratio ≥ 0.16")
def linux_speed():
    value, baseline = linux_seconds()
    return Result(60 / value, 60 / baseline, "boots/min")
