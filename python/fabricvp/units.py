# SPDX-License-Identifier: Apache-2.0
"""Simulated time in the three forms that people use: text with a unit, seconds, and whole picoseconds."""

from __future__ import annotations

import math
from numbers import Real

from . import _fabricvp

#: A time: text with a unit ("10 ms", "3.5us") or a number of seconds.
Time = str | float | int

PICOSECONDS = 1_000_000_000_000
NEVER = _fabricvp.NEVER


def to_picoseconds(time: Time) -> int:
    """A time as whole picoseconds, the resolution of the simulation.

    Raises `InputError` for text without a known unit and for negative, infinite or not representable times (the
    simulation's clock lasts for 213 days), `TypeError` for anything that is neither text nor a number.
    """
    if isinstance(time, str):
        return _fabricvp.parse_time(time)
    if isinstance(time, bool) or not isinstance(time, Real):
        raise TypeError(f"a time is text such as '10 ms' or a number of seconds, not {type(time).__name__}")
    value = float(time)
    if not math.isfinite(value) or value < 0 or value * PICOSECONDS >= NEVER:
        raise _fabricvp.InputError(f"time {time!r} s is out of range: 0 … 213 days")
    return round(value * PICOSECONDS)


def seconds(time: Time) -> float:
    """A time in seconds. Raises as `to_picoseconds`."""
    return to_picoseconds(time) / PICOSECONDS
