# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/programs/compnet) that sum a vector over all nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ..compnet import BACKENDS, CLOCKS, HOST_HARTS, PROCESSOR_HARTS, Measured, run_firmware
from ..perturbations import name_with, perturbed_clocks

MAX_BYTES = 64 << 20
BYTES_PER_GROUP = 16 << 10  #: bytes of the vector for which a work-group is worth its requests
MAX_GROUPS = 12
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "KB": 1000, "MB": 1_000_000}


def byte_count(text: str) -> int:
    """Bytes of a vector of floats. Raises `InputError`."""
    match = re.fullmatch(r"(\d+) ?([KM]i?B|)", text)
    size = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 4 <= size <= MAX_BYTES or size % 4:
        raise InputError(
            f"'{text}' is not the size of a vector of floats: a multiple of 4 up to 64MiB, such as 65536 or 1MiB"
        )
    return size


@dataclass(frozen=True)
class Point:
    """All-reduces of one size by one backend. Machines of one number of nodes are the same for all backends."""

    backend: str  #: of `compnet.BACKENDS`
    nodes: int
    size: int  #: bytes
    algorithm: str = "ring"  #: or tree
    rounds: int = 2
    driver_us: int = 0  #: that a driver takes to launch a kernel, beyond what is simulated
    step: int = 0  #: of the machine's clocks, per mille
    wait: str = "sleep"  #: or poll: how the host's program waits for kernels

    @property
    def groups(self) -> int:
        """Work-groups that add and communicate."""
        return min(MAX_GROUPS, max(1, self.size // BYTES_PER_GROUP))

    @property
    def cost(self) -> float:
        """For estimates of the time left."""
        return self.nodes * (1.0 + self.rounds * self.size / (1 << 20))

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.nodes} nodes, {self.size} B, {self.algorithm}, driver {self.driver_us} µs"
            + ", the host polls" * (self.wait == "poll")
        )


@dataclass
class Result:
    """What it gave: seconds of an all-reduce."""

    run: Measured
    time: float  #: on the host's clock, a launch included
    inside: float | None  #: inside of a running kernel; None where the host performs the network
    barrier: float | None  #: the same, of a barrier of all nodes
    energy: dict[str, float]  #: an all-reduce, of all nodes


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    threads = PROCESSOR_HARTS
    options = (
        f"work=reduce scheme={BACKENDS[point.backend]} bytes={point.size} algorithm={point.algorithm}"
        f" rounds={point.rounds} groups={point.groups} threads={min(threads, point.groups)} cores={HOST_HARTS}"
        f" driver_us={point.driver_us} wait={point.wait}"
    )
    run = run_firmware(
        name_with(str(point), point.step),
        point.backend,
        point.nodes,
        options,
        ("reduce",),
        perturbed_clocks(CLOCKS, point.step),
    )
    reduce = result_lines(run.consoles[0], "reduce")[0]
    inside = result_lines(run.consoles[0], "reduce_kernel")
    return Result(
        run,
        reduce["time_ps"] / 1e12 / reduce["rounds"],
        inside[0]["round_time_ps"] / 1e12 if inside else None,
        inside[0]["barrier_time_ps"] / 1e12 if inside else None,
        {part: j / reduce["rounds"] for part, j in run.parts["reduce"].energy.items()},
    )
