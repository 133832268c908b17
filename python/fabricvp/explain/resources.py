# SPDX-License-Identifier: Apache-2.0
"""What may bound a region, as data. An entry says which blocks are such a resource, for how much of the time their
units worked or were held, which statistic shows the queue before them, and which parameter moves it.

A *server* (a link, HBM's channels) works; requests queue before it once it is busy. *Slots* (MSHRs, tags, page walkers)
are held while something else works: full slots matter only for the time in which nothing behind them is busy. So each
kind of slots counts for its share of what entries of lower `level` that serve it leave over. Harts that poll are
active, too, and come last for the same reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .block import Block
from .machine import Change
from .measures import (
    active,
    cache_memory_time,
    dram_time,
    host_changes,
    host_time,
    idle,
    issue_changes,
    l1_limit,
    l2_changes,
    one,
    overhead_time,
    processor_time,
)

GPU = r"(node\d+\.\w+)"


@dataclass(frozen=True)
class Resource:
    title: str
    pattern: str  #: of paths of statistics; its first group is the block
    busy: Callable[[Block], float]  #: picoseconds in which units worked or were held, summed over them
    units: Callable[[Block], float]  #: how many there are
    changes: Callable[[Block], list[Change]]  #: what should show an effect
    queues: tuple[tuple[str, str], ...] = ()  #: statistics of the queue, first ones preferred, and what they say
    level: int = 0  #: 0: a server; more: slots, held while those of lower levels work
    serves: tuple[str, ...] = ()  #: whose slots wait for it: those of GPUs, those of hosts
    waits_as: str = "gpu"  #: of slots: whose they are


def _slots(
    title: str,
    block: str,
    latency: str,
    parameter: str | Callable[[Block], str],
    queues: tuple[tuple[str, str], ...],
    level: int,
    serves: tuple[str, ...] = (),
    waits_as: str = "gpu",
) -> Resource:
    """Slots that were held for the latencies of a histogram. ``parameter`` says how many there are."""

    def name(b: Block) -> str:
        return parameter if isinstance(parameter, str) else parameter(b)

    return Resource(
        title,
        rf"{block}\.{latency}\.sum",
        lambda b: b.count(f"{latency}.sum"),
        lambda b: b.number(name(b)),
        lambda b: b.change(name(b), 2),
        queues,
        level,
        serves,
        waits_as,
    )


_WAITING = (
    ("{path}_egress.waiting.mean", "{} flits found before each packet"),
    ("{parent}.queue.waiting.mean", "{} packets found before each"),
    ("credit_stalls", "{} packets waited for credits"),
    ("transmitter.packets", "{} packets"),
)

RESOURCES: tuple[Resource, ...] = (
    Resource(
        "link",
        r"(node\d+\.fabric\..+)\.transmitter\.busy",
        lambda b: b.count("transmitter.busy"),
        one,
        lambda b: b.machine.link_changes(b.path),
        _WAITING,
        serves=("gpu",),
    ),
    Resource(
        "link",
        r"((?!node\d+\.fabric\.).+)\.transmitter\.busy",
        lambda b: b.count("transmitter.busy"),
        one,
        lambda b: b.machine.link_changes(b.path),
        _WAITING,
        serves=("gpu", "host"),
    ),
    Resource(
        "HBM channels",
        r"(.+\.memory\.hbm)\.busy",
        lambda b: b.count("busy"),
        lambda b: b.number("channels"),
        lambda b: b.change("channels", 2),
        (
            ("{device}.memory.l2.bank*.mshr_stalls", "{} requests waited for an MSHR of the L2"),
            ("reads", "{} lines read"),
        ),
        serves=("gpu",),
    ),
    Resource(
        "L2 bank",
        r"(.+\.memory\.l2\.bank\d+)\.queueing",
        lambda b: (b.count("reads") + b.count("writes") + b.count("atomics")) * b.number("service") * b.cycle(),
        lambda b: b.number("requests"),
        l2_changes,
        (("queueing", "requests queued for {ps} in sum"),),
        serves=("gpu",),
    ),
    Resource(
        "L1 lookups",
        r"(.+\.memory\.unit\d+)\.transactions",
        lambda b: b.count("transactions") * b.cycle(),
        one,
        lambda b: b.change("clock", 2, "{device}"),
        (("lines_per_access.mean", "{} lines an access"),),
        serves=("gpu",),
    ),
    _slots(
        "page walkers",
        r"(.+\.memory\.gmmu)",
        "walk_latency",
        "walkers",
        (("walk_queueing.mean", "walks queued for {ps} on average"), ("walks", "{} walks")),
        level=1,
        serves=("gpu",),
    ),
    _slots(
        "L1 fetches in flight",
        r"(.+\.memory\.unit\d+\.l1)",
        "miss_latency",
        l1_limit,
        (("in_flight_stalls", "{} stalls for a line in flight"), ("mshr_stalls", "{} loads waited for an MSHR")),
        level=2,
        serves=("gpu",),
    ),
    _slots(
        "L1 TLB misses in flight",
        r"(.+\.memory\.unit\d+\.tlb)",
        "miss_latency",
        "mshrs",
        (("mshr_stalls", "{} stalls for an MSHR"), ("miss_latency.mean", "a miss took {ps}")),
        level=2,
        serves=("gpu",),
    ),
    _slots(
        "PCIe reads in flight",
        r"(.+\.dma)",
        "read_latency",
        "tags",
        (("read_latency.mean", "a read took {ps}"),),
        level=1,
        serves=("gpu", "host"),
        waits_as="host",
    ),
    _slots(
        "memory instructions in flight",
        r"(.+\.memory\.unit\d+)",
        "load_latency",
        "queue",
        (("load_latency.mean", "a load took {ps}"),),
        level=3,
    ),
    Resource(
        "instruction issue",
        r"(.+\.compute_unit\d+)\.simd_busy",
        lambda b: b.count("simd_busy"),
        lambda b: b.number("simd_units"),
        issue_changes,
        (("stall_simd", "ready wavefronts waited for {ps} in sum"), ("wavefront_instructions", "{} instructions")),
    ),
    Resource(
        "local data share",
        r"(.+\.compute_unit\d+\.lds)\.busy",
        lambda b: b.count("busy") * b.cycle(),
        one,
        lambda b: b.change("banks", 2),
        (
            ("bank_conflicts", "{} passes for bank conflicts"),
            ("{parent}.stall_queue", "wavefronts waited for {ps}"),
            ("accesses", "{} instructions"),
        ),
    ),
    Resource(
        "dispatcher",
        r"(.+\.dispatcher)\.work_groups",
        lambda b: b.count("work_groups") * b.number("work_group_interval") * b.cycle(),
        one,
        lambda b: b.change("work_group_interval", 0.5),
        (("work_groups", "{} work-groups started"),),
    ),
    Resource(
        "command processor before launches",
        GPU + r"\.launches\.doorbell_to_launch\.sum",
        processor_time,
        one,
        lambda b: b.change("processor.hart.clock", 2),
        (("launches.doorbell_to_launch.mean", "{ps} from a doorbell to its launch"),),
        serves=("host",),
    ),
    Resource(
        "launch overhead",
        GPU + r"\.launches\.launch_to_start\.sum",
        overhead_time,
        one,
        lambda b: b.change("launches.software_overhead", 0.5),
        (("launches.launch_to_start.mean", "{ps} from a launch to its first work-group"),),
        serves=("host",),
    ),
    Resource(
        "no kernel ran",
        GPU + r"\.launches\.launch_to_start\.count",
        idle,
        one,
        host_changes,
        (("launches.launch_to_start.count", "launches: {}"),),
        level=4,
        waits_as="host",
    ),
    Resource(
        "adapter's packets",
        r"(.+\.requester)\.requests",
        lambda b: b.count("requests") * b.number("packet_interval") * 1e12,
        one,
        lambda b: b.change("packet_interval", 0.5),
        (("{device}.send_queues.doorbell_queue_full", "{} doorbells found the queue full"),),
        serves=("host",),
    ),
    Resource(
        "adapter's commands",
        r"(.+\.commands)\.latency\.sum",
        lambda b: b.count("commands") * b.number("latency") * 1e12,
        one,
        lambda b: b.change("latency", 0.5),
        (("commands", "{} commands"),),
    ),
    Resource(
        "host memory",
        r"(.+\.host\.dram)\.bytes_read",
        dram_time,
        one,
        lambda b: b.change("rate", 2),
        (("bytes_read", "{} bytes read"),),
        serves=("gpu", "host"),
    ),
    Resource(
        "host memory behind caches",
        r"(.+\.host\.caches)\.memory_reads",
        cache_memory_time,
        lambda b: b.number("memory.channels"),
        lambda b: b.change("memory.channels", 2),
        (("stall", "harts stalled for {ps}"),),
    ),
    Resource(
        "command processor's hart, polling included",
        r"(.+\.processor\.hart\d+)\.active_cycles",
        active,
        one,
        lambda b: b.change("clock", 2),
        (("{device}.processor.doorbell_service.mean", "a doorbell waited for {ps}"),),
        level=4,
    ),
    Resource(
        "host's hart, polling included",
        r"(.+\.host\.hart\d+)\.active_cycles",
        host_time,
        one,
        lambda b: b.change("clock", 2),
        (("bus_accesses", "{} accesses to the bus"),),
        level=4,
        waits_as="host",
    ),
)
