# SPDX-License-Identifier: Apache-2.0
"""Measures one point in this process. Whatever this module imports belongs to a result's key (key.py)."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InputError
from ..platform import Platform
from ..results import Outcome, RunResult, region_columns
from ..units import PICOSECONDS
from .columns import ABOUT
from .task import PointOutcome, Record, Task

if TYPE_CHECKING:
    from ..results import NodeOutcome

#: Characters of a failed node's console that go to the log.
CONSOLE_TAIL = 4000
_T = TypeVar("_T")
_GOOD = (Outcome.POWER_OFF, Outcome.TIME_LIMIT, Outcome.EVENT, Outcome.INTERRUPTED)


@dataclasses.dataclass(frozen=True)
class Warm:
    """A machine that is ready to be measured."""

    platform: Platform
    given: Any  #: what the function is called with: the platform, or what the warm-up made of it


def measure(task: Task) -> Record:
    """Builds the task's machine, runs it or the function, and reads what is measured. What goes wrong is told in the
    record."""
    if task.config is not None or task.text is not None:
        made = warm_up(task)
        return made if isinstance(made, Record) else measure_on(made, task)
    return _or_what_went_wrong(lambda: _given(task))


def _given(task: Task) -> Record:
    assert task.function is not None  # the sweep has checked
    value = task.function(**task.arguments)
    return Record(PointOutcome.OK, values={"value": value} if task.any_value else _as_values(value, task))


def warm_up(task: Task) -> Warm | Record:
    """Builds the task's machine and warms it up; a record if that goes wrong."""

    def make() -> Warm:
        platform = _build(task)
        made = task.warm_up(platform) if task.warm_up is not None else None
        return Warm(platform, platform if made is None else made)

    return _or_what_went_wrong(make)


def measure_on(warm: Warm, task: Task) -> Record:
    """Measures the task on its machine."""
    return _or_what_went_wrong(lambda: _measured(warm, task))


def _or_what_went_wrong(work: Callable[[], _T]) -> _T | Record:
    try:
        return work()
    except MemoryError:
        traceback.print_exc()
        return Record(PointOutcome.OUT_OF_MEMORY, "MemoryError")
    except InputError as error:
        return Record(PointOutcome.FAILED, str(error))
    except Exception as error:
        traceback.print_exc()
        return Record(PointOutcome.FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])


def _measured(warm: Warm, task: Task) -> Record:
    platform = warm.platform
    record = Record(PointOutcome.OK)
    if task.function is not None:
        record.values = _as_values(task.function(warm.given, **task.arguments), task)
    else:
        if task.time is None and task.warm_up is None and not platform._core.has_work():
            raise InputError("nothing to run: give app, program, function or time")
        _judge(record, platform.run(task.time), platform)
    record.statistics = dict(platform.statistics.snapshot())
    marked = ((n, label, (end - start) / PICOSECONDS, v) for n, label, start, end, v in platform._core.regions())
    for (node, label), values in region_columns(marked).items():
        record.regions[label if node == "node0" else f"{node}.{label}"] = values
    return record


def _build(task: Task) -> Platform:
    if task.text is not None:
        platform = Platform.from_text(task.text, overrides=task.overrides, plugins=task.plugins, **task.app)
    else:
        assert task.config is not None  # there is one of both
        platform = Platform.from_config(task.config, overrides=task.overrides, plugins=task.plugins, **task.app)
    if task.program or task.append:
        platform.load_images(firmware=task.program, append=task.append)
    return platform


def _judge(record: Record, result: RunResult, platform: Platform) -> None:
    """Whether a run measured anything: its guests have ended well, and applications computed the right thing."""
    record.ended = str(result.outcome)
    if result.outcome not in _GOOD:
        record.outcome, record.error = PointOutcome.FAILED, f"{result.outcome}: {result.detail}"
    elif platform.app_ok is False:
        record.outcome, record.error = PointOutcome.FAILED, "the application's result is wrong"
    if record.outcome != PointOutcome.OK:
        for node, outcome in zip(platform.nodes, result.nodes):
            _print_console(str(node.console.output), outcome)


def _print_console(text: str, outcome: NodeOutcome) -> None:
    if text:
        print(f"console ({outcome.detail or outcome.state}), its end:\n{text[-CONSOLE_TAIL:]}")


def _as_values(given: Any, task: Task) -> dict[str, Any]:
    """Columns of what a function gave. Raises `TypeError` for what is no value of a table, `ValueError` for a column
    that the table has already."""
    if given is None:
        return {}
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        given = dataclasses.asdict(given)
    if not isinstance(given, Mapping):
        given = {"value": given}
    values = {str(name): value.item() if hasattr(value, "item") else value for name, value in given.items()}
    for name, value in values.items():
        if name in task.arguments or name in ABOUT:
            raise ValueError(f"{name}: is a column of the table already: give the value another name")
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise TypeError(f"{name}: a {type(value).__name__} is no value of a table: give numbers, texts or truths")
    return values
