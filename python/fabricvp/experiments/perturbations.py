# SPDX-License-Identifier: Apache-2.0
"""How much a figure depends on phase alone: the same run on machines whose clocks differ by per mille.

A simulation is deterministic, so a figure is one sample: where polls, doorbells and packets happen to meet decides some
of it. Clocks of harts, GPUs and memories that are a little faster or slower, beside links and adapters that keep their
pace, shift all of that and change nothing else. Their own share of a spread is at most the largest step."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    import pandas

    from .frame import Run

#: Steps of the clocks, per mille; the first one is the machine as it is.
PERTURBATIONS = (0, -2, -1, 1, 2)
CAPTION = "Runs on machines whose clocks differ by up to 2 per mille; links and adapters keep theirs."
_HERTZ = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
_CLOCK = re.compile(r"(?<=\bclock: )([\d.]+ [kMG]?Hz)\b")


def steps(quick: bool) -> tuple[int, ...]:
    """Those of a run."""
    return PERTURBATIONS[:3] if quick else PERTURBATIONS


def perturbed_clock(clock: str, step: int) -> str:
    """A frequency with its unit ("745 MHz"), ``step`` per mille faster. Raises `InputError` for any other text."""
    number, _, unit = clock.partition(" ")
    try:
        return f"{round(float(number) * _HERTZ[unit] * (1000 + step) / 1000)} Hz" if step else clock
    except (KeyError, ValueError):
        raise InputError(f"{clock}: no frequency such as 745 MHz") from None


def perturbed_clocks(clocks: Mapping[str, str], step: int) -> dict[str, str]:
    """Overrides that make ``clocks`` (dotted path, frequency) ``step`` per mille faster; none without a step."""
    return {path: perturbed_clock(clock, step) for path, clock in clocks.items()} if step else {}


def name_with(name: str, step: int) -> str:
    """What a machine is called."""
    return f"{name}, clocks {step:+} per mille" if step else name


def perturbed_text(text: str, step: int) -> str:
    """A machine's YAML text, with every clock that it names ``step`` per mille faster. Raises `InputError` if it names
    none: a file on top of another one, say."""
    changed, count = _CLOCK.subn(lambda found: perturbed_clock(found[0], step), text)
    if step and not count:
        raise InputError("the machine names no clock that could be perturbed")
    return changed


def perturbed(
    run: Run,
    points: Mapping[Any, Any],
    nominal: Mapping[Any, Any],
    measure: Callable[[Any], Any],
    cost: Callable[[Any], float] = lambda point: 1.0,
) -> dict[Any, list[Any]]:
    """What ``measure`` gives for each of ``points`` (dataclasses with a field ``step``) at each step of ``run``, by
    their keys; ``nominal`` has what it gave without one."""
    others = steps(run.quick)[1:]
    wanted = [(what, step) for what in points for step in others]
    values = run.map(
        "perturbed clocks",
        measure,
        [replace(points[what], step=step) for what, step in wanted],
        cost,
        lambda p: name_with(str(p), p.step),
    )
    found = {what: [nominal[what]] for what in points}
    for (what, _), value in zip(wanted, values):
        found[what].append(value)
    return found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Number, mean, smallest and largest of ``values``."""
    return {"runs": len(values), "mean": sum(values) / len(values), "min": min(values), "max": max(values)}


def spread_grid(found: Mapping[tuple[str, str], Sequence[float]]) -> pandas.DataFrame:
    """A line for each figure of a table, by its ``row`` and ``column``: ``runs``, ``mean``, ``min``, ``max``."""
    import pandas

    return pandas.DataFrame([{"row": r, "column": c, **spread(values)} for (r, c), values in found.items()]).round(6)


def spread_table(found: Mapping[str, Sequence[float]]) -> pandas.DataFrame:
    """A line for each figure: ``what`` (its name with its unit), ``runs``, ``mean``, ``min``, ``max``."""
    import pandas

    return pandas.DataFrame([{"what": what, **spread(values)} for what, values in found.items()]).round(6)
