# SPDX-License-Identifier: Apache-2.0
"""Which resources were critical in a region."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .block import Block
from .durations import duration
from .latency import latency_lines
from .machine import Change
from .resources import RESOURCES, Resource
from .run import Run, Window, read_run

#: Below this share, a resource is left out.
_MIN_SHARE = 0.01
#: From this share on, a queue before a resource is long: work waits for it. Below it, for latency.
BUSY = 0.5


@dataclass(frozen=True)
class Finding:
    """A critical resource: the busiest block of its kind.

    ``share`` is the part of the time in which its units worked or were held. ``critical_share`` is what is left of it
    without the time in which slots waited for busy resources behind them; findings are ranked by it.
    """

    resource: str
    block: str
    share: float
    critical_share: float
    queue: str  #: the queue that grew before it, in words; empty if none did
    changes: tuple[Change, ...]  #: what should show an effect, together
    alike: int = 1  #: blocks of its kind


@dataclass(frozen=True)
class Explanation:
    """Where the time of a region went."""

    title: str
    seconds: float
    run_seconds: float
    findings: tuple[Finding, ...]  #: most critical first
    latencies: tuple[str, ...]  #: what was waited for

    @property
    def busy(self) -> bool:
        """Whether a resource bounded the region; otherwise it waited for latency."""
        return bool(self.findings) and self.findings[0].critical_share >= BUSY


def explain(folder: str | os.PathLike[str], region: str | None = None) -> Explanation:
    """Explains a region of a finished run: by name ("kernels", "node1.kernels"), "run" for the whole run, or the
    longest one. Raises `InputError` if the folder holds no results, or no such region."""
    run = read_run(folder)
    window = run.window(region)
    return Explanation(
        window.title,
        window.seconds,
        run.windows[-1].seconds,
        tuple(_ranked(run, window)),
        tuple(latency_lines(window, run.windows[-1])),
    )


def _ranked(run: Run, window: Window) -> list[Finding]:
    measured = list(_measured(run, window))

    def behind(slots: Resource) -> float:
        """The greatest share of what these slots wait for."""
        shares = [s for r, _, s, _ in measured if r.level < slots.level and slots.waits_as in r.serves]
        return max(shares, default=0.0)

    found = []
    for resource, block, share, alike in measured:
        critical = share * (1 - behind(resource)) if resource.level else share
        changes = tuple(resource.changes(block))
        found.append(Finding(resource.title, block.path, share, critical, _queue(resource, block), changes, alike))
    return sorted(found, key=lambda each: (-each.critical_share, -each.share, each.block))


def _measured(run: Run, window: Window) -> Iterator[tuple[Resource, Block, float, int]]:
    """The busiest block of each kind of each resource, and how many there are."""
    for resource in RESOURCES:
        pattern = re.compile(resource.pattern)
        best: dict[str, tuple[float, Block, int]] = {}
        for path, value in window.statistics.items():
            match = pattern.fullmatch(path)
            if not match or not value:
                continue
            block = Block(match[1], window, run.machine)
            units = resource.units(block)
            if not units or not block.time:
                continue
            share = min(1.0, resource.busy(block) / (units * block.time))
            kind = re.sub(r"\d+", "", block.path)
            greatest, where, count = best.get(kind, (-1.0, block, 0))
            best[kind] = (share, block, count + 1) if share > greatest else (greatest, where, count + 1)
        for share, block, count in best.values():
            if share >= _MIN_SHARE:
                yield resource, block, share, count


def _queue(resource: Resource, block: Block) -> str:
    for name, text in resource.queues:
        if value := block.count(name):
            return text.format(f"{value:.3g}" if value < 1000 else f"{value:.0f}", ps=duration(value / 1e12))
    return ""
