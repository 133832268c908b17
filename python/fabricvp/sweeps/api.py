# SPDX-License-Identifier: Apache-2.0
"""`fabricvp.sweep()`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _fabricvp
from ..errors import InputError
from ..gpu import PerNode, parse_app_requests
from ..overrides import flatten
from ..plugins import Plugins, resolve_plugins
from ..remote import require_main_guard
from ..units import Time, seconds, to_picoseconds
from .columns import ABOUT, DEFAULT_STATISTICS, frame_of
from .dask_executor import Dask
from .executors import Executor, Processes
from .key import begin_sweep, check_configuration, key_of
from .points import MAX_BITS, ConstraintLike, Point, expand_points, name_of
from .process import Limits
from .progress import Progress
from .read_files import ReadFiles
from .samplers import Sampler
from .store import ResultCache, says_enough
from .task import PointOutcome, Record, Task, task_of

if TYPE_CHECKING:
    import pandas

#: Executors by name.
EXECUTORS = ("processes", "dask")
#: Told about each point when its record is there, with its place.
OnRecord = Callable[[int, Record], None]


def sweep(
    config: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    points: Iterable[Mapping[str, Any]] | pandas.DataFrame | None = None,
    sampler: Sampler | None = None,
    constraints: Sequence[ConstraintLike] = (),
    repeat: int | Sequence[int] | None = None,
    app: PerNode = None,
    size: PerNode = None,
    gpus: PerNode = None,
    placement: PerNode = "",
    dispatch: PerNode = "",
    initrd: PerNode = "",
    option: PerNode = "",
    program: str | os.PathLike[str] = "",
    append: str = "",
    function: Callable[..., Any] | None = None,
    warm_up: Callable[..., Any] | None = None,
    branch: bool = True,
    time: Time | None = None,
    overrides: Mapping[str, Any] | None = None,
    plugins: Plugins = (),
    statistics: str | Sequence[str] = DEFAULT_STATISTICS,
    executor: str | Executor = "processes",
    jobs: int | None = None,
    scheduler: str | None = None,
    time_limit: float | None = None,
    memory_limit: str | int | None = None,
    result_cache: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> pandas.DataFrame:
    """Measures many points of a machine, each in a process of its own, and gives a table with one row a point.

    **Points.** ``grid`` maps parameters to lists of values, and every combination is a point; ``points`` are mappings
    of parameters to values, or a data frame. With both, each of ``points`` is combined with the grid. A ``sampler``
    gives points by what earlier ones gave, in their place: `fabricvp.sweeps.Search` for the best one within a budget,
    `fabricvp.sweeps.Sensitivity` for what matters, or an object with their method `next_points()`. ``constraints``
    leave points out: functions of a point, or expressions such as ``"size * node.host.harts <= 4096"``. ``repeat``
    measures each point with the seeds 1 … n, or with those given: they are the values of `simulation.seed`, and all
    points share them.

    A parameter is a path of the configuration (``"node.host.harts"``, or ``"node__host__harts"``), or one of
    ``config``, ``app``, ``size``, ``gpus``, ``placement``, ``dispatch``, ``initrd``, ``option``, ``program`` and
    ``append``, or an argument of ``function``.

    **What runs.** ``config`` (or YAML as ``text``), ``app`` with what belongs to it, ``overrides`` and ``plugins`` are
    as for `Platform.from_config()`. ``program`` is an ELF file or raw binary that node 0 starts with, and ``append``
    its command line, as `Platform.load_images()` takes them. Each machine runs until it ends, or for ``time`` of
    simulated time. With a ``function``, ``function(platform, **arguments)`` drives the machine instead. Without a
    ``config``, it is ``function(**arguments)`` and makes its own. It gives None, a number, a text, or a mapping or
    dataclass of such; they become columns ("value" for one alone), whose names may be those of no parameter. A function
    may be a lambda or one of a notebook. ``time`` is no argument beside a function, nor is without a ``config`` what
    belongs to a machine.

    **What points share.** ``warm_up(platform)`` is called before ``function``, which gets what it returns, or else the
    platform. Points that differ in nothing but arguments of ``function`` then share one machine: it is built and warmed
    up once (once a worker, with dask), and each of them runs on a branch of it (`Platform.fork()`). The column
    ``branched`` says which did. Without ``branch`` each has a machine of its own, and the same results.

    **Columns.** The parameters; ``outcome`` ("ok", "failed", "crashed", "timed out", "out of memory"), ``error`` (one
    line), ``ended`` (why the run ended), ``wall_s`` (seconds), ``branched`` (see above), ``log`` (the end of what the
    process wrote, and the console of a failed machine); what the function gave; and statistics. ``statistics`` are
    patterns: ``"*.l2.hits"`` of the whole run, ``"REGION:PATTERN"`` of regions of interest by label ("kernels:time_s",
    "*:time_s"), where regions of other nodes than the first are "node1.kernels". One that matches nothing is warned of.

    **Running.** ``executor`` is "processes", with ``jobs`` points at a time (all processors unless given); "dask", with
    the workers of dask's ``scheduler`` (an address) or a local cluster of ``jobs`` workers; or an object with the
    interface of `fabricvp.sweeps.executors.Executor`. ``time_limit`` is seconds of wall time and
    ``memory_limit`` memory ("4 GiB" or bytes) of one point, all its processes together; of points that share a machine
    both hold for the warm-up, and for each branch. A point that fails, crashes or
    comes to a limit is a row, and the others go on.

    **Results that stay.** With ``result_cache``, a folder, each point is written there when it ends, and found again by
    the same machine, simulator, firmware and measuring code. A sweep that was killed goes on where it was, and several
    may share a folder. Points that came to a limit run again where the limit is higher. ``progress`` shows how far the
    sweep is on standard error.

    Raises `InputError` for bad input, invalid values of any point among it, before anything runs; `KeyboardInterrupt`
    when interrupted, which ends all points that run."""
    require_main_guard("sweep()")
    for name, value in (("config", config), ("text", text), ("program", program), ("result_cache", result_cache)):
        if value is not None and not isinstance(value, (str, os.PathLike)):
            raise InputError(f"{name}: {value!r} is no text")
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError("overrides: is no mapping of parameters to values")
    if not isinstance(statistics, Iterable):
        raise InputError(f"statistics: {statistics!r} is no list of patterns")
    begin_sweep()
    app_arguments = {
        "app": app,
        "size": size,
        "gpus": gpus,
        "placement": placement,
        "dispatch": dispatch,
        "initrd": initrd,
        "option": option,
    }
    common = Task(
        config=None if config is None else os.fspath(config),
        text=text,
        app={name: value for name, value in app_arguments.items() if value not in (None, "")},
        program=os.fspath(program),
        append=append,
        overrides=flatten(overrides, {}),
        plugins=resolve_plugins(plugins),
        time=time,
        function=function,
        warm_up=warm_up,
    )
    patterns = (statistics,) if isinstance(statistics, str) else tuple(statistics)
    limits = limits_of(time_limit, memory_limit)
    where = executor_of(executor, jobs, scheduler, branch)
    cache = None if result_cache is None else ResultCache(result_cache)

    def run(chosen: list[Point]) -> list[Record]:
        shown = Progress(progress)
        return run_points(common, chosen, limits=limits, executor=where, result_cache=cache, progress=shown)

    if sampler is None:
        found = expand_points(grid, points, constraints, repeat)
        return frame_of(found, run(found), patterns)
    if grid is not None or points is not None:
        raise InputError("sampler: stands in the place of grid and points")
    found, records = list[Point](), list[Record]()
    while batch := sampler.next_points(frame_of(found, records, patterns, warn=False)):
        chosen = expand_points(None, batch, constraints, repeat, may_be_empty=True)
        found, records = found + chosen, records + run(chosen)
    return frame_of(found, records, patterns)


def run_points(
    common: Task,
    points: Sequence[Point],
    *,
    limits: Limits,
    executor: Executor,
    result_cache: ResultCache | None,
    progress: Progress,
    study: str = "sweep",
    on_record: OnRecord = lambda index, record: None,
) -> list[Record]:
    """Records of all points, in their order. Points that the result cache has are not run; others are written there as
    they end. Raises `InputError` before any runs if one is invalid."""
    tasks = check_points(common, points)
    keys = [key_of(task) for task in tasks] if result_cache is not None else []
    read = ReadFiles()
    records: dict[int, Record] = {}
    for index, key in enumerate(keys):
        assert result_cache is not None  # there are keys
        stored = result_cache.find(key)
        if stored is not None and says_enough(stored, limits):
            records[index] = _as_row(points[index], stored.record)
            on_record(index, records[index])
    left = [index for index in range(len(tasks)) if index not in records]
    progress.found(study, len(records), len(tasks))
    with progress.stage(study, [1.0] * len(left), [name_of(points[index]) for index in left]) as stage:

        def on_result(place: int, record: Record) -> None:
            index, record = left[place], _writable(record)
            if result_cache is not None and not record.killed_from_outside and read.are_the_same():
                result_cache.put(keys[index], study, points[index], limits, record)
            records[index] = _as_row(points[index], record)
            on_record(index, records[index])
            stage(place, record.wall_s)

        executor.run([tasks[index] for index in left], limits, on_result, stage.alive)
    return [records[index] for index in range(len(tasks))]


def _writable(record: Record) -> Record:
    """The record with texts that a file can hold, or that the point has failed: no file has its number."""
    large = [name for name, value in record.values.items() if isinstance(value, int) and value.bit_length() > MAX_BITS]
    if large:
        error = f"{_of_characters(large[0])}: is a whole number of more than {MAX_BITS:,} bits"
        return dataclasses.replace(record, outcome=PointOutcome.FAILED, error=error, values={})
    values = {
        _of_characters(name): _of_characters(value) if isinstance(value, str) else value
        for name, value in record.values.items()
    }
    return dataclasses.replace(record, error=_of_characters(record.error), values=values)


def _of_characters(text: str) -> str:
    """A text without halves of surrogate pairs, as Python has bytes that are not UTF-8."""
    return text.encode(errors="backslashreplace").decode()


def _as_row(point: Point, record: Record) -> Record:
    """The record, or that the point has failed: a value with the name of a parameter has no column. The same point may
    have other parameters in another sweep, so that the result cache has the record as it was measured."""
    both = [name for name in record.values if name in point]
    if not both:
        return record
    error = f"{both[0]}: is a parameter of the point: give the value another name"
    return dataclasses.replace(record, outcome=PointOutcome.FAILED, error=error, values={})


def check_points(common: Task, points: Sequence[Point]) -> list[Task]:
    """Tasks of all points. Raises `InputError` for the first whose configuration or application is invalid."""
    if common.config is not None and common.text is not None:
        raise InputError("config and text: a sweep takes one of them")
    if common.warm_up is not None and common.function is None:
        raise InputError("warm_up: needs a function, which gets the warmed-up machine")
    tasks = []
    for point in points:
        for name in point:
            if name in ABOUT:
                raise InputError(f"{name}: is a column of every table: give the parameter another name")
        task = task_of(common, point)
        if task.config is None and task.text is None and (task.function is None or task.warm_up is not None):
            raise InputError("config: none is given")
        if task.config is None and task.text is None:
            _check_alone(task)
        if task.function is not None and task.time is not None:
            raise InputError("time: the function drives the machine, and says how long it runs")
        if task.time is not None:
            try:
                to_picoseconds(task.time)
            except TypeError as error:
                raise InputError(f"time: {error}") from None
        parse_app_requests(task.app.get("app"), **{name: v for name, v in task.app.items() if name != "app"})
        try:
            check_configuration(task)
        except InputError as error:
            raise InputError(f"point {name_of(point)}: {error}" if point else str(error)) from None
        tasks.append(task)
    return tasks


def _check_alone(task: Task) -> None:
    """Raises `InputError` for what belongs to a machine of the sweep where the function makes its own."""
    parts = {"overrides": task.overrides, "program": task.program, "append": task.append, "plugins": task.plugins}
    given = [*(name for name, value in parts.items() if value), *task.app, *(["time"] if task.time is not None else [])]
    if given:
        raise InputError(f"{given[0]}: without a config, the function makes its own machine, which would not have it")


def limits_of(time_limit: float | None, memory_limit: str | int | None) -> Limits:
    """Limits as users write them. Raises `InputError`."""
    time_s = None if time_limit is None else seconds(time_limit)
    memory = _fabricvp.parse_bytes(memory_limit) if isinstance(memory_limit, str) else memory_limit
    if time_s is not None and time_s <= 0:
        raise InputError("time_limit: seconds of wall time, above 0")
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, int) or memory < 1):
        raise InputError("memory_limit: bytes, above 0")
    return Limits(time_s, memory)


def executor_of(
    executor: str | Executor, jobs: int | None, scheduler: str | None = None, branch: bool = True
) -> Executor:
    """An executor by name. Raises `InputError`."""
    if not isinstance(executor, str):
        return executor
    if executor not in EXECUTORS:
        raise InputError(f"executor: '{executor}' is not known; there are {' and '.join(EXECUTORS)}")
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or not 1 <= jobs <= 1024):
        raise InputError(f"jobs: {jobs} is not a number of 1 … 1024")
    if executor == "dask":
        return Dask(scheduler, jobs or len(os.sched_getaffinity(0)), branch)
    if scheduler is not None:
        raise InputError("scheduler: is for the executor dask")
    return Processes(jobs, branch)
