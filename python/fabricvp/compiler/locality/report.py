# SPDX-License-Identifier: Apache-2.0
"""Locality tables of sources in files, and as text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...errors import InputError
from .. import toolchain
from ..pipeline import module_of
from ..sources import Options
from .analysis import KernelLocality, locality_of, locality_of_c
from .table import ROWS, Classified, dominant

_HEAD = ("kernel", "argument", "access", "row", "locality", "work-groups", "pages", "index in elements")


def locality_of_source(source: str, name: str, options: Options, language: str = "") -> dict[str, KernelLocality]:
    """By kernel, of a source in OpenCL C, HIP, CUDA, or C with `gpu.h` (".c"). ``name`` and ``language`` are as for
    `build()`. Raises `InputError` with the compiler's first message, and for a source without kernels."""
    if language or Path(name).suffix != ".c":
        return locality_of(*module_of(source, name, options, language))
    gpu = toolchain.gpu_folder()
    folders = [*options.includes, os.path.dirname(name) or ".", str(gpu), str(gpu / "kernels"), str(gpu.parent)]
    # The tree has abi/ beside firmware/, an installed package inside of it.
    folders += [str(gpu.parent.parent), str(toolchain.picolibc() / "include")]
    toolchain.version()
    ir = toolchain.run(
        [toolchain.clang(), *toolchain.TARGET, "-x", "c", "-std=gnu11", "-ffreestanding", "-O2", "-gdwarf-4",
         "-Xclang", "-disable-llvm-passes", "-DFABRICVP_KERNEL", *(f"-D{d}" for d in options.defines),
         *(word for folder in folders for word in ("-I", folder)), *options.flags, "-S", "-emit-llvm", "-o", "-", "-"],
        f'# 1 "{name}"\n{source}',
    )  # fmt: skip
    found = locality_of_c(ir)
    if not found:
        raise InputError(f"{name}: the source has no kernel")
    return found


def placement_report(found: Mapping[str, KernelLocality]) -> str:
    """Each access of each buffer with its row of LADM's table. ``*`` marks the access that decides for the buffer."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for kernel in found.values():
        for parameter, accesses in kernel.accesses.items():
            rows += _rows(kernel.kernel, parameter, accesses)
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows)


def _rows(kernel: str, parameter: str, accesses: list[Classified]) -> list[tuple[str, ...]]:
    if not accesses:
        return [(kernel, parameter, "none", "-", "-", "-", "-", "-")]
    first = dominant(accesses)
    deciding = _cells(first)
    others = dict.fromkeys(cells for c in accesses if (cells := _cells(c)) != deciding)
    return [(kernel, parameter + mark, *cells) for mark, cells in [("*", deciding), *(("", cells) for cells in others)]]


def _cells(c: Classified) -> tuple[str, ...]:
    row = str(int(c.row))
    for width in c.widths:
        row += f" ({int(c.at_width(width).row)} if {width} is the grid's width)"
    return (c.access.kind, row, *ROWS[c.row], c.text)
