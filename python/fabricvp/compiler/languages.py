# SPDX-License-Identifier: Apache-2.0
"""How clang reads the languages of kernels: for a GPU whose IR says what is a kernel, and what is in shared memory."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from ..errors import InputError
from . import toolchain

#: Languages by the suffix of a file.
SUFFIXES = {".cl": "opencl", ".hip": "hip", ".cu": "cuda"}
OPENCL = ["--target=spir64-unknown-unknown", "-x", "cl", "-cl-kernel-arg-info"]
#: Lanes of a wavefront.
WAVEFRONTS = {"opencl": 64, "hip": 64, "cuda": 32}
#: Macros of clang's mode for HIP that a source in CUDA must not see.
_NO_HIP = ["-U__HIP__", "-U__HIPCC__", "-U__HIP_DEVICE_COMPILE__", "-D__CUDACC__=1", "-D__CUDA_ARCH__=700"]


def language_of(name: str) -> str:
    """ "opencl", "hip" or "cuda". Raises `InputError` for other suffixes."""
    suffix = Path(name).suffix
    if suffix not in SUFFIXES:
        raise InputError(f"{name}: kernels are in files with {', '.join(SUFFIXES)}")
    return SUFFIXES[suffix]


#: Launches as old sources have them, `<< <1, 2 >> >`: nvcc reads these as `<<<…>>>`.
_APART = re.compile(r"<< <((?:(?!<<|;).)*?)>> >(\s*\()", re.DOTALL)


def marked(source: str, name: str, language: str) -> str:
    """What clang reads: the source by its name, in columns of its own, with launches that it understands."""
    if language in ("hip", "cuda"):
        source = _APART.sub(r"<<< \1>>> \2", source)
    return f'# 1 "{name}"\n{source}'


@functools.cache
def _opencl_extensions() -> list[str]:
    """Options by which kernels see the macros of what devices report, and no others: clang defines all it knows."""
    header = (toolchain.gpu_folder().parent / "runtime" / "opencl" / "extensions.h").read_text(encoding="utf-8")
    names = re.findall(r"\b(?:__open)?cl_\w+", " ".join(re.findall(r'"([^"]*)"', header)))
    return ["-Xclang", "-cl-ext=" + ",".join(["-all", *(f"+{name}" for name in names)]), "-U__IMAGE_SUPPORT__"]


@functools.cache
def _system_headers() -> list[str]:
    """Where the compiler finds headers of C and C++."""
    text = toolchain.run_for_messages([toolchain.clang(), "-###", "-x", "c++", "-c", "-"])
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', text.splitlines()[-1])
    pairs = zip(words, words[1:])
    wanted = ("-internal-isystem", "-internal-externc-isystem", "-resource-dir")
    return [word for option, folder in pairs if option in wanted for word in (option, folder)]


def command(
    language: str, name: str, defines: tuple[str, ...], includes: tuple[str, ...], flags: tuple[str, ...]
) -> list[str]:
    """The compiler with all but a level of optimisation and what it is to make, for a source on standard input."""
    here = os.path.dirname(name) or "."
    macros = [f"-D{define}" for define in defines]
    folders = ["-iquote", here, *(word for folder in (*includes, here) for word in ("-I", folder))]
    if language == "opencl":
        standard = [] if any(flag.startswith("-cl-std=") for flag in flags) else ["-cl-std=CL2.0"]
        main = ["-Xclang", "-main-file-name", "-Xclang", name]
        prelude = ["-include", str(toolchain.gpu_folder() / "opencl" / "prelude.h")]
        return [
            toolchain.clang(),
            *OPENCL,
            *standard,
            *_opencl_extensions(),
            *prelude,
            *macros,
            *folders,
            *flags,
            *main,
        ]
    gpu = toolchain.gpu_folder()
    return [
        toolchain.clang(),
        *("-cc1", "-triple", "spirv64", "-aux-triple", "x86_64-pc-linux-gnu", "-fcuda-is-device", "-x", "hip"),
        *([] if any(flag.startswith("-std=") for flag in flags) else ["-std=c++17"]),
        *("-fgnuc-version=4.2.1", "-fhip-new-launch-api", "-fdeclspec", "-main-file-name", name),
        *("-fno-finite-loops", toolchain.lenient_arguments()),  # endless loops of C++ could end in any way
        *("-internal-isystem", str(gpu / "hip" / "include")),  # some wrap the system's
        *_system_headers(),
        *("-internal-isystem", str(gpu.parent)),
        *("-include", str(gpu / "hip" / "device.h")),
        *(_NO_HIP if language == "cuda" else []),
        *macros,
        *folders,
        *flags,
    ]


def debug_options(language: str) -> list[str]:
    """Those that make debug information for GDB and binutils."""
    return ["-gdwarf-4"] if language == "opencl" else ["-debug-info-kind=limited", "-dwarf-version=4"]


def level_options(language: str, optimize: str) -> list[str]:
    """IR as the level wants it, before any pass."""
    if optimize == "0":
        return ["-O0"]
    return [f"-O{optimize}", *(["-Xclang"] if language == "opencl" else []), "-disable-llvm-passes"]


def output_options(language: str) -> list[str]:
    """Text of IR on standard output."""
    return ["-S", "-emit-llvm", "-o", "-"] if language == "opencl" else ["-emit-llvm", "-o", "-"]
