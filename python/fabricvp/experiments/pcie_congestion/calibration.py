# SPDX-License-Identifier: Apache-2.0
"""B and τ, measured on the simulated tree by two micro-experiments; and how long a message must be."""

from __future__ import annotations

from dataclasses import dataclass

from ... import congestion
from ..nodes import NodeRef
from .simulated import Point, SetResult

#: Direct, with a destination that a crossing message wants too; and one that crosses the root complex.
DIRECT, CROSSING = (0, 2), (4, 2)
LONG = 2 << 20  # bytes; the slope between this and half of it is free of latency


@dataclass(frozen=True)
class Calibration:
    """What the micro-experiments give. Rates are bytes a second."""

    direct: float  #: a message alone that stays below a switch
    crossing: float  #: a message alone that crosses the root complex
    bandwidth: float  #: B: the mean over all pairs of endpoints
    tau: float  #: 1/2 − the crossing one's share against a direct one
    latency: dict[bool, float]  #: crosses → seconds until the first byte of a message counts


def point(place: NodeRef, overrides: dict[str, object] | None = None) -> Point:
    """The two micro-experiments: messages alone, and two against each other."""
    alone = [[(*pair, size)] for pair in (DIRECT, CROSSING) for size in (LONG // 2, LONG)]
    against = [[(*DIRECT, size), (*CROSSING, size)] for size in (LONG // 2, LONG)]
    return Point(place, alone + against, overrides or {})


def calibration(shape: congestion.Tree, ended: list[SetResult]) -> Calibration:
    """Reads B and τ off."""

    def slope(short: SetResult, long: SetResult, message: int) -> float:
        return (LONG - LONG // 2) / (long.finish[message] - short.finish[message])

    direct, crossing = slope(ended[0], ended[1], 0), slope(ended[2], ended[3], 0)
    # While both run, the direct one wins; when it is done, the crossing one goes on alone.
    winner = slope(ended[4], ended[5], 0)
    both = (LONG - LONG // 2) / winner
    total = ended[5].finish[1] - ended[4].finish[1]
    loser = (LONG - LONG // 2 - crossing * (total - both)) / both
    pairs = [(s, d) for s in range(shape.endpoints()) for d in range(shape.endpoints()) if s != d]
    mean = sum(crossing if shape.route(s, d)[1] else direct for s, d in pairs) / len(pairs)
    latency = {False: ended[1].finish[0] - LONG / direct, True: ended[3].finish[0] - LONG / crossing}
    return Calibration(direct, crossing, mean, 0.5 - loser / (winner + loser), latency)


#: Graphs on which the length of a message is tried: every mechanism once or more.
PROBES = [
    [(0, 2)],
    [(0, 4)],
    [(0, 2), (1, 4), (3, 2), (6, 4)],  # the paper's worked example
    [(0, 7), (1, 4), (6, 7)],  # its conflict slide
    [(0, 4), (1, 3), (2, 6)],  # an uplink that is fed unequally
    [(0, 1), (0, 3), (0, 5)],
    [(1, 0), (3, 0), (5, 0), (7, 0)],
    [(0, 2), (0, 4), (2, 0), (2, 4), (4, 0), (4, 2)],
]


@dataclass(frozen=True)
class Lengths:
    """Congestion factors of the probes by message size."""

    sizes: list[int]
    factors: list[list[float]]  #: [size][communication of all probes], latency included

    def moves(self, index: int) -> list[float]:
        """By how much doubling a size moves each factor, relative."""
        return [abs(b / a - 1) for a, b in zip(self.factors[index], self.factors[index + 1])]

    def enough(self, most: float = 0.01) -> int:
        """The smallest size whose doubling, and that of all longer ones, moves no factor by ``most``."""
        good = len(self.sizes) - 1
        while good > 0 and max(self.moves(good - 1)) < most:
            good -= 1
        return self.sizes[good]

    def fluid_from(self, most: float = 0.05) -> int:
        """The smallest size from which every factor is within ``most`` of that of the longest messages."""
        good = len(self.sizes) - 1
        while good > 0 and max(abs(a / b - 1) for a, b in zip(self.factors[good - 1], self.factors[-1])) < most:
            good -= 1
        return self.sizes[good]


def length_points(place: NodeRef, sizes: list[int]) -> list[Point]:
    """One point a size."""
    return [Point(place, [[(s, d, size) for s, d in probe] for probe in PROBES]) for size in sizes]


def lengths(sizes: list[int], results: list[list[SetResult]], bandwidth: float) -> Lengths:
    """Factors: a message's bytes over what ``bandwidth`` carries until its end."""
    return Lengths(
        sizes,
        [[size / (bandwidth * t) for ended in result for t in ended.finish] for size, result in zip(sizes, results)],
    )
