# SPDX-License-Identifier: Apache-2.0
"""Progress with an estimate of the time left: a bar on a terminal; elsewhere a line for each part that ends, and one
every half minute while none does. On standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

#: Seconds between lines while no part ends, and between lines where parts are so many that each would be too much.
HEARTBEAT, PAUSE, MANY = 30.0, 5.0, 200


class Stage:
    """A stage of work in progress: call it with the number of each part that is done."""

    def __call__(self, index: int) -> None:
        pass

    def alive(self, running: Sequence[int]) -> None:
        """To be called about once a second with the numbers of the parts that run."""


class Progress:
    """Shows stages of work. ``shown`` False says nothing at all."""

    def __init__(self, shown: bool = True) -> None:
        self._shown = shown

    def found(self, label: str, number: int, every: int) -> None:
        """So many points of a stage need not be run."""
        if self._shown and number:
            print(f"{label}: {number} of {every} are in the result cache", file=sys.stderr, flush=True)

    @contextmanager
    def stage(self, label: str, costs: Sequence[float], names: Sequence[str] = ()) -> Iterator[Stage]:
        """A stage of as many parts as ``costs``, which weigh them for the estimate of the time left."""
        if not self._shown:
            yield Stage()
        elif sys.stderr.isatty():
            with _bar(label, costs) as bar:
                yield bar
        else:
            yield LineProgress(label, costs, names)


class LineProgress(Stage):
    """Lines of text. ``now`` is a clock in seconds."""

    def __init__(
        self, label: str, costs: Sequence[float], names: Sequence[str] = (), now: Callable[[], float] = time.monotonic
    ) -> None:
        self._label, self._costs, self._names, self._now = label, costs, names, now
        self._begin = self._last_line = now()
        self._since: dict[int, float] = {}
        self._finished, self._cost = 0, 0.0

    def __call__(self, index: int) -> None:
        now = self._now()
        self._finished += 1
        self._cost += self._costs[index]
        took = now - self._since.pop(index, self._begin)
        last = self._finished == len(self._costs)
        if len(self._costs) <= MANY or last or now - self._last_line >= PAUSE:
            self._print_line(now, f"{self._name(index)} took {took:.1f} s" if self._names else "")

    def alive(self, running: Sequence[int]) -> None:
        now = self._now()
        for index in running:
            self._since.setdefault(index, now)
        if running and now - self._last_line >= HEARTBEAT:
            self._print_line(
                now, "still " + ", ".join(f"{self._name(i)} for {now - self._since[i]:.0f} s" for i in running)
            )

    def _name(self, index: int) -> str:
        return self._names[index] if index < len(self._names) else f"part {index + 1}"

    def _print_line(self, now: float, what: str) -> None:
        self._last_line = now
        elapsed, left = now - self._begin, sum(self._costs) - self._cost
        text = f"{self._label} {self._finished}/{len(self._costs)}: {what + '; ' if what else ''}{elapsed:.0f} s"
        if self._cost > 0 and self._finished < len(self._costs):
            text += f", about {elapsed * left / self._cost:.0f} s left"
        print(text, file=sys.stderr, flush=True)


class _Bar(Stage):
    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance

    def __call__(self, index: int) -> None:
        self._advance(index)


@contextmanager
def _bar(label: str, costs: Sequence[float]) -> Iterator[Stage]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[parts]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    finished = 0
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(label, total=sum(costs) or 1, parts=f"0/{len(costs)}")

        def done(index: int) -> None:
            nonlocal finished
            finished += 1
            bars.update(task, advance=costs[index], parts=f"{finished}/{len(costs)}")

        yield _Bar(done)
