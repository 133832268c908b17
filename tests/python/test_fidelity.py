# SPDX-License-Identifier: Apache-2.0
"""Published figures beside ours, from results at hand."""

import json
import subprocess

import pandas
import pytest
from fabricvp import docs_command, source_tree
from fabricvp.errors import InputError
from fabricvp.experiments.fidelity import study
from fabricvp.experiments.fidelity.costs import costs
from fabricvp.experiments.fidelity.reasons import reason_of
from fabricvp.experiments.fidelity.two_machines import machines


def result(folder, experiment, rows):
    folder.mkdir(parents=True)
    lines = [dict(zip(("figure", "unit", "measured", "published", "source", "missing"), r)) for r in rows]
    text = json.dumps(
        {"experiment": experiment, "command": f"fabricvp experiment {experiment}", "rows": lines, "tables": {}}
    )
    (folder / "result.json").write_text(text)


ROWS = [
    ("write, 2 B", "µs", 1.0, 1.05, "a note", ""),
    ("read, 2 B", "µs", 1.2, 1.0, "a note", ""),
    ("rate, one core", "M/s", 2.0, 8.0, "a paper", ""),
    ("write, 4 MiB", "µs", 2.0, None, "", ""),
    ("send, 2 B", "µs", None, 1.0, "a note", "no such part"),
]


@pytest.fixture
def two(tmp_path):
    result(tmp_path / "a", "rdma", ROWS)
    result(tmp_path / "b", "netcrafter", [("baseline: padded flits, mean", "%", 43.0, 42.0, "slides", "")])
    return tmp_path


def run(folder, *results):
    done = subprocess.run(
        [".venv/bin/fabricvp", "experiment", "fidelity", "--results", *map(str, results), "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_figures_verdicts_and_what_is_missing(two):
    status, text = run(two / "found", two / "a", two / "b")
    assert status == 0, text
    rdma = pandas.read_csv(two / "found" / "gpurdma.csv")
    assert list(rdma["verdict"]) == ["agrees", "near", "misses"]
    assert list(rdma["ratio"]) == [0.952, 1.2, 0.25]
    assert "one instruction a cycle" in rdma["why"][2]
    assert list(pandas.read_csv(two / "found" / "netcrafter.csv")["verdict"]) == ["agrees"]
    states = pandas.read_csv(two / "found" / "results.csv").set_index("experiment")["state"]
    assert states["rdma"] != "missing" and states["lanes"] == "missing"
    summary = pandas.read_csv(two / "found" / "summary.csv").set_index("system")
    assert summary.loc["GPUrdma (ROSS 2016)", ["figures", "agrees", "near", "misses"]].tolist() == [3, 1, 1, 1]
    assert summary.loc["ComP-Net (PACT 2018)", "figures"] == 0


@pytest.mark.parametrize(
    "figure, why",
    [
        ("to issue a write of 8 B, a fence of system scope", "one read of the host's memory"),
        ("until its completion is seen, a fence of system scope", "one read of the host's memory"),
        ("until its completion is seen, a fence of the GPU", "an adapter's read"),
        ("from the doorbell to the completion", "an adapter's read"),
        ("to issue a write of 8 B, no fence", "issue in order"),
        ("one lane", "issue in order"),
        ("16 queue pairs, a work-group each, an entry a doorbell", "issue in order"),
        ("64 queue pairs in one work-group", "lanes of one wavefront"),
        ("nine tenths of the line rate from, many queue pairs", "89 %"),
        ("a rate that no finding explains", "not explained yet"),
    ],
)
def test_misses_of_the_modern_pair_have_their_mechanisms(figure, why):
    assert why in reason_of("gpurdma-modern", f"H200, ConnectX-7: {figure}")


def test_costs_stand_beside_budgets(two, tmp_path):
    written = json.loads((two / "a/result.json").read_text())
    cost = {"wall_s": 20.0, "core_s": 31.4}
    (two / "a/result.json").write_text(json.dumps(written | {"cost": cost}))
    kept = tmp_path / "kept"
    kept.mkdir()
    origins = [
        {"date": "2026-01-01", "command": "fabricvp experiment faults --quick --out results", "core_s": 700},
        {"date": "2026-01-03", "command": "fabricvp experiment faults --quick --out results", "core_s": 500},
        {"date": "2026-01-02", "command": "fabricvp experiment faults --seed 2 --out results", "core_s": 400},
        {"date": "2026-01-02", "command": "fabricvp experiment faults --out results"},
    ]
    tables = {str(i): {"origin": o, "columns": ["a"], "rows": []} for i, o in enumerate(origins)}
    (kept / "faults.json").write_text(docs_command.store_text({"experiment": "faults", "tables": tables}))
    found = costs([two / "a", two / "b", kept]).fillna(0).set_index("command")
    assert list(found["core_s"]) == [31, 500, 400]
    assert list(found["budget_s"]) == [35, 600, 0]


@pytest.mark.parametrize(
    "date, changed, state",
    [
        ("2026-01-01", "2026-01-02", "older than the code"),
        ("2026-01-02", "2026-01-02", "from the day of the code's last change"),
        ("2026-01-03", "2026-01-02", "at hand"),
        ("2026-01-03", "", "at hand"),
    ],
)
def test_results_without_a_commit_go_by_their_day(date, changed, state):
    assert study.state_of(study.Found(date, "", "", []), changed) == state


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A source tree with one commit; gives a function that commits a file with other contents."""
    monkeypatch.setattr(source_tree, "TREE", tmp_path)

    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    def put(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        git("add", ".")
        git("commit", "-m", "x")

    git("init")
    put("models/a.cpp", "1")
    return put


def test_results_with_a_commit_go_by_what_changed_since(repository):
    first = source_tree.commit()
    found = study.Found("2026-01-02", first, "", [])
    assert len(first) == source_tree.DIGITS and study.state_of(found, "2026-01-02") == "at hand"
    repository("docs/a.md", "other than code")
    repository("platform/cli/a.cpp", "of the command line")
    assert source_tree.commit() != first and study.state_of(found, "2026-01-02") == "at hand"
    repository("models/a.cpp", "2")
    older = "older than the code, by 1 commit"
    assert study.state_of(found, "2026-01-02") == study.state_of(found, "2026-01-01") == older
    repository("configs/a.yaml", "3")
    assert study.state_of(found, "2026-01-02") == "older than the code, by 2 commits"
    elsewhere = study.Found("2026-01-02", "0123456789ab", "", [])
    assert study.state_of(elsewhere, "2026-01-01") == "at hand"  # by its day


def test_code_that_is_in_no_commit_has_no_name(repository, monkeypatch):
    (source_tree.TREE / "models/a.cpp").write_text("3")
    assert source_tree.commit() == ""
    repository("models/a.cpp", "3")
    assert source_tree.commit() != ""
    monkeypatch.setattr(source_tree, "TREE", source_tree.TREE / "models")  # inside of a repository of something else
    assert source_tree.commit() == ""


@pytest.mark.parametrize(
    "experiment, figure, measured, published, verdict",
    [
        ("lanes", "SwitchTime 10 cycles beside 100: speed, mean change", 0.04, 0.0, "agrees"),
        ("lanes", "SwitchTime 10 cycles beside 100: speed, mean change", 1.4, 0.0, "misses"),
        ("lanes", "SwitchTime 500 cycles beside 100: speed, mean change", -0.3, -2.0, "agrees"),
        ("lanes", "SwitchTime 500 cycles beside 100: speed, mean change", -2.3, -2.0, "misses"),
        ("lanes", "a change", 0.0, 0.0, "agrees"),
        ("lanes", "a change", 0.1, 0.0, "misses"),
    ],
)
def test_bounds_and_a_published_zero(experiment, figure, measured, published, verdict):
    row = {"figure": figure, "unit": "%", "measured": measured, "published": published, "source": ""}
    (line,) = study.lines_of("", experiment, study.Found("", "", "", [row]))
    assert line["verdict"] == verdict and line["ratio"] != line["ratio"]


@pytest.mark.parametrize(
    "figure, why",
    [
        ("latency, write, 2 B", "BlueFlame"),
        ("latency, write, 1 KiB", "QDR"),
        ("bandwidth, write, 64 KiB, beside ConnectX-3 at 40 Gb/s", "40 Gb/s"),
        ("message rate, write, 64 B, not inline, a completion for 16", "one instruction a cycle"),
        ("rate of writes, …, 4 queue pairs", "one instruction a cycle"),
        ("latency, write, of another kind", "not explained yet"),
    ],
)
def test_misses_of_rdma_have_the_mechanisms_of_its_page(figure, why):
    assert why in reason_of("rdma", figure)


@pytest.mark.parametrize("experiment", ["lanes", "gpurdma-throughput", "gpurdma-pingpong", "gpurdma-matvec"])
def test_no_reason_explains_whatever_misses(experiment):
    assert reason_of(experiment, "a figure of tomorrow") == "not explained yet"


def test_two_machines_stand_side_by_side():
    def row(figure, measured):
        return {"figure": figure, "measured": measured, "published": 1.16}

    found = machines(
        {
            "netcrafter-mgpusim": [row("all: speed-up, arithmetic mean", 1.27)],
            "netcrafter": [row("all: speed-up, arithmetic mean", 1.19), row("all: speed-up, largest", 1.9)],
        }
    )
    assert found.values.tolist() == [["speed-up by all parts, mean", 1.16, 1.27, 1.19]]


def test_pages_keep_what_they_need(tmp_path):
    kept = {"experiment": "rdma", "tables": {}, "published": {"origin": {"date": "2026-01-01"}, "rows": []}}
    rows = [{"figure": "read", "unit": "µs", "measured": 1.0, "published": 2.0, "source": "a note", "missing": ""}]
    kept["published"]["rows"] = rows
    (tmp_path / "rdma.json").write_text(docs_command.store_text(kept))
    assert json.loads((tmp_path / "rdma.json").read_text()) == kept
    assert study.read(tmp_path)["rdma"].rows == rows


@pytest.mark.parametrize(
    "content, says",
    [
        (None, "no such folder"),
        ("{", "is not JSON"),
        ('{"experiment": "rdma"}', "not the result of"),
        ('{"experiment": "rdma", "tables": {}, "rows": [1]}', "not the result of"),
        ('{"experiment": "rdma", "tables": {}, "rows": [{"figure": "a"}]}', "rows are not as"),
    ],
)
def test_bad_input(tmp_path, content, says):
    if content is None:
        with pytest.raises(InputError, match=says):
            study.read(tmp_path / "none")
        return
    (tmp_path / "result.json").write_text(content)
    with pytest.raises(InputError, match=says):
        study.read(tmp_path)


def test_nothing_at_hand(tmp_path):
    (tmp_path / "empty").mkdir()
    status, text = run(tmp_path / "found", tmp_path / "empty")
    assert status == 2 and "no result there has figures beside published ones" in text
    assert not (tmp_path / "found" / "index.html").exists()
