# SPDX-License-Identifier: Apache-2.0
"""How the experiments of a folder have ended: reproduce.json, beside their results."""

from __future__ import annotations

import dataclasses
import json
import signal
from dataclasses import dataclass, field
from pathlib import Path

from ..experiments.registry import SYSTEMS
from ..experiments.writing import put
from .process import last_line

FILE = "reproduce.json"


@dataclass(frozen=True)
class Outcome:
    """How the last run of an experiment ended."""

    status: int  #: of the process, negative for a signal; 0 if all invariants hold
    error: str  #: empty for status 0
    wall_s: float
    core_s: float


@dataclass
class Outcomes:
    """Those of a folder."""

    quick: bool
    systems: tuple[str, ...]
    experiments: dict[str, Outcome] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Raises `OSError`."""
        put(folder / FILE, (json.dumps(dataclasses.asdict(self), indent=2, ensure_ascii=False) + "\n").encode())


def read_outcomes(folder: Path) -> Outcomes | None:
    """None where the folder has none that can be read."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        experiments = {str(name): Outcome(**each) for name, each in found["experiments"].items()}
        if not all(map(_is_outcome, experiments.values())):
            return None
        systems = tuple(name for name in SYSTEMS if name in found["systems"])  # those of this version
        return Outcomes(bool(found["quick"]), systems, experiments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_outcome(outcome: Outcome) -> bool:
    seconds = (outcome.wall_s, outcome.core_s)
    is_number = all(isinstance(value, (int, float)) for value in seconds)
    return isinstance(outcome.status, int) and isinstance(outcome.error, str) and is_number


def error_of(status: int, log: Path, broken: list[str]) -> str:
    """Why an experiment did not end well, in a line; ``broken`` names its invariants that do not hold."""
    if status < 0:
        known = -status in set(signal.Signals)
        return f"its process was ended by {signal.Signals(-status).name if known else f'signal {-status}'}"
    if broken:
        return f"invariants that do not hold: {', '.join(broken)}"
    last = last_line(log)
    if status in (1, 2) and last:  # that of a message
        return last
    return f"its process ended with status {status}" + (f"; the last line of its log: {last}" if last else "")
