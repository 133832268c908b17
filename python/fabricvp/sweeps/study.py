# SPDX-License-Identifier: Apache-2.0
"""Studies: sweeps described in YAML, for `fabricvp sweep`."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import InputError
from ..overrides import flatten
from ..units import to_picoseconds
from .api import check_points, limits_of
from .columns import DEFAULT_STATISTICS
from .constraints import Constraint
from .points import Point, expand_points
from .process import Limits
from .study_sampler import KINDS as SAMPLERS
from .study_sampler import StudySampler
from .task import APP_ARGUMENTS, Task
from .yaml_items import Item, read_yaml

KINDS = ("lines", "bars", "scatter")
_KEYS = (
    *("title", "question", "config", "app", *APP_ARGUMENTS, "program", "append", "function"),
    *("warm_up", "plugins", "set", "time"),
    *("grid", "points", *SAMPLERS, "constraints", "repeat", "keep", "plots", "limits"),
)
_PLOT_KEYS = ("name", "x", "y", "by", "kind", "log", "caption")
#: Parameters of a machine that are files.
_IMAGE = re.compile(r"\.(images\.(firmware|kernel|initrd)|image)$")
#: Characters.
_MAX_PLOT_NAME = 100


@dataclass(frozen=True)
class PlotRequest:
    """A plot of the table: ``y`` over ``x``, one colour for each value of ``by``, means over all else."""

    name: str
    x: str
    y: str
    by: str = ""
    kind: str = "lines"
    log: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Study:
    """A study that has been read and checked."""

    name: str
    title: str
    question: str
    common: Task
    points: list[Point]  #: with a sampler none: it chooses them
    expand: Callable[[list[Point]], list[Point]]  #: points of a sampler with all seeds, less those of constraints
    sampler: StudySampler | None = None
    statistics: tuple[str, ...] = DEFAULT_STATISTICS
    plots: list[PlotRequest] = field(default_factory=list)
    limits: Limits = Limits()


def read_study(path: str | os.PathLike[str]) -> Study:
    """Reads a study and checks everything that can be known before a point runs. Files that it names lie beside it.
    Raises `InputError` with file, line and key."""
    top = read_yaml(path)
    keys = top.keys_of(_KEYS)
    for item in keys.values():
        if item.value is None:
            item.fail("has no value")
    folder = Path(path).resolve().parent
    loaded: dict[Path, ModuleType] = {}
    common = Task(
        config=_config(keys.get("config"), folder),
        app={name: _value(name, keys[name], folder) for name in ("app", *APP_ARGUMENTS) if name in keys},
        program=_file(keys.get("program"), folder),
        append=keys["append"].text() if "append" in keys else "",
        overrides=_overrides(keys.get("set"), folder),
        plugins=[_file(item, folder) for item in keys["plugins"].items()] if "plugins" in keys else (),
        time=_time(keys.get("time")),
        function=_function(keys.get("function"), folder, loaded),
        warm_up=_function(keys.get("warm_up"), folder, loaded),
    )
    sampler = _sampler(keys, folder)
    points, expand = _points(keys, folder, top, sampler)
    _check(common, sampler.probes if sampler else points, keys, top)
    statistics = tuple(item.text() for item in keys["keep"].items()) if "keep" in keys else DEFAULT_STATISTICS
    if sampler is not None:
        _check_column(sampler, keys, common, statistics)
    name = Path(path).name.removesuffix(".yaml")
    return Study(
        name,
        keys["title"].text() if "title" in keys else name,
        keys["question"].text() if "question" in keys else "",
        common,
        [] if sampler else points,
        expand,
        sampler,
        statistics,
        _plots(keys["plots"].items(), sampler.probes if sampler else points) if "plots" in keys else [],
        _limits(keys.get("limits")),
    )


def _config(item: Item | None, folder: Path) -> str | None:
    """A file beside the study, or the name of a stock machine."""
    if item is None:
        return None
    beside = folder / item.text()
    return os.fspath(beside) if os.path.isfile(beside) else item.text()


def _file(item: Item | None, folder: Path) -> str:
    if item is None:
        return ""
    path = folder / item.text()
    if not os.path.isfile(path):  # unlike a path's own method, of any name
        item.fail(f"there is no file {path}")
    return os.fspath(path)


def _overrides(item: Item | None, folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, each in item.mapping().items() if item is not None else ():
        try:
            found |= flatten({name: each.plain()}, {})
        except InputError as error:
            raise InputError(f"{each.where}: set.{error}") from None
    return {name: _image(name, value, folder) for name, value in found.items()}


def _image(name: str, value: Any, folder: Path) -> Any:
    """A parameter's value; that of an image is the file beside the study, if there is one."""
    if isinstance(value, str) and value and _IMAGE.search(name.replace("__", ".")) and os.path.isfile(folder / value):
        return os.fspath(folder / value)
    return value


def _time(item: Item | None) -> str | None:
    return None if item is None else _converted(item, lambda text: (to_picoseconds(text), text)[1])


def _converted(item: Item, convert: Callable[[str], Any]) -> Any:
    try:
        return convert(item.text())
    except (InputError, ValueError) as error:
        item.fail(str(error))


def _function(item: Item | None, folder: Path, loaded: dict[Path, ModuleType]) -> Callable[..., Any] | None:
    """FILE.py:NAME. Each file is loaded once, so that what it defines is the same for all its functions."""
    if item is None:
        return None
    file, _, name = item.text().rpartition(":")
    path = Path(os.path.normpath(folder / file))
    if not file or not os.path.isfile(path):
        item.fail(f"'{item.value}' is not FILE.py:NAME of a file beside the study")
    if path not in loaded:
        loaded[path] = _load(item, path)
    function = getattr(loaded[path], name, None)
    if not inspect.isfunction(function):
        item.fail(f"there is no function '{name}' in {path}")
    return function


def _load(item: Item, path: Path) -> ModuleType:
    module_name = path.stem
    loaded = getattr(sys.modules.get(module_name), "__file__", None if module_name in sys.modules else os.fspath(path))
    if not module_name.isidentifier() or module_name in sys.stdlib_module_names or loaded != os.fspath(path):
        item.fail(f"'{path.name}' cannot be imported: its name is no identifier, or that of another module")
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None  # a file name has both
    sys.path.insert(0, os.fspath(path.parent))  # its processes import it, too
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        item.fail(f"{path}: {type(error).__name__}: {error}".partition("\n")[0])
    return module


def _sampler(keys: dict[str, Item], folder: Path) -> StudySampler | None:
    kind = next((kind for kind in SAMPLERS if kind in keys), None)
    if kind is None:
        return None
    for other in ("grid", "points", *SAMPLERS[SAMPLERS.index(kind) + 1 :]):
        if other in keys:
            keys[other].fail(f"there is {kind}, which chooses the points")
    return StudySampler(keys[kind], kind, lambda name, item: _value(name, item, folder))


def _check_column(sampler: StudySampler, keys: dict[str, Item], common: Task, statistics: Sequence[str]) -> None:
    """What a sampler looks at is a column; those of a function are known once a point has run."""
    found = ("wall_s", *sampler.space, *statistics)
    if common.function is None and not any(
        sampler.column == name or fnmatchcase(sampler.column, name) for name in found
    ):
        item = next(keys[kind] for kind in SAMPLERS if kind in keys).mapping()
        column = item.get("objective") or item["of"]
        column.fail(f"no column '{sampler.column}' (kept are: {', '.join(statistics)})")


def _points(
    keys: dict[str, Item], folder: Path, top: Item, sampler: StudySampler | None
) -> tuple[list[Point], Callable[[list[Point]], list[Point]]]:
    """All points, and what makes them of a sampler's."""
    given = sampler.probes if sampler else None
    if "points" in keys:
        given = [_point(item.mapping(), folder) for item in keys["points"].items()]
    grid: dict[str, list[Any]] = {}
    if "grid" in keys:
        for name, item in keys["grid"].mapping().items():
            grid[name] = [_value(name, each, folder) for each in item.items()]
            if not grid[name]:
                item.fail("there are no values")
    constraints = [_constraint(item) for item in keys["constraints"].items()] if "constraints" in keys else []
    repeat = keys["repeat"].plain() if "repeat" in keys else None
    blamed = keys.get("points") or keys.get("grid") or keys.get("repeat") or top

    def expand(chosen: list[Point]) -> list[Point]:
        return expand_points(None, chosen, constraints, repeat, may_be_empty=True)

    try:
        return expand_points(grid, given, constraints, repeat, may_be_empty=sampler is not None), expand
    except InputError as error:
        if str(error).startswith(top.where.rpartition(":")[0]):  # a constraint has told its line
            raise
        raise InputError(f"{_line_of(str(error).partition(':')[0], keys, blamed)}: {error}") from None


def _point(items: dict[str, Item], folder: Path) -> Point:
    return {name: _value(name, item, folder) for name, item in items.items()}


def _value(name: str, item: Item, folder: Path) -> Any:
    """A parameter's value; files lie beside the study."""
    if name == "config":
        return _config(item, folder)
    if name in ("program", "initrd") and item.value:
        return [_file(each, folder) for each in item.value] if isinstance(item.value, list) else _file(item, folder)
    return _image(name, item.plain(), folder)


def _constraint(item: Item) -> Callable[[Point], bool]:
    constraint = _converted(item, Constraint)

    def test(point: Point) -> bool:
        try:
            return bool(constraint(point))
        except InputError as error:
            raise InputError(f"{item.where}: {error}") from None

    return test


def _groups(keys: dict[str, Item]) -> list[dict[str, Item]]:
    """What maps parameters to values."""
    found = [keys[name].mapping() for name in ("grid", "set") if name in keys]
    return found + [keys[kind].mapping()["space"].mapping() for kind in SAMPLERS if kind in keys]


def _line_of(name: str, keys: dict[str, Item], otherwise: Item) -> str:
    """Where a parameter stands."""
    for parameters in _groups(keys):
        if name in parameters:
            return parameters[name].where
    return keys[name].where if name in keys else otherwise.where


def _check(common: Task, points: Sequence[Point], keys: dict[str, Item], top: Item) -> None:
    """Machines and applications of all points, with the line of what is wrong where a message names it."""
    try:
        check_points(common, points)
    except (InputError, TypeError, ValueError) as error:
        names = [name for parameters in _groups(keys) for name in parameters]
        names += [name for name in keys if name not in ("set", "grid", "points", *SAMPLERS)]
        blamed, _, text = str(error).partition(": ")
        key = "set" if blamed == "overrides" else blamed  # as Python and studies call it
        if key in keys:
            raise InputError(f"{keys[key].where}: {key}: {text}") from None
        named = [name for name in names if name in str(error)]
        if named:
            raise InputError(f"{_line_of(max(named, key=len), keys, top)}: {error}") from None
        raise InputError(f"{(keys.get('points') or top).where}: {error}") from None


def _plots(items: list[Item], points: Sequence[Point]) -> list[PlotRequest]:
    found: dict[str, PlotRequest] = {}
    for item in items:
        plot = _plot(item, points)
        if plot.name in found:
            item.mapping()["name"].fail(f"there are two plots '{plot.name}'")
        found[plot.name] = plot
    return list(found.values())


def is_plot_name(name: str) -> bool:
    """Whether files can be called so in any folder of results."""
    return len(name) <= _MAX_PLOT_NAME and name.replace("_", "").replace("-", "").isalnum()


def _plot(item: Item, points: Sequence[Point]) -> PlotRequest:
    keys = item.keys_of(_PLOT_KEYS)
    for needed in ("name", "x", "y"):
        if needed not in keys:
            item.fail(f"a plot needs {needed}")
    for axis in ("x", "by"):
        if axis in keys and not any(keys[axis].text() in point for point in points):
            keys[axis].fail(f"no parameter '{keys[axis].value}' (there are: {', '.join(points[0])})")
    if not is_plot_name(keys["name"].text()):
        keys["name"].fail(f"give at most {_MAX_PLOT_NAME} letters, digits, _ and -: it is a file's name")
    if "kind" in keys:
        keys["kind"].choice(KINDS)
    if "log" in keys:
        keys["log"].choice(("x", "y", "xy"))
        if "x" in keys["log"].text() and "kind" in keys and keys["kind"].text() == "bars":
            keys["log"].fail("bars stand side by side: their x has no scale")
    return PlotRequest(**{name: each.text() for name, each in keys.items()})


def _limits(item: Item | None) -> Limits:
    if item is None:
        return Limits()
    keys = item.keys_of(("time", "memory"))
    time_s = (
        _converted(keys["time"], lambda text: limits_of(to_picoseconds(text) / 1e12, None).time_s)
        if "time" in keys
        else None
    )
    memory = _converted(keys["memory"], lambda text: limits_of(None, text).memory) if "memory" in keys else None
    return Limits(time_s, memory)
