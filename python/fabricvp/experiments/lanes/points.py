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
    gain: float | None = None  #: published speed-up by reversible lanes


#: by the name of the application
WORKLOADS: dict[str, Workload] = {
    "sp_like": Workload("Lonestar-SP", 1024, 512, 2, 1.8),
    "euler3d_like": Workload("Rodinia-Euler-3D", 4096, 2048, 2, 1.0),
    "amg_like": Workload("HPC-AMG", 16, 8, 1, 1.0),
    "lulesh_like": Workload("HPC-Lulesh", 16, 8, 1, 1.0),
    "comd_like": Workload("HPC-CoMD-Ta", 4, 2, 2),
    "hpgmg_like": Workload("HPC-HPGMG-UVM", 32, 16, 2),
    "pagerank": Workload("", 4096, 4096, 2),
    "spmv": Workload("", 8192, 2048, 3),
    "mis": Workload("", 32768, 8192, 3),
    "gups": Workload("", 1 << 19, 1 << 17, 2),
    "transpose": Workload("", 1024, 256, 3),
}
QUICK = ("sp_like", "hpgmg_like", "pagerank")
SWEPT = (  #: is run with other sample and switch times even if its lanes do not turn, since the study speaks of it
    "comd_like"
)

FIXED, DOUBLED = "fixed", "doubled"
#: Mean speed-ups of the study.
PUBLISHED_MEANS = {DOUBLED: 1.5, "milic2017": 1.15}
POLICIES = ("milic2017", "symmetric", "predictive")
SAMPLE_TIMES = (1, 2, 5, 20, 100)  #: thousands of cycles of 1 GHz, that is µs
SWITCH_TIMES = (10, 100, 200, 500)  #: cycles of 1 GHz, that is ns
SAMPLE, SWITCH = 5, 100  #: published


def reversal(policy: str, sample_us: int = SAMPLE, switch_ns: int = SWITCH) -> Overrides:
    """Parameters of reversible lanes."""
    at = "node.fabric.links.*.reversible."
    return ((at + "policy", policy), (at + "sample_time", f"{sample_us} us"), (at + "switch_time", f"{switch_ns} ns"))


def points() -> dict[str, Overrides]:
    """Every design point by name, the fixed and the doubled links first."""
    found: dict[str, Overrides] = {FIXED: (), DOUBLED: (("node.fabric.links.*.lane_rate", "16 GB/s"),)}
    found |= {policy: reversal(policy) for policy in POLICIES}
    found |= {sample_point(t): reversal("milic2017", sample_us=t) for t in SAMPLE_TIMES if t != SAMPLE}
    found |= {switch_point(t): reversal("milic2017", switch_ns=t) for t in SWITCH_TIMES if t != SWITCH}
    return found


def sample_point(sample_us: int) -> str:
    """Name of the point with this SampleTime and the published rest."""
    return "milic2017" if sample_us == SAMPLE else f"sample {sample_us}K"


def switch_point(switch_ns: int) -> str:
    """Name of the point with this SwitchTime and the published rest."""
    return "milic2017" if switch_ns == SWITCH else f"switch {switch_ns}"
