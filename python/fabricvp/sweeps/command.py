# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp sweep`."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import ArgumentParser, add_executor, add_jobs, add_result_cache
from ..errors import InputError
from ..printable import printable
from .api import check_points, executor_of, run_points
from .dask_executor import Dask
from .key import key_of
from .points import Point, name_of
from .progress import Progress
from .store import ResultCache, says_enough
from .study import Study, read_study
from .study_sampler import outcome_of
from .task import PointOutcome, Record

if TYPE_CHECKING:
    import argparse

    import pandas

#: Seconds between pages of a running sweep.
_PAGE_PERIOD = 5.0


def main(given: list[str]) -> int:
    """`fabricvp sweep STUDY.yaml --out DIR`: 0 if every point is ok, 1 if not, 2 for bad input."""
    parser = ArgumentParser(
        "sweep",
        "Measures all points of a study, each in a process of its own; writes points.parquet, result.json, plots and"
        " index.html.\nA sweep that was killed goes on where it was.",
        "fabricvp sweep study.yaml --out results",
    )
    parser.add_argument("study", metavar="STUDY", help="a YAML file: config, app, grid, repeat, keep, plots …")
    parser.add_argument("--out", metavar="DIR", help="folder for the results")
    add_jobs(parser, "points")
    add_result_cache(parser)
    add_executor(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print the points and the estimated time, and run nothing"
    )
    parser.add_argument("--csv", action="store_true", help="write points.csv, too")
    options = parser.parse_args(given)
    if options.out is None and not options.dry_run:
        raise InputError("give --out DIR, or --dry-run (see fabricvp sweep --help)")
    study = read_study(options.study)
    if options.dry_run:
        return _dry_run(study, options)
    return _run(study, options, shlex.join(["fabricvp", "sweep", *given]))


def _run(study: Study, options: argparse.Namespace, command: str) -> int:
    from ..experiments.writing import prepare_folder
    from .columns import frame_of
    from .report import remove_earlier, write_page, write_table

    folder = prepare_folder(options.out)
    executor = executor_of("dask" if options.scheduler else options.executor, options.jobs, options.scheduler)
    cache = ResultCache(options.result_cache or folder / "result_cache")
    begin = last = time.monotonic()
    points: list[Point] = []
    before = 0  # points of earlier batches
    arrived: dict[int, Record] = {}

    def table(warn: bool = False) -> pandas.DataFrame:
        order = sorted(arrived)
        return frame_of([points[index] for index in order], [arrived[index] for index in order], study.statistics, warn)

    def show(frame: pandas.DataFrame, finished: bool = False) -> None:
        records = [arrived[index] for index in sorted(arrived)]
        write_page(folder, study, frame, records, command, time.monotonic() - begin, finished)

    def on_record(place: int, record: Record) -> None:
        nonlocal last
        arrived[before + place] = record
        if time.monotonic() - last >= _PAGE_PERIOD:
            show(table())
            last = time.monotonic()

    # What may still be wrong, before results of an earlier sweep go.
    if isinstance(executor, Dask):
        executor.check()
    for task in check_points(study.common, study.points[:1]):
        key_of(task)
    remove_earlier(folder, study)
    show(table())
    while batch := _next_points(study, table()):
        before = len(points)
        points += batch
        run_points(
            study.common,
            batch,
            limits=study.limits,
            executor=executor,
            result_cache=cache,
            progress=Progress(),
            study=study.name,
            on_record=on_record,
        )
    frame = table(warn=True)
    write_table(folder, frame, options.csv)
    show(frame, finished=True)
    bad = [index for index in sorted(arrived) if arrived[index].outcome != PointOutcome.OK]
    for index in bad[:10]:
        print(printable(f"{arrived[index].outcome}: {name_of(points[index])}: {arrived[index].error}"))
    if study.sampler is not None:
        print(outcome_of(study.sampler, frame)[0])
    print(f"{len(points)} points, {len(points) - len(bad)} ok; written to {folder / 'index.html'}")
    return 1 if bad else 0


def _next_points(study: Study, frame: pandas.DataFrame) -> list[Point]:
    """All points at first; those of a sampler by what earlier ones gave."""
    if study.sampler is None:
        return [] if len(frame) else study.points
    while chosen := study.sampler.sampler.next_points(frame):
        if points := study.expand(chosen):
            return points
    return []


def _dry_run(study: Study, options: argparse.Namespace) -> int:
    """Prints points, which of them are in the result cache, and the time for the others by those."""
    cache = options.result_cache or (Path(options.out) / "result_cache" if options.out else None)
    store = ResultCache(cache) if cache is not None and Path(cache).is_dir() else None
    known: list[float] = []
    points = study.points
    if study.sampler is not None:
        if not study.sampler.known_points:
            print(f"at most {study.sampler.budget} points, with all seeds, chosen by what earlier ones gave")
            return 0
        points = study.expand(study.sampler.known_points)
    for point, task in zip(points, check_points(study.common, points)):
        found = store.find(key_of(task)) if store is not None else None
        cached = found is not None and says_enough(found, study.limits)
        if found is not None and cached:
            known.append(found.record.wall_s)
        print(f"{name_of(point)}{' (in the result cache)' if cached else ''}")
    left = len(points) - len(known)
    print(f"{len(points)} points, {left} to run{_estimate(study, store, known, left, options.jobs)}")
    return 0


def _estimate(study: Study, store: ResultCache | None, known: list[float], left: int, jobs: int) -> str:
    """The time for points by those of this sweep that are known, else by any of this study."""
    if left == 0:
        return ""
    times = known or [s.record.wall_s for s in (store.points() if store else ()) if s.study == study.name]
    if not times:
        return "; the time is unknown until one has been measured"
    each = sum(times) / len(times)
    return (
        f": about {each * left / min(jobs, left):.0f} s with {jobs} at a time, by {len(times)} that took {each:.1f} s"
    )
