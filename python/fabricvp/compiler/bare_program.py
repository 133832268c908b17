# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc --target bare`: a program in one source as a firmware image of the simulated host. It is compiled from
the sources that programs for Linux are, and linked with the run-time on our own firmware, and picolibc."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..data import firmware_path, sdk_folder
from . import toolchain
from .cache import cached
from .host_half import Host, compile_all, require_sources
from .sources import Options

#: Of firmware/lib/host.ld, and of `fabricvp.mk`.
_GCC = ["-march=rv64gc_zihintpause", "-mabi=lp64d", "-mcmodel=medany", "-nostdlib", "-static", "-std=gnu11", "-O2",
        "-ffreestanding", "-fno-common", "-fno-tree-loop-distribute-patterns", "-ffunction-sections",
        "-fdata-sections", "-ffp-contract=off"]  # fmt: skip
_SOURCES = ("lib/*.S", "lib/*.c", "drivers/pci/*.c", "drivers/gpu/*.c", "runtime/*.c", "runtime/*/*.c", "bare/*.c")
_FLAGS = ("--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-ffunction-sections",
          "-fdata-sections", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-threadsafe-statics",
          "-fno-use-cxa-atexit", "-D_GNU_SOURCE")  # fmt: skip


def build_bare(sources: Mapping[str, str], options: Options, cplusplus: str = "", linked: bool = True) -> bytes:
    """The firmware image of sources in HIP, CUDA, C++ and C; arguments are those of `build_linux()`. Raises
    `InputError` with the first message of compiler or linker, or what is not installed."""
    require_sources(list(sources), "on bare metal")
    toolchain.version()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "runtime.o").write_bytes(_runtime())
        objects = compile_all(sources, options, cplusplus, linked, _host(), folder)
        toolchain.run(
            [toolchain.gcc(), *_GCC, "-T", str(sdk_folder() / "lib" / "host.ld"), "-Wl,--gc-sections,--wrap=main",
             "-Wl,--build-id=none,--no-warn-rwx-segments", *map(str, objects), str(folder / "runtime.o"),
             f"-L{_libc()}", "-lm", "-lc", "-lgcc", "-o", str(folder / "program")]
        )  # fmt: skip
        return (folder / "program").read_bytes()


@functools.cache
def _host() -> Host:
    """Headers of the build machine's C++ library, which kernels have, too, with those before them that make it fit."""
    text = toolchain.run_for_messages([toolchain.clang(), "-E", "-v", "-x", "c++", "-"])
    folders = [Path(line.strip()) for line in text.splitlines() if line.startswith(" /")]
    own = toolchain.run([toolchain.clang(), "-print-resource-dir"]).strip()
    cplusplus = [folder for folder in folders if "c++" in folder.parts]
    return Host(_FLAGS, (sdk_folder() / "bare" / "include", *cplusplus), (Path(own) / "include", _picolibc_headers()))


def _picolibc_headers() -> Path:
    return toolchain.picolibc() / "include"


def _libc() -> Path:
    """The folder of picolibc's library. Raises `InputError` if it is not installed."""
    toolchain.libraries()
    multi = toolchain.run([toolchain.gcc(), "-march=rv64imafdc", "-mabi=lp64d", "-print-multi-directory"]).strip()
    return toolchain.picolibc() / "lib" / "release" / multi


@functools.cache
def _runtime() -> bytes:
    """One object of firmware, driver, run-time and the command processor's firmware."""
    sdk = sdk_folder()
    headers = [path for folder in ("abi", "lib", "drivers", "runtime", "bare") for path in sdk.glob(f"{folder}/**/*.h")]
    compiler = toolchain.run([toolchain.gcc(), "--version"])
    digest = hashlib.sha256(f"{compiler}\0{Path(__file__).read_text()}".encode())
    for file in [*_sources(), *sorted(headers), sdk / "linux" / "images.S", firmware_path("cp")]:
        digest.update(file.read_bytes())
    return cached(f"{digest.hexdigest()}.bare.o", _compile_runtime)


def _sources() -> list[Path]:
    return [path for pattern in _SOURCES for path in sorted(sdk_folder().glob(pattern))]


def _compile_runtime() -> bytes:
    sdk = sdk_folder()
    with tempfile.TemporaryDirectory() as scratch:
        firmware, output = Path(scratch, "cp.elf"), Path(scratch, "runtime.o")
        objcopy = os.environ.get("RISCV_OBJCOPY") or toolchain.gcc().removesuffix("gcc") + "objcopy"
        toolchain.run([objcopy, "--strip-debug", str(firmware_path("cp")), str(firmware)])
        toolchain.run(
            [toolchain.gcc(), *_GCC, f"-I{sdk}", f"-I{sdk / 'runtime' / 'include'}", "-isystem",
             str(_picolibc_headers()), f'-DFABRICVP_CP="{firmware}"', "-r", "-o", str(output),
             *map(str, _sources()), str(sdk / "linux" / "images.S")]
        )  # fmt: skip
        return output.read_bytes()
