# SPDX-License-Identifier: Apache-2.0
"""The fifteen workloads of NetCrafter's evaluation (ISCA 2025), and two with phases. `docs/workloads.md` says what each does."""

from __future__ import annotations

#: name of the application → (name in the literature, its class there, size with --quick: small, yet beyond the L1 caches)
WORKLOADS: dict[str, tuple[str, str, int]] = {
    "gups": ("GUPS", "random", 1 << 20),
    "spmv": ("SPMV", "random", 32768),
    "pagerank": ("PR", "random", 16384),
    "mis": ("MIS", "random", 32768),
    "syr2k": ("SYR2K", "adjacent", 192),
    "im2col": ("IM2COL", "adjacent", 16),
    "bitonicsort": ("BS", "partitioned", 32768),
    "transpose": ("MT", "gather", 768),
    "mm2": ("MM2", "gather", 192),
    "reduction": ("SR", "gather", 1 << 20),
    "atax": ("ATAX", "scatter", 1024),
    "mvt": ("MVT", "scatter", 1024),
    "lenet": ("LENET", "training", 16),
    "vgg16": ("VGG16", "training", 1),
    "resnet18": ("RESNET18", "training", 1),
    "jacobi2d": ("", "stencil", 768),
    "hpgmg_like": ("", "phases", 32),
}

#: those over which NetCrafter's averages go
PUBLISHED = [name for name, (published, _, _) in WORKLOADS.items() if published]
