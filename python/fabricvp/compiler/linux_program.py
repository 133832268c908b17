# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc --target linux`: a program for Linux on the simulated host. Clang makes the host half of each source,
which carries the image of its kernels; the run-time is compiled from the sources beside it and linked in."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from . import linux_libraries, toolchain
from .host_half import Host, compile_all, kernels_language, require_sources
from .linux_runtime import BINUTILS, GCC, SYSROOT, TARGET, c_headers, link, newest, runtime
from .sources import Options

#: A section of the programs that this links (firmware/linux/images.S).
MARK = ".fabricvp"
#: Of GCC's libraries, as Debian 12 and Debian 13 have them.
GCC_VERSIONS = (12, 14)
#: Static memory that is registered moves to huge pages, without the code that runs meanwhile.
_DATA_APART = ("-z", "max-page-size=0x200000")


@functools.cache
def _host() -> Host:
    cplusplus = newest(SYSROOT / "include" / "c++")
    return Host(TARGET, (cplusplus, cplusplus / "riscv64-linux-gnu"), tuple(c_headers()))


def build_linux(
    sources: Mapping[str, str],
    options: Options,
    cplusplus: str = "",
    libraries: tuple[str, ...] = (),
    linked: bool = True,
) -> bytes:
    """The program of sources in HIP, CUDA, C++ and C, by their names: an ELF file for riscv64. Names stand for sources
    in messages, and headers are searched beside them. Files in C++ have device code in the language ``cplusplus``
    ("hip", "cuda"), or none (""). With ``libraries`` of Linux ("ibverbs") the program is linked dynamically, and
    headers of those are there; without, it is linked statically. "OpenCL" stands in place of the run-time. Device code
    of all sources is ``linked``, or each has its own. Raises `InputError` with the compiler's first message, or what is
    not installed."""
    require_sources(list(sources), "for Linux")
    opencl = linux_libraries.OPENCL in libraries
    for name in sources:
        if opencl and kernels_language(name, cplusplus):
            raise InputError(f"{name}: -l {linux_libraries.OPENCL} is for programs in C and C++, which have no kernels")
    toolchain.version()
    require_cross_tools()
    sysroot = linux_libraries.require(libraries) if libraries else None
    if sysroot and opencl:  # before our own headers of OpenCL
        options = replace(options, includes=(*options.includes, str(sysroot / "include")))
    elif sysroot:
        options = replace(options, flags=(*options.flags, "-idirafter", str(sysroot / "include")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        parts = compile_all(sources, options, cplusplus, linked, _host(), folder)
        if not opencl:
            parts.append(folder / "runtime.o")
            parts[-1].write_bytes(runtime())
        link(folder / "program", parts, *_DATA_APART, libraries=libraries, sysroot=sysroot)
        return (folder / "program").read_bytes()


def require_cross_tools() -> None:
    """Raises `InputError` if the linker or a library of Debian's is missing: one message names all packages."""
    there = {
        "libstdc++-{}-dev-riscv64-cross": (newest(GCC) / "libstdc++.a").is_file()
        and (SYSROOT / "include" / "c++").is_dir(),
        "libc6-dev-riscv64-cross": (SYSROOT / "lib" / "libc.a").is_file(),
        "binutils-riscv64-linux-gnu": shutil.which(f"{BINUTILS}ld") is not None,
    }
    missing = " ".join(package for package, found in there.items() if not found)
    if missing:
        debian_12, debian_13 = (missing.format(version) for version in GCC_VERSIONS)
        raise InputError(
            "programs for Linux need a linker and libraries for riscv64"
            f" (Debian 12: apt install {debian_12}; Debian 13: {debian_13})"
        )


def require_linux_program(data: bytes, name: str) -> None:
    """Raises `InputError` unless this is a program that `build_linux()` has made."""
    if data[:4] != b"\x7fELF":
        raise InputError(f"{name}: no program: `fabricvp cc --target linux` makes one")
    machine = int.from_bytes(data[18:20], "little")
    if data[4:6] != b"\x02\x01" or machine != 243:
        raise InputError(f"{name}: a program for another machine (ELF machine {machine}), not for riscv64")
    if not re.search(rb"\0" + re.escape(MARK.encode()) + rb"\0", data) and not linux_libraries.needs_opencl(data):
        raise InputError(f"{name}: a program without the run-time: `fabricvp cc --target linux` links it")
