# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp reproduce`."""

from __future__ import annotations

import dataclasses
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from ..arguments import ArgumentParser, add_executor, add_jobs, add_result_cache
from ..errors import InputError
from ..experiments.points import core_seconds
from ..experiments.registry import EXPERIMENTS, SYSTEMS
from ..experiments.writing import Cost, prepare_folder
from ..sweeps.progress import Progress, duration
from .outcomes import FILE, Outcome, Outcomes, error_of, read_outcomes
from .plan import ALL, arguments_of, broken_checks, experiments_of, finished, refuse_to_lose, systems_named
from .process import run_experiment
from .report import PAGE, write_report

if TYPE_CHECKING:
    import argparse

#: What an experiment printed, in its folder.
LOG = "log.txt"


def main(given: list[str]) -> int:
    """`fabricvp reproduce SYSTEM … --out DIR`: 0 if every experiment ends well, 1 if not, 2 for bad input, 130 if
    interrupted."""
    parser = ArgumentParser("reproduce", _help(), "fabricvp reproduce all --quick --out results")
    parser.add_argument("systems", metavar="SYSTEM", nargs="*", help=f"{ALL}, or names of systems")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a small sample of each experiment; not into a folder with results of full size",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder for the results: one folder an experiment, and report.html"
    )
    parser.add_argument(
        "--report", metavar="DIR", help="write DIR/report.html from the results in DIR, and run nothing"
    )
    add_jobs(parser, "points of an experiment")
    add_executor(parser)
    add_result_cache(parser)
    options = parser.parse_args(given)
    if (options.out is None) == (options.report is None):
        raise InputError("give --out DIR or --report DIR (see fabricvp reproduce --help)")
    if options.report is not None:
        return _report(options)
    if not options.systems:
        raise InputError(f"name the systems: {ALL}, {', '.join(SYSTEMS)} (see fabricvp reproduce --help)")
    return _reproduce(options)


def _help() -> str:
    lines = [
        f"  {name:<16} {system.title}: {', '.join(system.experiments)}; about"
        f" {duration(_budget_s(system.experiments, False))} of a core,"
        f" {duration(_budget_s(system.experiments, True))} with --quick"
        for name, system in SYSTEMS.items()
    ]
    return (
        "Runs all experiments of published systems, and sets every published figure beside ours on one page, which is"
        " written after\neach. Run again, it goes on where it was.\n\nsystems:\n" + "\n".join(lines)
    )


def _budget_s(names: tuple[str, ...] | list[str], quick: bool) -> float:
    return float(sum(EXPERIMENTS[name].budget.core_s(quick) for name in names))


def _report(options: argparse.Namespace) -> int:
    folder = Path(options.report)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder of results")
    known = read_outcomes(folder)
    found = [folder / FILE, *(folder / name / "result.json" for name in EXPERIMENTS)]
    if not any(path.is_file() for path in found):
        raise InputError(f"{folder}: holds no results of experiments (fabricvp reproduce SYSTEM --out DIR makes some)")
    systems = systems_named(options.systems or (known.systems if known else [ALL]))
    write_report(prepare_folder(options.report), systems, known or Outcomes(options.quick, systems))
    print(f"written to {folder / PAGE}")
    return 0


def _reproduce(options: argparse.Namespace) -> int:
    systems = systems_named(options.systems)
    names = experiments_of(systems)
    if options.quick:
        refuse_to_lose(Path(options.out), names)
    folder = prepare_folder(options.out)
    prepare_folder(_result_cache(folder, options))
    outcomes = _known(folder, systems, names, options.quick)
    left = [name for name in names if name not in outcomes.experiments]
    found = len(names) - len(left)
    print(
        f"experiments: {len(names)}; there, of this version: {found}; about"
        f" {duration(_budget_s(left, options.quick))} of a core to go",
        file=sys.stderr,
        flush=True,
    )
    try:
        _run(left, folder, outcomes, options)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    failed = [name for name in names if outcomes.experiments[name].status]
    for name in failed:
        print(f"failed: {name}: {outcomes.experiments[name].error} (see {folder / name / LOG})")
    print(f"experiments: {len(names)}; ended well: {len(names) - len(failed)}; written to {folder / PAGE}")
    return 1 if failed else 0


def _known(folder: Path, systems: tuple[str, ...], names: list[str], quick: bool) -> Outcomes:
    """Experiments of the same version that are there, and those of other systems, which stay on the page."""
    earlier = read_outcomes(folder) or Outcomes(quick, ())
    others = {name: outcome for name, outcome in earlier.experiments.items() if name not in names}
    outcomes = Outcomes(quick, systems_named([*systems, *earlier.systems]), others)
    for name in names:
        if result := finished(folder / name, name, quick):
            outcomes.experiments[name] = _outcome(int(bool(broken_checks(result))), folder / name, result)
    return outcomes


def _run(left: list[str], folder: Path, outcomes: Outcomes, options: argparse.Namespace) -> None:
    """Runs what is left, and writes the page before, and after each."""
    _write(folder, outcomes)
    costs = [EXPERIMENTS[name].budget.core_s(options.quick) for name in left]
    with Progress().stage("reproduce", costs, left, 1 / options.jobs) as stage:
        for index, name in enumerate(left):
            stage.alive([index], name)
            outcomes.experiments[name] = _run_one(name, folder, options, functools.partial(stage.alive, [index]))
            _write(folder, outcomes)
            stage(index)


def _run_one(name: str, folder: Path, options: argparse.Namespace, alive: Callable[[str], None]) -> Outcome:
    out = prepare_folder(str(folder / name))
    begin, core_begin = time.monotonic(), core_seconds()
    places = ["--out", str(out), "--jobs", str(options.jobs), "--result-cache", _result_cache(folder, options)]
    places += ["--scheduler", options.scheduler] if options.scheduler else ["--executor", options.executor]
    status = run_experiment(
        [*arguments_of(name, options.quick), *places], out / LOG, lambda line: alive(shorten(line, 60, placeholder="…"))
    )
    result = finished(out, name, options.quick)
    cost = Cost(time.monotonic() - begin, core_seconds() - core_begin)
    return _outcome(status, out, result or {"cost": dataclasses.asdict(cost)})


def _outcome(status: int, folder: Path, result: dict[str, Any]) -> Outcome:
    error = error_of(status, folder / LOG, broken_checks(result)) if status else ""
    return Outcome(status, error, **result["cost"])


def _result_cache(folder: Path, options: argparse.Namespace) -> str:
    return str(options.result_cache or folder / "result_cache")


def _write(folder: Path, outcomes: Outcomes) -> None:
    try:
        outcomes.write(folder)
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None
    write_report(folder, outcomes.systems, outcomes)
