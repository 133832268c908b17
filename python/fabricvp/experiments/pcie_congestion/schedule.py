# SPDX-License-Identifier: Apache-2.0
"""The COSMO halo exchange in its best, natural and worst order, on the tree."""

from __future__ import annotations

from collections.abc import Sequence

from ... import congestion
from ..nodes import NodeRef
from .calibration import Calibration
from .simulated import Point, SetResult

#: Sizes of COSMO's halo messages, as published: 40 … 254 KB.
SIZES = (40_000, 96_000, 160_000, 254_000)
NAMES = ("best", "natural", "worst")


def orders(shape: congestion.Tree, measured: Calibration, pattern: str) -> dict[str, list[list[int]]]:
    """What the search finds with the measured B and τ, in the published form."""
    found = congestion.search(shape, pattern, measured.tau, measured.bandwidth, SIZES[-1])
    return {"best": found.best_order, "natural": congestion.natural_order(pattern), "worst": found.worst_order}


def stepped(place: NodeRef, order: Sequence[Sequence[int]]) -> Point:
    """All sizes, step by step: a step starts when the one before has ended."""
    return Point(place, [[(s, d, size) for s, d in step] for size in SIZES for step in congestion.steps_of(order)])


def free(place: NodeRef, order: Sequence[Sequence[int]]) -> Point:
    """All sizes; senders do not synchronise: a sender's next message follows its last."""
    return Point(
        place,
        [[(s, d, size) for s, destinations in enumerate(order) for d in destinations] for size in SIZES],
        one_channel=True,
    )


def stepped_times(order: Sequence[Sequence[int]], ended: list[SetResult]) -> list[float]:
    """Seconds of the whole exchange, one a size."""
    steps = len(congestion.steps_of(order))
    return [sum(max(e.finish) for e in ended[k * steps : (k + 1) * steps]) for k in range(len(SIZES))]


def free_times(ended: list[SetResult]) -> list[float]:
    """Seconds of the whole exchange, one a size."""
    return [max(e.finish) for e in ended]
