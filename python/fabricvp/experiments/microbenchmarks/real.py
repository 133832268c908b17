# SPDX-License-Identifier: Apache-2.0
"""What was measured on real GPUs that a machine stands for: machine → figure → (cycles, source)."""

from __future__ import annotations

_KEPLER = "PPT-GPU's table of Kepler (Arafa et al.)"
_HOPPER = "Luo et al., arXiv 2402.13499, an H100 PCIe"
_AMPERE = "an A100 (Abdelkhalik et al., arXiv 2208.11174)"
_GCN = "CLRX's GCN ISA instruction timings (clrx.nativeboinc.org/wiki2/wiki/wiki/GcnTimings)"

REAL: dict[str, dict[str, tuple[float, str]]] = {
    "gpu": {"alu": (4, _GCN), "fma32": (4, _GCN)},
    "gpurdma_pair": {
        "L1 latency": (32, _KEPLER),
        "L2 latency": (188, _KEPLER),
        "memory latency": (331, _KEPLER),
        "LDS latency": (26, _KEPLER),
        "alu": (9, _KEPLER),
        "fma32": (9, _KEPLER),
    },
    "gpurdma_modern": {
        "L1 latency": (41, _HOPPER),
        "L2 latency": (263, _HOPPER),
        "memory latency": (479, _HOPPER),
        "LDS latency": (29, _HOPPER),
        "fma32": (4, _AMPERE),
    },
}
