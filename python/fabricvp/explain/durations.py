# SPDX-License-Identifier: Apache-2.0
"""Simulated time as text."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds with a fitting unit."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e12:.3g} ps"
