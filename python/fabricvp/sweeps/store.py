# SPDX-License-Identifier: Apache-2.0
"""The result cache: a folder with one Parquet file a point, by its key.

A file has all statistics (columns region, path, value), so that another choice of them costs no new runs; the rest of
the record stands as JSON in its metadata. It is written under another name first and renamed: readers, of this machine
or of another that shares the folder, see all of it or nothing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from .code_hash import simulator_hash
from .columns import ABOUT
from .process import Limits
from .task import PointOutcome, Record

_METADATA = b"fabricvp"
#: The name of a point's file, as a regular expression.
_KEY = r"[0-9a-f]{32}"


@dataclass(frozen=True)
class Stored:
    """A point in the cache."""

    key: str
    version: str  #: of fabricvp that measured it
    simulator: str  #: hash of the simulator with its firmware and machines
    study: str
    point: dict[str, Any]
    limits: Limits
    record: Record
    file: Path


class ResultCache:
    """A folder of measured points. Raises `InputError` if it cannot be made."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written to ({error.strerror})") from None

    def find(self, key: str) -> Stored | None:
        """The point of a key; None if it is not there, or cannot be read."""
        return read_point(self._path(key))

    def put(self, key: str, study: str, point: Mapping[str, Any], limits: Limits, record: Record) -> None:
        """Writes a point at once. Raises `InputError` if it cannot be written."""
        import pyarrow
        import pyarrow.parquet

        rows = [("", path, value) for path, value in record.statistics.items()]
        rows += [(region, path, value) for region, values in record.regions.items() for path, value in values.items()]
        about = {
            "version": __version__,
            "simulator": simulator_hash(),
            "study": study,
            "point": {name: _plain(value) for name, value in point.items()},
            "limits": [limits.time_s, limits.memory],
            "regions": list(record.regions),
            **{name: getattr(record, name) for name in (*ABOUT, "values")},
        }
        columns = list(zip(*rows)) or [(), (), ()]
        table = pyarrow.table(
            {
                "region": pyarrow.array(columns[0], pyarrow.string()).dictionary_encode(),
                "path": pyarrow.array(columns[1], pyarrow.string()),
                "value": pyarrow.array(columns[2], pyarrow.float64()),
            }
        ).replace_schema_metadata({_METADATA: json.dumps(about)})
        path = self._path(key)
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")  # computers that share the folder share numbers
        try:
            path.parent.mkdir(exist_ok=True)
            with part.open("wb") as file:
                pyarrow.parquet.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None

    def points(self) -> Iterator[Stored]:
        """All points that can be read, without their statistics, in the order of their keys."""
        for file in self.files():
            stored = read_point(file, statistics=False)
            if stored is not None:
                yield stored

    def files(self) -> list[Path]:
        """Files of points; others of the folder are not the cache's."""
        return self._in_its_folder("*.parquet", rf"{_KEY}\.parquet")

    def unfinished(self) -> list[Path]:
        """Files that are being written, or were when their writer was killed."""
        return self._in_its_folder(".*.part", rf"\.{_KEY}\.parquet\.[0-9a-f]{{32}}\.part")

    def earlier(self) -> list[Path]:
        """Files of experiments' points as earlier versions wrote them, which nothing reads any more."""
        return sorted(file for file in self.folder.glob("*.point") if re.fullmatch(rf"{_KEY}\.point", file.name))

    def _in_its_folder(self, glob: str, name: str) -> list[Path]:
        found = (file for file in self.folder.glob(f"??/{glob}") if re.fullmatch(name, file.name))
        return sorted(file for file in found if file.name.lstrip(".")[:2] == file.parent.name)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.parquet"


def read_point(file: Path, statistics: bool = True) -> Stored | None:
    """A point's file, without ``statistics`` the metadata alone; None if it is not there, or is not one."""
    try:
        return parse_point(file, statistics)
    except OSError:
        return None


def parse_point(file: Path, statistics: bool = True) -> Stored | None:
    """As `read_point()`, but raises `OSError` for a file that cannot be looked at, which may be one."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(file) if statistics else None
        schema = table.schema if table is not None else pyarrow.parquet.read_schema(file)
        about = json.loads(schema.metadata[_METADATA])
        record = Record(
            PointOutcome(about["outcome"]),
            about["error"],
            about["log"],
            about["wall_s"],
            about["ended"],
            about["values"],
            regions={region: {} for region in about["regions"]},
            branched=about["branched"],
        )
        columns = (table[name].to_pylist() for name in ("region", "path", "value")) if table is not None else ()
        for region, path, value in zip(*columns):
            (record.regions[region] if region else record.statistics)[path] = value
        return Stored(
            file.stem,
            about["version"],
            about["simulator"],
            about["study"],
            about["point"],
            Limits(*about["limits"]),
            record,
            file,
        )
    except OSError as error:
        if error.errno is not None:
            raise
        return None  # pyarrow's, for wrong contents
    except (pyarrow.ArrowException, KeyError, TypeError, ValueError):
        return None


def says_enough(stored: Stored, limits: Limits) -> bool:
    """Whether a point need not be run again: one that came to a limit is, where the limit is higher now."""
    if stored.record.outcome == PointOutcome.TIMED_OUT:
        return _covers(limits.time_s, stored.limits.time_s)
    if stored.record.outcome == PointOutcome.OUT_OF_MEMORY:
        return _covers(limits.memory, stored.limits.memory)
    return True


def _covers(now: float | None, then: float | None) -> bool:
    return then is None or (now is not None and now <= then)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
