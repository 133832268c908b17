# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cc --target linux`: a program in one source, for Linux on the simulated host. Clang makes the host half,
which carries the image of the kernels; the run-time is compiled from the sources beside it and linked in."""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import tempfile
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


def build_linux(source: str, name: str, options: Options) -> bytes:
    """The program of a source in HIP or CUDA, an ELF file for riscv64. ``name`` stands for the source in messages, and
    headers are searched beside it. Raises `InputError` with the compiler's first message, or what is not installed."""
    language = language_of(name)
    if language == "opencl":
        raise InputError(f"{name}: programs for Linux are in HIP (.hip) or CUDA (.cu)")
    if language == "cuda":  # as nvcc has it, a source need not include it
        options = replace(options, flags=(*options.flags, "-include", "cuda_runtime.h"))
    toolchain.version()
    _require_cross_tools()
    runtime = sdk_folder() / "runtime" / "include"
    try:
        device = build(source, name, replace(options, includes=(*options.includes, str(runtime)))).elf
    except NoKernel:
        device = b""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "kernels.elf").write_bytes(device)
        (folder / "runtime.o").write_bytes(_runtime())
        kernels = ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(folder / "kernels.elf"))
        toolchain.run(
            [*_host_command(name, options), "-o", str(folder / "host.o"), *(kernels if device else ()), "-"],
            f'# 1 "{name}"\n{source}',
        )
        _link(folder)
        return (folder / "program").read_bytes()


def _host_command(name: str, options: Options) -> list[str]:
    sdk, language = sdk_folder(), language_of(name)
    lanes = options.wavefront or WAVEFRONTS[language]
    cplusplus = _newest(SYSROOT / "include" / "c++")
    standard = [] if any(flag.startswith("-std=") for flag in options.flags) else ["-std=c++17"]
    folders = [*options.includes, str(Path(name).parent), str(sdk / "runtime" / "include")]
    system = [sdk / "gpu" / "hip" / "include", sdk, cplusplus, cplusplus / "riscv64-linux-gnu", *_c_headers()]
    return [
        toolchain.clang(),
        *("-x", "hip", "--cuda-host-only", "-nogpuinc", "-nogpulib", "-nostdinc", "-nostdinc++", "-fdeclspec"),
        *(*_TARGET, *standard, f"-O{options.optimize}", "-c"),
        *("-include", str(sdk / "gpu" / "hip" / "device.h"), f"-DWAVEFRONT_LANES={lanes}"),
        *(_NO_HIP if language == "cuda" else ()),
        *(f"-D{define}" for define in options.defines),
        *(word for folder in folders for word in ("-I", folder)),
        *(word for folder in system for word in ("-isystem", str(folder))),
        *options.flags,
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


def _link(folder: Path) -> None:
    c, gcc = SYSROOT / "lib", _newest(GCC)
    toolchain.run(
        [f"{BINUTILS}ld", "-static", "-o", str(folder / "program"), str(c / "crt1.o"), str(c / "crti.o"),
         str(gcc / "crtbeginT.o"), str(folder / "host.o"), str(folder / "runtime.o"), f"-L{gcc}", f"-L{c}",
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
