# SPDX-License-Identifier: Apache-2.0
"""What an experiment leaves in its folder: result.json, table.csv, further tables, plots, index.html."""

from __future__ import annotations

import base64
import csv
import dataclasses
import html
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from .frame import Experiment, Plot, Report, Row, SvgFigure, Table, Text
from .machines import hash_of_all

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #d5dbe3; padding-bottom: .2rem; }
table { border-collapse: collapse; font-size: .88rem; margin: .8rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e8ee; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #b3261e; font-weight: 600; } .good { color: #1b7f3b; }
.verdict { border-left: 3px solid #4a6fa5; padding-left: .8rem; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; }
figcaption, .quiet { color: #5a6675; font-size: .9rem; }
.wide { overflow-x: auto; }
"""


def prepare_folder(folder: str) -> Path:
    """Makes the folder, so that a long run does not fail at its end. Raises `InputError`."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror})") from None
    return path


def write(
    folder: Path,
    experiment: Experiment,
    report: Report,
    command: str,
    wall_s: float,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Writes everything; result.json last. ``options`` are all of the experiment, those that were not given included.
    Raises `InputError` if a file cannot be written."""
    images: dict[str, bytes] = {}
    try:
        for section in report.sections:
            if isinstance(section, Table):
                _put(folder / f"{section.name}.csv", section.frame.to_csv(index=False).encode())
            elif isinstance(section, Plot):
                for kind in ("png", "svg"):
                    images[section.name] = _drawn(section, kind)
                    _put(folder / f"{section.name}.{kind}", images[section.name])
            elif isinstance(section, SvgFigure):
                images[section.name] = section.svg.encode()
                _put(folder / f"{section.name}.svg", images[section.name])
        _put(folder / "table.csv", _rows_as_csv(report))
        _put(folder / "index.html", _page(experiment, report, images, command, wall_s).encode())
        result = {
            **_origin(experiment, report, command, dict(options or {})),
            "rows": [_row(r) for r in report.rows],
            "checks": [dataclasses.asdict(c) for c in report.checks],
        }
        _put(
            folder / "result.json", (json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
        )
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None


def _origin(experiment: Experiment, report: Report, command: str, options: dict[str, Any]) -> dict[str, Any]:
    """What is needed to reproduce the figures, and to check that they come from the same machines."""
    seeds = sorted({m.seed for m in report.machines})
    return {
        "experiment": experiment.name,
        "version": __version__,
        "command": command,
        "options": options,
        "seed": options.get("seed", seeds[0] if len(seeds) == 1 else seeds or None),
        "config_sha256": hash_of_all(report.machines),
        "machines": [dataclasses.asdict(m) for m in report.machines],
    }


def _row(row: Row) -> dict[str, Any]:
    """``missing`` is there where a figure is not."""
    return {name: value for name, value in dataclasses.asdict(row).items() if name != "missing" or value}


def _drawn(plot: Plot, kind: str) -> bytes:
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


def _put(path: Path, contents: bytes) -> None:
    """Readers see the old or the whole new contents."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(contents)
    os.replace(part, path)


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


def _html_table(heads: list[str], lines: list[list[object]]) -> str:
    def cell(value: object) -> str:
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool) or value is None
        return f"<td{' class=number' if numeric else ''}>{html.escape(number(value) if numeric else str(value))}</td>"

    body = "".join("<tr>" + "".join(map(cell, line)) + "</tr>" for line in lines)
    return f"<div class=wide><table><tr>{''.join(f'<th>{html.escape(h)}</th>' for h in heads)}</tr>{body}</table></div>"


def _figure(section: Plot | SvgFigure, images: Mapping[str, bytes]) -> str:
    data = base64.b64encode(images[section.name]).decode()
    return (
        f'<figure><img alt="{html.escape(section.caption)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{html.escape(section.caption)}</figcaption></figure>"
    )


def _page(experiment: Experiment, report: Report, images: dict[str, bytes], command: str, wall_s: float) -> str:
    parts = [f"<h1>{html.escape(experiment.title)}</h1><p>{html.escape(experiment.question)}</p>"]
    parts += [f"<p class=verdict>{html.escape(p)}</p>" for p in report.verdict]
    parts += [_figure(s, images) for s in report.sections if isinstance(s, Plot)]
    parts += [
        "<h2>Figures</h2>",
        _html_table(
            ["figure", "unit", "measured", "published", "source"],
            [
                [r.figure, r.unit, r.measured, r.published, f"not measured: {r.missing}" if r.missing else r.source]
                for r in report.rows
            ],
        ),
        "<h2>Invariants</h2><ul>",
    ]
    for c in report.checks:
        parts.append(
            f"<li><span class={'good' if c.ok else 'bad'}>{'holds' if c.ok else 'BROKEN'}</span> "
            f"<b>{html.escape(c.name)}</b>: {html.escape(c.detail)}</li>"
        )
    parts.append("</ul>")
    for s in report.sections:
        if isinstance(s, Text):
            parts.append(
                f"<h2>{html.escape(s.heading)}</h2>" + "".join(f"<p>{html.escape(p)}</p>" for p in s.paragraphs)
            )
        elif isinstance(s, Table):
            shown = s.frame.head(s.shown)
            lines = [[v.item() if hasattr(v, "item") else v for v in line] for line in shown.itertuples(index=False)]
            more = (
                f" The first {len(shown)} of {len(s.frame):,} rows; all are in {s.name}.csv."
                if len(shown) < len(s.frame)
                else ""
            )
            parts.append(
                _html_table(list(map(str, s.frame.columns)), lines)
                + f"<p class=quiet>{html.escape(s.caption + more)}</p>"
            )
        elif isinstance(s, SvgFigure):
            parts.append(_figure(s, images))
    parts.append(
        f"<h2>How this was made</h2><p><code>{html.escape(command)}</code>, {wall_s:,.0f} s, version {__version__}."
        f" Resolved configurations of all machines: SHA-256 <code>{hash_of_all(report.machines)}</code>; result.json"
        " has each.</p>"
    )
    return (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{html.escape(experiment.title)}</title><meta"
        " name=viewport"
        f" content='width=device-width'><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )
