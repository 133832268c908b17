# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/host/compnet) that solve."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...errors import InputError
from ...platform import Platform
from ...results import Outcome
from ..machines import use

MACHINE = "compnet_pair"
CPU = "CPUs alone"
#: By name: what the firmware calls it.
SCHEMES = {"host between kernels": 3, "host threads": 1, "command processor": 0, "lanes": 2}
ITERATIONS = 10
LARGEST_CPU = 256  #: above, the CPUs do not solve as well: the schemes must find the same among themselves
_DIGEST = re.compile(r"^# digest (\w+)", re.MULTILINE)
_JACOBI = re.compile(r"^# jacobi (\w+) (\d+) rows (\d+) columns (\d+) iterations (\d+) ps", re.MULTILINE)


@dataclass(frozen=True)
class Point:
    """A solution by the CPUs and one by the GPUs. All of a study run on one machine: only who performs the network is another one."""

    scheme: str  #: of `SCHEMES`
    size: int  #: rows and columns of each node's part
    driver_us: int  #: that a driver takes to launch a kernel, beyond what is simulated
    bus_ns: int  #: what each of the two crossings between switch and root complex takes to process, nanoseconds

    def __str__(self) -> str:
        return f"{self.scheme}, {self.size}², driver {self.driver_us} µs, bus {self.bus_ns} ns"


@dataclass
class Found:
    """What it gave: seconds an iteration."""

    time: dict[str, float] = field(default_factory=dict)  #: by the firmware's name of the scheme
    digests: tuple[str, ...] = ()  #: by node, of the grid that was found
    right: bool = False
    retries: float = 0.0


def measure(point: Point) -> Found:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    groups = min(16, point.size // 4) if point.size <= LARGEST_CPU else 64  # work-groups that meet after every iteration
    options = (f"work=1 scheme={SCHEMES[point.scheme]} rows={point.size} columns={point.size} groups={groups} iterations={ITERATIONS} "
               f"driver={point.driver_us} reference={int(point.size <= LARGEST_CPU)}")
    settings = {"node.pcie.root.root_port.processing": f"{point.bus_ns} ns", "node.pcie.switch0.upstream_port.processing": f"{point.bus_ns} ns",
                "node.images.append": f"nodes=2 {options}"}
    with Platform.from_config(MACHINE, overrides=settings) as platform:
        use(str(point), platform)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        values = platform.statistics.snapshot()
        return Found(time={name: int(ps) / 1e12 / int(n) for name, _, _, n, ps in _JACOBI.findall(texts[0])},
                     digests=tuple(_DIGEST.findall(t)[0] for t in texts), right=all("all ok" in t for t in texts),
                     retries=sum(values[f"node{n}.hca0.retries"] for n in (0, 1)))
