# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp cc`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..arguments import ArgumentParser
from ..errors import InputError
from .bare_program import build_bare
from .host_half import kernel_options
from .kernels import Kernel
from .linux_program import build_linux
from .locality.report import locality_of_source, placement_report
from .pipeline import build_linked, files_read
from .sources import Options, Source


def main(argv: list[str]) -> int:
    """`fabricvp cc FILE -o OUT`: 0, or `InputError`."""
    parser = ArgumentParser(
        "cc",
        "Compiles kernels in OpenCL C, HIP or CUDA for the lanes of GPUs (clang 14 or 19 does the work), and whole\n"
        "programs in HIP or CUDA for Linux on the simulated host.",
        "fabricvp cc spmv.cl -o spmv.elf -D SINGLE_PRECISION=1 --report\n  fabricvp cc matmul.cl --placement-report\n"
        "  fabricvp cc kernels.hip main.cpp -o program --target linux",
    )
    parser.add_argument(
        "source",
        metavar="FILE",
        nargs="+",
        help="source: .cl, .hip or .cu, for Linux .cpp and .c, too; device code of several is linked",
    )
    parser.add_argument(
        "-o", dest="output", metavar="OUT", help="ELF file (default: FILE with .elf; for Linux, without suffix)"
    )
    parser.add_argument(
        "--target",
        choices=["gpu", "linux", "bare"],
        help="gpu: the kernels of a source; linux: a program with its main(), for riscv64, which is the default where"
        " a source in HIP or CUDA has one; bare: the same program as a firmware image",
    )
    parser.add_argument(
        "-x",
        dest="language",
        choices=["hip", "cuda"],
        default="",
        help="language of files in C++ (.cpp, .cc, .cxx) for Linux: they have device code, as hipcc reads them",
    )
    parser.add_argument(
        "-l",
        dest="libraries",
        metavar="NAME",
        action="append",
        default=[],
        help="library of Linux, such as ibverbs, rdmacm or OpenCL, whose headers are there, too; repeatable",
    )
    parser.add_argument(
        "-rdc",
        choices=["true", "false"],
        default="true",
        help="true (default): device code of several files is linked; false: each file for Linux has its own",
    )
    for option, value in ("-fgpu-rdc", "true"), ("-fno-gpu-rdc", "false"):
        parser.add_argument(option, dest="rdc", action="store_const", const=value, help=f"-rdc={value}")
    parser.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="macro")
    parser.add_argument("-I", dest="includes", metavar="DIR", action="append", default=[], help="folder of headers")
    parser.add_argument("-O", dest="optimize", metavar="LEVEL", default="2", choices=list("0123s"), help="default: 2")
    parser.add_argument(
        "--flag",
        dest="flags",
        metavar="OPTION",
        action="append",
        default=[],
        help="option of clang, such as --flag=-cl-fast-relaxed-math; repeatable",
    )
    parser.add_argument(
        "--wavefront",
        metavar="LANES",
        type=int,
        choices=[32, 64],
        help="lanes of a wavefront: 32 or 64 (default: 32 for .cu, else 64)",
    )
    parser.add_argument(
        "--recursion",
        metavar="DEPTH",
        type=int,
        default=0,
        help="how often a function that calls itself can be active at the same time (default: none calls itself)",
    )
    parser.add_argument("--depfile", metavar="FILE", help="names the files that were read, as Make and Ninja want it")
    parser.add_argument(
        "--report",
        action="store_true",
        help="tells what each kernel needs: arguments, local data share, stack, instructions for registers there",
    )
    parser.add_argument(
        "--placement-report",
        action="store_true",
        help="compiles nothing, and tells for each buffer how the kernel's indices depend on work-groups and loops,"
        " and where LADM's table puts pages and work-groups; also of kernels in C (.c)",
    )
    options = parser.parse_args(argv)
    sources = _read(options.source)
    _check_outputs(options)
    usual = _target_of(sources)
    options.target = options.target or usual
    settings = Options.of(
        options.defines, options.includes, options.flags, options.optimize, options.wavefront, options.recursion
    )
    program = options.target in ("linux", "bare") and not options.placement_report
    if options.language and not program:
        raise InputError(f"-x {options.language} is for --target linux or bare")
    if options.libraries and options.target != "linux":
        raise InputError(f"-l {options.libraries[0]} is for --target linux")
    if program:
        return _program(sources, settings, options)
    if options.placement_report:
        for option, given in (("-o", options.output), ("--depfile", options.depfile), ("--report", options.report)):
            if given:
                raise InputError(f"{option}: --placement-report compiles nothing")
        if len(sources) > 1:
            raise InputError(f"{options.source[1]}: --placement-report tells of one file")
        ((name, source),) = sources.items()
        print(placement_report(locality_of_source(source, name, settings)))
        return 0
    if options.rdc == "false":
        raise InputError("-rdc=false is for --target linux or bare")
    of_program = usual == "linux"  # whose kernels are wanted, for GDB say
    image = build_linked(
        [
            Source(source, name, kernel_options(name, settings) if of_program else settings)
            for name, source in sources.items()
        ]
    )
    output = Path(options.output) if options.output else Path(next(iter(sources))).with_suffix(".elf")
    _write(output, image.elf)
    if options.depfile:
        read = [file for name, source in sources.items() for file in files_read(source, name, settings)]
        names = " ".join(name.replace(" ", "\\ ") for name in dict.fromkeys(read))
        _write(Path(options.depfile), f"{output}: {names}\n".encode("utf-8", "surrogateescape"))
    if options.report:
        print(report(list(image.kernels.values())))
    return 0


def _read(names: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for name in names:
        if str(Path(name)) in sources:
            raise InputError(f"{name}: given twice")
        try:
            sources[str(Path(name))] = Path(name).read_text(errors="surrogateescape")
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}") from None
    return sources


def _check_outputs(options: argparse.Namespace) -> None:
    """Raises `InputError` where a file would be written over another one of the command."""
    taken = {Path(name).resolve(): f"the source {name}" for name in options.source}
    for option, name in (("-o", options.output), ("--depfile", options.depfile)):
        if name is None:
            continue
        place = Path(name).resolve()
        if place in taken:
            raise InputError(f"{option} {name}: would write over {taken[place]}")
        taken[place] = f"{option} {name}"


def _target_of(sources: dict[str, str]) -> str:
    """What sources are for that do not say: host code, whose main() kernels cannot have, is a program's."""
    one_source = [text for name, text in sources.items() if name.endswith((".hip", ".cu"))]
    return (
        "linux"
        if any(re.search(r"^[ \t]*(int|auto)?\s*main\s*\(", text, re.MULTILINE) for text in one_source)
        else "gpu"
    )


def _program(sources: dict[str, str], settings: Options, options: argparse.Namespace) -> int:
    for option in ("report", "depfile"):
        if getattr(options, option):
            raise InputError(f"--{option} tells of kernels: leave out --target {options.target}")
    bare, linked = options.target == "bare", options.rdc == "true"
    output = Path(options.output) if options.output else Path(next(iter(sources))).with_suffix(".elf" if bare else "")
    if bare:
        _write(output, build_bare(sources, settings, options.language, linked))
    else:
        _write(output, build_linux(sources, settings, options.language, tuple(options.libraries), linked))
        output.chmod(0o755)
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def report(kernels: list[Kernel]) -> str:
    """What kernels need, a line each."""
    width = max(6, *(len(k.name) for k in kernels))
    rows = [f"{'kernel':<{width}}  arguments  local data share  stack  saved  spills  reloads"]
    rows += [
        f"{k.name:<{width}}  {k.argument_bytes:>9}  {k.lds_bytes:>16}  {k.scratch_bytes:>5}  {k.saved:>5}  "
        f"{k.spills:>6}  {k.reloads:>7}"
        for k in kernels
    ]
    return "\n".join(rows)
