# SPDX-License-Identifier: Apache-2.0
"""Times in which resources worked, in picoseconds, and changes that depend on what a machine has: the functions that
the entries of resources.py share."""

from __future__ import annotations

from .block import Block
from .machine import Change


def one(_: Block) -> float:
    return 1.0


def l2_changes(b: Block) -> list[Change]:
    return b.change("service", 0.5) or b.change("banks", 2)


def l1_limit(b: Block) -> str:
    """The parameter that limits fetches of an L1: lines in flight, where 0 is no limit, or MSHRs."""
    lines = b.number("in_flight")
    return "in_flight" if lines and lines <= b.number("mshrs") else "mshrs"


def issue_changes(b: Block) -> list[Change]:
    """The class of instructions that occupied SIMD units for longest."""
    classes = "alu multiply divide load store branch jump atomic floating float_divide"
    classes += " double_precision double_divide csr fence"
    cost = {c: b.count(f"{{device}}.instructions.{c}") * b.number(f"issue.{c}") for c in classes.split()}
    return b.change(f"issue.{max(cost, key=lambda c: cost[c])}", 0.5)


def idle(b: Block) -> float:
    """Time in which no kernel ran, in regions that ran kernels."""
    ran = b.count("{node}.kernels.time")
    return max(0.0, b.time - ran) if ran else 0.0


def processor_time(b: Block) -> float:
    return min(idle(b), b.count("launches.doorbell_to_launch.sum"))


def overhead_time(b: Block) -> float:
    return min(idle(b), b.count("launches.launch_to_start.sum"))


def host_changes(b: Block) -> list[Change]:
    """The host's clock, if it computes for most of the time in which no kernel runs."""
    host = Block(f"{b.node}.host.hart0", b.window, b.machine)
    return host.change("clock", 2) if 2 * active(host) > idle(b) else []


def active(b: Block) -> float:
    clock = b.number("clock")
    return b.count("active_cycles") * 1e12 / clock if clock else 0.0


def host_time(b: Block) -> float:
    """Time in which a hart of the host was active; where kernels ran, at most that in which none did."""
    return min(active(b), idle(b)) if b.count("{node}.kernels.time") else active(b)


def dram_time(b: Block) -> float:
    rate = b.number("rate")
    return (b.count("bytes_read") + b.count("bytes_written")) * 1e12 / rate if rate else 0.0


def cache_memory_time(b: Block) -> float:
    rate = b.number("memory.rate")
    return (b.count("memory_reads") + b.count("memory_writes")) * 1e12 / rate if rate else 0.0
