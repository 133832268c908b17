# SPDX-License-Identifier: Apache-2.0
"""Measured figures in what guests print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LINE = re.compile(r"# (\w+)((?: \w+=\S+)+)")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class ResultLine:
    """A line ``# reduce algorithm=ring bytes=65536 time_ps=41615250``: ``line["bytes"]`` is 65536. Keys end in the unit
    of their value (``_ps``, ``_ns``, ``_us``, ``_mhz``) where it has one; ``bytes`` are bytes, other numbers are
    counts."""

    name: str  #: what was measured
    values: Mapping[str, Any]  #: by key: int, float where it has a point or an exponent, else text

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def result_lines(text: str, name: str | None = None) -> list[ResultLine]:
    """The results in a guest's output, in order; those of one name if it is given. Firmware prints them by
    `firmware/lib/result.h`. Lines of any other form are no results, and are left out."""
    matches = (_LINE.fullmatch(line.rstrip()) for line in text.splitlines())
    return [
        ResultLine(
            match[1], {key: _value(value) for key, _, value in (word.partition("=") for word in match[2].split())}
        )
        for match in matches
        if match and name in (None, match[1])
    ]


def _value(text: str) -> int | float | str:
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else float(text)
