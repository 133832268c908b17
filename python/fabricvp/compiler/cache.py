# SPDX-License-Identifier: Apache-2.0
"""Compiled objects, kept by content. Those that were used last stay."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

MAX_BYTES = 256 << 20


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
        data = path.read_bytes()
    except FileNotFoundError:
        pass
    else:
        with contextlib.suppress(OSError):
            os.utime(path)  # its time says when it was used
        return data
    data = make()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
    _shrink(path.parent, path)
    return data


def _shrink(path: Path, newest: Path) -> None:
    """Removes objects that were not used for the longest time, until the others have at most `MAX_BYTES`."""
    found = []
    for entry in path.iterdir():
        with contextlib.suppress(OSError):  # another process may remove it
            status = entry.stat()
            found.append((entry != newest, -status.st_mtime_ns, status.st_size, entry))
    total = 0
    for _, _, size, entry in sorted(found):
        total += size
        if total > MAX_BYTES and entry != newest:
            with contextlib.suppress(OSError):
                entry.unlink()
