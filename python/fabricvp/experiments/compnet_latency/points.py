# SPDX-License-Identifier: Apache-2.0
"""The machine of two nodes, and what its firmware (firmware/programs/compnet) measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ...conditions import Marker
from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..compnet import APU, BACKENDS, CLOCKS, energy_of, machine_of, retries_of
from ..machines import record_machine
from ..perturbations import name_with, perturbed_clocks

#: Those whose kernels, or whose queue of the GPU, can wait for messages.
ECHO_BACKENDS = ("ComP-Net", "GHN", APU, "GPU-native", "GDS")
SERVICE_BACKENDS = ("ComP-Net", "GHN", APU)  #: by threads
THREADS = (1, 2, 4, 8)
#: Instructions a cycle of a core of the host and of one of the command processor, while caches hit: what the machine
#: has, and what wider cores reach at the most.
CORES = (1.0, 1.0)
OTHER_CORES = ((2.0, 1.5), (4.0, 2.0))


class Attachment(NamedTuple):
    """Where GPU and adapter are."""

    name: str
    machine: str


ATTACHMENTS = {
    "pcie": Attachment("GPU and adapter below a switch", "compnet_pair"),
    "apu": Attachment("APU, adapter below a switch", "compnet_apu_pair"),
    "bus": Attachment("APU, adapter on the bus", "compnet_apu_bus_pair"),
}
ATTACHED_BACKENDS = ("ComP-Net", "GHN", "GPU-native")


@dataclass(frozen=True)
class Point:
    """A run of the firmware. All of a study run on one machine, or on the same with its GPUs on the host's bus: only
    who serves is another one."""

    backend: str  #: of `ECHO_BACKENDS`
    least: int = 64  #: bytes of a message
    most: int = 64
    rounds: int = 20
    groups: int = 1
    threads: int = 1
    bus_ns: int = 50  #: what each of the two crossings between switch and root complex takes to process, nanoseconds
    cores: tuple[float, float] = CORES  #: instructions a cycle, of the host, of the command processor
    step: int = 0  #: of the machine's clocks, per mille
    queues: str = "host"  #: or gpu: the memory with the requests that host threads serve
    wait: str = "sleep"  #: or poll: how the host's program waits for the kernel
    doorbells: bool = False  #: whether the command processor reads a bit for each queue, and no other queue
    attachment: str = ""  #: of `ATTACHMENTS`; as the backend has it unless given

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.least}…{self.most} B, {self.groups} work-groups, {self.threads} threads,"
            f" {self.bus_ns} ns, {self.cores[0]:g} and {self.cores[1]:g} instructions a cycle"
            + ", queues in GPU memory" * (self.queues == "gpu")
            + ", the host polls" * (self.wait == "poll")
            + ", doorbells" * self.doorbells
            + (f", {ATTACHMENTS[self.attachment].name}" if self.attachment else "")
        )


@dataclass
class Result:
    """What it gave."""

    round_trip: dict[int, float] = field(default_factory=dict)  #: by size, mean over work-groups, seconds
    slowest: dict[int, float] = field(default_factory=dict)  #: of all work-groups
    instructions: float = 0.0  #: of the threads of both nodes that serve, while the last size was measured
    seconds: float = 0.0  #: of that measurement
    messages: float = 0.0  #: requests in it
    misses: float = 0.0  #: of the data caches of both command processors in it
    energy: dict[str, float] = field(default_factory=dict)  #: of both nodes in it, by part
    correct: bool = False
    retries: float = 0.0


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    harts = max(THREADS)
    options = (
        f"scheme={BACKENDS[point.backend]} min={point.least} max={point.most} rounds={point.rounds}"
        f" groups={point.groups} threads={point.threads} queues={point.queues} wait={point.wait}"
        f" doorbells={point.doorbells:d}"
    )
    settings = {
        "node.gpu0.processor.harts": harts,
        "node.host.hart.instructions_per_cycle": point.cores[0],
        "node.gpu0.processor.hart.instructions_per_cycle": point.cores[1],
        **_distance(point),
        "node.images.append": options,
        **perturbed_clocks(CLOCKS, point.step),
    }
    machine = ATTACHMENTS[point.attachment].machine if point.attachment else machine_of(point.backend, 2)
    with Platform.from_config(machine, overrides=settings) as platform:
        record_machine(name_with(str(point), point.step), platform)
        found = Result()
        for _ in range((point.most // point.least).bit_length()):
            if platform.run("10 s", until=Marker("echo", "reset")).outcome != Outcome.EVENT:
                break
            begin = platform.now
            found.retries += retries_of(platform.statistics.snapshot(), 2)
            platform.statistics.reset()
            if platform.run("10 s", until=Marker("echo", "dump")).outcome != Outcome.EVENT:
                break
            values = platform.statistics.snapshot()
            found.seconds = float(platform.now - begin)
            found.instructions = (
                sum(
                    values[f"node{n}.{_hart(point.backend, t)}.instructions"]
                    for n in (0, 1)
                    for t in range(point.threads)
                )
                if point.backend in SERVICE_BACKENDS
                else 0.0
            )
            found.energy = energy_of(values, 2)
            found.misses = sum(
                values[f"node{n}.gpu0.processor.bus{hart}.data_cache.misses"] for n in (0, 1) for hart in range(harts)
            )
            found.messages = 2.0 * point.groups * (point.rounds + 2)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        found.correct = all("all ok" in t for t in texts)
        for line in result_lines(texts[0], "echo"):
            found.round_trip[line["bytes"]] = line["time_ps"] / 1e12
            found.slowest[line["bytes"]] = line["max_time_ps"] / 1e12
        found.retries += retries_of(platform.statistics.snapshot(), 2)
        return found


def _distance(point: Point) -> dict[str, object]:
    """Parameters of the link between switch and root complex, where there is one."""
    if point.attachment == "bus":
        return {}
    ports = ("root.root_port", "switch0.upstream_port")
    return {f"node.pcie.{port}.processing": f"{point.bus_ns} ns" for port in ports}


def _hart(backend: str, thread: int) -> str:
    return f"gpu0.processor.hart{thread}" if backend == "ComP-Net" else f"host.hart{thread + 1}"
