# SPDX-License-Identifier: Apache-2.0
"""What a GPU's parameters allow: latencies that nothing can be below, rates that nothing can be above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LINE = 64  #: bytes of a cache line

#: Bits a second of a PCI Express lane after encoding, by generation.
_PCIE_GBPS = {1: 2.0, 2: 4.0, 3: 8 * 128 / 130, 4: 16 * 128 / 130, 5: 32 * 128 / 130, 6: 64 * 242 / 256}


@dataclass(frozen=True)
class Limits:
    """Latencies in GPU cycles; rates in bytes a GPU cycle, of the whole GPU unless said otherwise."""

    clock: float  #: Hz
    compute_units: int
    wavefronts: int  #: that a compute unit holds
    simd_units: int  #: of a compute unit
    issue: dict[str, float]  #: cycles that an instruction of a class occupies its SIMD unit
    result: float  #: cycles from an integer instruction to the next one that needs its result
    l1_size: int
    l1_ways: int
    l2_size: int
    l2_ways: int
    l2_banks: int
    l2_interleave: int  #: bytes
    channels: int
    channel_interleave: int  #: bytes
    hashed: bool  #: banks and channels are chosen by a hash of the address
    tlb_entries: int  #: of a compute unit
    page_reach: int  #: bytes that the TLB of a compute unit reaches with pages of 2 MiB
    address_lanes: int  #: lanes whose addresses the coalescer takes a cycle
    l1_latency: float  #: of a load that hits
    l2_latency: float  #: of a load that misses L1 and hits L2
    memory_latency: float  #: of a load that misses both, with an open row
    row_miss: float  #: that closing and opening a row adds
    lds_latency: float
    lds_banks: int
    lds_size: int
    l1_rate: float
    l2_rate: float
    memory_rate: float
    shared: bool  #: the memory is the host's
    l1_in_flight: int  #: lines that all compute units can fetch at a time
    work_group_interval: float  #: cycles from a work-group's start to the next
    pcie_rate: float  #: one way
    fabric_rate: float  #: of the GPU's own link, one way; 0: none

    def level_of(self, size: int) -> str:
        """What holds that many bytes once they have been read; empty near the borders, where sets overflow."""
        if size <= self.l1_size // 2:
            return "L1"
        return "L2" if 2 * self.l1_size <= size <= self.l2_size // 2 else ""

    def latency(self, level: str) -> float:
        """Of a load, in cycles."""
        return {"L1": self.l1_latency, "L2": self.l2_latency, "memory": self.memory_latency}[level]

    def rate(self, level: str, compute_units: int) -> float:
        """Bytes a cycle that some compute units can get from a level."""
        through_l1 = compute_units * LINE  #: a line a cycle each
        return min(through_l1, {"L1": self.l1_rate, "L2": self.l2_rate, "memory": self.memory_rate}[level])


def limits_of(config: Any, node: str = "node0", gpu: str = "gpu0") -> Limits:
    """The limits of one GPU of a resolved configuration (`Platform.config`)."""
    g = config[f"{node}.{gpu}"]
    clock, cu, memory = g.clock, g.compute_unit, g.memory
    unit, l1, l2, router, hbm = memory.unit, memory.unit.l1, memory.l2, memory.router, memory.hbm
    memory_cycle = clock / hbm.clock  #: in GPU cycles
    to_l1 = unit.latency + unit.tlb.latency
    to_l2 = to_l1 + l1.tag_latency + router.request_latency
    back = router.response_latency + l1.fill_latency
    shared = g["below"] == "host"  #: an APU: its programs' memory is the host's
    burst = hbm.bus_bytes * hbm.burst_length
    in_memory = memory_cycle * (hbm.column_latency + -(-LINE // burst) * hbm.burst_length / 2)
    return Limits(
        clock=clock,
        compute_units=g.compute_units,
        wavefronts=min(cu.wavefronts or 64, cu.simd_units * cu.wavefront_slots) * cu.slot_lanes // 64,
        simd_units=cu.simd_units,
        issue={name: float(cu.issue[name]) for name in cu.issue if isinstance(cu.issue[name], (int, float))},
        result=float(max(cu.issue.alu, cu.result_latency.alu)),
        l1_size=int(l1.size),
        l1_ways=int(l1.ways),
        l2_size=int(l2.size),
        l2_ways=int(l2.ways),
        l2_banks=int(l2.banks),
        l2_interleave=int(l2.interleave),
        channels=int(hbm.channels),
        channel_interleave=int(hbm.interleave),
        hashed=any(bool(part[key]) for part in (l2, hbm) for key in part if "hash" in key),
        tlb_entries=int(unit.tlb.sets * unit.tlb.ways),
        page_reach=int(unit.tlb.sets * unit.tlb.ways) << 21,
        address_lanes=int(unit.address_lanes),
        l1_latency=to_l1 + l1.latency,
        l2_latency=to_l2 + l2.latency + back,
        memory_latency=to_l2 + l2.latency + in_memory + back,
        row_miss=memory_cycle * (hbm.row_precharge + hbm.row_to_column),
        lds_latency=float(cu.lds.latency),
        lds_banks=int(cu.lds.banks),
        lds_size=int(cu.lds.size),
        l1_rate=g.compute_units * LINE,
        l2_rate=l2.banks * LINE / l2.service,
        memory_rate=min(
            hbm.channels * 2 * hbm.bus_bytes / memory_cycle, g.coherent.rate / clock if shared else float("inf")
        ),
        shared=shared,
        l1_in_flight=int(g.compute_units * l1.mshrs),
        work_group_interval=float(g.dispatcher.work_group_interval),
        pcie_rate=_PCIE_GBPS[int(g.link.generation)] * 1e9 / 8 * g.link.width / clock if "link" in g else 0.0,
        fabric_rate=_fabric_rate(config, node, gpu) / clock,
    )


def _fabric_rate(config: Any, node: str, gpu: str) -> float:
    """Bytes a second of the link between a GPU and its switch; 0 without one."""
    return max((rate for ends, rate in _links(config, node) if gpu in ends), default=0.0)


def _links(config: Any, node: str) -> list[tuple[tuple[str, str], float]]:
    """Ends of all links between a node's GPUs, and bytes a second one way."""
    if "links" not in config[f"{node}.fabric"]:
        return []
    links = config[f"{node}.fabric.links"]
    return [((links[i]["from"], links[i]["to"]), float(links[i]["lanes"] * links[i]["lane_rate"])) for i in links]


def link_rate(config: Any, source: int, target: int, node: str = "node0") -> float:
    """Bytes a second one way between two GPUs of a node: of the slowest link on the shortest way. 0 without one."""
    reached = {f"gpu{source}": float("inf")}
    border = list(reached)
    while border and f"gpu{target}" not in reached:
        found: dict[str, float] = {}
        for ends, rate in _links(config, node):
            for here, there in (ends, ends[::-1]):
                if here in border and there not in reached:
                    found[there] = max(found.get(there, 0.0), min(reached[here], rate))
        reached |= found
        border = list(found)
    return reached.get(f"gpu{target}", 0.0)
