# SPDX-License-Identifier: Apache-2.0
"""The key of a result: a hash over all that it follows from, the same on every machine."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .. import _fabricvp
from ..data import resolve_config
from ..errors import InputError
from ..overrides import flatten
from ..plugins import load_plugins
from .code_hash import PACKAGE, clear_hashes, function_hash, imports_hash, modules_hash, simulator_hash
from .read_files import note_file
from .task import Task

#: Goes up when results with the same key mean something else.
FORMAT = 2
#: What `make linux` makes has this in its path.
_MADE = "build/linux/"
#: Seconds for which a file that has changed is read each time: clocks of file systems tick every few milliseconds, so
#: another change may leave the same time and size.
_FRESH_S = 2.0
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
        "app": {name: _image(value) if name == "initrd" else _described(value) for name, value in task.app.items()},
        "images": [_image(task.program), task.append],
        "plugins": [_plugin(plugin) for plugin in (*task.plugins, *_plugins_of_machine(task))],
        "time": _described(task.time),
        "warm_up": function_hash(task.warm_up),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def begin_sweep() -> None:
    """To be called before the keys of a sweep: files may have changed since an earlier one of this process."""
    clear_hashes()
    resolved.cache_clear()
    _plugins_named.cache_clear()
    _hash_at.cache_clear()


def machine_hash(file: str) -> str:
    """A hash over the resolved configuration of a machine's file, with the contents of images, and over its plug-ins
    with what they import; empty for a file that is no machine's."""
    task = Task(config=file)
    try:
        parts = [_configuration(task), *map(_plugin, _plugins_of_machine(task))]
    except InputError:
        return ""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def check_configuration(task: Task) -> None:
    """Raises `InputError` for a configuration, or overrides of one, that cannot be read."""
    load_plugins(task.plugins)  # kinds that the configuration names
    _resolved(task)


@functools.lru_cache(maxsize=4096)
def resolved(config: str | None, text: str | None, overrides: tuple[tuple[str, str], ...]) -> str:
    """A configuration with every parameter. Raises `InputError`."""
    return _fabricvp.resolved_parameters(*_read(config, text), list(overrides))


def _resolved(task: Task) -> str:
    """Empty where there is no machine."""
    if task.config is None and task.text is None:
        return ""
    return resolved(task.config, task.text, tuple(sorted(flatten(task.overrides, {}).items())))


def _read(config: str | None, text: str | None) -> tuple[str, str]:
    """A configuration, and its name in messages."""
    if text is not None:
        return text, "text"
    assert config is not None
    path = resolve_config(config)
    note_file(path)
    try:
        return Path(path).read_text(encoding="utf-8"), path
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no UTF-8") from None


def _configuration(task: Task) -> str:
    """The resolved configuration, in which files count with their names and what they hold, wherever they lie."""
    folder = Path(resolve_config(task.config)).parent if task.config is not None else Path()

    @functools.cache
    def by_contents(value: str) -> str:
        parsed = _parsed(value)
        if isinstance(parsed, list):
            parts = [of_name(name, name) for name in parsed]
            return f"[{', '.join(parts)}]" if parts != parsed else value
        return of_name(parsed, value)

    def of_name(name: str, otherwise: str) -> str:
        file = _image_file(os.path.join(folder, name)) if name else None
        if file is not None:
            return f"{file.name} {_hash_of(file)}"
        return f"{name.rpartition(_MADE)[2]} is not there" if _MADE in name else otherwise

    lines = (line.partition(": ") for line in _resolved(task).splitlines())
    return "\n".join(f"{name}{colon}{by_contents(value)}" for name, colon, value in lines)


@functools.lru_cache(maxsize=4096)
def _parsed(value: str) -> str | list[str]:
    """A value of the resolved configuration: a text without its quotes, or a list of texts."""
    if not value.startswith(('"', "[")):
        return value
    try:
        found = yaml.load(value, Loader=yaml.BaseLoader)
    except yaml.YAMLError:  # characters that its parser does not take
        return value.strip('"')
    if isinstance(found, list):
        return found if all(isinstance(each, str) for each in found) else value
    return str(found)


def _plugins_of_machine(task: Task) -> tuple[str, ...]:
    """Files of plug-ins that the configuration names; the resolved one no longer does."""
    return () if task.config is None and task.text is None else _plugins_named(task.config, task.text)


@functools.lru_cache(maxsize=4096)
def _plugins_named(config: str | None, text: str | None) -> tuple[str, ...]:
    files = _named_by_text(text) if text is not None else _fabricvp.config_files(resolve_config(str(config)))
    for file in files:
        note_file(file)
    return tuple(file for file in files[text is None :] if not file.endswith((".yaml", ".yml")))  # bases are resolved


def _named_by_text(text: str) -> list[str]:
    """Plug-ins, and what the configuration below consists of. Paths start where the sweep runs."""
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise InputError(f"text: not valid YAML: {str(error).partition(chr(10))[0]}") from None
    named = {key.value: value.value for key, value in top.value} if top is not None else {}
    files = [item.value for item in named.get("plugins", ())]
    if base := named.get("base"):
        files += _fabricvp.config_files(base if os.path.isfile(base) else resolve_config(base))
    return files


def _plugin(plugin: Any) -> Any:
    """A file counts with what it imports, too, such as modules beside it."""
    return [_described(plugin), imports_hash(Path(plugin))] if str(plugin).endswith(".py") else _described(plugin)


def _image(value: Any) -> Any:
    """A file, or a list of files, by contents alone."""
    if isinstance(value, (list, tuple)):
        return [_image(each) for each in value]
    file = _image_file(value) if value and isinstance(value, (str, os.PathLike)) else None
    return _hash_of(file) if file is not None else _described(value)


def _image_file(name: str | os.PathLike[str]) -> Path | None:
    """The file that a machine reads; in the place of what `make linux` has not made, as in a package, the copy that
    `fabricvp linux fetch` has brought. None: there is no such file."""
    if os.path.isfile(name):
        return Path(name)
    made = os.path.normpath(name)
    copy = os.path.join(_fabricvp.linux_folder(), os.path.basename(made)) if _MADE in made else ""
    return Path(copy) if os.path.isfile(copy) else None


def _hash_of(path: Path) -> str:
    """Over what a file holds. Raises `InputError` for one that cannot be read."""
    note_file(path)
    try:
        about = path.stat()
        if time.time() - about.st_mtime < _FRESH_S:
            return _hash_at.__wrapped__(path, about.st_mtime_ns, about.st_size)
        return _hash_at(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


@functools.lru_cache(maxsize=4096)
def _hash_at(path: Path, time_ns: int, size: int) -> str:
    """Of a file as it is at this time: an image may have 100 MB, and all points of a sweep name it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
