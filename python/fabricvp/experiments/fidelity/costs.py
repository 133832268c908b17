# SPDX-License-Identifier: Apache-2.0
"""What results at hand took, beside the budgets of their experiments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas

from ...docs_command import origin_of, read_result, read_store
from ..registry import EXPERIMENTS

COLUMNS = ("experiment", "command", "core_s", "budget_s", "date")


def costs(folders: Iterable[Path]) -> pandas.DataFrame:
    """A line for each command whose cost is known, the latest run of it, in the order of the registry. ``core_s``:
    core seconds; ``budget_s``: those that the experiment states, for its default options and for --quick alone."""
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for experiment, origin in (o for folder in folders for o in _origins(folder)):
        command = origin.get("command", "")
        if experiment not in EXPERIMENTS or not command or "core_s" not in origin:
            continue
        line = {
            "experiment": experiment,
            "command": command,
            "core_s": float(origin["core_s"]),
            "budget_s": _budget(experiment, command),
            "date": origin["date"],
        }
        known = latest.get((experiment, command))
        if known is None or known["date"] <= line["date"]:
            latest[experiment, command] = line
    names = list(EXPERIMENTS)
    lines = sorted(latest.values(), key=lambda line: (names.index(line["experiment"]), line["command"]))
    return pandas.DataFrame(lines, columns=list(COLUMNS))


def _origins(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(experiment, origin) of a folder's results: of one experiment's, or of all tables that pages show."""
    if (folder / "result.json").exists():
        result = read_result(folder)
        yield result["experiment"], origin_of(result, folder)
        return
    for file in sorted(folder.glob("*.json")):
        kept = read_store(file)
        for table in kept["tables"].values():
            yield kept["experiment"], table["origin"]


def _budget(experiment: str, command: str) -> float:
    """Of the experiment; nan where options change what it does."""
    plain, budget = f"fabricvp experiment {experiment} ", EXPERIMENTS[experiment].budget
    given = command.removeprefix(plain).removesuffix("--out results").split()
    if given in ([], ["--quick"]):
        return budget.core_s(given == ["--quick"])
    return float("nan")
