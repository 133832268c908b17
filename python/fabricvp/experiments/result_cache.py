# SPDX-License-Identifier: Apache-2.0
"""Points that have been measured, kept in a folder as they come: a run that is cut loses nothing, and experiments share
them.

The folder is one of `fabricvp sweep` (../sweeps/store.py), so `fabricvp results` lists it. A point is known by what it
is measured with: the function's module with all that it imports, the simulator, firmware, shipped machines, the point
itself, and the files that it names, with images and plug-ins of machines among them. Whatever of these is another one
makes it another point."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..sweeps import store
from ..sweeps.code_hash import PACKAGE, function_hash, imports_hash, simulator_hash
from ..sweeps.encoding import decode, encode
from ..sweeps.key import begin_sweep, machine_hash
from ..sweeps.process import Limits
from ..sweeps.read_files import ReadFiles, read_bytes
from ..sweeps.task import PointOutcome, Record
from .machines import Machine


class ResultCache:
    """A folder of measured points. Raises `InputError` if it cannot be made."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._store = store.ResultCache(folder)
        begin_sweep()
        self._read = ReadFiles()

    def find(self, function: Callable[[Any], Any], point: Any) -> tuple[Any, list[Machine], float] | None:
        """What the point gave, the machines that it simulated, and the core seconds that it took; None if it is not
        there, or cannot be read."""
        stored = self._store.find(_key(function, point))
        self._read = ReadFiles()
        if stored is None:
            return None
        packages = {PACKAGE, function.__module__.partition(".")[0]}
        try:
            values = stored.record.values
            return decode(values["value"], packages), decode(values["machines"], packages), float(values["core_s"])
        except (KeyError, TypeError, ValueError):
            return None

    def put(
        self, function: Callable[[Any], Any], point: Any, value: Any, machines: list[Machine], core_s: float
    ) -> None:
        """Writes it at once; readers see all of it or nothing. It is not kept, with a warning, if a file that a key was
        made of has changed since it was looked for. Raises `InputError` if it cannot be written, or if the value is of
        a class that no file can hold (see ../sweeps/encoding.py)."""
        if not self._read.are_the_same():
            return
        try:
            values = {"value": encode(value), "machines": encode(machines), "core_s": core_s}
        except TypeError as error:
            raise InputError(f"{function.__module__}.{function.__qualname__}: {error}") from None
        record = Record(PointOutcome.OK, values=values)
        self._store.put(_key(function, point), function.__module__, _parameters(point), Limits(), record)


def _key(function: Callable[[Any], Any], point: Any) -> str:
    digest = hashlib.sha256(f"{simulator_hash()} {function_hash(function)} {point!r}".encode())
    for path in _files(point):
        digest.update(read_bytes(path))
        if path.suffix == ".yaml":
            digest.update(machine_hash(str(path)).encode())
        elif path.suffix == ".py":
            digest.update(imports_hash(path).encode())
    return digest.hexdigest()[:32]


def _parameters(point: Any) -> dict[str, Any]:
    """A point for people."""
    if is_dataclass(point) and not isinstance(point, type):
        return {field.name: getattr(point, field.name) for field in fields(point)}
    return {"point": point}


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
