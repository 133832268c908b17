# SPDX-License-Identifier: Apache-2.0
"""Round trips on the machine of two nodes, served by the command processor, beside work-groups that stream."""

from __future__ import annotations

from dataclasses import dataclass

from ...conditions import Marker
from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..compnet import CLOCKS
from ..machines import record_machine
from ..perturbations import name_with, perturbed_clocks

MACHINE = "compnet_pair"
BYTES = 64  #: of a message


@dataclass(frozen=True)
class Point:
    """A run of the firmware."""

    lock: bool
    load: int  #: work-groups of 256 lanes that stream
    groups: int  #: work-groups that talk
    rounds: int
    locked_ways: int = 8  #: of 16, most that may be locked in a set
    step: int = 0  #: of the machine's clocks, per mille

    def __str__(self) -> str:
        return (
            f"{self.groups} work-groups beside {self.load} that stream,"
            f" {f'up to {self.locked_ways} ways locked' if self.lock else 'nothing locked'}"
        )


@dataclass
class Result:
    """What it gave, of node 0 while messages were measured."""

    round_trip: float  #: seconds, mean over work-groups
    slowest: float
    lookups: float  #: of the command processor at lines of queues, in the L2
    misses: float  #: those whose line was not there
    evicted: float  #: lines of queues that were given up for others
    locks: float
    refusals: float
    memory_bytes: float  #: to and from HBM
    seconds: float
    correct: bool

    @property
    def residency(self) -> float:
        """Share of the looks that found their line."""
        return 1.0 - self.misses / self.lookups

    @property
    def traffic(self) -> float:
        """To and from HBM, GB/s."""
        return self.memory_bytes / self.seconds / 1e9


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    append = (
        f"scheme=compnet threads=1 groups={point.groups} min={BYTES} max={BYTES} rounds={point.rounds}"
        f" load={point.load} lock={int(point.lock)}"
    )
    settings = {
        "node.gpu0.memory.l2.locked_ways": point.locked_ways,
        "node.images.append": append,
        **perturbed_clocks(CLOCKS, point.step),
    }
    with Platform.from_config(MACHINE, overrides=settings) as platform:
        record_machine(name_with(str(point), point.step), platform)
        begun = platform.run("10 s", until=Marker("echo", "reset")).outcome == Outcome.EVENT
        begin = platform.now
        begun = begun and platform.run("10 s", until=Marker("echo", "dump")).outcome == Outcome.EVENT
        values = platform.statistics.snapshot()
        seconds = float(platform.now - begin)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        echo = result_lines(texts[0], "echo")
        if not begun or ended.outcome != Outcome.POWER_OFF or not echo:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        memory = "node0.gpu0.memory"

        def of_l2(what: str) -> float:
            return sum(
                v for name, v in values.items() if name.startswith(f"{memory}.l2.bank") and name.endswith(f".{what}")
            )

        return Result(
            echo[0]["time_ps"] / 1e12,
            echo[0]["max_time_ps"] / 1e12,
            of_l2("queue_reads"),
            of_l2("queue_misses"),
            of_l2("queue_evictions"),
            of_l2("locks"),
            of_l2("lock_rejections"),
            values[f"{memory}.hbm.bytes"],
            seconds,
            all("all ok" in t for t in texts),
        )
