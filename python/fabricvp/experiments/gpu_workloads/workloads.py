# SPDX-License-Identifier: Apache-2.0
"""The fifteen workloads of NetCrafter's evaluation (ISCA 2025), and two with phases. `docs/reference/workloads.md` says
what each does."""

from __future__ import annotations

from typing import NamedTuple


class Workload(NamedTuple):
    """A workload of the experiment."""

    published: str  #: its name in the literature
    kind: str  #: its class there
    quick: int  #: size with --quick: small, yet beyond the L1 caches
    seconds: float  #: roughly, of a run at the default size: for the estimate of the time left


#: by the name of the application
WORKLOADS: dict[str, Workload] = {
    "gups": Workload("GUPS", "random", 1 << 18, 15),
    "spmv": Workload("SPMV", "random", 4096, 8),
    "pagerank": Workload("PR", "random", 8192, 15),
    "mis": Workload("MIS", "random", 32768, 38),
    "syr2k": Workload("SYR2K", "adjacent", 64, 9),
    "im2col": Workload("IM2COL", "adjacent", 16, 11),
    "bitonicsort": Workload("BS", "partitioned", 32768, 18),
    "transpose": Workload("MT", "gather", 768, 7),
    "mm2": Workload("MM2", "gather", 128, 4),
    "reduction": Workload("SR", "gather", 1 << 20, 10),
    "atax": Workload("ATAX", "scatter", 512, 8),
    "mvt": Workload("MVT", "scatter", 512, 8),
    "lenet": Workload("LENET", "training", 16, 24),
    "vgg16": Workload("VGG16", "training", 1, 22),
    "resnet18": Workload("RESNET18", "training", 1, 24),
    "jacobi2d": Workload("", "stencil", 768, 30),
    "hpgmg_like": Workload("", "phases", 32, 62),
}

#: those over which NetCrafter's averages go
PUBLISHED = [name for name, workload in WORKLOADS.items() if workload.published]
