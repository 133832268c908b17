# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp docs`: figures of pages, from results of experiments.

A page has its tables and plots between markers:

    <!-- result: EXPERIMENT NAME -->
    a table, or ![a plot](FILE.png)
    <!-- end -->

What a page shows is kept beside it, in results/EXPERIMENT.json: each table with where its figures come from. Pages are
those of docs/experiments, and README.md of the tree."""

from __future__ import annotations

import datetime
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import ArgumentParser
from .errors import InputError
from .experiments.writing import put
from .printable import printable

if TYPE_CHECKING:
    from .experiments.page_layout import PageTable

MARKED = re.compile(
    r"^<!-- result: (?P<experiment>[\w-]+) (?P<name>\w+) -->\n(?P<body>.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL
)
BEGIN, END = re.compile(r"^<!-- result: .*-->$", re.MULTILINE), re.compile(r"^<!-- end -->$", re.MULTILINE)
#: What a result says of itself.
_TEXTS = ("version", "commit", "command", "config_sha256")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def main(argv: list[str]) -> int:
    """`fabricvp docs refresh DIR`: 0, or `InputError`."""
    parser = ArgumentParser(
        "docs",
        "Writes the figures of an experiment's result.json into the pages that show them: tables and plots between"
        " markers.",
        "fabricvp docs refresh results",
    )
    parser.add_argument("action", metavar="refresh", choices=["refresh"], help="rewrite tables and plots")
    parser.add_argument("results", metavar="DIR", help="a folder of `fabricvp experiment --out`")
    parser.add_argument(
        "--pages",
        metavar="DIR",
        default="docs/experiments",
        help="the folder of the pages (default: %(default)s); of DIR = TREE/docs/…, TREE/README.md is one",
    )
    given = parser.parse_args(argv)
    for line in refresh(Path(given.results), Path(given.pages)):
        print(line, file=sys.stderr if line.startswith("left ") else sys.stdout)
    return 0


def refresh(results: Path, pages: Path) -> list[str]:
    """Rewrites what pages show of this experiment; gives a line for each file that changed, and for each figure that
    the result does not have, which stays as it was. Raises `InputError`."""
    result = read_result(results)
    experiment = str(result["experiment"])
    if not pages.is_dir():
        raise InputError(f"{pages}: there is no such folder; --pages names the folder of the pages")
    store = pages / "results" / f"{experiment}.json"
    kept: dict[str, Any] = read_store(store) if store.exists() else {"experiment": experiment, "tables": {}}
    plain, made = tables_of(result)
    tables = {**plain, **made}
    plain = {name: table for name, table in plain.items() if name not in made}
    origin = origin_of(result, results)
    lines, found = [], False
    new: dict[Path, bytes] = {}  # written once all pages have been read

    def show(file: Path, contents: bytes) -> None:
        if not file.exists() or _read(file) != contents:
            new[file] = contents
            lines.append(str(file))

    for page in pages_in(pages):
        text = _text(page)
        check_markers(page, text)

        def written(match: re.Match[str], page: Path = page) -> str:
            nonlocal found
            if match["experiment"] != experiment:
                return match[0]
            found = True
            name, picture = match["name"], PICTURE.search(match["body"])
            if picture:
                drawn, shown = results / f"{name}.png", page.parent / picture[1]
                if not drawn.exists():
                    lines.append(f"left {shown}: {results} has no plot {name}")
                else:
                    show(shown, _read(drawn))
                return match[0]
            if name not in tables or name in plain and not _alike(tables[name], kept["tables"].get(name)):
                lines.append(f"left {page}: {results} has no table {name}")
                return match[0]
            table = tables[name]
            kept["tables"][name] = {
                "origin": origin,
                "columns": list(table.columns),
                "rows": [list(r) for r in table.rows],
            }
            return f"<!-- result: {experiment} {name} -->\n\n{table.markdown()}\n\n<!-- end -->"

        replaced = MARKED.sub(written, text)
        if replaced != text:
            show(page, replaced.encode())
    if not found:
        raise InputError(f"{pages}: no page shows figures of {experiment}")
    if shown := [r for r in result.get("rows", []) if r.get("published") is not None and r.get("measured") is not None]:
        kept["published"] = {"origin": origin, "rows": shown}
    show(store, store_text(kept).encode())
    try:
        store.parent.mkdir(exist_ok=True)
        for file, contents in new.items():
            put(file, contents)
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written ({error.strerror})") from None
    return lines


def pages_in(folder: Path) -> list[Path]:
    """The pages of a folder. If it is TREE/docs/…, TREE/README.md comes last."""
    readme = folder.parent.parent / "README.md"
    in_tree = folder.parent.name == "docs" and readme.exists()
    return sorted(folder.glob("*.md")) + [readme] * in_tree


def check_markers(page: Path, text: str) -> None:
    """Raises `InputError` for a marker that is not closed, or not written as the others."""
    whole = {match.start() for match in MARKED.finditer(text) if not BEGIN.search(match["body"])}
    for begin in BEGIN.finditer(text):
        if begin.start() not in whole:
            line = text.count("\n", 0, begin.start()) + 1
            raise InputError(
                f"{page}:{line}: '{begin[0]}' must be '<!-- result: EXPERIMENT NAME -->', with '<!-- end -->' behind"
                " its table or plot"
            )
    if len(END.findall(text)) != len(whole):
        raise InputError(f"{page}: more '<!-- end -->' than results")


def read_result(folder: Path) -> dict[str, Any]:
    """The result.json of an experiment's folder. Raises `InputError`."""
    result = _read_json(folder / "result.json")
    try:
        is_result = _is_result(result) and shlex.split(result.get("command") or "") is not None
    except ValueError:  # a quote that does not end
        is_result = False
    if not is_result:
        raise InputError(f"{folder / 'result.json'}: is not the result of `fabricvp experiment` of this version")
    return result


def _is_result(result: dict[str, Any]) -> bool:
    """Whether what is there has the shape that it should have."""
    rows: Any = result.get("rows") or []
    checks: Any = result.get("checks") or []
    cost: Any = result.get("cost") or {}
    texts = [result.get(name) or "" for name in _TEXTS]
    return (
        isinstance(result.get("experiment"), str)
        and re.fullmatch(r"[\w-]+", result["experiment"]) is not None
        and isinstance(result.get("tables"), dict)
        and all(isinstance(text, str) and text.isprintable() for text in texts)
        and isinstance(result.get("options") or {}, dict)
        and isinstance(cost, dict)
        and all(isinstance(value, (int, float)) for value in cost.values())
        and all(isinstance(each, list) for each in (rows, checks))
        and all(isinstance(each, dict) and isinstance(each.get("figure"), str) for each in rows)
        and all(isinstance(each, dict) and {"name", "ok"} <= {*each} for each in checks)
    )


def read_store(file: Path) -> dict[str, Any]:
    """What a page shows: results/EXPERIMENT.json. Raises `InputError`."""
    kept = _read_json(file)
    if not isinstance(kept.get("tables"), dict):
        raise InputError(f"{file}: has no tables")
    published = [kept["published"]] if "published" in kept else []
    for name, each in [*kept["tables"].items(), *(("published", each) for each in published)]:
        lists = ("rows",) if each in published else ("rows", "columns")
        if not isinstance(each, dict) or "origin" not in each or not all(isinstance(each.get(n), list) for n in lists):
            raise InputError(f"{file}: {name} is not as `fabricvp docs` writes it")
    return {"experiment": file.stem, **kept}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


def _text(file: Path) -> str:
    try:
        return io.TextIOWrapper(io.BytesIO(_read(file)), encoding="utf-8").read()
    except UnicodeDecodeError:
        raise InputError(f"{file}: is no UTF-8") from None


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise InputError(f"{file}: is not an object")
    return found


def _alike(table: PageTable, kept: dict[str, Any] | None) -> bool:
    """True if a page may show the result's own table: it does, or has none yet."""
    return kept is None or list(table.columns) == kept["columns"]


def tables_of(result: dict[str, Any]) -> tuple[dict[str, PageTable], dict[str, PageTable]]:
    """The tables of a result as they are, and those made of them for the experiment's page. Raises `InputError`."""
    import pandas

    from .experiments.page_layout import Result, as_it_is
    from .experiments.page_tables import page_tables
    from .experiments.tables import present_tables

    try:
        frames = present_tables(result)
        rows = {"rows": pandas.DataFrame(result["rows"])} if "rows" in result else {}
        made = page_tables(result["experiment"], Result(rows | frames))
        return {name: as_it_is(frame) for name, frame in frames.items()}, made
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = printable(str(error).partition("\n")[0])
        raise InputError(
            f"result.json of {result['experiment']}: tables are not as this version writes them ({why})"
        ) from None


def origin_of(result: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Where figures come from."""
    when = datetime.datetime.fromtimestamp((folder / "result.json").stat().st_mtime, datetime.UTC)
    known: dict[str, Any] = {n: result[n] for n in ("version", "commit", "command", "config_sha256") if result.get(n)}
    if "command" in known:
        known["command"] = without_places(str(known["command"]))
    if "cost" in result:
        known["core_s"] = round(result["cost"].get("core_s", 0))
    return {"date": when.date().isoformat(), **known}


def without_places(command: str) -> str:
    """A command of an experiment without what its figures do not depend on: processes, and folders of one machine."""
    kept, words = [], shlex.split(command)
    while words:
        word = words.pop(0)
        option, equals, _ = word.partition("=")
        if option in ("--out", "--jobs", "--executor", "--scheduler", "--result-cache"):
            words = words if equals else words[1:]
        else:
            kept.append(word)
    return shlex.join([*kept, "--out", "results"])


def shown_table(table: dict[str, Any]) -> PageTable:
    """A table of results/EXPERIMENT.json."""
    from .experiments.page_layout import PageTable

    return PageTable(table["columns"], table["rows"])


def store_text(kept: dict[str, Any]) -> str:
    """JSON with a line for each line of a table, so that differences can be read."""

    def plain(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    tables = []
    for name, table in kept["tables"].items():
        rows = ",\n".join(f"        {plain(row)}" for row in table["rows"])
        head = "".join(f'      "{key}": {plain(table[key])},\n' for key in ("origin", "columns"))
        tables.append(f'    {plain(name)}: {{\n{head}      "rows": [\n{rows}\n      ]\n    }}')
    published = ""
    if "published" in kept:  # figures beside published ones, for `fabricvp experiment fidelity`
        rows = ",\n".join(f"      {plain(row)}" for row in kept["published"]["rows"])
        origin = plain(kept["published"]["origin"])
        published = f',\n  "published": {{\n    "origin": {origin},\n    "rows": [\n{rows}\n    ]\n  }}'
    head = f'{{\n  "experiment": {plain(kept["experiment"])},\n  "tables": {{\n'
    return head + ",\n".join(tables) + "\n  }" + published + "\n}\n"
