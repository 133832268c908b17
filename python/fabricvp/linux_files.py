# SPDX-License-Identifier: Apache-2.0
"""Files that come back from a program on Linux, in an archive on the exchange disk. The guest has written it, so
nothing of it is trusted: neither names nor sizes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from .disks import Disk
from .errors import InputError
from .linux_job import NOT_COLLECTED

MAX_FILES = 10_000


def collected(disk: Disk, state: int) -> dict[str, bytes]:
    """Files by their names in the program's working folder. ``state`` is what the mark of the program's end says.
    Raises `InputError` if they do not fit onto the disk, or the archive is malformed."""
    if state == NOT_COLLECTED:
        raise InputError(f"the files to collect cannot be had: more than {disk.size} bytes, or names with line ends")
    if not state:
        return {}
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BufferedReader(_Reader(disk), 1 << 20), mode="r|") as archive:
            for member in archive:
                if member.isreg() and not member.issparse() and member.size <= disk.size:
                    files[_checked(member.name)] = _data(archive, member)
                if len(files) > MAX_FILES:
                    raise InputError(f"more than {MAX_FILES} files to collect")
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise InputError(f"the archive of files to collect is malformed ({error})") from None
    return files


def _data(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    data = file.read() if file else b""
    if len(data) != member.size:
        raise InputError(f"the archive of files to collect ends inside of '{member.name}'")
    return data


def _checked(name: str) -> str:
    """The name with its folders, none of which leads anywhere else."""
    parts = name.removeprefix("./").split("/")
    if any(part in ("", ".", "..") or not part.isprintable() or "\\" in part for part in parts):
        raise InputError(f"a file to collect has a name that is none here: {name!r}")
    return "/".join(parts)


def place(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, which is made. Raises `InputError` if one cannot be written, or would lie outside of
    it, because of a link there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        root = folder.resolve()
        for name, data in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_symlink() or not target.parent.resolve().is_relative_to(root):
                raise InputError(f"{target}: a link leads out of {folder}")
            target.write_bytes(data)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: files cannot be written there ({error})") from None


class _Reader(io.RawIOBase):
    """The disk's bytes from its start on."""

    def __init__(self, disk: Disk) -> None:
        self._disk, self._at, self._size = disk, 0, disk.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._disk.read(self._at, min(len(view), self._size - self._at))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
