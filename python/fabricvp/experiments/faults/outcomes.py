# SPDX-License-Identifier: Apache-2.0
"""What became of a fault: a class, from how the run with it differs from the run without."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...results import Outcome


class Fate(enum.StrEnum):
    """What became of a fault, the harmless first."""

    MASKED = "masked"  #: the result is right, and no counter of errors has moved
    CORRECTED = "corrected"  #: the result is right; hardware noticed, and software was not told
    RECOVERED = "recovered after a time-out"  #: the result is right; something was waited for and asked for again
    REPORTED = "reported"  #: software was told of an error, whatever the result is
    HANG = "hang, named"  #: the watchdog ended the run and named what waits
    UNNAMED_HANG = "hang, not named"  #: the run came to its limit, and no node had ended in failure
    SILENT = "silent corruption"  #: the result is wrong or incomplete, and nothing told software
    CRASH = "simulator failed"  #: the simulator itself ended; a defect of it


#: Ends of paths of statistics that count, by what they say. What was injected (`faults.`, `dropped.injected`, and TLPs
#: or packets that are lost unseen) is none of them.
CORRECTED = re.compile(
    r"(\.(replays|retrains|link_downs|failed_lanes|failed_trainings|naks|retries|duplicates|poisoned"
    r"|unsupported_requests|discarded|unexpected|rejected|late|late_completions|unexpected_completions"
    r"|configuration_retries|packets_failed|corrected_errors|uncorrected_errors)"
    r"|\.hca\d+\.dropped|\.dropped\.(?!injected$)\w+)$"
)
TIMEOUT = re.compile(r"\.timeouts$")
REPORTED = re.compile(
    r"(\.pcie\.root\.(error_messages|system_errors)|\.dispatcher\.faults|\.requester\.errors|\.sdma\.faults)$"
)
#: Lines by which programs say that a result is wrong: their own check against a reference, no report of an error.
CHECK = re.compile(
    r"\bFAILED\b|is wrong$|finds something else|finds another loss|is not what was sent|have different parameters"
    r"|^words "
)
#: Of lines with measured figures, those whose figures are results.
RESULT = re.compile(r"^# digest ")


@dataclass(frozen=True)
class Ending:
    """How a run ended: what all classes follow from."""

    outcome: Outcome
    detail: str
    failed: tuple[bool, ...]  #: by node: whether it has ended in failure
    lines: tuple[tuple[str, ...], ...]  #: of each node's console, without measured figures
    counters: Mapping[str, float]  #: statistics that count errors, by path
    time_ps: int


def lines_of(output: str) -> tuple[str, ...]:
    """What does not depend on time: console lines without measured figures."""
    stripped = (line.strip() for line in output.splitlines())
    return tuple(line for line in stripped if line and (not line.startswith("# ") or RESULT.match(line)))


def counters_of(values: Mapping[str, float]) -> dict[str, float]:
    """Statistics that count errors, of all."""
    found = {}
    for path, value in values.items():
        if value and ".faults." not in path and any(p.search(path) for p in (CORRECTED, TIMEOUT, REPORTED)):
            found[path] = value
    return found


def classify(undisturbed: Ending, ending: Ending) -> tuple[Fate, str]:
    """The class, and one line that says why. ``undisturbed`` is the run without the fault."""
    if ending.outcome == Outcome.WATCHDOG:
        return Fate.HANG, ending.detail
    if ending.outcome in (Outcome.TIME_LIMIT, Outcome.IDLE) and not any(ending.failed):  # else others wait for it
        return Fate.UNNAMED_HANG, ending.detail
    new, missing = differences(undisturbed.lines, ending.lines)
    told = [line for line in new if not CHECK.search(line) and not RESULT.match(line)]
    right = ending.outcome == undisturbed.outcome and not missing and not any(map(CHECK.search, new))
    more = {p: v for p, v in ending.counters.items() if v > undisturbed.counters.get(p, 0)}
    reported = first_counter(REPORTED, more)
    if told or reported or ending.outcome == Outcome.REFUSED:
        return Fate.REPORTED, told[0] if told else reported or ending.detail
    if not right:
        return Fate.SILENT, next(iter(new), "") or (f"missing: {missing[0]}" if missing else ending.detail)
    if timeout := first_counter(TIMEOUT, more):
        return Fate.RECOVERED, timeout
    if corrected := first_counter(CORRECTED, more):
        return Fate.CORRECTED, corrected
    return Fate.MASKED, ""


def differences(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Lines that came to a node's console, and lines that did not come."""
    new: list[str] = []
    missing: list[str] = []
    for old, now in zip(before, after):
        new += _without(now, old)
        missing += _without(old, now)
    return new, missing


def _without(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    left = list(others)
    found = []
    for line in lines:
        if line in left:
            left.remove(line)
        else:
            found.append(line)
    return found


def first_counter(pattern: re.Pattern[str], counters: Mapping[str, float]) -> str:
    """The first path that matches; "" if none."""
    return next((path for path in sorted(counters) if pattern.search(path)), "")
