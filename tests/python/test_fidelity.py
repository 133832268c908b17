# SPDX-License-Identifier: Apache-2.0
"""Published figures beside ours, from results at hand."""

import json
import subprocess

import pandas
import pytest
from fabricvp import docs_command
from fabricvp.errors import InputError
from fabricvp.experiments.fidelity import study
from fabricvp.experiments.fidelity.costs import costs
from fabricvp.experiments.fidelity.reasons import reason_of


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
    assert states["rdma"] in ("at hand", "older than the code") and states["lanes"] == "missing"
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


def test_results_older_than_the_code(two, monkeypatch):
    monkeypatch.setattr(study, "code_date", lambda: "2999-01-01")
    found = study.read(two / "a")["rdma"]
    assert study._state("GPUrdma (ROSS 2016)", "rdma", found, "2999-01-01")["state"] == "older than the code"
    assert study._state("GPUrdma (ROSS 2016)", "rdma", found, found.date)["state"] == "at hand"


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
        ('{"experiment": "rdma", "tables": {}, "rows": [1]}', "rows are not as"),
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
