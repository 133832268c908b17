# SPDX-License-Identifier: Apache-2.0
"""What `fabricvp sweep` leaves in its folder: points.parquet, result.json, plots and a page."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import InputError
from ..experiments.frame import Plot, Report, Table
from ..experiments.writing import drawn, page, put, table_values
from ..plot import use_palette
from .study import PlotRequest, Study
from .study_sampler import outcome_of
from .task import PointOutcome, Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

#: Seconds after which a browser loads the page of a running sweep again.
REFRESH_S = 5
#: Rows on the page.
SHOWN = 200


def write_table(folder: Path, frame: pandas.DataFrame, csv: bool = False) -> None:
    """Writes points.parquet, and points.csv if asked for. Columns of several types become text. Raises
    `InputError`."""
    columns = {
        name: column.map(lambda value: value if value is None else str(value)) if _is_mixed(column) else column
        for name, column in frame.items()
    }
    file = io.BytesIO()
    type(frame)(columns).to_parquet(file, index=False, compression="zstd")
    _put(folder / "points.parquet", file.getvalue())
    if csv:
        _put(folder / "points.csv", frame.drop(columns="log").to_csv(index=False).encode())


def write_page(
    folder: Path,
    study: Study,
    frame: pandas.DataFrame,
    records: Sequence[Record],
    command: str,
    wall_s: float,
    finished: bool,
) -> None:
    """Writes index.html of the points so far; with plots, once all are there, and result.json last. Raises
    `InputError`."""
    report = Report()
    report.conclude(_summary(study, records))
    if finished and study.sampler is not None:
        words, table = outcome_of(study.sampler, frame)
        report.conclude(words)
        if len(table):
            report.table("sampler", table, "What the sampler found.", SHOWN)
    images: dict[str, bytes] = {}
    if finished:
        for request in study.plots:
            for section in _plots(request, frame):
                report.sections.append(section)
                for kind in ("png", "svg"):
                    images[section.name] = drawn(section, kind)
                    _put(folder / f"{section.name}.{kind}", images[section.name])
    if len(frame):
        report.table("points", frame.drop(columns="log"), "All points. points.parquet has the logs, too.", SHOWN)
    text = page(study.title, study.question, report, images, command, wall_s, 0 if finished else REFRESH_S)
    _put(folder / "index.html", text.encode())
    if finished:
        _put(folder / "result.json", _result(study, report, records, command, wall_s))


def _result(study: Study, report: Report, records: Sequence[Record], command: str, wall_s: float) -> bytes:
    outcomes = [str(record.outcome) for record in records]
    result = {
        "experiment": study.name,
        "version": __version__,
        "command": command,
        "wall_s": wall_s,
        "points": len(records),
        "outcomes": {name: outcomes.count(name) for name in map(str, PointOutcome) if name in outcomes},
        "tables": {s.name: table_values(s) for s in report.sections if isinstance(s, Table)},
    }
    return (json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _summary(study: Study, records: Sequence[Record]) -> str:
    bad = [record for record in records if record.outcome != PointOutcome.OK]
    of = f" of {len(study.points)}" if study.sampler is None else ""
    text = f"{len(records)}{of} points have been measured"
    return f"{text}; {len(bad)} did not end well: see the column outcome." if bad else f"{text}."


def _plots(request: PlotRequest, frame: pandas.DataFrame) -> list[Plot]:
    """One plot; none where no point has what it shows."""
    from matplotlib.figure import Figure

    from ..experiments.drawing import plain_log

    if request.y not in frame or request.x not in frame:
        return []
    shown = frame[(frame["outcome"] == "ok") & frame[request.y].notna()]
    if shown.empty:
        return []
    use_palette()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    groups = shown.groupby(request.by, sort=False) if request.by else [("", shown)]
    for number, (label, group) in enumerate(groups):
        _draw(axes, request, group, str(label), number, len(groups))
    axes.set_xlabel(request.x)
    axes.set_ylabel(request.y)
    for axis in request.log:
        plain_log(axes.xaxis if axis == "x" else axes.yaxis)
    if "x" in request.log:
        axes.set_xticks(sorted(set(shown[request.x])))
    if request.by:
        axes.legend(title=request.by)
    return [Plot(request.name, figure, request.caption or f"{request.y} over {request.x}")]


def _draw(axes: Axes, request: PlotRequest, group: pandas.DataFrame, label: str, number: int, series: int) -> None:
    """One series: the mean of all rows with the same x, with the range of them."""
    spread = group.groupby(request.x, sort=False)[request.y].agg(["mean", "min", "max"])
    mean = spread["mean"].to_numpy()
    errors = [mean - spread["min"].to_numpy(), spread["max"].to_numpy() - mean]
    if request.kind == "bars":
        width = 0.8 / series
        places = [place + (number - (series - 1) / 2) * width for place in range(len(spread))]
        axes.bar(places, mean, width, yerr=errors, label=label)
        axes.set_xticks(range(len(spread)), [str(value) for value in spread.index])
    elif request.kind == "scatter":
        axes.scatter(group[request.x], group[request.y], label=label)
    else:
        axes.errorbar(list(spread.index), mean, yerr=errors, marker="o", capsize=3, label=label)


def _is_mixed(column: Any) -> bool:
    return column.dtype == object and len({type(value) for value in column if value is not None}) > 1


def _put(path: Path, contents: bytes) -> None:
    try:
        put(path, contents)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
