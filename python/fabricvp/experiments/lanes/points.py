# SPDX-License-Identifier: Apache-2.0
"""Workloads, sizes and design points of the study of NUMA-aware GPUs (Milic et al., MICRO 2017)."""

from __future__ import annotations

from typing import NamedTuple

MACHINE = "numa_quad"
MICRO = "NUMA-aware GPUs, MICRO 2017"

Overrides = tuple[tuple[str, str], ...]


class Workload(NamedTuple):
    """A workload. docs/experiments/lanes.md says where sizes are from."""

    published: str  #: its name there; empty: it is none of the study's
    size: int
    small: int  #: with --small
    quick: int
    seconds: float  #: roughly, of a run at the default size on a free core: for the estimate of the time left
    gain: float | None = None  #: published speed-up by reversible lanes
    application: str = ""  #: that runs, where the workload is called otherwise
    option: str = ""  #: of the application
    placed: bool = False  #: pages are where the option says from the beginning, and not at first touch

    @property
    def doubled(self) -> float | None:
        """Published speed-up by links of twice the bandwidth: that of programs that saturate both directions."""
        return PUBLISHED_LARGEST[DOUBLED] if self.gain == 1.0 else None


#: by the name of the application
WORKLOADS: dict[str, Workload] = {
    "sp_like": Workload("Lonestar-SP", 32768, 4096, 512, 240, 1.8),
    "euler3d_like": Workload("Rodinia-Euler-3D", 262144, 16384, 2048, 200, 1.0),
    "amg_like": Workload("HPC-AMG", 64, 32, 8, 110, 1.0),
    "lulesh_like": Workload("HPC-Lulesh", 64, 24, 8, 130, 1.0),
    "comd_like": Workload("HPC-CoMD-Ta", 16, 8, 2, 30),
    "hpgmg_like": Workload("HPC-HPGMG-UVM", 128, 64, 16, 50),
    "pagerank": Workload("", 4096, 4096, 4096, 2),
    "spmv": Workload("", 8192, 8192, 2048, 3),
    "mis": Workload("", 32768, 32768, 8192, 3),
    "gups": Workload("", 1 << 19, 1 << 19, 1 << 17, 2),
    "transpose": Workload("", 1024, 1024, 256, 3),
}

#: The buffer of this number lies on socket 0 as a whole, all others in contiguous parts on all sockets.
_ON_ONE_SOCKET = f"places={{}}:2:{1 << 30}"
#: Workloads whose traffic is one-sided by nature. They are in no mean.
ONE_SIDED: dict[str, Workload] = {
    # Every socket multiplies rows of its own by the same weights, which lie on socket 0.
    "broadcast": Workload("", 512, 384, 256, 7, None, "mm", _ON_ONE_SOCKET.format(1), True),
    # Every socket filters samples of its own. What comes out goes to socket 0.
    "gather": Workload("", 1 << 21, 1 << 20, 1 << 18, 5, None, "fir", _ON_ONE_SOCKET.format(2), True),
}
#: Workloads that are in no mean either.
OTHERS: dict[str, Workload] = {
    # Cells are numbered at random throughout, as a generator leaves them that inserts points anywhere.
    "scattered": Workload("", 262144, 16384, 2048, 200, None, "euler3d_like", "block=4194304")
}
APART = ONE_SIDED | OTHERS
ALL = WORKLOADS | APART
QUICK = ("sp_like", "hpgmg_like", "pagerank", "gather")
SWEPT = (  #: is run with other sample and switch times even if its lanes do not turn, since the study speaks of it
    "comd_like"
)

FIXED, DOUBLED = "fixed", "doubled"
#: Speed-ups of the study, mean and largest.
PUBLISHED_MEANS = {DOUBLED: 1.5, "milic2017": 1.15}
PUBLISHED_LARGEST = {DOUBLED: 2.0, "milic2017": 1.8}
POLICIES = ("milic2017", "symmetric", "predictive")
#: Those that workloads run with. `symmetric` differs from `milic2017` only where both directions of a link are
#: saturated for a whole sample after a reversal, which none of the runs on the page had.
RUN_POLICIES = ("milic2017", "predictive")
SAMPLE_TIMES = (1, 2, 5, 20, 100)  #: thousands of cycles of 1 GHz, that is µs
SWITCH_TIMES = (10, 100, 200, 500)  #: cycles of 1 GHz, that is ns
SAMPLE, SWITCH = 5, 100  #: published
SHORT_SAMPLES = (1, 2)  #: those of SAMPLE_TIMES that workloads of APART run with, too
MIGRATION_SIZES = ("64 KiB", "2 MiB")  #: what first touch may move at a time, other than a page


def reversal(policy: str, sample_us: int = SAMPLE, switch_ns: int = SWITCH) -> Overrides:
    """Parameters of reversible lanes."""
    at = "node.fabric.links.*.reversible."
    return ((at + "policy", policy), (at + "sample_time", f"{sample_us} us"), (at + "switch_time", f"{switch_ns} ns"))


def points() -> dict[str, Overrides]:
    """Every design point by name, the fixed and the doubled links first."""
    found: dict[str, Overrides] = {FIXED: (), DOUBLED: (("node.fabric.links.*.lane_rate", "16 GB/s"),)}
    found |= {policy: reversal(policy) for policy in RUN_POLICIES}
    found |= {sample_point(t): reversal("milic2017", sample_us=t) for t in SAMPLE_TIMES if t != SAMPLE}
    found |= {switch_point(t): reversal("milic2017", switch_ns=t) for t in SWITCH_TIMES if t != SWITCH}
    return found


#: A miss brings 128 bytes, as in the study's GPU.
LINE_PAIRS: Overrides = (("node.gpus.*.memory.unit.l1.line_pairs", "true"),)


def migrating(size: str) -> Overrides:
    """Parameters of a machine whose first touch moves blocks of that size."""
    return (("node.gpus.*.memory.migration_size", size),)


def sample_point(sample_us: int) -> str:
    """Name of the point with this SampleTime and the published rest."""
    return "milic2017" if sample_us == SAMPLE else f"sample {sample_us}K"


def switch_point(switch_ns: int) -> str:
    """Name of the point with this SwitchTime and the published rest."""
    return "milic2017" if switch_ns == SWITCH else f"switch {switch_ns}"
