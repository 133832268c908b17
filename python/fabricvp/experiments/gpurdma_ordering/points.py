# SPDX-License-Identifier: Apache-2.0
"""The pair of nodes of `configs/gpurdma_pair.yaml`, with the firmware that looks (firmware/programs/ordering)."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...guest_results import result_lines
from ...platform import Platform
from ...results import Outcome
from ..machines import record_machine

#: What tells the kernel that data have come: options of the firmware.
FLAGS = {
    "behind the data, same line": "bytes=56 flag=same_write",
    "behind the data, same write": "bytes=4096 flag=same_write",
    "a write of its own": "bytes=64 flag=separate_write",
    "completion in the GPU": "bytes=64 flag=completion",
    "completion in the host": "bytes=64 flag=completion host_cq=1",
}
#: How it reads them then.
READS = {"plain": "plain", "acquire": "acquire", "bypass L1": "bypass"}
#: When lanes see what arrives: `front.peer_writes`.
COMMITS = ("on_arrival", "at_bank")


@dataclass(frozen=True)
class Point:
    """A run."""

    options: str  #: of the firmware
    read: str = "acquire"  #: of `READS`
    commit: str = "on_arrival"  #: of `COMMITS`
    load: int = 0  #: wavefronts that keep the bank of the data busy
    rounds: int = 100


@dataclass(frozen=True)
class Result:
    """What it gave."""

    rounds: int
    wrong: int  #: rounds in which some word was old
    stale: int  #: of them because L1 had kept it
    early: int  #: of them because it had not come
    found: int  #: by the CRC
    missed: int
    alarms: int
    acquire_us: float  #: of a round
    read_us: float  #: of a round, with the check
    repair_us: float  #: of a wrong round
    tries: float  #: reads bypassing L1 that a wrong round took until it was right
    round_us: float  #: at the writer, from the first entry until it knows that the kernel has looked
    bank_wait_ns: float  #: mean wait of requests for the bank of the data, from begin to end


def measure(point: Point) -> Result:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    append = f"rounds={point.rounds} {point.options} read={READS[point.read]} load={point.load}"
    with Platform.from_config(
        "gpurdma_pair",
        node__images__firmware="firmware:ordering.elf",
        node__images__append=append,
        node__gpus__0__host_interface__peer_writes=point.commit,
    ) as platform:
        record_machine(f"{append}, {point.commit}", platform)
        ended = platform.run("200 ms")
        texts = [node.console.output.replace("\r", "") for node in platform.nodes]
        lines = {line.name: line for text in texts for line in result_lines(text)}
        if ended.outcome != Outcome.POWER_OFF or not {"ordering", "ordering_cycles", "round"} <= lines.keys():
            raise InputError(f"{point}: {ended.detail}: {texts[0][-300:]} {texts[1][-300:]}")
        seen, cycles = lines["ordering"], lines["ordering_cycles"]
        rounds, mhz, wrong = seen["rounds"], cycles["clock_mhz"], seen["wrong"]
        values = platform.statistics.snapshot()
        bank = "node0.gpu0.memory.l2.bank0"
        requests = sum(values[f"{bank}.{what}"] for what in ("reads", "writes", "atomics"))
        return Result(
            rounds,
            wrong,
            seen["stale"],
            seen["early"],
            seen["found"],
            seen["missed"],
            seen["alarms"],
            cycles["acquiring"] / mhz / rounds,
            cycles["reading"] / mhz / rounds,
            cycles["repairing"] / mhz / max(wrong, 1),
            cycles["tries"] / max(wrong, 1),
            lines["round"]["time_ps"] / 1e6,
            values[f"{bank}.queueing"] / 1e3 / max(requests, 1),
        )
