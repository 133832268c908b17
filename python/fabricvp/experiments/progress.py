# SPDX-License-Identifier: Apache-2.0
"""Progress with an estimate of the time left: a bar on a terminal, a line a stage elsewhere. On standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


class Progress:
    """Shows stages of work. ``shown`` False says nothing at all."""

    def __init__(self, shown: bool = True) -> None:
        self._shown = shown

    @contextmanager
    def stage(self, label: str, costs: Sequence[float]) -> Iterator[Callable[[int], None]]:
        """A stage of as many parts as ``costs``; the function that it gives is called with the number of each part done."""
        if not self._shown:
            yield lambda index: None
        elif sys.stderr.isatty():
            yield from self._bar(label, costs)
        else:
            begin = time.monotonic()
            yield lambda index: None
            print(f"{label}: {len(costs)} parts in {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)

    @staticmethod
    def _bar(label: str, costs: Sequence[float]) -> Iterator[Callable[[int], None]]:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[parts]}"), TimeElapsedColumn(),
                   TextColumn("left"), TimeRemainingColumn())
        finished = 0
        with Bars(*columns, console=Console(stderr=True)) as bars:
            task = bars.add_task(label, total=sum(costs) or 1, parts=f"0/{len(costs)}")

            def done(index: int) -> None:
                nonlocal finished
                finished += 1
                bars.update(task, advance=costs[index], parts=f"{finished}/{len(costs)}")

            yield done
