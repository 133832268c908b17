# SPDX-License-Identifier: Apache-2.0
"""What run() gives back, and what runs leave behind."""

from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._fabricvp import InputError

if TYPE_CHECKING:
    import pandas


class Outcome(enum.StrEnum):
    """Why a run ended. Members compare equal to their text: ``result.outcome == "power_off"``."""

    TIME_LIMIT = "time_limit"  #: the given time has passed
    POWER_OFF = "power_off"  #: the guest powered off cleanly
    GUEST_FAILURE = "guest_failure"  #: the guest reported failure
    BREAKPOINT = "breakpoint"  #: a hart stopped at a breakpoint or watchpoint
    EVENT = "event"  #: an `until` condition became true
    INTERRUPTED = "interrupted"  #: request_stop()
    IDLE = "idle"  #: nothing is scheduled any more, time cannot advance
    WATCHDOG = "watchdog"  #: no progress; `detail` names the stuck component


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
    the simulated time in seconds at which the run ended, ``match`` the console text if a console condition ended it.
    """

    outcome: Outcome
    guest_status: int = 0
    detail: str = ""
    time: float = 0.0
    match: Match | None = None


def read_results(*folders: str | os.PathLike[str]) -> pandas.DataFrame:
    """Statistics of finished runs (`run --out`, `Platform.write_results()`): one column a folder, one row a path.

    Raises `InputError` if a folder holds no stats.json.
    """
    import pandas

    runs = {}
    for folder in folders:
        path = os.path.join(folder, "stats.json")
        try:
            with open(path) as file:
                runs[os.fspath(folder)] = pandas.Series(json.load(file), dtype=float)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read as statistics ({error})") from None
    return pandas.DataFrame(runs).rename_axis("path")
