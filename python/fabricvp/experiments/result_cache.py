# SPDX-License-Identifier: Apache-2.0
"""Points that have been measured, kept in a folder as they come: a run that is cut loses nothing, and experiments share
them.

A point is known by what it is measured with: the function, all code of this package and of the function's module, the
simulator, firmware, shipped machines, the point itself, and the files that it names. Whatever of these is another one
makes it another point."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .machines import Machine


class ResultCache:
    """A folder of measured points. Raises `InputError` if it cannot be made."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written to ({error.strerror})") from None

    def find(self, function: Callable[[Any], Any], point: Any) -> tuple[Any, list[Machine]] | None:
        """What the point gave, and the machines that it simulated; None if it is not there, or cannot be read."""
        try:
            with self._path(function, point).open("rb") as file:
                found = pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return None
        return found["value"], found["machines"]

    def put(self, function: Callable[[Any], Any], point: Any, value: Any, machines: list[Machine]) -> None:
        """Writes it at once; readers see all of it or nothing. Raises `InputError` if it cannot be written."""
        path = self._path(function, point)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with part.open("wb") as file:
                pickle.dump({"point": repr(point), "value": value, "machines": machines}, file)
            os.replace(part, path)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None

    def _path(self, function: Callable[[Any], Any], point: Any) -> Path:
        digest = hashlib.sha256(
            f"{_simulator()} {_code(function.__module__)} {function.__qualname__} {point!r}".encode()
        )
        for path in _files(point):
            digest.update(path.read_bytes())
        return self._folder / f"{digest.hexdigest()[:32]}.point"


def _files(value: Any) -> Iterator[Path]:
    """Those that a point names, such as machines of one's own, and the bases and plug-ins of these."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _files(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _files(item)
    elif isinstance(value, str) and 0 < len(value) < 1024 and "\n" not in value and os.path.isfile(value):
        yield Path(value)
        if value.endswith(".yaml"):
            from .. import _fabricvp

            yield from map(Path, _fabricvp.config_files(value))


@functools.cache
def _simulator() -> str:
    """One hash over the simulator, all code of this package, the firmware that comes with it, and its machines."""
    from .. import _fabricvp

    package = Path(__file__).resolve().parents[1]
    installed = Path(_fabricvp.__file__).resolve().parent
    digest = hashlib.sha256()
    for file in (_fabricvp.__file__, _fabricvp.library_file()):
        digest.update(Path(file).read_bytes())
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    for folder, pattern in (("firmware", "*.elf"), ("configs", "*.yaml")):
        root = next((root / folder for root in (installed, package) if (root / folder).is_dir()), None)
        for path in sorted(root.glob(pattern)) if root else ():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _code(module: str) -> str:
    """A hash over a module that is not of this package, whose code `_simulator()` has."""
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    return hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()
