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

    def alive(self, running: Sequence[int], detail: str = "") -> None:
        """To be called about once a second with the numbers of the parts that run, and with how far they are."""


class Progress:
    """Shows stages of work. ``shown`` False says nothing at all."""

    def __init__(self, shown: bool = True) -> None:
        self._shown = shown

    def found(self, label: str, number: int, every: int) -> None:
        """So many points of a stage need not be run."""
        if self._shown and number:
            print(f"{label}: {number} of {every} are in the result cache", file=sys.stderr, flush=True)

    @contextmanager
    def stage(
        self, label: str, costs: Sequence[float], names: Sequence[str] = (), unit_s: float = 0.0
    ) -> Iterator[Stage]:
        """A stage of as many parts as ``costs``, which weigh them for the estimate of the time left. ``unit_s`` is a
        first guess of the seconds that the stage takes for each unit of cost."""
        if not self._shown:
            yield Stage()
        elif sys.stderr.isatty():
            with _bar(label, costs) as bar:
                yield bar
        else:
            yield LineProgress(label, costs, names, unit_s=unit_s)


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 600:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class LineProgress(Stage):
    """Lines of text. ``now`` is a clock in seconds."""

    def __init__(
        self,
        label: str,
        costs: Sequence[float],
        names: Sequence[str] = (),
        now: Callable[[], float] = time.monotonic,
        unit_s: float = 0.0,
    ) -> None:
        self._label, self._costs, self._names, self._now = label, costs, names, now
        self._begin = self._last_line = now()
        self._since: dict[int, float] = {}
        self._finished, self._cost, self._parallel = 0, 0.0, 1
        self._unit_s = unit_s

    def __call__(self, index: int) -> None:
        now = self._now()
        self._finished += 1
        self._cost += self._costs[index]
        self._unit_s = (now - self._begin) / self._cost if self._cost else 0.0
        took = now - self._since.pop(index, self._begin)
        last = self._finished == len(self._costs)
        if len(self._costs) <= MANY or last or now - self._last_line >= PAUSE:
            self._print_line(now, f"{self._name(index)} took {took:.1f} s" if self._names else "")

    def alive(self, running: Sequence[int], detail: str = "") -> None:
        now = self._now()
        self._parallel = max(self._parallel, len(running))
        for index in running:
            self._since.setdefault(index, now)
        if running and now - self._last_line >= HEARTBEAT:
            self._print_line(
                now,
                "still "
                + ", ".join(f"{self._name(i)} for {now - self._since[i]:.0f} s" for i in running)
                + (f" ({detail})" if detail else ""),
            )

    def _name(self, index: int) -> str:
        return self._names[index] if index < len(self._names) else f"part {index + 1}"

    def _print_line(self, now: float, what: str) -> None:
        self._last_line = now
        elapsed = duration(now - self._begin)
        text = f"{self._label} {self._finished}/{len(self._costs)}: {what + '; ' if what else ''}{elapsed}"
        if self._unit_s > 0 and self._finished < len(self._costs):
            text += f", about {duration(self._left_s(now))} left"
        print(text, file=sys.stderr, flush=True)

    def _left_s(self, now: float) -> float:
        """By the parts that have finished; more, if those that run take longer than these let one expect."""
        ran = [(self._costs[i], now - since) for i, since in self._since.items()]
        begun = self._cost + sum(cost for cost, _ in ran)
        unit_s = max(self._unit_s, (now - self._begin) / begun if begun else 0.0)
        left_s = unit_s * (sum(self._costs) - self._cost)
        return max(0.0, left_s - sum(min(for_s / self._parallel, unit_s * cost) for cost, for_s in ran))


class _Bar(Stage):
    def __init__(self, advance: Callable[[int], None], describe: Callable[[str], None]) -> None:
        self._advance, self._describe = advance, describe

    def __call__(self, index: int) -> None:
        self._advance(index)

    def alive(self, running: Sequence[int], detail: str = "") -> None:
        if detail:
            self._describe(detail)


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

        yield _Bar(done, lambda detail: bars.update(task, description=f"{label}: {detail}"))
