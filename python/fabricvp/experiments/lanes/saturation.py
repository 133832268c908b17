# SPDX-License-Identifier: Apache-2.0
"""How often a rule for lanes finds exactly one direction of a link saturated, and what that can gain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .points import SAMPLE
from .synthetic import LANE, LANES

if TYPE_CHECKING:
    from ..gpu_workloads.measure import Measured

SATURATED = 0.99  #: part of what the lanes of a direction carry
MOST = (2 * LANES - 1) / LANES  #: of a direction's rate: all lanes but the other's last


@dataclass(frozen=True)
class Samples:
    """Samples of one link in which something moved, and in how many of them one direction alone, and both, were
    saturated."""

    link: str
    kernel: int  #: number of the launch on the link's GPU
    moved: int
    one: int
    both: int


def gain_bound(share: float) -> float:
    """The largest speed-up where one direction alone is saturated in this share (0 to 1) of the time: that part takes
    8/15 of its time with 15 of 16 lanes, and the rest as long as before."""
    return 1 / (1 - share * (1 - 1 / MOST))


def samples_of(fixed: Measured) -> list[Samples]:
    """By link and kernel, of the longest region of a run on fixed lanes. As the rule does, samples begin with each
    launch on the link's GPU. They have 5 µs, or as many whole windows of the statistics as these hold. What the next
    launch cuts is none, and neither is a sample without traffic."""
    if not fixed.window_s:
        return []
    found = []
    windows = max(1, int(SAMPLE * 1e-6 / fixed.window_s + 1e-6))
    full = SATURATED * LANES * LANE * fixed.window_s * windows
    for gpu, starts in sorted(fixed.starts.items()):
        there = next(d for d in fixed.load if d.startswith(f"gpu{gpu} → "))
        back = next(d for d in fixed.load if d.endswith(f" → gpu{gpu}"))
        load = fixed.load[there], fixed.load[back]
        firsts = [round(start / fixed.window_s) for start in starts]
        for kernel, (first, end) in enumerate(zip(firsts, [*firsts[1:], max(map(len, load))])):
            sums = [
                tuple(sum(each[at : at + windows]) for each in load) for at in range(first, end - windows + 1, windows)
            ]
            moved = [(a, b) for a, b in sums if a or b]
            found.append(
                Samples(
                    f"gpu{gpu}",
                    kernel,
                    len(moved),
                    sum((a >= full) != (b >= full) for a, b in moved),
                    sum(a >= full and b >= full for a, b in moved),
                )
            )
    return found


def one_sided_share(samples: Iterable[Samples]) -> float:
    """Of the link that has most such samples: part of its samples in which one direction alone is saturated."""
    links: dict[str, list[Samples]] = {}
    for s in samples:
        links.setdefault(s.link, []).append(s)
    moved_and_one = [(sum(s.moved for s in each), sum(s.one for s in each)) for each in links.values()]
    moved, one = max(moved_and_one, key=lambda m: m[1], default=(0, 0))
    return one / moved if moved else 0.0


def kernel_lines(name: str, samples: Iterable[Samples]) -> list[dict[str, object]]:
    """Lines of a table: by kernel, samples of all links together, and the shares of them."""
    kernels: dict[int, list[Samples]] = {}
    for s in samples:
        kernels.setdefault(s.kernel, []).append(s)
    lines: list[dict[str, object]] = []
    for kernel, each in sorted(kernels.items()):
        moved = sum(s.moved for s in each)
        if moved:
            lines.append(
                {
                    "workload": name,
                    "kernel": kernel,
                    "samples": moved,
                    "one_saturated_%": 100 * sum(s.one for s in each) / moved,
                    "both_saturated_%": 100 * sum(s.both for s in each) / moved,
                    "one_saturated_%_of_the_busiest_link": 100 * one_sided_share(each),
                }
            )
    return lines
