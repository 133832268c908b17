# SPDX-License-Identifier: Apache-2.0
"""From a source in OpenCL C to an image of kernels."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError
from . import constants, device_link, languages, record, toolchain
from .atomics import without_results
from .block import GRID, Block, block_of
from .builtins import families_of, source_of
from .cache import cached
from .cache import folder as cache_folder
from .debug import DebugInformation
from .elf import Elf
from .kernels import Kernel, body_of, descriptors, entries, kernels_of, place_locals
from .module import Module, host_variables, lowered
from .sources import Options, Source
from .stack import StackDepths, spills

_MAX_STACK = 1 << 20  # GPU_SCRATCH_SIZE (abi/gpu_apertures.h)
_ENDED_LANES_ARRIVE, _WAVEFRONT_32, _COOPERATIVE = 1, 2, 4  # KERNEL_… (abi/kernel_descriptor.h)
#: Copies of blocks are lanes that never meet again; saved registers of an entry are lines of scratch memory.
_BACK = [
    word
    for option in ("enable-ipra", "tail-dup-placement=false", "disable-tail-duplicate", "disable-early-taildup",
                   "jump-threading-threshold=0")
    for word in ("-mllvm", f"-{option}")
]  # fmt: skip


@dataclass
class Image:
    """An ELF file with kernels, by name, the block that they share, if there is one, and constants, by name."""

    elf: bytes
    kernels: dict[str, Kernel] = field(default_factory=dict)
    block: Block | None = None
    constants: dict[str, constants.Constant] = field(default_factory=dict)

    @staticmethod
    def read(data: bytes) -> Image:
        """An image that `build()` has made. Raises `InputError` for other files."""
        elf = Elf(data)
        section = elf.section(record.SECTION)
        if section is None:
            raise InputError("the file has no kernels with known parameters: `fabricvp cc` makes such files")
        kernels, block = record.decode(elf.contents(section))
        return Image(data, {kernel.name: kernel for kernel in kernels}, block, constants.decode(elf))


def build(source: str, name: str, options: Options | None = None, language: str = "") -> Image:
    """The image of a `Source`. Raises `InputError` with the compiler's first message."""
    return build_linked([Source(source, name, options or Options(), language)])


def build_linked(sources: Sequence[Source]) -> Image:
    """The image of several sources, whose functions and variables are those of all, unless they are static. Raises
    `InputError` with the compiler's first message, or the first name that is defined twice or nowhere."""
    sources = [source.known() for source in sources]
    toolchain.version()
    if len({source.language == "opencl" for source in sources}) > 1:
        raise InputError(f"{sources[1].name}: kernels in OpenCL C are not linked with those in HIP and CUDA")
    parts = [toolchain.version(), _own_hash()]
    for source in sources:
        front, marked = _front(source)
        # What a source includes is part of the key; without headers it says all by itself.
        plain = source.language == "opencl" and not source.options.flags
        alone = plain and not re.search(r"\binclude\b|__has_include", source.text)
        parts += [marked if alone else _preprocessed(front, marked), source.language, repr(source.options)]
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    return Image.read(cached(f"{key}.elf", lambda: _compile(sources)))


def _front(source: Source) -> tuple[list[str], str]:
    """The compiler's command, and what it reads."""
    own = () if source.language == "opencl" else (f"WAVEFRONT_LANES={source.options.wavefront}",)  # lanes.h
    options = source.options
    front = languages.command(source.language, source.name, (*options.defines, *own), options.includes, options.flags)
    return front, languages.marked(source.text, source.name, source.language)


def module_of(source: str, name: str, options: Options, language: str = "") -> tuple[str, str]:
    """The IR that the front end makes of a source, before any pass, and the language. As `build()`."""
    known = Source(source, name, options, language).known()
    toolchain.version()
    front, marked = _front(known)
    return _ir(known.language, marked, front, "2"), known.language


def _preprocessed(front: Sequence[str], marked: str) -> str:
    """A source without directives."""
    return toolchain.run([*front, "-E", "-o", "-", "-"], marked)


def files_read(source: str, name: str, options: Options) -> list[str]:
    """The source and the headers that it includes."""
    text = _preprocessed(*_front(Source(source, name, options).known()))
    names = [name, *re.findall(r'^# \d+ "([^"<]+)"', text, re.MULTILINE)]
    return list(dict.fromkeys(n for n in names if os.path.exists(n)))


@functools.cache
def _own_hash() -> str:
    """A digest of what takes part beside clang."""
    folder = toolchain.gpu_folder()
    files = [
        *Path(__file__).parent.glob("*.py"),
        *folder.glob("opencl/*"),
        *folder.glob("hip/**/*.h"),
        folder / "lanes.h",
        folder.parent / "abi" / "gpu_isa.h",
        folder / "gpu.ld",
        folder / "math/trunc.c",
    ]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _ir(language: str, source: str, front: Sequence[str], optimize: str) -> str:
    return toolchain.run(
        [
            *front,
            *languages.level_options(language, optimize),
            *languages.debug_options(language),
            *languages.output_options(language),
            "-",
        ],
        source,
    )


@functools.cache
def _header() -> str:
    """Data layout and triple of the back end."""
    text = toolchain.run([toolchain.clang(), *toolchain.TARGET, "-x", "c", "-S", "-emit-llvm", "-o", "-", "-"], "")
    return "\n".join(re.findall(r"^target .*$", text, re.MULTILINE))


def _bitcode(ir: str) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "module.bc")
        toolchain.run(
            [toolchain.clang(), *toolchain.TARGET, "-x", "ir", "-Wno-override-module", "-O1", "-Xclang",
             "-disable-llvm-passes", "-c", "-emit-llvm", "-o", str(out), "-"],
            ir,
        )  # fmt: skip
        return out.read_bytes()


def _library(name: str) -> Path:
    """Bitcode of a family of built-in functions, kept by content."""
    source, macros = source_of(name)
    file = toolchain.gpu_folder() / "opencl" / source

    def compile_() -> bytes:
        text = toolchain.run(
            [toolchain.clang(), *languages.OPENCL, "-cl-std=CL2.0", "-cl-no-stdinc", "-Xclang",
             "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins", "-w", "-O2", "-Xclang",
             "-disable-llvm-passes", "-S", "-emit-llvm", "-o", "-", *macros, "-I", str(file.parent),
             "-I", str(toolchain.gpu_folder().parent), str(file)]
        )  # fmt: skip
        return _bitcode(lowered(Module(text), _header(), inlined=False))

    key = f"{name}-{hashlib.sha256((_own_hash() + toolchain.version()).encode()).hexdigest()}.bc"
    cached(key, compile_)
    return cache_folder() / key


def _object_of(source: Source) -> device_link.Object:
    front, marked = _front(source)
    text = _ir(source.language, marked, front, source.options.optimize)
    return device_link.Object(source.name, text, source.options.wavefront)


def _compile(sources: Sequence[Source]) -> bytes:
    language, options = sources[0].language, sources[0].options
    objects = [_object_of(source) for source in sources]
    all_ = device_link.link(objects)
    module = Module(all_.text)
    kernels = kernels_of(module, language, all_.files)
    for kernel in kernels:
        lanes = all_.lanes[kernel.function]
        kernel.flags = (language != "opencl") * _ENDED_LANES_ARRIVE | (lanes == 32) * _WAVEFRONT_32
        kernel.flags |= (GRID in module.reach(kernel.function)) * _COOPERATIVE
    addresses = place_locals(module, kernels)
    ir = (
        lowered(module, _header(), True, language != "opencl", options.recursion > 0, addresses)
        + "\n"
        + entries(module, kernels)
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "code.bc").write_bytes(_bitcode(ir))
        _object(folder, options.optimize, families_of(all_.text) if language == "opencl" else [])
        (folder / "kernels.S").write_text(descriptors(kernels, addresses))
        gpu = toolchain.gpu_folder()
        kept = [f"-Wl,--undefined={name}" for name in host_variables(module)]
        with device_link.naming(objects):
            toolchain.run(
                [toolchain.gcc(), *kept, "-Wl,--no-demangle", "-march=rv64imafd_zicsr_zba_zbb", "-mabi=lp64d",
                 "-mcmodel=medany", "-O2", "-ffreestanding",
                 "-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
                 "-ffunction-sections", "-T", str(gpu / "gpu.ld"), str(folder / "kernels.S"), str(folder / "code.o"),
                 str(gpu / "math" / "trunc.c"), *toolchain.libraries(), "-o", str(folder / "linked.elf")]
            )  # fmt: skip
        own = {*module.functions, *map(body_of, kernels)}
        elf = _with_stacks(
            (folder / "linked.elf").read_bytes(), kernels, own, options.recursion, spills(folder / "spills.yaml")
        )
        (folder / "linked.elf").write_bytes(elf)
        debug, linked = DebugInformation(module), Elf(elf)
        (folder / "program.record").write_bytes(record.encode(kernels, block_of(module, debug, linked)))
        (folder / "constants").write_bytes(constants.encode(constants.constants_of(module, debug, linked)))
        objcopy = re.sub(r"gcc$", "objcopy", toolchain.gcc())
        toolchain.run(
            [
                objcopy,
                "--add-section",
                f"{record.SECTION}={folder}/program.record",
                "--add-section",
                f"{constants.SECTION}={folder}/constants",
                str(folder / "linked.elf"),
                str(folder / "out.elf"),
            ]
        )
        return (folder / "out.elf").read_bytes()


def _object(folder: Path, optimize: str, families: Sequence[str]) -> None:
    """``code.o`` from ``code.bc`` and families of built-in functions."""
    # Clang links bitcode into what it compiles, so nothing is what it compiles.
    linked = [("-mlink-bitcode-file", f"{folder}/code.bc")]
    linked += [("-mlink-builtin-bitcode", str(_library(name))) for name in families]
    clang = [toolchain.clang(), *toolchain.TARGET, *_BACK, f"-O{optimize}", "-gdwarf-4", "-c"]
    toolchain.run(
        [*clang, *(word for pair in linked for argument in pair for word in ("-Xclang", argument)), "-emit-llvm",
         "-x", "c", "-o", f"{folder}/optimized.bc", "-"],
        "",
    )  # fmt: skip
    # An access cannot add a scaled register to an offset. So each address of an unrolled loop had a register of its
    # own, and most were spilt: a tiled matrix multiplication took twenty times as long.
    toolchain.run(
        [toolchain.opt(), "-passes=function(separate-const-offset-from-gep,early-cse)", f"{folder}/optimized.bc",
         "-S", "-o", f"{folder}/split.ll"]
    )  # fmt: skip
    (folder / "code.ll").write_text(without_results((folder / "split.ll").read_text()))
    toolchain.run(
        [*clang, "-Xclang", "-disable-llvm-passes", "-Wno-override-module", "-x", "ir", "-o", f"{folder}/code.o",
         f"-foptimization-record-file={folder}/spills.yaml", "-foptimization-record-passes=regalloc",
         f"{folder}/code.ll"]
    )  # fmt: skip


def _with_stacks(
    data: bytes, kernels: list[Kernel], own: set[str], recursion: int, spilt: dict[str, tuple[int, int]]
) -> bytes:
    """The image with the bytes of stack in its table. Kernels get what they keep there, too."""
    elf = Elf(data)
    depths = StackDepths(elf, own, recursion)
    table = elf.section(".kernels")
    assert table is not None
    for i, kernel in enumerate(kernels):
        kernel.scratch_bytes = max(16, depths.of(body_of(kernel)))
        if kernel.scratch_bytes > _MAX_STACK:
            raise InputError(
                f"kernel '{kernel.name}' needs {kernel.scratch_bytes} bytes of stack: at most {_MAX_STACK}"
            )
        reached = depths.reach(body_of(kernel))
        kernel.saved = sum(depths.saves(name) for name in reached)
        kernel.spills, kernel.reloads = (sum(spilt.get(name, (0, 0))[n] for name in reached) for n in (0, 1))
        struct.pack_into("<I", elf.data, table.offset + 64 * i + 28, kernel.scratch_bytes)
    return bytes(elf.data)
