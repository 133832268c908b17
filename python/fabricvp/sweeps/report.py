# SPDX-License-Identifier: Apache-2.0
"""What `fabricvp sweep` leaves in its folder: points.parquet, result.json, plots and a page."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import InputError
from ..experiments.frame import Plot, Report, Table
from ..experiments.writing import drawn, page, put, table_values
from ..plot import use_palette
from .columns import groupable, measured_columns, numbers_of
from .study import PlotRequest, Study, is_plot_name
from .study_sampler import outcome_of
from .task import PointOutcome, Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

#: Seconds after which a browser loads the page of a running sweep again.
REFRESH_S = 5
#: Rows on the page.
SHOWN = 200
#: Each plot is written as these.
PLOT_KINDS = ("png", "svg")


def remove_earlier(folder: Path, study: Study) -> None:
    """Removes what an earlier study has left beside the page, which would be taken for this one's until that ends; its
    points stay in the result cache. Raises `InputError`."""
    try:
        result = json.loads((folder / "result.json").read_bytes())
        drawn_then = [str(plot) for plot in result["plots"]] if "outcomes" in result else []  # else no sweep's
    except (OSError, ValueError, KeyError, TypeError):
        drawn_then = []
    plots = {name for name in (*drawn_then, *(plot.name for plot in study.plots)) if is_plot_name(name)}
    names = ["points.parquet", "points.csv", *(f"{name}.{kind}" for name in plots for kind in PLOT_KINDS)]
    for name in (*names, "result.json"):  # which names the plots: last
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be removed ({error.strerror})") from None


def write_table(folder: Path, frame: pandas.DataFrame, csv: bool = False) -> None:
    """Writes points.parquet, and points.csv if asked for. Columns become text that have several types,
    lists, or whole numbers of more than 64 bits. Raises `InputError`."""
    columns = {
        name: column.map(lambda value: None if _is_missing(value) else str(value)) if _is_mixed(column) else column
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
                for kind in PLOT_KINDS:
                    images[section.name] = drawn(section, kind)
                    _put(folder / f"{section.name}.{kind}", images[section.name])
    if len(frame):
        caption = "All points. points.parquet has the logs, too." if finished else "The points so far."
        report.table("points", frame.drop(columns="log"), caption, SHOWN)
    files = {"points": "points.parquet", "sampler": "result.json"} if finished else {}
    text = page(study.title, study.question, report, images, command, wall_s, 0 if finished else REFRESH_S, files)
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
        "plots": [section.name for section in report.sections if isinstance(section, Plot)],
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

    shown = frame[frame["outcome"] == "ok"]
    if shown.empty or request.x not in shown:
        return []
    why_not, y = _unfit(request, shown), shown.get(request.y)
    if why_not:
        warnings.warn(f"plot '{request.name}' is left out: {why_not}", stacklevel=3)
        return []
    assert y is not None  # _unfit() has looked
    shown = shown.assign(**{request.y: numbers_of(y), request.x: _places(shown[request.x])})
    shown = shown[shown[request.y].notna() & shown[request.x].notna()]
    if shown.empty:
        return []
    use_palette()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    groups = [*shown.groupby(groupable(frame[request.by]), sort=False)] if request.by else [("", shown)]
    every_x = list(dict.fromkeys(shown[request.x]))
    for number, (label, group) in enumerate(groups):
        _draw(axes, request, group, str(label), every_x, number, len(groups))
    if request.kind == "bars":
        axes.set_xticks(range(len(every_x)), [str(value) for value in every_x])
    axes.set_xlabel(request.x)
    axes.set_ylabel(request.y)
    for axis in request.log:
        plain_log(axes.xaxis if axis == "x" else axes.yaxis)
    if "x" in request.log:
        axes.set_xticks(sorted(set(shown[request.x])))
    if request.by:
        axes.legend(title=request.by)
    return [Plot(request.name, figure, request.caption or f"{request.y} over {request.x}")]


def _unfit(request: PlotRequest, shown: pandas.DataFrame) -> str:
    """Why points cannot be drawn; empty if they can."""
    if request.y not in shown:
        return f"no column '{request.y}' (there are: {', '.join(measured_columns(shown)) or 'none'})"
    if numbers_of(shown[request.y]) is None:
        return f"'{request.y}' has more than numbers"
    if "x" in request.log and _places(shown[request.x]).dtype == object:
        return f"'{request.x}' has more than numbers, which a logarithmic axis needs"
    return ""


def _places(column: pandas.Series) -> pandas.Series:
    """Values of x: numbers where all are, else all of them as text."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return column
    return column.map(str, na_action="ignore").astype(object)


def _draw(
    axes: Axes,
    request: PlotRequest,
    group: pandas.DataFrame,
    label: str,
    every_x: Sequence[Any],
    number: int,
    series: int,
) -> None:
    """One of so many series: the mean of all rows with the same x, with the range of them. Bars stand at the place that
    their x has among those of all series."""
    import numpy

    spread = group.groupby(request.x, sort=False)[request.y].agg(["mean", "min", "max"])
    mean = spread["mean"].to_numpy()
    errors = numpy.maximum([mean - spread["min"].to_numpy(), spread["max"].to_numpy() - mean], 0.0)  # but for rounding
    if request.kind == "bars":
        width = 0.8 / series
        places = [every_x.index(x) + (number - (series - 1) / 2) * width for x in spread.index]
        axes.bar(places, mean, width, yerr=errors, label=label)
    elif request.kind == "scatter":
        axes.scatter(group[request.x], group[request.y], label=label)
    else:
        axes.errorbar(list(spread.index), mean, yerr=errors, marker="o", capsize=3, label=label)


def _is_mixed(column: Any) -> bool:
    """Whether a file has no type for a column."""
    if column.dtype != object:
        return False
    values = [value for value in column if not _is_missing(value)]
    types = {type(value) for value in values}
    return len(types) > 1 or not types <= {bool, int, float, str} or any(map(_is_large, values))


def _is_large(value: Any) -> bool:
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 63


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _put(path: Path, contents: bytes) -> None:
    try:
        put(path, contents)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
