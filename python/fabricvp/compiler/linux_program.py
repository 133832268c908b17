# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc --target linux`: a program for Linux on the simulated host. Clang makes the host half of each source,
which carries the image of its kernels; the run-time is compiled from the sources beside it and linked in."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..data import firmware_path, sdk_folder
from ..errors import InputError
from . import toolchain
from .cache import cached
from .kernels import NoKernel
from .languages import WAVEFRONTS, language_of
from .pipeline import Options, build

#: Debian's cross libraries, and GCC's parts of them.
SYSROOT = Path("/usr/riscv64-linux-gnu")
GCC = Path("/usr/lib/gcc-cross/riscv64-linux-gnu")
BINUTILS = "riscv64-linux-gnu-"
#: A section of the programs that this links (firmware/linux/images.S).
MARK = ".fabricvp"
_TARGET = ["--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d", "-fno-pic"]
#: Files of the SDK that the run-time is made of, beside those of firmware/linux. Interrupts are the
#: kernel's, and images are files.
_SOURCES = ("lib/heap.c", "lib/fdt.c", "lib/format.c", "drivers/pci/copy_channel.c", "drivers/gpu/*.c", "runtime/*.c",
            "runtime/hip/*.c")  # fmt: skip
_LEFT_OUT = {"interrupts.c", "linked_images.c"}
#: Macros of clang's mode for HIP that a source in CUDA must not see.
_NO_HIP = ("-U__HIP__", "-U__HIPCC__", "-D__CUDACC__=1")


#: Sources without device code, and how clang reads them.
_HOST_SUFFIXES = {".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".c": "c"}


def build_linux(sources: Mapping[str, str], options: Options, cplusplus: str = "") -> bytes:
    """The program of sources in HIP, CUDA, C++ and C, by their names: an ELF file for riscv64. Names stand for sources
    in messages, and headers are searched beside them. Files in C++ have device code in the language ``cplusplus``
    ("hip", "cuda"), or none (""). Device code of one source knows nothing of another's. Raises `InputError` with the
    compiler's first message, or what is not installed."""
    for name in sources:
        if Path(name).suffix not in {".hip", ".cu", *_HOST_SUFFIXES}:
            raise InputError(f"{name}: programs for Linux are in HIP (.hip) or CUDA (.cu), with C++ and C beside it")
    toolchain.version()
    _require_cross_tools()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "runtime.o").write_bytes(_runtime())
        objects = [folder / f"{number}.o" for number in range(len(sources))]
        for output, (name, source) in zip(objects, sources.items()):
            _compile(source, name, _language_of(name, cplusplus), options, output)
        _link(folder, objects)
        return (folder / "program").read_bytes()


def _language_of(name: str, cplusplus: str) -> str:
    """ "hip" or "cuda" of a file that may have device code, "" of others."""
    host = _HOST_SUFFIXES.get(Path(name).suffix)
    if host is None:
        return language_of(name)
    return cplusplus if host == "c++" else ""


def _compile(source: str, name: str, language: str, options: Options, output: Path) -> None:
    """The host half of a source, with the image of its kernels if it has some."""
    kernels: list[str] = []
    if not language:
        command = _host_command(name, options)
    else:
        own = _as_nvcc(language, options)
        command = _device_command(name, language, own)
        with contextlib.suppress(NoKernel):
            image = output.with_suffix(".elf")
            image.write_bytes(build(source, name, _for_kernels(own), language).elf)
            kernels = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(image)]
    toolchain.run([*command, "-o", str(output), *kernels, "-"], f'# 1 "{name}"\n{source}')


def _as_nvcc(language: str, options: Options) -> Options:
    """Sources in CUDA need not include this header."""
    if language != "cuda":
        return options
    return replace(options, flags=(*options.flags, "-include", "cuda_runtime.h"))


def _for_kernels(options: Options) -> Options:
    """Options by which device code has the headers of the host half."""
    return replace(options, includes=(*options.includes, str(sdk_folder() / "runtime" / "include")))


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
    cplusplus = _newest(SYSROOT / "include" / "c++")
    folders = [*options.includes, str(Path(name).parent), str(sdk_folder() / "runtime" / "include")]
    c = Path(name).suffix == ".c"
    system = [*first, *([] if c else [cplusplus, cplusplus / "riscv64-linux-gnu"]), *_c_headers()]
    return [
        *(*_TARGET, f"-O{options.optimize}", "-c", "-nostdinc", *([] if c else ["-nostdinc++"])),
        *(f"-D{define}" for define in options.defines),
        *(word for folder in folders for word in ("-I", folder)),
        *(word for folder in system for word in ("-isystem", str(folder))),
    ]


@functools.cache
def _c_headers() -> list[Path]:
    own = toolchain.run([toolchain.clang(), "-print-resource-dir"]).strip()
    return [Path(own) / "include", SYSROOT / "include"]


def _newest(folder: Path) -> Path:
    """The folder of a version, "12" say; itself where there is none."""
    versions = [path for path in folder.glob("*") if path.name.isdigit()]
    return max(versions, key=lambda path: int(path.name), default=folder)


def _require_cross_tools() -> None:
    missing = []
    if not (_newest(GCC) / "libstdc++.a").is_file() or not (SYSROOT / "include" / "c++").is_dir():
        missing.append("libstdc++-12-dev-riscv64-cross (Debian 13: libstdc++-14-dev-riscv64-cross)")
    if not (SYSROOT / "lib" / "libc.a").is_file():
        missing.append("libc6-dev-riscv64-cross")
    if not shutil.which(f"{BINUTILS}ld"):
        missing.append("binutils-riscv64-linux-gnu")
    if missing:
        raise InputError(f"programs for Linux need Debian's {', '.join(missing)}")


def _link(folder: Path, objects: list[Path]) -> None:
    c, gcc = SYSROOT / "lib", _newest(GCC)
    toolchain.run(
        [f"{BINUTILS}ld", "-static", "-o", str(folder / "program"), str(c / "crt1.o"), str(c / "crti.o"),
         str(gcc / "crtbeginT.o"), *map(str, objects), str(folder / "runtime.o"), f"-L{gcc}", f"-L{c}",
         "--start-group", "-lstdc++", "-lm", "-lgcc", "-lgcc_eh", "-lc", "--end-group", str(gcc / "crtend.o"),
         str(c / "crtn.o")]
    )  # fmt: skip


# ---- the run-time ----


def _runtime_sources() -> list[Path]:
    sdk = sdk_folder()
    found = [path for pattern in ("linux/*.c", *_SOURCES) for path in sorted(sdk.glob(pattern))]
    return [path for path in found if path.name not in _LEFT_OUT]


@functools.cache
def _runtime() -> bytes:
    """One object, of whose names programs see those of HIP alone."""
    sdk, processor = sdk_folder(), firmware_path("cp")
    headers = [
        path for folder in ("abi", "lib", "drivers", "linux", "runtime") for path in sdk.glob(f"{folder}/**/*.h")
    ]
    digest = hashlib.sha256(f"{toolchain.version()}\0{Path(__file__).read_text()}".encode())
    for file in [*_runtime_sources(), *sorted(headers), sdk / "linux" / "images.S", processor]:
        digest.update(file.read_bytes())
    return cached(f"{digest.hexdigest()}.o", lambda: _compile_runtime(sdk, processor))


def _compile_runtime(sdk: Path, processor: Path) -> bytes:
    includes = ["-nostdinc", *(f"-I{folder}" for folder in (sdk / "linux", sdk, sdk / "runtime" / "include"))]
    includes += [word for folder in _c_headers() for word in ("-isystem", str(folder))]
    compiler = [toolchain.clang(), *_TARGET, "-std=gnu11", "-O2", "-ffp-contract=off", *includes]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        image = folder / "cp.elf"
        toolchain.run([f"{BINUTILS}objcopy", "--strip-debug", str(processor), str(image)])
        sources = [*_runtime_sources(), sdk / "linux" / "images.S"]
        for number, source in enumerate(sources):
            named = [f'-DFABRICVP_CP="{image}"'] if source.suffix == ".S" else []
            toolchain.run([*compiler, *named, "-c", str(source), "-o", str(folder / f"{number}.o")])
        objects = [str(folder / f"{number}.o") for number in range(len(sources))]
        toolchain.run([f"{BINUTILS}ld", "-r", *objects, "-o", str(folder / "all.o")])
        kept = [f"--keep-global-symbol={pattern}" for pattern in ("hip*", "__hip*")]
        toolchain.run([f"{BINUTILS}objcopy", "--wildcard", *kept, str(folder / "all.o"), str(folder / "runtime.o")])
        return (folder / "runtime.o").read_bytes()


def require_linux_program(data: bytes, name: str) -> None:
    """Raises `InputError` unless this is a program that `build_linux()` has made."""
    if data[:4] != b"\x7fELF":
        raise InputError(f"{name}: no program: `fabricvp cc --target linux` makes one")
    machine = int.from_bytes(data[18:20], "little")
    if data[4:6] != b"\x02\x01" or machine != 243:
        raise InputError(f"{name}: a program for another machine (ELF machine {machine}), not for riscv64")
    if not re.search(rb"\0" + re.escape(MARK.encode()) + rb"\0", data):
        raise InputError(f"{name}: a program without the run-time: `fabricvp cc --target linux` links it")
