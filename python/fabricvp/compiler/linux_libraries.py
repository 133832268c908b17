# SPDX-License-Identifier: Apache-2.0
"""Libraries of Debian's riscv64 packages that programs for Linux may be linked with, such as libibverbs: `make linux`
and `fabricvp linux fetch` have them, and put them into the initramfs of the machines with RDMA adapters."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

from .. import _fabricvp
from ..errors import InputError
from .elf import Elf

#: In the folder of kernel and initramfs: `include` and `lib`.
_SYSROOT = "sysroot"
_NEEDED = 1  # DT_NEEDED
LOADER = "/lib/ld-linux-riscv64-lp64d.so.1"
#: The loader of OpenCL's drivers: programs that are linked with it have no run-time of ours.
OPENCL = "OpenCL"


def _folders() -> list[Path]:
    fetched = _fabricvp.linux_folder()
    places = [Path(_fabricvp.config_folder()).parent / "build" / "linux", *([Path(fetched)] if fetched else [])]
    return [place / _SYSROOT for place in places if any((place / _SYSROOT / "lib").glob("lib*.so"))]


def require(libraries: tuple[str, ...]) -> Path:
    """The folder with headers and libraries. Raises `InputError` if a library is not there, with those that are."""
    if not (folders := _folders()):
        missing = ", ".join(f"-l {name}" for name in libraries)
        raise InputError(f"{missing}: no libraries for Linux: `make linux` or `fabricvp linux fetch` has them")
    there = sorted(file.name[3:-3] for file in (folders[0] / "lib").glob("lib*.so"))
    for name in libraries:
        if name not in there:
            raise InputError(f"-l {name}: no such library for Linux; there are {', '.join(there)}")
    return folders[0]


def needs_opencl(program: bytes) -> bool:
    """Whether a program finds OpenCL by Debian's libOpenCL.so.1."""
    with contextlib.suppress(InputError):  # a malformed one is refused when it is to run
        return any(library.startswith(f"lib{OPENCL}.so") for library in needed_libraries(program, ""))
    return False


def needed_libraries(program: bytes, name: str) -> list[str]:
    """What a program's loader has to find, itself included: names of files, none where it is linked statically. Raises
    `InputError` for a malformed file."""
    try:
        elf = Elf(program)
        dynamic = elf.section(".dynamic")
        if not dynamic:
            return []
        strings = elf.contents(elf.sections[dynamic.link])
        entries = struct.iter_unpack("<QQ", elf.contents(dynamic))
        found = [strings[value : strings.index(b"\0", value)].decode() for tag, value in entries if tag == _NEEDED]
        return [LOADER.rpartition("/")[2], *found]
    except (struct.error, ValueError, IndexError):
        raise InputError(f"{name}: a malformed program") from None
