# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/host/compnet) whose work-groups send unanswered messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..compnet import run_firmware
from ..compnet_latency.points import BACKENDS, THREADS

PROCESSOR, LANES = "ComP-Net", "GPU-native"
EIGHT = 8  #: bytes, which travel in the request itself
_RATE = re.compile(r"^# rate \w+ \d+ threads \d+ groups \d+ bytes (\d+) messages, (\d+) ps each", re.MULTILINE)


@dataclass(frozen=True)
class Stream:
    """Messages of one node that nobody answers."""

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
        f"work=3 scheme={BACKENDS[stream.backend]} least={EIGHT} most={EIGHT} messages={stream.messages}"
        f" groups={stream.groups} threads={stream.threads}"
    )
    found = run_firmware(str(stream), stream.backend, 2, options, ["rate"], {"node.gpu0.processor.harts": max(THREADS)})
    match = _RATE.search(found.consoles[0])
    return StreamResult(
        int(match[2]) / 1e12 if match else float("nan"),
        found.correct and match is not None and int(match[1]) == stream.groups * stream.messages,
        found.retries,
    )
