# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/programs/compnet) whose work-groups send unanswered messages."""

from __future__ import annotations

from dataclasses import dataclass

from ...guest_results import result_lines
from ..compnet import BACKENDS, run_firmware
from ..compnet_latency.points import THREADS

PROCESSOR, LANES = "ComP-Net", "GPU-native"
EIGHT = 8  #: bytes, which travel in the request itself


@dataclass(frozen=True)
class Stream:
    """Messages of one node without replies."""

    backend: str  #: `PROCESSOR` or `LANES`
    messages: int  #: of each work-group
    groups: int
    threads: int = 1

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.messages} messages of each of {self.groups} work-groups without answers,"
            f" {self.threads} threads"
        )


@dataclass
class StreamResult:
    """What came of it."""

    seconds: float  #: for a message, by the slowest work-group
    correct: bool
    retries: float


def measure_stream(stream: Stream) -> StreamResult:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    options = (
        f"work=rate scheme={BACKENDS[stream.backend]} min={EIGHT} max={EIGHT} messages={stream.messages}"
        f" groups={stream.groups} threads={stream.threads}"
    )
    found = run_firmware(str(stream), stream.backend, 2, options, ["rate"], {"node.gpu0.processor.harts": max(THREADS)})
    lines = result_lines(found.consoles[0], "rate")
    return StreamResult(
        lines[0]["message_time_ps"] / 1e12 if lines else float("nan"),
        found.correct and bool(lines) and lines[0]["messages"] == stream.groups * stream.messages,
        found.retries,
    )
