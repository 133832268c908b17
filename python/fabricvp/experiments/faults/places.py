# SPDX-License-Identifier: Apache-2.0
"""What of a memory, or of register files, is in use at a time of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ... import _fabricvp
from ...nodes import node_index

if TYPE_CHECKING:
    from ...platform import Platform

PAGE = 4096  #: bytes
STEP_PS = 1_000_000  #: in which live wavefronts are looked for
_BLOCK = re.compile(r"node(?P<node>\d+)\.(?:gpu(?P<gpu>\d+)\.memory\.hbm|host\.dram)$")


def byte_in_use(platform: Platform, target: str, fraction: float) -> int | None:
    """A byte of a page that has one which is not zero, of the DRAM or HBM at that path: an offset, ``fraction`` (0 … 1)
    of the way through all such pages; None if there are none."""
    found = _BLOCK.match(target)
    assert found is not None
    node = int(found["node"])
    if found["gpu"]:
        used = _fabricvp.gpu_pages_in_use(platform._core, node, int(found["gpu"]))
    else:
        used = _fabricvp.pages_in_use(platform._core, node)
    if not used:
        return None
    byte = int(fraction * len(used) * PAGE)
    return used[byte // PAGE] + byte % PAGE


def live_wavefront(platform: Platform, node: int, fraction: float) -> tuple[str, int, int] | None:
    """Path of a compute unit, slot and lane of a wavefront that is alive on a GPU of the node, ``fraction`` (0 … 1) of
    the way through all live lanes; None if there is none."""
    lanes = [
        (f"{gpu.name}.compute_unit{w.compute_unit}", w.slot, lane)
        for gpu in platform.nodes[node].gpus
        for w in gpu.wavefronts()
        for lane in range(64)
        if w.live >> lane & 1
    ]
    return lanes[int(fraction * len(lanes))] if lanes else None


def live_unit_cache(platform: Platform, target: str, fraction: float) -> str | None:
    """Path of the L1, or of the scalar cache if ``target`` is one, of a compute unit with a wavefront that is alive on
    a GPU of the target's node, ``fraction`` (0 … 1) of the way through all live lanes; None if there is none."""
    node = node_index(target.partition(".")[0])
    lane = live_wavefront(platform, node, fraction)
    if lane is None:
        return None
    gpu, _, unit = lane[0].rpartition(".compute_unit")
    if ".scalar_cache" not in target:
        return f"{gpu}.memory.unit{unit}.l1"
    sharing = platform.config[f"{gpu}.compute_units_per_scalar_cache"]
    return f"{gpu}.memory.scalar_cache{int(unit) // sharing}"


def live_times(platform: Platform, end_ps: int) -> list[list[int]]:
    """Of each node, the times until ``end_ps`` at which it has live wavefronts, in picoseconds. Runs the machine."""
    found: list[list[int]] = [[] for _ in platform.nodes]
    while platform.now_ps + STEP_PS < end_ps:
        platform.run(f"{STEP_PS} ps")
        for node, times in zip(platform.nodes, found):
            if any(gpu.wavefronts() for gpu in node.gpus):
                times.append(platform.now_ps)
    return found
