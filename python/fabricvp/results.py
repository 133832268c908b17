# SPDX-License-Identifier: Apache-2.0
"""What run() gives back, and what runs leave behind."""

from __future__ import annotations

import enum
import json
import math
import os
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._fabricvp import InputError, current_path, has_earlier_names
from .units import PICOSECONDS

if TYPE_CHECKING:
    import pandas


class Outcome(enum.StrEnum):
    """Why a run ended. Members compare equal to their text: ``result.outcome == "power_off"``."""

    TIME_LIMIT = "time_limit"  #: the given time has passed
    POWER_OFF = "power_off"  #: the guest powered off cleanly
    GUEST_FAILURE = "guest_failure"  #: the guest reported failure
    REFUSED = "refused"  #: a guest refused what it was asked for; `detail` has its last line
    BREAKPOINT = "breakpoint"  #: a hart stopped at a breakpoint or watchpoint
    EVENT = "event"  #: an `until` condition became true
    INTERRUPTED = "interrupted"  #: request_stop()
    IDLE = "idle"  #: nothing is scheduled any more, time cannot advance
    WATCHDOG = "watchdog"  #: no progress; `detail` names the stuck component


class NodeState(enum.StrEnum):
    """How far a node has come. Members compare equal to their text."""

    RUNNING = "running"
    POWERED_OFF = "powered_off"  #: its guest powered off cleanly
    FAILED = "failed"  #: its guest reported failure


@dataclass(frozen=True)
class NodeOutcome:
    """How far a node has come: ``status`` is its guest's exit code where it gave one, ``detail`` one line for people,
    ``time`` the simulated time in seconds at which it ended (None while it runs)."""

    state: NodeState
    status: int = 0
    detail: str = ""
    time: float | None = None


@dataclass(frozen=True)
class Match:
    """Console text that a condition waited for."""

    text: str  #: what matched
    before: str  #: output since the previous match, up to this one
    groups: tuple[str | None, ...] = ()  #: groups of a regular expression


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    ``guest_status`` is the guest's exit code where it gave one (0 otherwise), ``detail`` one line for people, ``time``
    the simulated time in seconds at which the run ended, ``match`` the console text if a console condition ended it,
    ``nodes`` how far each node had come.
    """

    outcome: Outcome
    guest_status: int = 0
    detail: str = ""
    time: float = 0.0
    match: Match | None = None
    nodes: tuple[NodeOutcome, ...] = ()


def read_results(
    *folders: str | os.PathLike[str], regions: bool = False, interrupted: bool = False
) -> pandas.DataFrame:
    """Statistics of finished runs (`run --out`, `Platform.write_results()`): one column a folder, one row a path.

    With ``regions``, the columns are those of the regions of interest that firmware has marked: by folder, node
    ("node0") and label, numbered where a node marked a label several times ("kernels", "kernels#2"); `time_s` is how
    long each lasted. A region's statistics count from its beginning, those of other nodes in the meantime among them.

    Runs that were interrupted (Ctrl-C, Ctrl-], a limit of processor time) are left out with a warning. With
    ``interrupted``, they are there, and the columns have a second level `ended`: "guest", "time" (`--time`) or
    "interrupted" ("" where run.json does not say). With ``regions`` it is the last level.

    Results of earlier versions get the present names of statistics. Raises `InputError` if a folder holds no
    stats.json, or if its run has not ended.
    """
    import pandas

    columns: dict[object, pandas.Series] = {}
    for folder in folders:
        _check_complete(folder)
        name, ended = os.fspath(folder), str(_record(folder).get("ended", ""))
        values = _statistics(os.path.join(folder, "stats.json"), _read(folder, "stats.json"))
        if ended == "interrupted" and not interrupted:
            warnings.warn(f"{name}: left out, since the run was interrupted (interrupted=True shows it)", stacklevel=2)
            continue
        level = (ended,) if interrupted else ()
        if regions:
            columns |= {
                (name, *key, *level): pandas.Series(_renamed(folder, each), dtype=float)
                for key, each in _regions(folder).items()
            }
        else:
            columns[(name, *level) if interrupted else name] = pandas.Series(_renamed(folder, values), dtype=float)
    frame = pandas.DataFrame(columns).rename_axis("path")
    if not columns or not (regions or interrupted):
        return frame
    levels = ["run", *(["node", "region"] if regions else []), *(["ended"] if interrupted else [])]
    return frame.rename_axis(levels, axis="columns")


def _record(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """run.json; that of a run that has ended where there is none. Raises `InputError`."""
    file = os.path.join(folder, "run.json")
    record = _read(folder, "run.json") if os.path.exists(file) else {"complete": True}
    if not isinstance(record, dict) or not isinstance(record.get("version", ""), str):
        raise InputError(f"{file}: is not the record of a run")
    return record


def _statistics(file: str, values: Any) -> dict[str, float]:
    """Numbers by path; none (null) stands for what has no value. Raises `InputError` for anything else."""
    if not isinstance(values, dict):
        raise InputError(f"{file}: holds no statistics")
    if wrong := [path for path, value in values.items() if value is not None and not _is_number(value)]:
        raise InputError(f"{file}: {wrong[0]!r} is no number")
    return values


def _is_number(value: Any) -> bool:
    """Whether a value is one that a float can be."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max
    return isinstance(value, float)


def _renamed(folder: str | os.PathLike[str], values: dict[str, float]) -> dict[str, float]:
    """The same with present names."""
    version = _record(folder).get("version", "")
    if not version or not has_earlier_names(version):
        return values
    return {current_path(path): value for path, value in values.items()}


def _regions(folder: str | os.PathLike[str]) -> dict[tuple[str, str], dict[str, float]]:
    file = os.path.join(folder, "regions.json")
    if not os.path.exists(file):
        return {}
    regions = _read(folder, "regions.json")
    if not isinstance(regions, list) or not all(map(_is_region, regions)):
        raise InputError(f"{file}: holds no regions of interest")
    return region_columns(
        (r["node"], r["label"], _between(r["from_s"], r["to_s"]), _statistics(file, r["statistics"])) for r in regions
    )


def _is_region(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("node"), int)
        and isinstance(value.get("label"), str)
        and all(_is_number(value.get(end)) and math.isfinite(value[end]) for end in ("from_s", "to_s"))
        and "statistics" in value
    )


def _between(start: float, end: float) -> float:
    """Seconds from one time to another. Both were whole picoseconds."""
    return (round(end * PICOSECONDS) - round(start * PICOSECONDS)) / PICOSECONDS


def region_columns(
    regions: Iterable[tuple[int, str, float, dict[str, float]]],
) -> dict[tuple[str, str], dict[str, float]]:
    """Columns by node and label from (node, label, seconds, statistics) in the order of marking."""
    counts: dict[tuple[int, str], int] = {}
    columns = {}
    for node, label, seconds, statistics in regions:
        number = counts[node, label] = counts.get((node, label), 0) + 1
        columns[f"node{node}", label if number == 1 else f"{label}#{number}"] = {"time_s": seconds, **statistics}
    return columns


def _check_complete(folder: str | os.PathLike[str]) -> None:
    if os.path.exists(os.path.join(folder, "result.json")) and not os.path.exists(os.path.join(folder, "stats.json")):
        raise InputError(
            f"{folder}: is the folder of an experiment, not of a run: fabricvp.experiments.read_tables() reads it"
        )
    if not _record(folder).get("complete"):
        raise InputError(
            f"{os.path.join(folder, 'run.json')}: this run has not ended, or was killed: there are no results"
        )


def _read(folder: str | os.PathLike[str], name: str) -> Any:
    path = os.path.join(folder, name)
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as statistics ({error})") from None
