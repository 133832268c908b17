# SPDX-License-Identifier: Apache-2.0
"""Runs of the firmware (firmware/host/compnet) whose work-groups send messages that nobody answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..compnet import run_firmware
from ..compnet_latency.points import SCHEMES, THREADS

PROCESSOR, LANES = "command processor", "lanes"
EIGHT = 8  #: bytes, which travel in the request itself
_RATE = re.compile(r"^# rate \w+ \d+ threads \d+ groups \d+ bytes (\d+) messages, (\d+) ps each", re.MULTILINE)


@dataclass(frozen=True)
class Stream:
    """Messages of one node that nobody answers."""

    scheme: str  #: `PROCESSOR` or `LANES`
    messages: int  #: of each work-group
    groups: int
    threads: int = 1

    def __str__(self) -> str:
        return (
            f"{self.scheme}, {self.messages} messages of each of {self.groups} work-groups without answers,"
            f" {self.threads} threads"
        )


@dataclass
class Streamed:
    """What came of it."""

    seconds: float  #: for a message, by the slowest work-group
    right: bool
    retries: float


def measure_stream(stream: Stream) -> Streamed:
    """Runs it. Raises `InputError` if the firmware does not come to its end."""
    options = (
        f"work=3 scheme={SCHEMES[stream.scheme]} least={EIGHT} most={EIGHT} messages={stream.messages}"
        f" groups={stream.groups} threads={stream.threads}"
    )
    found = run_firmware(str(stream), stream.scheme, 2, options, ["rate"], {"node.gpu0.processor.harts": max(THREADS)})
    told = _RATE.search(found.consoles[0])
    return Streamed(
        int(told[2]) / 1e12 if told else float("nan"),
        found.right and told is not None and int(told[1]) == stream.groups * stream.messages,
        found.retries,
    )
