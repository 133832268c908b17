# SPDX-License-Identifier: Apache-2.0
"""Compiled objects, kept by content."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def folder() -> Path:
    """Where objects are kept: below XDG_CACHE_HOME, or `~/.cache`; a temporary folder where that cannot be written."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "fabricvp" / "kernels"
    try:
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path
    except OSError:
        pass
    path = Path(tempfile.gettempdir()) / f"fabricvp-kernels-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """The object of a name, made if it is not there. Names are digests of all that goes into the object."""
    path = folder() / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    data = make()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
    return data
