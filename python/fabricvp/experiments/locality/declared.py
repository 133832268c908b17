# SPDX-License-Identifier: Apache-2.0
"""What applications declare at the launches of their kernels: lines of the firmware
(firmware/programs/apps/declared.h)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

#: Applications, and small sizes: declarations follow from the size, and kernels and classes do not.
SIZES = {
    "gups": 4096, "spmv": 512, "pagerank": 512, "mis": 2048, "syr2k": 64, "syr2k_tiled": 64, "im2col": 4,
    "bitonicsort": 4096, "transpose": 256, "mm2": 64, "mm2_tiled": 64, "reduction": 1 << 14, "atax": 256,
    "atax_wavefronts": 256, "mvt": 256, "mvt_wavefronts": 256, "lenet": 2, "vgg16": 1, "resnet18": 1, "sp_like": 512,
    "euler3d_like": 4096, "amg_like": 8, "lulesh_like": 8, "comd_like": 4, "hpgmg_like": 16, "jacobi2d": 128,
    "vectoradd": 4096, "fir": 4096, "histogram": 1 << 14, "stencil": 128, "mm": 64,
}  # fmt: skip
QUICK = ("transpose", "mm2_tiled", "spmv")


@dataclass(frozen=True)
class Buffer:
    """A buffer among the arguments: where pages go ("unclassified", "strided", "rows", "columns"), bytes of a row or
    stride, bytes of all, and its number in the order of allocation."""

    pages: str
    pitch: int
    size: int
    number: int


@dataclass(frozen=True)
class Launch:
    """The first measured launch of a kernel. ``binding`` of work-groups is "kernel", "rows", "columns" or "aligned";
    ``buffers`` are by offset in ``arguments``."""

    kernel: str
    items: tuple[int, ...]
    group: tuple[int, ...]
    binding: str
    arguments: bytes
    buffers: dict[int, Buffer]


@dataclass(frozen=True)
class Point:
    """An application at a size, on a machine."""

    workload: str
    machine: str
    size: int


def measure(point: Point) -> list[Launch]:
    """Runs an application; gives a launch of each of its kernels. Raises `InputError` if its result is wrong."""
    append = f"app={point.workload} size={point.size} declared=1"
    overrides = {"node.images.firmware": "firmware:gpu_apps.elf", "node.images.append": append}
    with Platform.from_config(point.machine, overrides=overrides) as platform:
        record_machine(f"{point.workload} on {point.machine}", platform)
        result = platform.run()
        console = platform.nodes[0].console.output
    if result.outcome != Outcome.POWER_OFF:
        raise InputError(
            f"{point.workload}: {result.outcome} ({result.detail}); the console ends with {console[-200:]!r}"
        )
    return [_launch(line.values) for line in result_lines(console, "declared")]


def _launch(values: Mapping[str, object]) -> Launch:
    texts = {key: str(value) for key, value in values.items()}
    given = values["arguments"]  # a number where there is one
    words = [given] if isinstance(given, int) else [int(word, 16) for word in str(given).split(",")]
    buffers = {int(key): _buffer(text) for key, text in texts.items() if key.isdecimal()}
    items, group = (tuple(map(int, texts[key].split("x"))) for key in ("items", "group"))
    return Launch(texts["kernel"], items, group, texts["binding"], struct.pack(f"<{len(words)}Q", *words), buffers)


def _buffer(text: str) -> Buffer:
    pages, *numbers = text.split(":")
    pitch, size, number = map(int, numbers)
    return Buffer(pages, pitch, size, number)
