# SPDX-License-Identifier: Apache-2.0
"""What programs for Linux are linked with: the run-time, which carries the broker of GPUs. Both are compiled from the
sources of the SDK, and kept."""

from __future__ import annotations

import functools
import hashlib
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..arguments import is_whole
from ..data import firmware_path, sdk_folder
from . import linux_libraries, toolchain
from .cache import cached

#: Debian's cross libraries, and GCC's parts of them.
SYSROOT = Path("/usr/riscv64-linux-gnu")
GCC = Path("/usr/lib/gcc-cross/riscv64-linux-gnu")
BINUTILS = "riscv64-linux-gnu-"
TARGET = ("--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d", "-fno-pic")
#: Files of the SDK that both are made of. Interrupts are the kernel's, and images are files.
_BOTH = ("linux/*.c", "lib/fdt.c", "lib/format.c", "drivers/pci/copy_channel.c", "drivers/gpu/*.c")
_RUNTIME = (*_BOTH, "linux/client/*.c", "runtime/*.c", "runtime/hip/*.c", "runtime/opencl/*.c")
_BROKER = (*_BOTH, "linux/broker/*.c")
_DRIVER = (*_BOTH, "linux/client/*.c", "linux/icd/*.c", "runtime/*.c", "runtime/opencl/*.c")
#: What loaders of OpenCL's drivers look for in one; the rest they find by these.
_DRIVER_CALLS = ("clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR", "clGetPlatformInfo")
#: The driver's name on Linux.
DRIVER = "libfabricvp_opencl.so"
_LEFT_OUT = {"interrupts.c", "linked_images.c"}


def newest(folder: Path) -> Path:
    """The folder of a version, "12" say; itself where there is none."""
    versions = [path for path in folder.glob("*") if is_whole(path.name)]
    return max(versions, key=lambda path: int(path.name), default=folder)


@functools.cache
def c_headers() -> list[Path]:
    """Folders of the compiler's headers and the C library's."""
    own = toolchain.run([toolchain.clang(), "-print-resource-dir"]).strip()
    return [Path(own) / "include", SYSROOT / "include"]


def link(
    program: Path, objects: Iterable[Path], *flags: str, libraries: Iterable[str] = (), sysroot: Path | None = None
) -> None:
    """Links objects with the libraries of C and C++: statically, or dynamically with ``libraries`` of a folder of
    Linux'. GCC's libraries are linked statically in any case. Raises `InputError` with the linker's message."""
    c, gcc = SYSROOT / "lib", newest(GCC)
    first, last = ("crtbegin.o", "-Bdynamic") if sysroot else ("crtbeginT.o", "-Bstatic")
    # What libraries need of a newer C library than the one here, the machine has.
    dynamic = ["--dynamic-linker", linux_libraries.LOADER, "--allow-shlib-undefined", "--eh-frame-hdr"]
    how = dynamic if sysroot else ["-static"]
    toolchain.run(
        [f"{BINUTILS}ld", *how, *flags, "-o", str(program), str(c / "crt1.o"), str(c / "crti.o"),
         str(gcc / first), *map(str, objects), f"-L{gcc}", f"-L{c}",
         *([f"-L{sysroot / 'lib'}"] if sysroot else []), "--start-group", "-Bstatic", "-lstdc++", "-lgcc", "-lgcc_eh",
         last, *(f"-l{name}" for name in libraries), "-lm", "-lc", "--end-group", str(gcc / "crtend.o"),
         str(c / "crtn.o")]
    )  # fmt: skip


@functools.cache
def runtime() -> bytes:
    """One object, of whose names programs see those of HIP, CUDA and OpenCL alone."""
    carried = broker()
    key = _digest(_RUNTIME, carried)
    return cached(f"{key}.o", lambda: _compile_runtime(carried))


@functools.cache
def opencl_driver() -> bytes:
    """The run-time of OpenCL as a library that Debian's libOpenCL.so.1 loads."""
    carried = broker()
    return cached(f"{_digest(_DRIVER, carried)}.so", lambda: _compile_driver(carried))


@functools.cache
def broker() -> bytes:
    """The program `fabricvp-broker`."""
    return cached(f"{_digest(_BROKER, b'')}.broker", _compile_broker)


def _sources(patterns: Iterable[str]) -> list[Path]:
    found = [path for pattern in patterns for path in sorted(sdk_folder().glob(pattern))]
    return [path for path in found if path.name not in _LEFT_OUT]


def _digest(patterns: Iterable[str], carried: bytes) -> str:
    sdk = sdk_folder()
    headers = [p for folder in ("abi", "lib", "drivers", "linux", "runtime") for p in sdk.glob(f"{folder}/**/*.h")]
    digest = hashlib.sha256(f"{toolchain.version()}\0{Path(__file__).read_text()}".encode() + carried)
    for file in [*_sources(patterns), *sorted(headers), sdk / "linux" / "images.S", firmware_path("cp")]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _compile(
    folder: Path, patterns: Iterable[str], includes: Iterable[Path], images: dict[str, Path], *flags: str
) -> list[Path]:
    """Objects of the sources, and one with the files that macros of images.S name."""
    sdk = sdk_folder()
    firmware = folder / "cp.elf"
    toolchain.run([f"{BINUTILS}objcopy", "--strip-debug", str(firmware_path("cp")), str(firmware)])
    named = [f'-D{macro}="{file}"' for macro, file in {"FABRICVP_CP": firmware, **images}.items()]
    folders = ["-nostdinc", *(f"-I{path}" for path in includes)]
    folders += [word for path in c_headers() for word in ("-isystem", str(path))]
    common = ["-std=gnu11", "-O2", "-ffp-contract=off", "-ffunction-sections"]
    compiler = [toolchain.clang(), *TARGET, *common, *flags, *folders]
    objects = []
    for number, source in enumerate([*_sources(patterns), sdk / "linux" / "images.S"]):
        objects.append(folder / f"{number}.o")
        macros = named if source.suffix == ".S" else []
        toolchain.run([*compiler, *macros, "-c", str(source), "-o", str(objects[-1])])
    return objects


def _cuda_names(symbols: str) -> list[str]:
    """CUDA's names as symbols: C programs that include no header of CUDA call them undeclared."""
    header = (sdk_folder() / "runtime" / "include" / "cuda_runtime.h").read_text()
    calls = {line.split()[-1] for line in symbols.splitlines() if " T " in line}
    pairs = re.findall(r"^#define (cuda\w+) (hip\w+)", header, re.MULTILINE)
    return [f"--defsym={cuda}={hip}" for cuda, hip in pairs if hip in calls]


def _compile_client(folder: Path, patterns: Iterable[str], carried: bytes, *flags: str) -> list[Path]:
    """Objects of what runs in processes of users."""
    sdk = sdk_folder()
    includes = [sdk / "linux" / "client", sdk / "linux", sdk, sdk / "runtime" / "include"]
    (folder / "broker").write_bytes(carried)
    return _compile(folder, patterns, includes, {"FABRICVP_BROKER": folder / "broker"}, *flags)


def _compile_runtime(carried: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        objects = _compile_client(folder, _RUNTIME, carried)
        toolchain.run([f"{BINUTILS}ld", "-r", *map(str, objects), "-o", str(folder / "hip.o")])
        named = _cuda_names(toolchain.run([f"{BINUTILS}nm", "--defined-only", "-g", str(folder / "hip.o")]))
        toolchain.run([f"{BINUTILS}ld", "-r", *named, str(folder / "hip.o"), "-o", str(folder / "all.o")])
        kept = [f"--keep-global-symbol={pattern}" for pattern in ("hip*", "__hip*", "cuda*", "cl[A-Z]*")]
        toolchain.run([f"{BINUTILS}objcopy", "--wildcard", *kept, str(folder / "all.o"), str(folder / "runtime.o")])
        return (folder / "runtime.o").read_bytes()


def _compile_driver(carried: bytes) -> bytes:
    """Its calls have the names of those of the loader, so the library sees its own alone."""
    c, gcc = SYSROOT / "lib", newest(GCC)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        objects = _compile_client(folder, _DRIVER, carried, "-fPIC")
        toolchain.run([f"{BINUTILS}ld", "-r", *map(str, objects), "-o", str(folder / "all.o")])
        kept = [f"--keep-global-symbol={name}" for name in _DRIVER_CALLS]
        toolchain.run([f"{BINUTILS}objcopy", *kept, str(folder / "all.o"), str(folder / "driver.o")])
        toolchain.run(
            [f"{BINUTILS}ld", "-shared", "-Bsymbolic", "-z", "defs", "-z", "relro", "-soname", DRIVER, "--gc-sections",
             "-o", str(folder / DRIVER), str(c / "crti.o"), str(gcc / "crtbeginS.o"), str(folder / "driver.o"),
             f"-L{gcc}", f"-L{c}", "-lc", "-lgcc", str(gcc / "crtendS.o"), str(c / "crtn.o")]
        )  # fmt: skip
        toolchain.run([f"{BINUTILS}objcopy", "--strip-all", str(folder / DRIVER)])
        return (folder / DRIVER).read_bytes()


def _compile_broker() -> bytes:
    sdk = sdk_folder()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        link(folder / "broker", _compile(folder, _BROKER, [sdk / "linux", sdk], {}), "--gc-sections")
        toolchain.run([f"{BINUTILS}objcopy", "--strip-all", str(folder / "broker")])
        return (folder / "broker").read_bytes()
