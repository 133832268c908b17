# SPDX-License-Identifier: Apache-2.0
"""Rows of a sweep's table: which statistics of which regions of interest become columns."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from .. import _fabricvp
from .task import Record

if TYPE_CHECKING:
    import pandas

#: Statistics that a table has unless others are asked for: simulated time, and that of each region.
DEFAULT_STATISTICS = ("sim.time_s", "*:time_s")
#: Beyond this, floating point does not hold each whole number: columns where points lack a value have another type.
_EXACT = 1 << 53
#: What a table says about each point beside what was measured.
ABOUT = ("outcome", "error", "ended", "wall_s", "branched", "log")


def measured_columns(frame: pandas.DataFrame) -> list[str]:
    """What a table has behind the parameters and what it says about each point."""
    return [str(name) for name in frame.columns[frame.columns.get_loc(ABOUT[-1]) + 1 :]]


def numbers_of(column: pandas.Series) -> pandas.Series | None:
    """A column as floating point, nan where it has nothing; None for one that has anything but numbers and truths."""
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(column) or all(value is None or isinstance(value, (bool, int, float)) for value in column):
        with contextlib.suppress(OverflowError):
            return column.astype(float)
    return None


def groupable(column: pandas.Series) -> pandas.Series:
    """A column by which rows can be grouped: lists, and whatever else cannot be compared by hash, are text."""
    return column.map(_text_of_list) if column.dtype == object else column


def _text_of_list(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value.tolist() if hasattr(value, "tolist") else value)


def frame_of(
    points: Sequence[Mapping[str, Any]], records: Sequence[Record], statistics: Sequence[str], warn: bool = True
) -> pandas.DataFrame:
    """One row a point: its parameters, how it ended, what its function gave, and statistics that a pattern matches.

    ``PATTERN`` is one of paths of the whole run, ``REGION:PATTERN`` one of paths of regions with such labels. A pattern
    that matches nothing though points are ok is warned of, unless ``warn`` is False. A value of the function takes the
    place of a statistic of the same name."""
    import pandas

    rows = []
    names = dict.fromkeys(name for point in points for name in point)  # of all: points may differ in their parameters
    for point, record in zip(points, records):
        about = {name: getattr(record, name) for name in ABOUT} | {"outcome": str(record.outcome)}
        # Values of the function stand before statistics and replace those of their names.
        rows.append({**about, **record.values, **chosen(record, statistics), **record.values, **point})
    measured = [record for record in records if record.statistics]
    for pattern in statistics if warn else ():
        if measured and pattern not in DEFAULT_STATISTICS and not any(chosen(r, [pattern]) for r in measured):
            warnings.warn(f"no statistic matches '{pattern}': {_why(measured[0], pattern)}", stacklevel=3)
    names |= dict.fromkeys(ABOUT) | dict.fromkeys(name for row in rows for name in row)
    frame = pandas.DataFrame(rows, columns=list(names))
    for name in [name for name, kind in frame.dtypes.items() if kind.kind == "f"]:
        values = [row.get(name) for row in rows]
        known = [value for value in values if value is not None]
        if any(abs(value) > _EXACT for value in known) and all(_is_whole(value) for value in known):
            fits = all(-(1 << 63) <= value < 1 << 63 for value in known)
            frame[name] = pandas.Series(values, dtype="Int64" if fits else object)
    return frame


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def chosen(record: Record, patterns: Sequence[str]) -> dict[str, float]:
    """Values by column; those of a region have its label and a colon before the path."""
    found: dict[str, float] = {}
    for pattern in patterns:
        label, colon, path = pattern.rpartition(":")
        if not colon:
            found |= _matching(record.statistics, path)
            continue
        for region, values in record.regions.items():
            if fnmatchcase(region, label):
                found |= {f"{region}:{each}": value for each, value in _matching(values, path).items()}
    return found


def _matching(values: Mapping[str, float], pattern: str) -> dict[str, float]:
    if pattern in values:  # the path itself, which may have brackets
        return {pattern: values[pattern]}
    return {path: value for path, value in values.items() if fnmatchcase(path, pattern)}


def _why(record: Record, pattern: str) -> str:
    label, colon, path = pattern.rpartition(":")
    if colon and not any(fnmatchcase(region, label) for region in record.regions):
        return f"the regions are {', '.join(record.regions) or 'none'}"
    return _fabricvp.why_unmatched(path, list(record.statistics))
