# SPDX-License-Identifier: Apache-2.0
"""What a process is given to measure, and what comes back."""

from __future__ import annotations

import enum
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from ..gpu import PerNode
from ..overrides import flatten
from ..plugins import Plugins
from ..units import Time

#: Arguments of an application that points may have, beside ``app`` itself.
APP_ARGUMENTS = ("size", "gpus", "placement", "dispatch", "initrd", "option")
#: Parameters of a point that are neither paths of the configuration nor arguments of a function.
OWN_PARAMETERS = ("config", "app", *APP_ARGUMENTS, "program", "append")


class PointOutcome(enum.StrEnum):
    """How a point ended. Members compare equal to their text."""

    OK = "ok"
    FAILED = "failed"  #: invalid input, a guest that failed, or an exception
    CRASHED = "crashed"  #: its process died
    TIMED_OUT = "timed out"  #: longer than the limit of wall time
    OUT_OF_MEMORY = "out of memory"  #: more than the limit, or than there is


@dataclass(frozen=True)
class Task:
    """One point, ready to be measured in any process."""

    config: str | None = None  #: a file or the name of a stock machine; None: ``function`` makes its own
    text: str | None = None  #: YAML in the place of ``config``
    app: Mapping[str, PerNode] = field(default_factory=dict)
    program: str = ""
    append: str = ""
    overrides: Mapping[str, str] = field(default_factory=dict)
    plugins: Plugins = ()
    time: Time | None = None  #: simulated; None: until the machine ends
    function: Callable[..., Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    warm_up: Callable[..., Any] | None = None  #: what happens to the machine before ``function`` has it
    any_value: bool = False  #: what ``function`` gives is no row of a table: it is kept as "value", whatever it is


@dataclass
class Record:
    """What a point gave. ``error`` is one line, ``log`` the end of what its process wrote."""

    outcome: PointOutcome
    error: str = ""
    log: str = ""
    wall_s: float = 0.0
    ended: str = ""  #: why the machine's run ended (`fabricvp.Outcome`)
    values: dict[str, Any] = field(default_factory=dict)  #: that the function gave
    statistics: dict[str, float] = field(default_factory=dict)
    regions: dict[str, dict[str, float]] = field(default_factory=dict)  #: by label
    killed_from_outside: bool = False  #: by SIGKILL that no limit explains: says nothing about the point
    branched: bool = False  #: from a machine that had been warmed up for other points, too


def task_of(common: Task, point: Mapping[str, Any]) -> Task:
    """A point as a task: ``common`` is what all points share. Raises `InputError` for a parameter that nothing
    takes."""
    accepted = _accepted(common.function)
    own: dict[str, Any] = {}
    arguments: dict[str, Any] = dict(common.arguments)
    paths: dict[str, Any] = {}
    for name, value in point.items():
        if accepted is not None and (name in accepted):
            arguments[name] = value
        elif name in OWN_PARAMETERS:
            own[name] = value
        elif accepted is not None and "**" in accepted and "." not in name and "__" not in name:
            arguments[name] = value
        else:
            path = name.replace("__", ".")
            if path in paths:
                raise InputError(f"{path}: is a parameter of the point twice, with dots and with underscores")
            paths[path] = value
    config = own.get("config", common.config)
    if config is None and common.text is None and (paths or set(own) - {"config"}):
        if common.function is None:
            raise InputError("config: none is given")
        raise InputError(f"{next(iter([*paths, *own]))}: the function takes no such argument, and there is no config")
    app = {**common.app, **{name: own[name] for name in ("app", *APP_ARGUMENTS) if name in own}}
    return Task(
        config if config is None else os.fspath(config),
        common.text if "config" not in own else None,
        app,
        os.fspath(own.get("program", common.program)),
        str(own.get("append", common.append)),
        {**common.overrides, **flatten(paths, {})},
        common.plugins,
        common.time,
        common.function,
        arguments,
        common.warm_up,
    )


def _accepted(function: Callable[..., Any] | None) -> set[str] | None:
    """Names of arguments that a function takes, "**" among them if it takes any; None without a function."""
    if function is None:
        return None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InputError(f"function: {function!r} does not tell its arguments: give one of Python") from None
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return named | {"**" for p in parameters if p.kind is p.VAR_KEYWORD}
