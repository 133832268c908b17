# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp experiment`."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from ..arguments import ArgumentParser, add_executor, add_jobs, add_result_cache
from ..errors import InputError
from ..plot import use_palette
from ..sweeps.api import executor_of
from ..sweeps.progress import Progress, duration
from . import registry
from .frame import Report, Run
from .points import PointFailed, core_seconds
from .result_cache import ResultCache
from .writing import Cost, number, removed_on_bad_input, write

#: Options on which results do not depend.
_NOT_OF_THE_RESULT = ("name", "out", "jobs", "executor", "scheduler", "result_cache")


def main(given: list[str]) -> int:
    """`fabricvp experiment NAME …`: 0 if every invariant holds, 1 if not, 2 for bad input."""
    listing = "\n".join(f"  {name:<22} {known.summary}" for name, known in registry.EXPERIMENTS.items())
    named = given[0] if given and not given[0].startswith("-") else None
    experiment = registry.find(named) if named else None
    parser = ArgumentParser(
        "experiment",
        (
            f"{experiment.question}\n\n{_budget(named)}"
            if experiment and named
            else "Runs an experiment; writes result.json, table.csv, plots and index.html.\n\nexperiments:\n"
            + listing
            + "\n\n`fabricvp experiment NAME --help` shows what one of them takes."
        ),
        f"fabricvp experiment {named or next(iter(registry.EXPERIMENTS))} --quick --out results",
    )
    parser.add_argument("name", metavar="NAME", help="the experiment")
    parser.add_argument("--quick", action="store_true", help="a small sample")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the results")
    add_jobs(parser, "processes")
    add_executor(parser)
    add_result_cache(parser)
    if experiment:
        experiment.add_options(parser)
    options = parser.parse_args(given)
    if experiment is None:
        raise InputError("the name of the experiment comes first (see fabricvp experiment --help)")
    executor = executor_of("dask" if options.scheduler else options.executor, options.jobs, options.scheduler)
    use_palette()
    _ = experiment.code_hash  # of the code that runs: it may change before the result names it
    begin, core_begin = time.monotonic(), core_seconds()
    folder = Path(options.out)
    cache_folder = Path(options.result_cache or folder / "result_cache")
    try:
        with removed_on_bad_input(folder, cache_folder):
            run = Run(
                options.quick,
                options.jobs,
                options,
                Progress(),
                result_cache=ResultCache(cache_folder),
                executor=executor,
                elsewhere=options.scheduler is not None,
            )
            experiment.run(run)
    except PointFailed as error:
        print(f"fabricvp experiment: {error}", file=sys.stderr)
        return 1
    write(
        folder,
        experiment,
        run.report,
        shlex.join(["fabricvp", "experiment", *given]),
        Cost(time.monotonic() - begin, core_seconds() - core_begin + run.other_core_s),
        {name: value for name, value in vars(options).items() if name not in _NOT_OF_THE_RESULT},
    )
    _summary(run.report)
    print(f"written to {folder / 'index.html'}")
    return 0 if run.report.ok else 1


def _budget(name: str) -> str:
    budget = registry.EXPERIMENTS[name].budget
    return f"It takes about {duration(budget.full_s)} of a core, with --quick {duration(budget.quick_s)}."


def _summary(report: Report) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table()
    for head, side in (("figure", "left"), ("measured", "right"), ("published", "right"), ("unit", "left")):
        table.add_column(head, justify=side)
    for row in report.rows:
        table.add_row(
            row.figure,
            f"none: {row.missing}" if row.missing else number(row.measured),
            "" if row.published is None else number(row.published),
            row.unit,
        )
    console.print(table)
    for check in report.checks:
        console.print(
            f"{'holds ' if check.ok else 'BROKEN'} {check.name}: {check.detail}",
            style=None if check.ok else "red",
            markup=False,
        )
