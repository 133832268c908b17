# SPDX-License-Identifier: Apache-2.0
"""What page tables (page_tables.py) of several experiments have in common: text of figures, and tables put together
from a result's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .writing import number

if TYPE_CHECKING:
    import pandas

#: Tables of a result by name.
Frames = Mapping[str, "pandas.DataFrame"]
#: The order of rows, and of what a reader looks for first.
BACKENDS = ("CPU only", "HDN", "GDS", "GHN", "GHN, APU", "ComP-Net", "GPU-native")
EMPTY = ""


@dataclass(frozen=True)
class PageTable:
    """A table as a page shows it: every cell is text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table's lines."""
        lines = [self.columns, None, *self.rows]
        return "\n".join("|" + "---|" * len(self.columns) if row is None else _line(row) for row in lines)


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {_escaped(cell)} |" if cell else " |" for cell in cells)


def _escaped(cell: str) -> str:
    """A cell in which nothing ends it."""
    return " ".join(re.sub(r"(?<!\\)\|", r"\|", cell).splitlines())


def significant(digits: int) -> Callable[[float], str]:
    """Writes a figure with that many digits, zeros at the end included."""

    def written(value: float) -> str:
        if value != value:
            return "–"
        if abs(value) >= 10 ** (digits - 1):
            return f"{value:,.0f}"
        return f"{value:#.{digits}g}".rstrip(".")

    return written


def fixed(places: int) -> Callable[[float], str]:
    """Writes a figure with that many places behind the point."""
    return lambda value: "–" if value != value else f"{value:,.{places}f}"


def pivoted(
    frame: pandas.DataFrame,
    heading: str,
    rows: str,
    columns: str,
    value: str,
    written: Callable[[float], str],
    order: Iterable[Any] = (),
    row_name: Callable[[Any], str] = str,
    column_name: Callable[[Any], str] = str,
    missing: str = EMPTY,
) -> PageTable:
    """A line for each value of ``rows``, a column for each of ``columns``, in ``order`` or as they come."""
    known = {(r, c): v for r, c, v in zip(frame[rows], frame[columns], frame[value])}
    across = list(dict.fromkeys(frame[columns]))
    down = list(dict.fromkeys(frame[rows]))
    wanted = list(order)
    down.sort(key=lambda name: wanted.index(name) if name in wanted else len(wanted))
    cells = [[written(known[r, c]) if (r, c) in known else missing for c in across] for r in down]
    return PageTable((heading, *map(column_name, across)), [(row_name(r), *line) for r, line in zip(down, cells)])


def as_it_is(frame: pandas.DataFrame) -> PageTable:
    """All columns of a table of the result."""
    return PageTable(
        [str(c) for c in frame.columns], [[number(v) for v in line] for line in frame.itertuples(index=False)]
    )


def bytes_of(size: int) -> str:
    """A size in bytes as people write it."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"


class NoTable(LookupError):
    """A result has not what a table of the page is made of: it was made with other options."""


class Result(dict[str, "pandas.DataFrame"]):
    """The tables of a result by name. Raises `NoTable` for one that is not there."""

    def __missing__(self, name: str) -> pandas.DataFrame:
        raise NoTable(name)


def spread(frames: Frames) -> PageTable:
    """Figures on machines with perturbed clocks (perturbations.py)."""
    written = significant(4)
    rows = [
        (line.what, f"{line.runs}", written(line.mean), written(line.min), written(line.max))
        for line in frames["spread"].itertuples()
    ]
    return PageTable(("figure", "runs", "mean", "smallest", "largest"), rows)


def spread_grid(
    heading: str, digits: int = 4, rows: str = "row", columns: str = "column"
) -> Callable[[Frames], PageTable]:
    """Figures on machines with perturbed clocks by row and column: mean, and in parentheses the smallest and the
    largest where they differ."""
    written = significant(digits)

    def cell(mean: float, least: float, most: float) -> str:
        low, high = written(least), written(most)
        return written(mean) if low == high else f"{written(mean)} ({low} to {high})"

    def table(frames: Frames) -> PageTable:
        frame = frames["spread"]
        shown = [cell(*of) for of in zip(frame["mean"], frame["min"], frame["max"])]
        return pivoted(frame.assign(shown=shown), heading, rows, columns, "shown", str)

    return table


def figures_of(frames: Frames) -> dict[str, float]:
    """Measured figures of a result's rows, by name; nan where one is missing."""
    rows = frames["rows"]
    return {
        figure: float("nan") if value is None else float(value)
        for figure, value in zip(rows["figure"], rows["measured"])
    }


def as_published(value: float | None) -> str:
    """A published figure, without zeros at its end; nothing where there is none."""
    return EMPTY if value is None or value != value else f"{value:g}"


def in_percent(places: int = 1, sign: bool = False) -> Callable[[float], str]:
    """Writes a figure that is in % already, without the unit, and 0 without a sign."""

    def written(value: float) -> str:
        text = f"{value:{'+' if sign else ''}.{places}f}"
        return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")

    return written


def code(name: str) -> str:
    """A name as it is given to a program."""
    return f"`{name}`"


def count_of(size: int) -> str:
    """A size of a workload: in K and M from half a million on."""
    for unit, short in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= 1 << 19 and size % unit == 0:
            return f"{size // unit:,} {short}"
    return f"{size:,}"


def geometric(values: Iterable[float]) -> float:
    """The geometric mean."""
    from statistics import geometric_mean

    return geometric_mean(values)


def bold(text: str) -> str:
    """What a reader is to find first."""
    return f"**{text}**"


def times_on(
    path: Sequence[tuple[str, str]], components: Iterable[str], stages: Iterable[str], times: Iterable[float]
) -> list[float]:
    """The sum of spans on each part of a path; a part has a pattern of "component: stage". Raises `ValueError` for a
    span that belongs to no part, since the sum would lack it."""
    sums = [0.0] * len(path)
    for component, stage, time in zip(components, stages, times):
        fits = [i for i, (_, pattern) in enumerate(path) if re.search(pattern, f"{component}: {stage}")]
        if len(fits) != 1:
            raise ValueError(f"the span '{component}: {stage}' belongs to {len(fits)} parts of the path")
        sums[fits[0]] += float(time)
    return sums
