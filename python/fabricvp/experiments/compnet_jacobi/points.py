# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/host/compnet) that solve."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..compnet import APU, run_firmware
from ..compnet_latency.points import CORES

CPU = "CPU only"
#: By name: what the firmware calls it.
BACKENDS = {"HDN": 3, "GDS": 5, "GHN": 1, APU: 1, "ComP-Net": 0, "GPU-native": 2}
ITERATIONS = 10
LARGEST_CPU = 256  #: above, the CPUs do not solve as well: the backends must find the same among themselves
_DIGEST = re.compile(r"^# digest (\w+)", re.MULTILINE)
_JACOBI = re.compile(r"^# jacobi (\w+) (\d+) rows (\d+) columns (\d+) iterations (\d+) ps", re.MULTILINE)


@dataclass(frozen=True)
class Point:
    """A solution by the CPUs and one by the GPUs. All of a study run on one machine: only who performs the network is
    another one."""

    backend: str  #: of `BACKENDS`
    size: int  #: rows and columns of each node's part
    driver_us: int  #: that a driver takes to launch a kernel, beyond what is simulated
    bus_ns: int  #: what each of the two crossings between switch and root complex takes to process, nanoseconds
    cores: tuple[float, float] = CORES  #: instructions a cycle, of the host, of the command processor

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.size}², driver {self.driver_us} µs, bus {self.bus_ns} ns, {self.cores[0]:g} and"
            f" {self.cores[1]:g} instructions a cycle"
        )


@dataclass
class Result:
    """What it gave: seconds and joules an iteration, by the firmware's name of the backend."""

    time: dict[str, float] = field(default_factory=dict)
    energy: dict[str, float] = field(default_factory=dict)  #: of both nodes
    digests: tuple[str, ...] = ()  #: by node, of the grid that was found
    correct: bool = False
    retries: float = 0.0


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    groups = (
        min(16, point.size // 4) if point.size <= LARGEST_CPU else 64
    )  # work-groups that meet after every iteration
    reference = point.size <= LARGEST_CPU
    options = (
        f"work=1 scheme={BACKENDS[point.backend]} rows={point.size} columns={point.size} groups={groups}"
        f" iterations={ITERATIONS} driver={point.driver_us} reference={int(reference)}"
    )
    settings = {
        "node.pcie.root.root_port.processing": f"{point.bus_ns} ns",
        "node.pcie.switch0.upstream_port.processing": f"{point.bus_ns} ns",
        "node.host.hart.instructions_per_cycle": point.cores[0],
        "node.gpu0.processor.hart.instructions_per_cycle": point.cores[1],
    }
    regions = ("cpu", "jacobi") if reference else ("jacobi",)
    run = run_firmware(str(point), point.backend, 2, options, regions, settings)
    solved = _JACOBI.findall(run.consoles[0])
    return Result(
        time={name: int(ps) / 1e12 / int(n) for name, _, _, n, ps in solved},
        energy={
            name: run.parts[region].energy["total"] / int(n) for (name, _, _, n, _), region in zip(solved, regions)
        },
        digests=tuple(_DIGEST.findall(text)[0] for text in run.consoles),
        correct=run.correct,
        retries=run.retries,
    )
