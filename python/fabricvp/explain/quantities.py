# SPDX-License-Identifier: Apache-2.0
"""Values of parameters as text: read as numbers, and changed."""

from __future__ import annotations

import re

#: All units of models/base/quantity.cpp.
_SCALES = {
    "": 1.0,
    "cycles": 1.0,
    "cycle": 1.0,
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "Hz": 1.0,
    "kHz": 1e3,
    "MHz": 1e6,
    "GHz": 1e9,
    "bit/s": 1 / 8,
    "kbit/s": 1e3 / 8,
    "Mbit/s": 1e6 / 8,
    "Gbit/s": 1e9 / 8,
    "Tbit/s": 1e12 / 8,
}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_BYTES["TiB"] = 2.0**40
_SCALES |= _BYTES | {f"{unit}/s": scale for unit, scale in _BYTES.items()}
#: Values in order of speed, of which a change takes the next: rates of InfiniBand lanes.
_STEPS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR")
_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?) ?([A-Za-z/\u00b5]*)")


def quantity(text: str) -> float:
    """The number of a value with unit: Hz, seconds, bytes, bytes a second, cycles; 0 where it is none."""
    found = _NUMBER.fullmatch(text)
    if not found or found[2] not in _SCALES:
        return 0.0
    return float(found[1]) * _SCALES[found[2]]


def order(text: str) -> float:
    """By what values of one parameter compare."""
    return _STEPS.index(text) if text in _STEPS else quantity(text)


def changed(text: str, factor: float) -> str | None:
    """The value times ``factor`` in its own unit, or the next faster one of a list. Whole numbers stay whole. None if
    it cannot change that way (a zero, the fastest rate)."""
    if text in _STEPS:
        return _STEPS[_STEPS.index(text) + 1] if text != _STEPS[-1] else None
    found = _NUMBER.fullmatch(text)
    if not found or found[2] not in _SCALES:
        return None
    value = float(found[1]) * factor
    if found[1].isdecimal() and found[2] in ("", "cycles"):
        value = max(1.0, float(int(value)))
    number = f"{value:.10g}"
    return None if value == float(found[1]) else f"{number} {found[2]}".strip()
