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

#: Of clang, as Debian 12 and Debian 13 have them.
VERSIONS = (14, 19)
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
    """The compiler: `FABRICVP_CLANG`, or one of `VERSIONS`. Raises `InputError` if there is none."""
    named = os.environ.get("FABRICVP_CLANG")
    for name in [named] if named else [*(f"clang-{version}" for version in VERSIONS), "clang"]:
        found = shutil.which(name)
        if found:
            return found
    if named:
        raise InputError(f"no compiler '{named}' (FABRICVP_CLANG)")
    packages = [" ".join([f"clang-{version}", f"llvm-{version}", *_missing_packages()]) for version in VERSIONS]
    raise InputError(f"kernels need clang (Debian 12: apt install {packages[0]}; Debian 13: {packages[1]})")


def _missing_packages() -> list[str]:
    """Debian's packages beside LLVM's that compiling a kernel would lack next: one message names them all."""
    there = {
        "gcc-riscv64-unknown-elf": shutil.which(_gcc_name()),
        "picolibc-riscv64-unknown-elf": (picolibc() / "lib").is_dir(),
    }
    return [package for package, found in there.items() if not found]


@functools.cache
def version() -> str:
    """The compiler's first line about itself, kept as long as its file is the same. Raises `InputError` for one that is
    not of `VERSIONS`."""
    file = os.path.realpath(clang())
    status = os.stat(file)
    known = hashlib.sha256(f"{file} {status.st_size} {status.st_mtime_ns}".encode()).hexdigest()
    line = cached(f"{known}.version", lambda: run([clang(), "--version"]).partition("\n")[0].encode()).decode()
    if _major(line) not in VERSIONS:
        known = " or ".join(map(str, VERSIONS))
        raise InputError(f"kernels need clang {known}, and {clang()} is '{line}' (FABRICVP_CLANG names another one)")
    return line


def _major(line: str) -> int:
    found = re.search(r"clang version (\d+)", line)
    return int(found[1]) if found else 0


def pointer_to(type_: str) -> str:
    """A pointer in IR: since LLVM 15 there is one type of them."""
    return f"{type_}*" if _major(version()) < 15 else "ptr"


def lenient_arguments() -> str:
    """The front end's option by which arguments may have no value: lanes hand such ones to `__shfl_sync()`, where one
    lane alone has a value to give. Clang would take it that these lanes never come there."""
    return "-disable-noundef-analysis" if _major(version()) < 15 else "-no-enable-noundef-analysis"


def combine_pass() -> str:
    """The pass that combines instructions. Since LLVM 18 it ends `opt` if one round was not enough, unless told not
    to."""
    return "instcombine" if _major(version()) < 18 else "instcombine<no-verify-fixpoint>"


@functools.cache
def _of_llvm(program: str) -> str:
    """A program of the same LLVM as the compiler. Raises `InputError` if there is none."""
    folder, name = os.path.split(clang())
    number = _major(version())
    for candidate in os.path.join(folder, name.replace("clang", program)), f"{program}-{number}":
        if found := shutil.which(candidate):
            return found
    packages = " ".join([f"llvm-{number}", *_missing_packages()])
    raise InputError(f"kernels need {program} of LLVM {number} (Debian: apt install {packages})")


def opt() -> str:
    """The optimizer. Raises `InputError` if there is none."""
    return _of_llvm("opt")


def llvm_link() -> str:
    """What makes one module of several. Raises `InputError` if there is none."""
    return _of_llvm("llvm-link")


def _gcc_name() -> str:
    return os.environ.get("RISCV_GCC") or "riscv64-unknown-elf-gcc"


@functools.cache
def gcc() -> str:
    """The RISC-V compiler driver that links. Raises `InputError` if there is none."""
    found = shutil.which(_gcc_name())
    if not found:
        raise InputError(f"kernels need {_gcc_name()} (Debian: apt install {' '.join(_missing_packages())})")
    return found


def picolibc() -> Path:
    """Where headers and libraries of picolibc are, as `fabricvp.mk` has them."""
    return Path(os.environ.get("PICOLIBC") or "/usr/lib/picolibc/riscv64-unknown-elf")


@functools.cache
def libraries() -> list[str]:
    """Options of the linker for picolibc and libgcc, as `fabricvp.mk` has them."""
    libgcc = run([gcc(), *_ARCH, "-print-libgcc-file-name"]).strip()
    libc = picolibc() / "lib" / "release" / run([gcc(), *_ARCH, "-print-multi-directory"]).strip()
    if not (libc / "libc.a").is_file():
        raise InputError(f"kernels need picolibc (Debian: apt install picolibc-riscv64-unknown-elf): no {libc}/libc.a")
    return [f"-L{os.path.dirname(libgcc)}", f"-L{libc}", "-lc", "-lgcc"]


class Undefined(InputError):
    """Symbols that a linker has not found: ``names`` as it writes them."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"undefined: {', '.join(names)}")
        self.names = names


def run(command: Sequence[str], text: str | None = None) -> str:
    """Standard output of a program. Raises `InputError` with its first error, `Undefined` for what a linker lacks."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="surrogateescape", check=False)
    if done.returncode:
        if names := re.findall(r"undefined reference to `(.*)'", done.stderr):
            raise Undefined(list(dict.fromkeys(names)))
        raise InputError(_first_error(done.stderr) or f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def run_for_messages(command: Sequence[str]) -> str:
    """Standard error of a program."""
    return subprocess.run(command, input="", capture_output=True, text=True, check=False).stderr


def _first_error(messages: str) -> str:
    lines = [line.strip() for line in messages.splitlines()]
    return next((line for line in lines if re.search(r"\b(fatal )?error: ", line)), lines[0] if lines else "")


def gpu_folder() -> Path:
    """Where linker script and built-in functions of kernels are."""
    return sdk_folder() / "gpu"
