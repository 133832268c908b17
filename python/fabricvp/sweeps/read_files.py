# SPDX-License-Identifier: Apache-2.0
"""Files that keys of results have been made of: points read them later, so a change in between makes the keys wrong."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

#: Of each file as it was first read: nanoseconds of its last change, and bytes. None: it was not there.
_States = dict[str, tuple[int, int] | None]
_read: _States = {}


def read_bytes(file: Path) -> bytes:
    """What a file holds, for a key. Raises `OSError`."""
    note_file(file)
    return file.read_bytes()


def note_file(file: str | os.PathLike[str]) -> None:
    """To be called before a file is read for a key."""
    path = os.path.abspath(file)
    if path not in _read:
        _read[path] = _state(path)


def clear_files() -> None:
    """Keys are made anew."""
    _read.clear()


class ReadFiles:
    """The files of all keys so far."""

    def __init__(self) -> None:
        self._states = dict(_read)
        self._told = False

    def are_the_same(self) -> bool:
        """Whether none has changed since; warns of the first that has, once."""
        if self._told:
            return False
        changed = next((path for path, state in self._states.items() if _state(path) != state), None)
        if changed is not None:
            self._told = True
            warnings.warn(f"{changed} changed while the sweep ran: its results are not kept", stacklevel=3)
        return not self._told


def _state(path: str) -> tuple[int, int] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size
