# SPDX-License-Identifier: Apache-2.0
"""Reads results at hand and sets them beside what was published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from ... import source_tree
from ...docs_command import origin_of, read_result, read_store
from ...errors import InputError
from ..frame import Run
from ..registry import SYSTEMS
from .bounds import within_bound
from .costs import costs
from .reasons import reason_of
from .two_machines import machines

AGREES, NEAR = 0.10, 0.25  #: of a ratio from 1


@dataclass(frozen=True)
class Found:
    """Published figures of an experiment, with ours."""

    date: str  #: of the run
    commit: str  #: of the source tree that it ran from; empty where that is not known
    command: str
    rows: list[dict[str, Any]]


def study(run: Run) -> None:
    """Adds everything to the report of ``run``. Raises `InputError` for folders without results."""
    found: dict[str, Found] = {}
    for folder in run.options.results:
        found.update(read(Path(folder)))
    changed = source_tree.last_change()
    frame = pandas.DataFrame(
        [line for s in SYSTEMS.values() for name in s.published for line in lines_of(s.title, name, found.get(name))]
    )
    if frame.empty:
        raise InputError(f"{' '.join(run.options.results)}: no result there has figures beside published ones")
    for system in SYSTEMS.values():
        part = frame[frame["system"] == system.title]
        if len(part):
            shown = part.drop(columns="system").reset_index(drop=True)
            caption = f"{system.title}: published figures and ours"
            run.report.table(name_of(system.title), shown, caption, shown=len(part))
    state = pandas.DataFrame([_state(s.title, e, found.get(e), changed) for s in SYSTEMS.values() for e in s.published])
    run.report.table("results", state, "Results at hand", shown=len(state))
    two = machines({name: result.rows for name, result in found.items()})
    run.report.table(
        "machines", two, "On a machine with the study's own parameters, and on one of today", shown=len(two)
    )
    taken = costs(Path(folder) for folder in run.options.results)
    run.report.table("costs", taken, "What results took, where it is known", shown=len(taken))
    run.report.table("figures", frame, "All of them", shown=0)
    summary = pandas.DataFrame([summary_of(s.title, frame) for s in SYSTEMS.values()])
    run.report.table("summary", summary, f"Within {AGREES:.0%} agrees, within {NEAR:.0%} is near", shown=len(summary))
    for line in frame.itertuples():
        run.report.row(f"{line.experiment}: {line.figure}", line.unit, line.measured, line.published, line.source)
    counts = frame["verdict"].value_counts()
    words = ", ".join(f"{counts.get(v, 0)} {text}" for v, text in VERDICTS.items())
    missing = state[state["state"] != "at hand"]
    run.report.conclude(
        f"Of {len(frame)} published figures {words}.",
        f"Misses without an explanation: {_unexplained(frame)}.",
        "Missing or older than the code: "
        + (", ".join(f"{n} ({s})" for n, s in zip(missing["experiment"], missing["state"])) or "none")
        + ".",
    )


VERDICTS = {"agrees": "agree", "near": "are near", "misses": "miss"}


def name_of(system: str) -> str:
    """The name of a system's table."""
    return system.split(" (")[0].lower().replace(" ", "_").replace("-", "_")


def read(folder: Path) -> dict[str, Found]:
    """Results of a folder: of one experiment's (result.json), or those that pages show. Raises `InputError`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder of results")
    if (folder / "result.json").exists():
        result = read_result(folder)
        return {result["experiment"]: _found(folder / "result.json", origin_of(result, folder), result.get("rows"))}
    stores = {file: read_store(file) for file in sorted(folder.glob("*.json"))}
    return {
        kept["experiment"]: _found(file, kept["published"]["origin"], kept["published"]["rows"])
        for file, kept in stores.items()
        if "published" in kept
    }


def _found(file: Path, origin: dict[str, Any], rows: Any) -> Found:
    try:
        shown = [r for r in rows if r["published"] is not None and r["measured"] is not None]
        return Found(origin["date"], origin.get("commit", ""), origin.get("command", ""), shown)
    except (KeyError, TypeError) as error:
        raise InputError(f"{file}: rows are not as this version writes them ({error})") from None


def verdict_of(ratio: float) -> str:
    """In a word."""
    return "agrees" if abs(ratio - 1) <= AGREES else "near" if abs(ratio - 1) <= NEAR else "misses"


def lines_of(system: str, experiment: str, found: Found | None) -> list[dict[str, Any]]:
    """Each published figure of an experiment with ours, the verdict, and what makes it miss. Bounds, and a published 0,
    have no ratio."""
    lines = []
    for row in found.rows if found else []:
        within = within_bound(experiment, row["figure"], row["measured"])
        ratio = row["measured"] / row["published"] if row["published"] and within is None else float("nan")
        as_said = within if within is not None else row["measured"] == row["published"]
        verdict = verdict_of(ratio) if ratio == ratio else "agrees" if as_said else "misses"
        lines.append(
            {
                "system": system,
                "experiment": experiment,
                "figure": row["figure"],
                "unit": row["unit"],
                "published": row["published"],
                "measured": row["measured"],
                "ratio": round(ratio, 3),
                "verdict": verdict,
                "why": reason_of(experiment, row["figure"]) if verdict == "misses" else "",
                "source": row["source"],
            }
        )
    return lines


def state_of(found: Found | None, changed: str) -> str:
    """Whether a result is at hand and of the code as it is. ``changed``: the day of the code's last change."""
    if found is None:
        return "missing"
    since = source_tree.changes_since(found.commit) if found.commit else None
    if since:
        return f"older than the code, by {since} commit{'s' if since > 1 else ''}"
    if since is None and found.date == changed:
        return "from the day of the code's last change"
    return "older than the code" if since is None and changed and found.date < changed else "at hand"


def _state(system: str, experiment: str, found: Found | None, changed: str) -> dict[str, str]:
    return {
        "system": system,
        "experiment": experiment,
        "state": state_of(found, changed),
        "date": found.date if found else "",
        "command": found.command if found else f"fabricvp experiment {experiment} --out results",
    }


def summary_of(system: str, frame: pandas.DataFrame) -> dict[str, Any]:
    """How many of a system's figures come out."""
    part = frame[frame["system"] == system]
    counts = part["verdict"].value_counts()
    ratios = part["ratio"].dropna()
    return {
        "system": system,
        "figures": len(part),
        **{verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS},
        "median_ratio": round(float(ratios.median()), 2) if len(ratios) else None,
    }


def _unexplained(frame: pandas.DataFrame) -> str:
    left = frame[frame["why"] == "not explained yet"]
    return "; ".join(left["experiment"] + ": " + left["figure"]) if len(left) else "none"
