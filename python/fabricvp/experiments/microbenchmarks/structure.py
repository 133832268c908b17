# SPDX-License-Identifier: Apache-2.0
"""What shows how caches and TLBs are built: ways, entries, and how addresses spread over banks and channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from .bench import LANES, LINE, Bench, ring
from .limits import Limits

PAGE = 4096  #: bytes of the pages that buffers below 2 MiB have
LARGE_PAGE = 2 << 20
#: Caches whose sets would need more memory than this are left out: each word of it travels to the GPU.
MAX_BYTES = 16 << 20


def associativity(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """A chase over lines of one set: up to the cache's ways all hit, with twice as many none does, since the line that
    comes next is always the one that was used longest ago. Loads for the L2 bypass the L1."""
    caches = {"L1": ("chase", limits.l1_size, limits.l1_ways), "L2": ("chase_scoped", limits.l2_size, limits.l2_ways)}
    for level, (kernel, size, ways) in caches.items():
        stride = size // ways
        if 2 * size > MAX_BYTES or stride % LINE:
            continue
        for lines in sorted({max(1, ways // 2), ways, ways + 1, 2 * ways}):
            # A buffer of whole large pages, in which lines that are so far apart belong to one set.
            words = numpy.zeros(-(-lines * stride // LARGE_PAGE) * LARGE_PAGE // 8, numpy.uint64)
            chase = ring(lines * stride, stride)
            words[: chase.size] = chase
            rounds = 4 * lines
            done = b.run(kernel, 1, 1, words, lanes=1, warm=2 * lines, rounds=rounds)
            yield {"level": level, "ways": ways, "lines": lines, "cycles": done.cycles / rounds}


def tlb_reach(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """A chase over a line of each of more and more pages of 4 KiB by loads that bypass the L1, warm: as long as the TLB
    of the compute unit holds all of them, a load takes as long as with one."""
    stride, entries = PAGE + LINE, limits.tlb_entries
    most = (LARGE_PAGE - 1) // stride
    for pages in sorted({1, entries // 2, entries - 8, min(2 * entries, most), min(4 * entries, most)}):
        if not 0 < pages <= most:
            continue
        rounds = max(32, 2 * pages)
        done = b.run("chase_scoped", 1, 1, ring(pages * stride, stride), lanes=1, warm=2 * pages, rounds=rounds)
        yield {"pages": pages, "entries": entries, "cycles": done.cycles / rounds}


def hashing(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Lines a cycle by the distance between neighbours: banks of the L2 (few lines, read again and again by loads that
    bypass the L1), and channels of the GPU's own memory (each line read once, none of them in the L2)."""
    groups, waves = limits.compute_units, 1 if quick else 4
    for stride in (64, 256, 2048) if quick else (64, 128, 256, 512, 1024, 2048, 4096):
        lines, rounds = 256, 2
        done = b.run("lines", groups * waves, waves, lines * stride, stride=stride, warm=1, rounds=rounds)
        loads = groups * waves * LANES * 8 * rounds
        yield {"level": "L2", "stride": stride, "lines_per_cycle": loads / done.cycles}
    if limits.shared or limits.l2_size > MAX_BYTES // 2:
        return
    for stride in (64, 512, 4096):
        loads = 2048
        done = b.run("lines", loads // LANES // 8, 1, loads * stride, stride=stride, evict=limits.l2_size * 9 // 8)
        yield {"level": "memory", "stride": stride, "lines_per_cycle": loads / done.cycles}
