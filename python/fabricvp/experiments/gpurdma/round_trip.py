# SPDX-License-Identifier: Apache-2.0
"""A message of 8 bytes there and back between kernels of two nodes (firmware/programs/compnet, work-groups that post
themselves)."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine


@dataclass(frozen=True)
class RoundTrip:
    """A run of it."""

    machine: str
    settings: tuple[tuple[str, str], ...] = ()  #: of the machine: dotted path, value
    rounds: int = 40

    def __str__(self) -> str:
        return ", ".join((self.machine, *(f"{path}={value}" for path, value in self.settings)))


@dataclass
class RoundTripResult:
    """What it gave."""

    seconds: float  #: a round
    correct: bool
    error_count: float


def measure(point: RoundTrip) -> RoundTripResult:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    overrides = {
        "node.images.firmware": "firmware:compnet.elf",
        "node.images.append": f"scheme=gpu_native min=8 max=8 rounds={point.rounds} groups=1",
        **dict(point.settings),
    }
    with Platform.from_config(point.machine, overrides=overrides) as platform:
        record_machine(f"{point}, there and back", platform)
        ended = platform.run("20 s")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        if ended.outcome != Outcome.POWER_OFF:
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]}")
        values = platform.statistics.snapshot()
        (line,) = result_lines(texts[0], "echo")
        return RoundTripResult(
            line["time_ps"] * 1e-12,
            all("all ok" in text for text in texts),
            sum(values[f"node{n}.hca0.{what}"] for n in (0, 1) for what in ("retries", "bad_doorbells")),
        )
