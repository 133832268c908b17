# SPDX-License-Identifier: Apache-2.0
"""The programs that kernels are compiled and linked with: a distribution's clang, and the RISC-V binutils and libraries
that kernels in C stand on, too."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..data import sdk_folder
from ..errors import InputError
from .cache import cached

_ARCH = ["-march=rv64imafd", "-mabi=lp64d"]
#: What lanes execute. Code of clang lies below 2 GiB, as all apertures do.
TARGET = [
    "--target=riscv64-unknown-elf",
    "-march=rv64imafd_zba_zbb",
    "-mabi=lp64d",
    "-mcmodel=medlow",
    "-msmall-data-limit=0",
    "-fno-jump-tables",
    "-ffunction-sections",
    "-fdata-sections",
]


@functools.cache
def clang() -> str:
    """The compiler: `FABRICVP_CLANG`, or clang 14. Raises `InputError` if there is none."""
    named = os.environ.get("FABRICVP_CLANG")
    for name in [named] if named else ["clang-14", "clang"]:
        found = shutil.which(name)
        if found:
            return found
    raise InputError(
        f"no compiler '{named}' (FABRICVP_CLANG)" if named else "kernels need clang (Debian: apt install clang-14)"
    )


@functools.cache
def version() -> str:
    """The compiler's first line about itself, kept as long as its file is the same. Raises `InputError` for one that is
    no clang 14."""
    file = os.path.realpath(clang())
    status = os.stat(file)
    known = hashlib.sha256(f"{file} {status.st_size} {status.st_mtime_ns}".encode()).hexdigest()
    line = cached(f"{known}.version", lambda: run([clang(), "--version"]).partition("\n")[0].encode()).decode()
    found = re.search(r"clang version (\d+)", line)
    if not found or found[1] != "14":
        raise InputError(f"kernels need clang 14, and {clang()} is '{line}' (FABRICVP_CLANG names another one)")
    return line


@functools.cache
def opt() -> str:
    """The optimizer of the same LLVM. Raises `InputError` if there is none."""
    folder, name = os.path.split(clang())
    for candidate in os.path.join(folder, name.replace("clang", "opt")), "opt-14":
        if found := shutil.which(candidate):
            return found
    raise InputError("kernels need opt of LLVM 14 (Debian: apt install llvm-14)")


@functools.cache
def gcc() -> str:
    """The RISC-V compiler driver that links. Raises `InputError` if there is none."""
    found = shutil.which(os.environ.get("RISCV_GCC") or "riscv64-unknown-elf-gcc")
    if not found:
        raise InputError("kernels need riscv64-unknown-elf-gcc (Debian: apt install gcc-riscv64-unknown-elf)")
    return found


@functools.cache
def libraries() -> list[str]:
    """Options of the linker for picolibc and libgcc, as `fabricvp.mk` has them."""
    picolibc = Path(os.environ.get("PICOLIBC") or "/usr/lib/picolibc/riscv64-unknown-elf")
    libgcc = run([gcc(), *_ARCH, "-print-libgcc-file-name"]).strip()
    libc = picolibc / "lib" / "release" / run([gcc(), *_ARCH, "-print-multi-directory"]).strip()
    if not (libc / "libc.a").is_file():
        raise InputError(f"kernels need picolibc (Debian: apt install picolibc-riscv64-unknown-elf): no {libc}/libc.a")
    return [f"-L{os.path.dirname(libgcc)}", f"-L{libc}", "-lc", "-lgcc"]


def run(command: Sequence[str], text: str | None = None) -> str:
    """Standard output of a program. Raises `InputError` with its first error."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="surrogateescape", check=False)
    if done.returncode:
        raise InputError(_first_error(done.stderr) or f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def run_for_messages(command: Sequence[str]) -> str:
    """Standard error of a program."""
    return subprocess.run(command, input="", capture_output=True, text=True, check=False).stderr


def _first_error(messages: str) -> str:
    lines = [line.strip() for line in messages.splitlines()]
    undefined = [found[1] for line in lines if (found := re.search(r"undefined reference to `(.*)'", line))]
    if undefined:
        return f"undefined: {', '.join(dict.fromkeys(undefined))}"
    return next((line for line in lines if re.search(r"\b(fatal )?error: ", line)), lines[0] if lines else "")


def gpu_folder() -> Path:
    """Where linker script and built-in functions of kernels are."""
    return sdk_folder() / "gpu"
