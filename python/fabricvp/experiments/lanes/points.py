# SPDX-License-Identifier: Apache-2.0
"""Workloads, sizes and design points of the study of NUMA-aware GPUs (Milic et al., MICRO 2017)."""

from __future__ import annotations

from typing import NamedTuple

MACHINE = "numa_quad"
MICRO = "NUMA-aware GPUs, MICRO 2017"

Overrides = tuple[tuple[str, str], ...]


class Workload(NamedTuple):
    """A workload. Sizes follow the rule in docs/experiments/lanes.md."""

    published: str  #: its name there; empty: it is none of the study's
    size: int
    quick: int
    seconds: float  #: roughly, of a run at the default size: for the estimate of the time left
    gain: float | None = None  #: published speed-up by turning lanes


#: by the name of the application
WORKLOADS: dict[str, Workload] = {
    "sp_like": Workload("Lonestar-SP", 2048, 1024, 5, 1.8),
    "euler3d_like": Workload("Rodinia-Euler-3D", 8192, 2048, 6, 1.0),
    "amg_like": Workload("HPC-AMG", 32, 8, 5, 1.0),
    "lulesh_like": Workload("HPC-Lulesh", 16, 8, 2, 1.0),
    "comd_like": Workload("HPC-CoMD-Ta", 4, 2, 3),
    "hpgmg_like": Workload("HPC-HPGMG-UVM", 64, 32, 7),
    "pagerank": Workload("", 8192, 4096, 4),
    "spmv": Workload("", 8192, 2048, 4),
    "mis": Workload("", 65536, 8192, 6),
    "gups": Workload("", 1 << 20, 1 << 17, 5),
    "transpose": Workload("", 1024, 256, 3),
    "reduction": Workload("", 1 << 21, 1 << 18, 4),
}
QUICK = ("sp_like", "hpgmg_like", "pagerank")

FIXED, DOUBLED = "fixed", "doubled"
POLICIES = ("published", "symmetric", "predictive")
SAMPLE_TIMES = (1, 2, 5, 10, 20, 50, 100)  #: thousands of cycles of 1 GHz, that is µs
SWITCH_TIMES = (10, 100, 200, 500)  #: cycles of 1 GHz, that is ns
SAMPLE, SWITCH = 5, 100  #: published


def turning(policy: str, sample_us: int = SAMPLE, switch_ns: int = SWITCH) -> Overrides:
    """Parameters of lanes that turn."""
    at = "node.fabric.links.*.reversible."
    return ((at + "policy", policy), (at + "sample_time", f"{sample_us} us"), (at + "switch_time", f"{switch_ns} ns"))


def points() -> dict[str, Overrides]:
    """Every design point by name, the fixed and the doubled links first."""
    found: dict[str, Overrides] = {FIXED: (), DOUBLED: (("node.fabric.links.*.lane_rate", "16 GB/s"),)}
    found |= {policy: turning(policy) for policy in POLICIES}
    found |= {sample_point(t): turning("published", sample_us=t) for t in SAMPLE_TIMES if t != SAMPLE}
    found |= {switch_point(t): turning("published", switch_ns=t) for t in SWITCH_TIMES if t != SWITCH}
    return found


def sample_point(sample_us: int) -> str:
    """Name of the point with this SampleTime and the published rest."""
    return "published" if sample_us == SAMPLE else f"sample {sample_us}K"


def switch_point(switch_ns: int) -> str:
    """Name of the point with this SwitchTime and the published rest."""
    return "published" if switch_ns == SWITCH else f"switch {switch_ns}"
