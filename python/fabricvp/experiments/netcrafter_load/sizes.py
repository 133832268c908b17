# SPDX-License-Identifier: Apache-2.0
"""Sizes of the workloads. The last of each has the footprint a GPU of published studies on the same simulator, as far
as they say it: MGPUSim's own defaults, footprints of ShadowUpdate and LIBRA (ISCA 2026). None was chosen by a
slow-down. The two deep networks have a quarter of the published channels."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Sizes of a workload, the study's last."""

    sizes: tuple[int, ...]
    seconds: float  #: roughly, of a run at the last size
    option: str = ""  #: of the application


SIZES: dict[str, Sizes] = {
    "gups": Sizes((1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22), 15),
    "spmv": Sizes((4096, 8192, 16384, 32768, 65536), 40, "density=0.001"),
    "pagerank": Sizes((1024, 2048, 4096, 8192, 16384), 20),
    "mis": Sizes((8192, 16384, 32768, 65536, 131072), 30),
    "syr2k": Sizes((32, 64, 128, 256, 512), 160),
    "im2col": Sizes((10, 20, 40, 80, 160), 40),
    "bitonicsort": Sizes((1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20), 90),
    "transpose": Sizes((128, 256, 512, 1024, 2048), 20),
    "mm2": Sizes((32, 64, 128, 256, 512), 60),
    "reduction": Sizes((1 << 21, 1 << 22, 1 << 23, 1 << 24, 1 << 25), 40),
    "atax": Sizes((256, 512, 1024, 2048, 4096), 40),
    "mvt": Sizes((256, 512, 1024, 2048, 4096), 40),
    "lenet": Sizes((2, 4, 8, 16, 32), 40),
    "vgg16": Sizes((1, 2, 4, 8, 16), 560, "width=0.25"),
    "resnet18": Sizes((1, 2, 4, 6, 8), 600, "width=0.25"),
}

#: L2 TLBs by their entries: as in other studies of several GPUs, four times that, and MGPUSim's own.
REACHES: dict[str, tuple[int, int]] = {"512": (32, 16), "2048": (128, 16), "all": (8192, 64)}
DEFAULT_REACH = "512"


def overrides_of(reach: str) -> tuple[tuple[str, str], ...]:
    """Parameters of an L2 TLB of that reach; none for the machine's own."""
    if reach == DEFAULT_REACH:
        return ()
    sets, ways = REACHES[reach]
    return ("node.gpus.*.memory.l2_tlb.sets", str(sets)), ("node.gpus.*.memory.l2_tlb.ways", str(ways))


def seconds_of(name: str, size: int) -> float:
    """Roughly, of a run: in proportion to the size."""
    w = SIZES[name]
    return w.seconds * size / w.sizes[-1]
