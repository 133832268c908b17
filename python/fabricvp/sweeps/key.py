# SPDX-License-Identifier: Apache-2.0
"""The key of a result: a hash over all that it follows from, the same on every machine."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import _fabricvp
from ..data import resolve_config
from ..overrides import flatten
from ..plugins import load_plugins
from .code_hash import PACKAGE, clear_hashes, function_hash, modules_hash, simulator_hash
from .task import Task

#: Goes up when results with the same key mean something else.
FORMAT = 2
#: What measures a point, apart from the task's own function.
_MEASURING = (f"{PACKAGE}.sweeps.measure", f"{PACKAGE}.sweeps.task")


def key_of(task: Task) -> str:
    """32 hexadecimal digits. Raises as `check_configuration()`."""
    load_plugins(task.plugins)
    parts: dict[str, Any] = {
        "format": FORMAT,
        "simulator": simulator_hash(),
        "modules": modules_hash(*_MEASURING),
        "function": function_hash(task.function),
        "arguments": _described(task.arguments),
        "configuration": _configuration(task),
        "app": _described(task.app),
        "images": [_named_file(task.program), task.append],
        "plugins": [_described(plugin) for plugin in task.plugins],
        "time": _described(task.time),
        "warm_up": function_hash(task.warm_up),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def begin_sweep() -> None:
    """To be called before the keys of a sweep: files may have changed since an earlier one of this process."""
    clear_hashes()
    resolved.cache_clear()


def check_configuration(task: Task) -> None:
    """Raises `InputError` for a configuration, or overrides of one, that cannot be read."""
    load_plugins(task.plugins)  # kinds that the configuration names
    _configuration(task)


@functools.lru_cache(maxsize=4096)
def resolved(config: str | None, text: str | None, overrides: tuple[tuple[str, str], ...]) -> str:
    """A configuration with every parameter. Raises `InputError`."""
    if text is not None:
        return _fabricvp.resolved_parameters(text, "text", list(overrides))
    assert config is not None
    path = resolve_config(config)
    return _fabricvp.resolved_parameters(Path(path).read_text(), path, list(overrides))


def _configuration(task: Task) -> str:
    """The resolved configuration, in which files count with their names and what they hold, wherever they lie."""
    if task.config is None and task.text is None:
        return ""
    text = resolved(task.config, task.text, tuple(sorted(flatten(task.overrides, {}).items())))
    folder = Path(resolve_config(task.config)).parent if task.config is not None else Path()

    @functools.cache
    def by_contents(value: str) -> str:
        if value.startswith("["):
            return f"[{', '.join(map(by_contents, value[1:-1].split(', ')))}]"
        file = folder / value.strip('"')
        return f"{file.name} {_hash_of(file)}" if value.strip('"') and os.path.isfile(file) else value

    lines = (line.rpartition(": ") for line in text.splitlines())
    return "\n".join(f"{name}{colon}{by_contents(value)}" for name, colon, value in lines)


def _named_file(name: str) -> str:
    return _hash_of(Path(name)) if name and Path(name).is_file() else name


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _described(value: Any) -> Any:
    """A value as JSON has it; a file counts with its contents, too, whatever its folder is called."""
    if isinstance(value, Mapping):
        return {str(name): _described(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(each) for each in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and os.path.isfile(value):
        return [os.path.basename(value), _hash_of(Path(value))]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return function_hash(lambda: value) if not callable(value) else function_hash(value)
