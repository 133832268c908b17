# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc --target linux`: a program for Linux on the simulated host. Clang makes the host half of each source,
which carries the image of its kernels; the run-time is compiled from the sources beside it and linked in."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..data import sdk_folder
from ..errors import InputError
from . import device_link, linux_libraries, toolchain
from .kernels import NoKernel
from .languages import WAVEFRONTS, language_of, marked
from .linux_runtime import BINUTILS, GCC, SYSROOT, TARGET, c_headers, device_image, link, newest, runtime
from .pipeline import build_linked
from .sources import Options, Source

#: A section of the programs that this links (firmware/linux/images.S).
MARK = ".fabricvp"
#: Macros of clang's mode for HIP that a source in CUDA must not see.
_NO_HIP = ("-U__HIP__", "-U__HIPCC__", "-D__CUDACC__=1")


#: Variables that host and kernels share are known where there is a host half.
_MANAGED = "__managed__=__attribute__((managed))"
#: Static memory that is registered moves to huge pages, without the code that runs meanwhile.
_DATA_APART = ("-z", "max-page-size=0x200000")
#: Sources without device code, and how clang reads them.
_HOST_SUFFIXES = {".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".c": "c"}


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
    headers of those are there; without, it is linked statically. Device code of all sources is ``linked``, or each
    has its own. Raises `InputError` with the compiler's first message, or what is not installed."""
    for name in sources:
        if Path(name).suffix not in {".hip", ".cu", *_HOST_SUFFIXES}:
            raise InputError(f"{name}: programs for Linux are in HIP (.hip) or CUDA (.cu), with C++ and C beside it")
    toolchain.version()
    _require_cross_tools()
    sysroot = linux_libraries.require(libraries) if libraries else None
    if sysroot:
        options = replace(options, flags=(*options.flags, "-idirafter", str(sysroot / "include")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "runtime.o").write_bytes(runtime())
        device = [
            Source(source, name, _for_kernels(_with_both_halves(language, options)), language)
            for name, source in sources.items()
            if (language := _language_of(name, cplusplus))
        ]
        together = len(device) > 1 and linked and _write_image(device, folder / "image")
        objects = [folder / f"{number}.o" for number in range(len(sources))]
        for output, (name, source) in zip(objects, sources.items()):
            _compile(source, name, _language_of(name, cplusplus), options, output, together)
        if together:
            objects.append(device_image(folder / "image"))
        parts = [*objects, folder / "runtime.o"]
        link(folder / "program", parts, *_DATA_APART, libraries=libraries, sysroot=sysroot)
        return (folder / "program").read_bytes()


def _write_image(sources: Sequence[Source], output: Path) -> bool:
    """The image of the kernels of sources, False if they have none."""
    with contextlib.suppress(NoKernel):
        output.write_bytes(build_linked(sources).elf)
        return True
    return False


def _language_of(name: str, cplusplus: str) -> str:
    """ "hip" or "cuda" of a file that may have device code, "" of others."""
    host = _HOST_SUFFIXES.get(Path(name).suffix)
    if host is None:
        return language_of(name)
    return cplusplus if host == "c++" else ""


def _compile(source: str, name: str, language: str, options: Options, output: Path, together: bool) -> None:
    """The host half of a source, with the image of its kernels if it has some, or with what leads to that of all."""
    kernels: list[str] = []
    image = output.with_suffix(".elf")
    if not language:
        command = _host_command(name, options)
    else:
        own = _with_both_halves(language, options)
        command = _device_command(name, language, own)
        if together:
            image.write_bytes(device_link.host_part(name))
            kernels = ["-fgpu-rdc"]  # variables of the host half have names for other files
        if together or _write_image([Source(source, name, _for_kernels(own), language)], image):
            kernels += ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(image)]
    toolchain.run([*command, "-o", str(output), *kernels, "-"], marked(source, name, language))


def _with_both_halves(language: str, options: Options) -> Options:
    """What host and device code of one source see. Sources in CUDA need not include the header of their run-time."""
    options = replace(options, defines=(*options.defines, _MANAGED))
    if language != "cuda":
        return options
    return replace(options, flags=(*options.flags, "-include", "cuda_runtime.h"))


def _for_kernels(options: Options) -> Options:
    """Options by which device code has the headers of the host half."""
    return replace(options, includes=(*options.includes, str(sdk_folder() / "runtime" / "include")))


def kernel_options(name: str, options: Options) -> Options:
    """Options by which the kernels of a program's source compile to an image of their own, by the source's name."""
    return _for_kernels(_with_both_halves(language_of(name), options))


def _host_command(name: str, options: Options) -> list[str]:
    language, hip = _HOST_SUFFIXES[Path(name).suffix], sdk_folder() / "gpu" / "hip" / "include"
    named = any(flag.startswith("-std=") for flag in options.flags)
    standard = [] if named else ["-std=gnu17" if language == "c" else "-std=c++17"]
    return [toolchain.clang(), "-x", language, *standard, *_common(name, options, [hip]), *options.flags]


def _device_command(name: str, language: str, options: Options) -> list[str]:
    sdk = sdk_folder()
    lanes = options.wavefront or WAVEFRONTS[language]
    standard = [] if any(flag.startswith("-std=") for flag in options.flags) else ["-std=c++17"]
    return [
        toolchain.clang(),
        *("-x", "hip", "--cuda-host-only", "-nogpuinc", "-nogpulib", "-fdeclspec", *standard),
        *("-include", str(sdk / "gpu" / "hip" / "device.h"), f"-DWAVEFRONT_LANES={lanes}"),
        *(_NO_HIP if language == "cuda" else ()),
        *_common(name, options, [sdk / "gpu" / "hip" / "include", sdk]),
        *options.flags,
    ]


def _common(name: str, options: Options, first: list[Path]) -> list[str]:
    """Target, macros and folders; ``first`` are those that stand before the system's."""
    cplusplus = newest(SYSROOT / "include" / "c++")
    here = str(Path(name).parent)
    folders = [*options.includes, here, str(sdk_folder() / "runtime" / "include")]
    c = Path(name).suffix == ".c"
    system = [*first, *([] if c else [cplusplus, cplusplus / "riscv64-linux-gnu"]), *c_headers()]
    return [
        *(*TARGET, f"-O{options.optimize}", "-c", "-nostdinc", *([] if c else ["-nostdinc++"])),
        "-fsigned-char",  # as in kernels, and as programs for x86 expect
        *(f"-D{define}" for define in options.defines),
        *("-iquote", here, *(word for folder in folders for word in ("-I", folder))),
        *(word for folder in system for word in ("-isystem", str(folder))),
    ]


def _require_cross_tools() -> None:
    missing = []
    if not (newest(GCC) / "libstdc++.a").is_file() or not (SYSROOT / "include" / "c++").is_dir():
        missing.append("libstdc++-12-dev-riscv64-cross (Debian 13: libstdc++-14-dev-riscv64-cross)")
    if not (SYSROOT / "lib" / "libc.a").is_file():
        missing.append("libc6-dev-riscv64-cross")
    if not shutil.which(f"{BINUTILS}ld"):
        missing.append("binutils-riscv64-linux-gnu")
    if missing:
        raise InputError(f"programs for Linux need Debian's {', '.join(missing)}")


def require_linux_program(data: bytes, name: str) -> None:
    """Raises `InputError` unless this is a program that `build_linux()` has made."""
    if data[:4] != b"\x7fELF":
        raise InputError(f"{name}: no program: `fabricvp cc --target linux` makes one")
    machine = int.from_bytes(data[18:20], "little")
    if data[4:6] != b"\x02\x01" or machine != 243:
        raise InputError(f"{name}: a program for another machine (ELF machine {machine}), not for riscv64")
    if not re.search(rb"\0" + re.escape(MARK.encode()) + rb"\0", data):
        raise InputError(f"{name}: a program without the run-time: `fabricvp cc --target linux` links it")
