# SPDX-License-Identifier: Apache-2.0
"""What an experiment leaves in its folder: result.json, table.csv, further tables, plots, index.html."""

from __future__ import annotations

import base64
import contextlib
import csv
import dataclasses
import io
import json
import math
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from .. import __version__, source_tree
from ..errors import InputError
from ..sweeps.code_hash import simulator_hash
from .frame import Experiment, Plot, Report, Row, SvgFigure, Table, Text
from .machines import hash_of_all


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a result took."""

    wall_s: float  #: of the run that ended with it
    core_s: float  #: with the points that runs before it had measured


def prepare_folder(folder: str) -> Path:
    """Makes the folder, so that a long run does not fail at its end. Raises `InputError`."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror})") from None
    return path


@contextlib.contextmanager
def removed_on_bad_input(*folders: Path) -> Iterator[None]:
    """Makes folders as `prepare_folder()`, and removes those that it made, and that nothing has been put into, where
    what follows raises `InputError`. Raises `InputError`."""
    made = list(dict.fromkeys(path for folder in folders for path in _missing(folder)))
    try:
        for folder in folders:
            prepare_folder(str(folder))
        yield
    except InputError:
        for path in sorted(made, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError):  # it holds something, or was not made
                path.rmdir()
        raise


def _missing(folder: Path) -> list[Path]:
    """The folder and those around it, as far as they are not there."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def write(
    folder: Path,
    experiment: Experiment,
    report: Report,
    command: str,
    cost: Cost,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Writes everything; result.json last. ``options`` are all of the experiment, those that were not given included.
    Raises `InputError` if a file cannot be written."""
    images: dict[str, bytes] = {}
    title = experiment.title_with(options or {})
    try:
        for section in report.sections:
            if isinstance(section, Table):
                put(folder / f"{section.name}.csv", section.frame.to_csv(index=False).encode())
            elif isinstance(section, Plot):
                for kind in ("png", "svg"):
                    images[section.name] = drawn(section, kind)
                    put(folder / f"{section.name}.{kind}", images[section.name])
            elif isinstance(section, SvgFigure):
                images[section.name] = section.svg.encode()
                put(folder / f"{section.name}.svg", images[section.name])
        put(folder / "table.csv", _rows_as_csv(report))
        put(folder / "index.html", page(title, experiment.question, report, images, command, cost.wall_s).encode())
        result = {
            **_origin(experiment, report, command, dict(options or {})),
            "title": title,
            "question": experiment.question,
            "cost": dataclasses.asdict(cost),
            "verdict": report.verdict,
            "plots": [
                {"name": s.name, "caption": s.caption} for s in report.sections if isinstance(s, (Plot, SvgFigure))
            ],
            "rows": [_row(r) for r in report.rows],
            "checks": [dataclasses.asdict(c) for c in report.checks],
            "tables": {s.name: table_values(s) for s in report.sections if isinstance(s, Table)},
        }
        put(folder / "result.json", (json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None


def _origin(experiment: Experiment, report: Report, command: str, options: dict[str, Any]) -> dict[str, Any]:
    """What is needed to reproduce the figures, and to check that they come from the same machines."""
    seeds = sorted({m.seed for m in report.machines})
    return {
        "experiment": experiment.name,
        "version": __version__,
        "commit": source_tree.commit(),
        "simulator_sha256": simulator_hash(),
        "code_sha256": experiment.code_hash,
        "command": command,
        "options": options,
        "seed": options.get("seed", seeds[0] if len(seeds) == 1 else seeds or None),
        "config_sha256": hash_of_all(report.machines),
        "machines": [dataclasses.asdict(m) for m in report.machines],
    }


def _row(row: Row) -> dict[str, Any]:
    """``missing`` is there where a figure is not."""
    return {name: value for name, value in dataclasses.asdict(row).items() if name != "missing" or value}


def table_values(table: Table) -> dict[str, Any]:
    """A figure that is not there is null."""
    rows = [[_finite(_plain(value)) for value in line] for line in table.frame.itertuples(index=False)]
    return {"columns": [str(name) for name in table.frame.columns], "rows": rows}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def drawn(plot: Plot, kind: str) -> bytes:
    """Light files, for pages to show: text stays text in SVG, lines are drawn as finely as one sees, PNG has a palette.
    The same picture gives the same file."""
    import matplotlib
    from PIL import Image

    image = io.BytesIO()
    if kind == "svg":
        with matplotlib.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": "fabricvp", "path.simplify_threshold": 0.5}
        ):
            plot.figure.savefig(image, format="svg", bbox_inches="tight", metadata={"Date": None})
        return image.getvalue()
    plot.figure.savefig(image, format="png", bbox_inches="tight", dpi=110)
    light = io.BytesIO()
    Image.open(image).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(light, "png", optimize=True)
    return light.getvalue()


def put(path: Path, contents: bytes) -> None:
    """Readers see the old or the whole new contents."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")  # others may write the same file
    try:
        part.write_bytes(contents)
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _rows_as_csv(report: Report) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["figure", "unit", "measured", "published", "source", "missing"])
    for r in report.rows:
        table.writerow(
            [
                r.figure,
                r.unit,
                "" if r.measured is None else r.measured,
                "" if r.published is None else r.published,
                r.source,
                r.missing,
            ]
        )
    return text.getvalue().encode()


def number(value: object) -> str:
    """A figure for people."""
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 or value == int(value) and abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _is_numeric(value: object) -> bool:
    """True for what stands to the right in a table."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) or value is None


def _plain(value: object) -> object:
    """Of numpy's scalars, Python's; None for what columns of whole numbers lack."""
    if type(value).__name__ == "NAType":  # of pandas: it cannot be compared, not even with itself
        return None
    return value.item() if hasattr(value, "item") else value


def template(name: str, folder: Path | None = None) -> Template:
    """A template of this folder, or of another one that uses those here."""
    folders = [Path(__file__).parent, *([folder] if folder else [])]
    pages = Environment(loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined)
    pages.filters["figure"] = lambda value: number(_plain(value))
    pages.tests["numeric"] = lambda value: _is_numeric(_plain(value))
    return pages.get_template(name)


def inlined(image: bytes) -> str:
    """A picture for the address of an `img`."""
    return base64.b64encode(image).decode()


def page(
    title: str,
    question: str,
    report: Report,
    images: dict[str, bytes],
    command: str,
    wall_s: float,
    refresh_s: int = 0,
    files: Mapping[str, str] | None = None,
) -> str:
    """index.html, from page.html.jinja beside this file. Browsers load it again every ``refresh_s`` seconds, unless
    that is 0. ``files`` are those with all rows, by the names of tables (None: NAME.csv for each)."""
    if files is None:
        files = {section.name: f"{section.name}.csv" for section in report.sections if isinstance(section, Table)}
    kinds = {Text: "text", Table: "table", SvgFigure: "drawing", Plot: "plot"}
    return template("page.html.jinja").render(
        title=title,
        question=question,
        report=report,
        plots=[section for section in report.sections if isinstance(section, Plot)],
        sections=[(kinds[type(section)], section) for section in report.sections],
        files=files,
        images={name: inlined(image) for name, image in images.items()},
        command=command,
        wall_s=wall_s,
        refresh_s=refresh_s,
        version=__version__,
        configurations=hash_of_all(report.machines) if report.machines else "",
    )
