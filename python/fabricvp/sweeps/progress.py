# SPDX-License-Identifier: Apache-2.0
"""Progress with an estimate of the time left: a bar on a terminal; elsewhere a line for each part that ends, and one
every half minute while none does. On standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

#: Seconds between lines while no part ends, and between lines where parts are so many that each would be too much.
HEARTBEAT, PAUSE, MANY = 30.0, 5.0, 200


class Stage:
    """A stage of work in progress: call it with the number of each part that is done, and with the seconds that it took
    if they are known."""

    def __call__(self, index: int, took_s: float | None = None) -> None:
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
            with _bar(label, costs, unit_s) as bar:
                yield bar
        else:
            yield LineProgress(label, costs, names, unit_s=unit_s)


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 600:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class _Estimate:
    """How much time is left: by the parts that have finished; more, if those that run take longer than these let one
    expect. ``unit_s`` is a first guess of the seconds that a unit of cost takes."""

    def __init__(self, costs: Sequence[float], begin: float, unit_s: float) -> None:
        self._costs, self._begin, self._unit_s = costs, begin, unit_s
        self._done, self._parallel = 0.0, 1
        self.since: dict[int, float] = {}  #: when the parts began that run
        self._polled, self._last = False, begin  #: whether alive() is called, and when last; else, when a part ended

    def alive(self, running: Sequence[int], now: float) -> None:
        """These run."""
        self._polled, self._last = True, now
        self._parallel = max(self._parallel, len(running))
        for index in running:
            self.since.setdefault(index, now)

    def finished(self, index: int, now: float, took_s: float | None) -> float:
        """One has ended; gives the seconds that it took. If ``took_s`` does not say, those since a poll saw it first,
        or else since the last poll."""
        self._done += self._costs[index]
        self._unit_s = (now - self._begin) / self._done if self._done else 0.0
        took = now - self.since.pop(index, self._last)
        if took_s is not None:
            took = took_s
        if not self._polled:
            self._last = now
        return took

    def left(self, now: float) -> str:
        """For people; nothing where there is no way to tell."""
        ran = [(self._costs[i], now - since) for i, since in self.since.items()]
        begun = self._done + sum(cost for cost, _ in ran)
        remaining = sum(self._costs) - self._done
        if not self._unit_s or remaining <= 0:
            return ""
        unit_s = max(self._unit_s, (now - self._begin) / begun if begun else 0.0)
        left_s = unit_s * remaining
        left_s -= sum(min(for_s / self._parallel, unit_s * cost) for cost, for_s in ran)
        return f"about {duration(max(0.0, left_s))} left"


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
        self._label, self._number, self._names, self._now = label, len(costs), names, now
        self._begin = self._last_line = now()
        self._estimate = _Estimate(costs, self._begin, unit_s)
        self._finished = 0

    def __call__(self, index: int, took_s: float | None = None) -> None:
        now = self._now()
        self._finished += 1
        took = self._estimate.finished(index, now, took_s)
        last = self._finished == self._number
        if self._number <= MANY or last or now - self._last_line >= PAUSE:
            self._print_line(now, f"{self._name(index)} took {took:.1f} s" if self._names else "")

    def alive(self, running: Sequence[int], detail: str = "") -> None:
        now = self._now()
        self._estimate.alive(running, now)
        if running and now - self._last_line >= HEARTBEAT:
            since = self._estimate.since
            parts = ", ".join(f"{self._name(i)} for {now - since[i]:.0f} s" for i in running)
            self._print_line(now, f"still {parts}" + (f" ({detail})" if detail else ""))

    def _name(self, index: int) -> str:
        return self._names[index] if index < len(self._names) else f"part {index + 1}"

    def _print_line(self, now: float, what: str) -> None:
        self._last_line = now
        text = f"{self._label} {self._finished}/{self._number}: {what + '; ' if what else ''}"
        left = self._estimate.left(now) if self._finished < self._number else ""
        print(text + ", ".join(filter(None, (duration(now - self._begin), left))), file=sys.stderr, flush=True)


class _Bar(Stage):
    """``update`` changes fields of a bar."""

    def __init__(self, label: str, costs: Sequence[float], unit_s: float, update: Callable[..., None]) -> None:
        self._label, self._costs, self._update = label, costs, update
        self._estimate = _Estimate(costs, time.monotonic(), unit_s)
        self._finished = 0

    def __call__(self, index: int, took_s: float | None = None) -> None:
        now = time.monotonic()
        self._estimate.finished(index, now, took_s)
        self._finished += 1
        parts = f"{self._finished}/{len(self._costs)}"
        self._update(advance=self._costs[index], parts=parts, left=self._estimate.left(now))

    def alive(self, running: Sequence[int], detail: str = "") -> None:
        now = time.monotonic()
        self._estimate.alive(running, now)
        description = f"{self._label}: {detail}" if detail else self._label
        self._update(description=description, left=self._estimate.left(now))


@contextmanager
def _bar(label: str, costs: Sequence[float], unit_s: float) -> Iterator[Stage]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[parts]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(label, total=sum(costs) or 1, parts=f"0/{len(costs)}", left="")
        yield _Bar(label, costs, unit_s, partial(bars.update, task))
