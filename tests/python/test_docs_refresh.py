# SPDX-License-Identifier: Apache-2.0
"""Figures of pages: each table stands in docs/experiments/results, and `fabricvp docs refresh` writes new ones."""

import json
import re
import shutil

import pytest
from conftest import REPOSITORY
from fabricvp.docs_command import MARKED, PICTURE, check_markers, main, read_store, shown_table, without_places
from fabricvp.errors import InputError
from fabricvp.experiments.page_layout import NoTable, Result, times_on
from fabricvp.experiments.page_tables import PAGE_TABLES, page_tables
from fabricvp.experiments.registry import EXPERIMENTS

PAGES = REPOSITORY / "docs/experiments"
EXPERIMENT_PAGES = [page for page in sorted(PAGES.glob("*.md")) if page.name != "README.md"]
README = REPOSITORY / "README.md"
TABLE = re.compile(r"^ *\|.*\n *\|[-|: ]+\|\n(?: *\|.*\n?)*", re.MULTILINE)
#: Results that no experiment makes, but a script.
SCRIPTS = {
    "linux-programs": "scripts/linux_programs.py",
    "public-kernels": "scripts/public_compare.py",
    "public-programs": "scripts/public_programs.sh",
}
INPUTS = "<!-- inputs -->\n\n"  # in front of a table that says what was set, not what was measured


def shown(page):
    """(experiment, table, body) of each table between markers."""
    return [
        (match["experiment"], match["name"], match["body"])
        for match in MARKED.finditer(page.read_text())
        if not PICTURE.search(match["body"])
    ]


@pytest.mark.parametrize("page", [*EXPERIMENT_PAGES, README], ids=lambda page: page.stem)
def test_tables_are_those_of_the_results(page):
    check_markers(page, page.read_text())
    assert shown(page)
    for experiment, name, body in shown(page):
        table = read_store(PAGES / "results" / f"{experiment}.json")["tables"][name]
        assert body.strip() == shown_table(table).markdown(), f"{page.name}: {name}"
        command = table["origin"]["command"]
        assert command.startswith(SCRIPTS.get(experiment, f"fabricvp experiment {experiment}"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", table["origin"]["date"])


@pytest.mark.parametrize("page", EXPERIMENT_PAGES, ids=lambda page: page.stem)
def test_no_table_and_no_plot_is_outside_of_markers(page):
    rest = MARKED.sub("", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    for match in TABLE.finditer(rest):
        assert rest[: match.start()].endswith(INPUTS), f"{page.name}: no result is named for\n{match[0][:200]}"
    assert not re.search(r"!\[[^\]]*\]\([^)]*\.png\)", rest)


@pytest.mark.parametrize("page", EXPERIMENT_PAGES, ids=lambda page: page.stem)
def test_sentences_are_short(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    prose = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "<!--", "![", "#"))]
    sentences = [s for line in prose for s in re.split(r"(?<=[.!?])[*_]*\s+(?=[A-Z*`_(\[])", line)]
    assert [s for s in sentences if len(s.split()) > 35] == []


def test_every_stored_table_is_shown():
    pages = {(experiment, name) for page in [*EXPERIMENT_PAGES, README] for experiment, name, _ in shown(page)}
    stored = {(file.stem, name) for file in (PAGES / "results").glob("*.json") for name in read_store(file)["tables"]}
    assert stored == pages


def test_every_experiment_makes_the_tables_of_its_page():
    assert set(PAGE_TABLES) == set(EXPERIMENTS)
    made = {(experiment, name) for experiment, tables in PAGE_TABLES.items() for name in tables}
    pages = {(experiment, name) for page in [*EXPERIMENT_PAGES, README] for experiment, name, _ in shown(page)}
    assert made == {(experiment, name) for experiment, name in pages if experiment not in SCRIPTS}


def test_a_page_lacks_only_what_a_result_lacks():
    assert page_tables("scale", Result()) == {} and page_tables("unknown", Result()) == {}
    with pytest.raises(NoTable):
        Result()["sizes"]


def test_a_span_that_no_part_of_a_path_has_is_an_error():
    path = (("cable", r"link: "), ("adapter", r"hca\d: "))
    assert times_on(path, ["hca0", "link", "hca1"], ["read", "wire", "write"], [1, 2, 4]) == [2, 5]
    for component in "switch0", "hca0: link":
        with pytest.raises(ValueError, match="belongs to [02] parts"):
            times_on(path, [component], ["wire"], [1])


def test_an_origin_has_no_places():
    given = "fabricvp experiment scale --jobs 3 --out /home/a/b --devices 4 16 --result-cache=c --quick"
    given += " --executor dask --scheduler tcp://10.0.0.1:8786"
    assert without_places(given) == "fabricvp experiment scale --devices 4 16 --quick --out results"


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "tree/docs/experiments"
    shutil.copytree(PAGES, folder)
    shutil.copy(README, tmp_path / "tree")
    return folder


def result(folder, experiment="scale", tables=None):
    """A result as `fabricvp experiment` leaves it."""
    folder.mkdir()
    frame = {
        "columns": ["pattern", "devices", "packet_hops", "ns_per_hop", "events_per_hop", "KiB_per_device"],
        "rows": [
            ["uniform", 4, 10, 17.31, 1.25, 1209.4],
            ["gups", 4, 10, 1226.0, 1.5, None],
            ["gups", 16, 10, 5, 1.0, 2.6],
        ],
    }
    (folder / "result.json").write_text(
        json.dumps(
            {
                "experiment": experiment,
                "version": "1.2.3",
                "command": "fabricvp experiment scale --quick",
                "tables": {"scale": frame} if tables is None else tables,
            }
        )
    )
    return folder


def test_refresh_rewrites_tables_and_plots(pages, tmp_path, capsys):
    results = result(tmp_path / "results")
    (results / "cost.png").write_bytes(b"another plot")
    prose = MARKED.sub("", (pages / "scale.md").read_text())
    assert main(["refresh", str(results), "--pages", str(pages)]) == 0
    text = (pages / "scale.md").read_text()
    assert MARKED.sub("", text) == prose
    assert "| calendar events a packet-hop | uniform | `gups` |\n|---|---|---|\n| 4 devices | 1.250 | 1.500 |" in text
    assert "| 16 | | 1.000 |" in text and "| KiB a device | 4 | 16 |" in text
    assert "| generators (uniform) | 1,209 | |" in text and "| players of `gups` | – | 3 |" in text
    assert (pages / "scale_cost.png").read_bytes() == b"another plot"
    for _, name, body in shown(pages / "scale.md"):
        table = read_store(pages / "results/scale.json")["tables"][name]
        assert body.strip() == shown_table(table).markdown()
        assert table["origin"]["version"] == "1.2.3" and "commit" not in table["origin"]
    assert capsys.readouterr().out.splitlines() == [
        str(pages / name) for name in ("scale_cost.png", "scale.md", "results/scale.json")
    ]
    assert main(["refresh", str(results), "--pages", str(pages)]) == 0
    assert capsys.readouterr().out == ""


def test_what_a_result_lacks_stays(pages, tmp_path, capsys):
    before = (pages / "rdma.md").read_text()
    results = result(tmp_path / "results", "rdma", {"other": {"columns": ["a"], "rows": [[1]]}})
    assert main(["refresh", str(results), "--pages", str(pages)]) == 0
    left = capsys.readouterr().err.splitlines()
    assert len(left) == 8 and all(line.startswith("left ") for line in left)
    assert (pages / "rdma.md").read_text() == before


def test_figures_that_were_not_measured_replace_none(pages, tmp_path):
    results = result(tmp_path / "results")
    row = {"figure": "rate", "unit": "1", "measured": 2.0, "published": 1.0, "source": "a paper"}
    whole = json.loads((results / "result.json").read_text())
    for rows in [row, row | {"published": None}], [row | {"measured": None, "missing": "its points were not run"}]:
        (results / "result.json").write_text(json.dumps(whole | {"rows": rows}))
        assert main(["refresh", str(results), "--pages", str(pages)]) == 0
        assert read_store(pages / "results/scale.json")["published"]["rows"] == [row]


def test_refresh_rewrites_the_readme_of_the_tree(pages, tmp_path, capsys, monkeypatch):
    columns = ["system", "figures", "agrees", "near", "misses", "median_ratio"]
    rows = [["NetCrafter (ISCA 2025)", 4, 3, 0, 1, 0.987], ["GPUrdma (ROSS 2016)", 2, 1, 1, 0, 1.1]]
    results = result(tmp_path / "results", "fidelity", {"summary": {"columns": columns, "rows": rows}})
    readme = tmp_path / "tree/README.md"
    prose = MARKED.sub("", readme.read_text())
    monkeypatch.chdir(tmp_path / "tree")
    assert main(["refresh", str(results)]) == 0
    assert [(e, name) for e, name, _ in shown(readme)] == [("fidelity", "accuracy"), ("fidelity", "summary")]
    assert "| NetCrafter (ISCA 2025) | 4 | 3 | 0 | 1 | 0.99 |" in readme.read_text()
    assert shown(readme)[1] in shown(pages / "fidelity.md")
    assert MARKED.sub("", readme.read_text()) == prose
    assert "README.md" in capsys.readouterr().out.splitlines()
    # A folder that is not of a tree has no README beside it.
    readme.write_text("<!-- end -->\n")
    alone = tmp_path / "tree/pages"
    shutil.copytree(pages, alone)
    assert main(["refresh", str(results), "--pages", str(alone)]) == 0
    with pytest.raises(InputError, match="README.md: more"):
        main(["refresh", str(results)])


def test_a_new_page_shows_tables_as_they_are(pages, tmp_path):
    (pages / "mine.md").write_text("# Mine\n\n<!-- result: mine numbers -->\n<!-- end -->\n")
    results = result(
        tmp_path / "results", "mine", {"numbers": {"columns": ["a", "b"], "rows": [[1, 2.5], ["x", None]]}}
    )
    assert main(["refresh", str(results), "--pages", str(pages)]) == 0
    assert "\n| a | b |\n|---|---|\n| 1 | 2.5 |\n| x | – |\n\n<!-- end -->" in (pages / "mine.md").read_text()


@pytest.mark.parametrize(
    "text, error",
    [
        ("<!-- result: scale events -->\n| a |\n", ":1: '<!-- result: scale events -->' must be"),
        ("\n<!-- result: scale -->\n<!-- end -->\n", ":2: '<!-- result: scale -->' must be"),
        ("<!-- result: scale a -->\n<!-- result: scale b -->\n<!-- end -->\n", ":1: "),
        ("<!-- end -->\n", "more '<!-- end -->' than results"),
    ],
)
def test_markers_that_are_wrong(pages, tmp_path, text, error):
    (pages / "wrong.md").write_text(text)
    with pytest.raises(InputError) as caught:
        main(["refresh", str(result(tmp_path / "results")), "--pages", str(pages)])
    assert error in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "contents, error",
    [
        (None, "cannot be read"),
        ("[", "is not JSON"),
        ("[]", "is not an object"),
        ('{"experiment": "scale"}', "is not the result of"),
        ('{"experiment": "scale", "tables": {"scale": {"columns": ["a"], "rows": [[1]]}}}', "tables are not as"),
        ('{"experiment": "unknown", "tables": {}}', "no page shows figures of unknown"),
    ],
)
def test_results_that_are_none(pages, tmp_path, contents, error):
    folder = tmp_path / "results"
    folder.mkdir()
    if contents is not None:
        (folder / "result.json").write_text(contents)
    with pytest.raises(InputError) as caught:
        main(["refresh", str(folder), "--pages", str(pages)])
    assert error in str(caught.value) and "\n" not in str(caught.value)


ONE_CELL = {"columns": ["a"], "rows": [[1]]}
SHOWN = "<!-- result: {} {} -->\nold\n<!-- end -->\n"
SIZES = {"columns": ["driver_us", "backend", "size", "iteration_us", "iteration_uJ"], "rows": []}


@pytest.mark.parametrize(
    ("contents", "error"),
    [
        ({"command": "fabricvp 'x"}, "is not the result of"),
        ({"version": "\udcff"}, "is not the result of"),
        ({"version": 5}, "is not the result of"),
        ({"cost": 5}, "is not the result of"),
        ({"cost": {"core_s": "x"}}, "is not the result of"),
        ({"rows": 5}, "is not the result of"),
        ({"rows": [5]}, "is not the result of"),
        ({"checks": [5]}, "is not the result of"),
        ({"options": [5]}, "is not the result of"),
        ({"experiment": "../../evil"}, "is not the result of"),
        ({"tables": {"t": 5}}, "tables are not as this version writes them"),
        ({"experiment": "gpurdma-matvec", "tables": {"spread": ONE_CELL}}, "tables are not as"),
        ({"experiment": "compnet-jacobi", "tables": {"sizes": SIZES}}, "tables are not as"),
        ("[" * 100_000, "is not JSON"),
        (b"\xff", "is no UTF-8"),
    ],
)
def test_results_of_wrong_shape(tmp_path, contents, error):
    folder, pages = result(tmp_path / "results"), tmp_path / "pages"
    pages.mkdir()
    whole = {"experiment": "mine", "tables": {"t": ONE_CELL}}
    if isinstance(contents, dict):
        contents = json.dumps(whole | contents)
    (folder / "result.json").write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    (pages / "a.md").write_text(SHOWN.format("mine", "t"))
    with pytest.raises(InputError) as caught:
        main(["refresh", str(folder), "--pages", str(pages)])
    assert error in str(caught.value) and str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("name", "contents", "error"),
    [
        ("z.md", b"\xff\xfe", "z.md: is no UTF-8"),
        ("z.md", b"<!-- result: bad -->\n", "z.md:1: "),
        ("z.md", None, "z.md: cannot be read"),
        ("results/mine.json", b'{"tables": {"u": {}}}', "mine.json: u is not as"),
        ("results/mine.json", b'{"tables": {}, "published": 5}', "mine.json: published is not as"),
        ("results/mine.json", b"[" * 100_000, "mine.json: is not JSON"),
    ],
)
def test_all_is_read_before_any_page_is_written(tmp_path, name, contents, error):
    folder, pages = result(tmp_path / "results", "mine", {"t": ONE_CELL}), tmp_path / "pages"
    (pages / "results").mkdir(parents=True)
    (pages / "a.md").write_text(SHOWN.format("mine", "t"))
    (pages / name).mkdir() if contents is None else (pages / name).write_bytes(contents)
    with pytest.raises(InputError) as caught:
        main(["refresh", str(folder), "--pages", str(pages)])
    assert error in str(caught.value) and "\n" not in str(caught.value)
    assert (pages / "a.md").read_text() == SHOWN.format("mine", "t")


def test_cells_do_not_end_early(tmp_path):
    table = {"columns": ["a|b"], "rows": [["x|y"], ["m\nn"]]}
    folder, pages = result(tmp_path / "results", "mine", {"t": table}), tmp_path / "pages"
    pages.mkdir()
    (pages / "a.md").write_text(SHOWN.format("mine", "t"))
    assert main(["refresh", str(folder), "--pages", str(pages)]) == 0
    assert "| a\\|b |\n|---|\n| x\\|y |\n| m n |\n" in (pages / "a.md").read_text()
