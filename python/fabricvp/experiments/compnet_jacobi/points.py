# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/programs/compnet) that solve."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...guest_results import result_lines
from ..compnet import BACKENDS, CLOCKS, run_firmware
from ..compnet_latency.points import CORES
from ..perturbations import name_with, perturbed_clocks

CPU = "CPU only"
GPU_BACKENDS = tuple(backend for backend in BACKENDS if backend != CPU)
ITERATIONS = 10
LARGEST_CPU = 256  #: above, the CPUs do not solve as well: the backends must find the same among themselves


@dataclass(frozen=True)
class Point:
    """A solution by the CPUs and one by the GPUs. All of a study run on one machine: only who performs the network is
    another one."""

    backend: str  #: of `GPU_BACKENDS`
    size: int  #: rows and columns of each node's part
    driver_us: int  #: that a driver takes to launch a kernel, beyond what is simulated
    bus_ns: int  #: what each of the two crossings between switch and root complex takes to process, nanoseconds
    cores: tuple[float, float] = CORES  #: instructions a cycle, of the host, of the command processor
    step: int = 0  #: of the machine's clocks, per mille

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
    digests: tuple[int, ...] = ()  #: by node, of the grid that was found
    correct: bool = False
    retries: float = 0.0

    @property
    def gpu_backend(self) -> str:
        """The firmware's name of the backend whose GPUs solved."""
        return next(name for name in self.time if name != "cpu")


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    # Work-groups wait for each other after every iteration; of its kernel the GPU holds 48 at a time.
    groups = min(16, point.size // 4) if point.size <= LARGEST_CPU else 32
    reference = point.size <= LARGEST_CPU
    options = (
        f"work=jacobi scheme={BACKENDS[point.backend]} rows={point.size} columns={point.size} groups={groups}"
        f" iterations={ITERATIONS} driver_us={point.driver_us} reference={int(reference)}"
    )
    settings = {
        "node.pcie.root.root_port.processing": f"{point.bus_ns} ns",
        "node.pcie.switch0.upstream_port.processing": f"{point.bus_ns} ns",
        "node.host.hart.instructions_per_cycle": point.cores[0],
        "node.gpu0.processor.hart.instructions_per_cycle": point.cores[1],
        **perturbed_clocks(CLOCKS, point.step),
    }
    regions = ("cpu", "jacobi") if reference else ("jacobi",)
    run = run_firmware(name_with(str(point), point.step), point.backend, 2, options, regions, settings)
    solved = result_lines(run.consoles[0], "jacobi")
    return Result(
        time={line["backend"]: line["time_ps"] / 1e12 / line["iterations"] for line in solved},
        energy={
            line["backend"]: run.parts[region].energy["total"] / line["iterations"]
            for line, region in zip(solved, regions)
        },
        digests=tuple(result_lines(text, "digest")[0]["value"] for text in run.consoles),
        correct=run.correct,
        retries=run.retries,
    )
