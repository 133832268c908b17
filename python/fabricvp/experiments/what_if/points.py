# SPDX-License-Identifier: Apache-2.0
"""Design points: two mechanisms, each on or off, and how much slower the link between clusters is than those inside."""

from __future__ import annotations

from typing import NamedTuple

from ..lanes.points import Overrides, reversal
from ..netcrafter.points import POINTS

MACHINE = "netcrafter_quad"
INNER = 16  #: GB/s a lane inside of a cluster
RATIOS = (8, 4, 2, 1)  #: inside : between; 8 is the published machine
CLEAR = 0.005  #: differences that count as such
NEITHER, NETCRAFTER, LANES, BOTH = DESIGNS = ("neither", "NetCrafter", "lanes", "both")


class Workload(NamedTuple):
    """A workload. Sizes follow the rule in docs/experiments/what_if.md."""

    size: int
    quick: int
    placement: str  #: where pages go
    dispatch: str  #: where work-groups run
    seconds: float  #: roughly, of a run at the default size: for the estimate of the time left


#: by the name of the application
WORKLOADS: dict[str, Workload] = {
    "gups": Workload(1 << 18, 1 << 16, "lasp", "lasp", 5),
    "spmv": Workload(8192, 2048, "lasp", "lasp", 5),
    "pagerank": Workload(16384, 4096, "lasp", "lasp", 5),
    "mis": Workload(32768, 8192, "lasp", "lasp", 5),
    "transpose": Workload(1024, 256, "lasp", "lasp", 5),
    "syr2k": Workload(64, 32, "lasp", "lasp", 5),
    "sp_like": Workload(1024, 512, "lasp", "lasp", 5),
}
QUICK = ("spmv", "transpose", "sp_like")
QUICK_RATIOS = (8, 2)


def overrides(design: str, ratio: int, policy: str) -> Overrides:
    """Parameters of a design point."""
    found: Overrides = (("node.fabric.links.4.lane_rate", f"{INNER // ratio} GB/s"),)
    if design in (NETCRAFTER, BOTH):
        found += POINTS["all"]
    if design in (LANES, BOTH):
        found += reversal(policy)
    return found
