# SPDX-License-Identifier: Apache-2.0
"""From measured all-reduces to those of tensors, and to training."""

from __future__ import annotations

import bisect
from collections.abc import Sequence


def time_of(curve: Sequence[tuple[int, float]], size: int) -> float:
    """Seconds of an all-reduce of ``size`` bytes: between measured sizes on the line between them, above the largest by
    its bandwidth, below the smallest as long as that. ``curve`` has (bytes, seconds), rising in bytes."""
    sizes = [s for s, _ in curve]
    if size <= sizes[0]:
        return curve[0][1]
    if size >= sizes[-1]:
        (below, earlier), (above, later) = curve[-2:]
        return later + (size - above) * (later - earlier) / (above - below)
    at = bisect.bisect_left(sizes, size)
    (below, earlier), (above, later) = curve[at - 1], curve[at]
    return earlier + (size - below) * (later - earlier) / (above - below)


def minibatch(curve: Sequence[tuple[int, float]], tensors: Sequence[int]) -> float:
    """Seconds of the all-reduces of all tensors, one after the other; ``tensors`` in floats."""
    return sum(time_of(curve, 4 * n) for n in tensors)


def speedup(blocked: float, ratio: float) -> float:
    """Of a training that waits for the network for a share ``blocked`` of its time, with a network ``ratio`` times as
    fast."""
    return 1 / (1 - blocked + blocked / ratio)
