# SPDX-License-Identifier: Apache-2.0
"""`fabricvp sweep`: studies in YAML, what they leave, and messages with file, line and key."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import fabricvp
import fabricvp.sweeps.command
import pandas
import pytest
from fabricvp.experiments import read_tables
from fabricvp.sweeps import Range, Search
from fabricvp.sweeps.study import read_study
from fabricvp.sweeps.study_sampler import outcome_of

STUDY = """\
title: Vectors
config: gpu
app: vectoradd
grid:
  size: [1024, 2048]
  node.gpus.0.compute_units: [2, 4]
constraints: [size > 512 * node.gpus.0.compute_units or size == 1024]
repeat: [1, 5]
keep: [sim.time_s, "kernels:time_s"]
plots:
  - {name: time, x: size, y: "kernels:time_s", by: node.gpus.0.compute_units, kind: bars}
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.replace("node.gpus.0.compute_units or", "`node.gpus.0.compute_units` or"))
    return file


def test_a_study(study, command, tmp_path):
    dry = command("sweep", study, "--dry-run", "--out", "found")
    assert dry.returncode == 0 and dry.stdout.count("compute_units=") == 6 and not (tmp_path / "found").exists()
    assert dry.stdout.endswith("6 points, 6 to run; the time is unknown until one has been measured\n")
    done = command("sweep", study, "--out", "found", "--jobs", 2, "--csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("6 points, 6 ok; written to found/index.html\n")
    frame = pandas.read_parquet(tmp_path / "found/points.parquet")
    same = fabricvp.sweep(
        "gpu",
        app="vectoradd",
        grid={"size": [1024, 2048], "node.gpus.0.compute_units": [2, 4]},
        constraints=[lambda p: p["size"] > 512 * p["node.gpus.0.compute_units"] or p["size"] == 1024],
        repeat=[1, 5],
        statistics=["sim.time_s", "kernels:time_s"],
        progress=False,
        result_cache=tmp_path / "found/result_cache",
    )
    pandas.testing.assert_frame_equal(frame, same)
    table = read_tables(tmp_path / "found")["points"]
    assert [*table["kernels:time_s"]] == [*frame["kernels:time_s"]] and "log" not in table
    result = json.loads((tmp_path / "found/result.json").read_text())
    assert result["outcomes"] == {"ok": 6} and result["points"] == 6 and result["experiment"] == "study"
    page = (tmp_path / "found/index.html").read_text()
    assert "<h1>Vectors</h1>" in page and "6 of 6 points" in page and "image/svg" in page and "refresh" not in page
    assert (tmp_path / "found/time.png").stat().st_size > 1000
    assert pandas.read_csv(tmp_path / "found/points.csv")["size"].tolist() == [*frame["size"]]
    study.write_text(study.read_text().replace("[1, 5]", "[1, 5, 6]"))
    dry = command("sweep", study, "--dry-run", "--out", "found", "--jobs", 3)
    assert dry.stdout.count("(in the result cache)") == 6 and "9 points, 3 to run: about " in dry.stdout
    again = command("sweep", study, "--out", "found")
    assert again.returncode == 0 and "study: 6 of 9 are in the result cache" in again.stderr


def test_what_an_earlier_study_left_goes_at_the_start(tmp_path, monkeypatch, capsys):
    """It would be taken for the result of the study that was interrupted; other files stay."""
    from fabricvp.cli import main

    monkeypatch.chdir(tmp_path)
    plot = "plots: [{name: %s, x: n, y: value}]\n"
    (tmp_path / "of_n.py").write_text("def double(n):\n    return 2 * n\n")
    (tmp_path / "one.yaml").write_text("function: of_n.py:double\ngrid: {n: [1]}\n" + plot % "first")
    (tmp_path / "two.yaml").write_text("function: of_n.py:double\ngrid: {n: [2]}\n" + plot % "second")
    assert main(["sweep", "one.yaml", "--out", "found", "--csv"]) == 0
    written = {path.name for path in (tmp_path / "found").iterdir()}
    assert written == {
        *("points.parquet", "points.csv", "result.json", "first.png", "first.svg", "index.html", "result_cache")
    }
    for name in ("notes.txt", "mine.png", "table.csv"):
        (tmp_path / "found" / name).write_text("of the user")
    assert main(["sweep", "wrong.yaml", "--out", "found"]) == 2  # which runs nothing
    assert written < {path.name for path in (tmp_path / "found").iterdir()}

    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(fabricvp.sweeps.command, "run_points", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        main(["sweep", "two.yaml", "--out", "found"])
    left = {path.name for path in (tmp_path / "found").iterdir()}
    assert left == {"index.html", "result_cache", "notes.txt", "mine.png", "table.csv"}
    assert "0 of 1 points" in (tmp_path / "found/index.html").read_text()
    capsys.readouterr()
    assert main(["results", "diff", "found", "found"]) == 2
    assert "found/points.parquet: is not the table of `fabricvp sweep` (there is no such" in capsys.readouterr().err
    (tmp_path / "found/result.json").write_text('{"experiment": "lanes", "plots": ["mine"], "tables": {}}')
    with contextlib.suppress(KeyboardInterrupt):
        main(["sweep", "two.yaml", "--out", "found"])
    assert (tmp_path / "found/mine.png").exists()
    (tmp_path / "found/result.json").write_text('{"outcomes": {}, "plots": ["../one", "mine"]}')
    (tmp_path / "one.png").touch()
    with contextlib.suppress(KeyboardInterrupt):
        main(["sweep", "two.yaml", "--out", "found"])
    assert (tmp_path / "one.png").exists() and not (tmp_path / "found/mine.png").exists()


def test_points_that_go_wrong_end_with_status_1(tmp_path, command):
    (tmp_path / "functions.py").write_text("def half(n):\n    return {'half': 1 / n}\n")
    (tmp_path / "s.yaml").write_text("function: functions.py:half\npoints: [{n: 4}, {n: 0}, {n: 8}]\n")
    done = command("sweep", "s.yaml", "--out", "found")
    assert done.returncode == 1
    assert done.stdout.startswith("failed: n=0: ZeroDivisionError: division by zero\n3 points, 2 ok;")
    frame = pandas.read_parquet(tmp_path / "found/points.parquet")
    assert [*frame["outcome"]] == ["ok", "failed", "ok"] and frame["half"][2] == 0.125
    assert "ZeroDivisionError" in frame["log"][1]
    assert "1 did not end well" in (tmp_path / "found/index.html").read_text()


def test_a_page_fills_while_points_arrive(tmp_path):
    (tmp_path / "functions.py").write_text("import time\ndef rest(n):\n    time.sleep(7 * (n > 0) + 1000 * (n > 1))\n")
    (tmp_path / "s.yaml").write_text("function: functions.py:rest\ngrid: {n: [0, 1, 2]}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "fabricvp", "sweep", "s.yaml", "--out", "found", "--jobs", "3"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    page = tmp_path / "found/index.html"
    while not page.exists() or "2 of 3 points" not in page.read_text():
        assert process.poll() is None
        time.sleep(0.1)
    assert "http-equiv=refresh" in page.read_text() and not (tmp_path / "found/result.json").exists()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130


def constrained(expression, value="1" + "0" * 400):
    """A study with this constraint, whose parameter `n` has this value."""
    return f'function: a.py:f\ngrid: {{n: [{value}]}}\nconstraints:\n  - "{expression}"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml:1: is empty"),
        ("a: [", "s.yaml:1: not valid YAML: "),
        ("config: gpu\ngird: {size: [1]}", "s.yaml:2: unknown key 'gird', did you mean 'grid'? (allowed: "),
        ("config: gpu\nconfig: bare", "s.yaml:2: config: is there twice"),
        ("config: gpu\ngrid:\n  size: 1", "s.yaml:3: grid.size: must be a list"),
        ("config: gpu\ngrid:\n  size: []", "s.yaml:3: grid.size: there are no values"),
        ("config: gpu\ngrid: [1]", "s.yaml:2: grid: must be a group of keys"),
        ("config: gpu\n\ngrid:\n  node.host.hartz: [1]", "s.yaml:4: point hartz=1: "),
        ("config: gpu\ngrid:\n  node.host.harts: [1, -1]", "s.yaml:3: point harts=-1: "),
        ("config: gpu\nset:\n  node.host.harts: none", "s.yaml:3: "),
        ("config: gpu\napp: vectorad", "s.yaml:2: --app 'vectorad': there is no such application"),
        ("config: gpx", "s.yaml:1: "),
        ("grid: {n: [1]}", "s.yaml:1: config: none is given"),
        ("config: bare\nrepeat: 0", "s.yaml:2: repeat: 0"),
        ("config: bare\ntime: 3 parsec", "s.yaml:2: time: "),
        ("config: bare\nlimits:\n  memory: much", "s.yaml:3: limits.memory: "),
        ("config: bare\nlimits: {cpu: 1}", "s.yaml:2: unknown key 'cpu' in limits (allowed: time, memory)"),
        ("config: bare\nrepeat: 2\nconstraints:\n  - seed < 3", "s.yaml:4: constraint 'seed < 3': no parameter 'seed'"),
        ("config: bare\nconstraints:\n  - a <", "s.yaml:3: constraints: constraint 'a <': is not an expression"),
        ("config: bare\nrepeat: 2\nplots: [{name: a, x: b, y: c}]", "s.yaml:3: plots.x: no parameter 'b'"),
        ("config: bare\nrepeat: 2\nplots: [{name: a}]", "s.yaml:3: plots: a plot needs x"),
        (
            "config: bare\nrepeat: 2\nplots:\n- {name: a, x: simulation.seed, y: c, kind: bars, log: xy}",
            "s.yaml:4: plots.log: bars stand side by side",
        ),
        ("function: a.py:f\ngrid:\n  n: [1]\n  error: [1]", "s.yaml:4: error: is a column of every table"),
        ("function: a.py:f\ngrid: {n: [1]}\nset:\n  a: 1", "s.yaml:3: set: without a config, the function"),
        ("function: a.py:f\ngrid: {n: [1]}\ntime: 1 us", "s.yaml:3: time: without a config, the function"),
        ("config: bare\ngrid:\n  simulation.seed: [1]\nrepeat: 2", "s.yaml:3: simulation.seed: is a parameter of"),
        ("config: bare\nfunction: none.py:f", "s.yaml:2: function: 'none.py:f' is not FILE.py:NAME"),
        ("config: bare\nprogram: none.elf", "s.yaml:2: program: there is no file"),
        ("a: &a [*a]", "s.yaml:1: "),
        ("config: gpu\napp: [a, b]", "s.yaml:2: app= is the name of an application"),
        ("config: gpu\napp: spmv\noption: 1", "s.yaml:3: application spmv: "),
        ("config: gpu\napp: spmv\nsize: 99999999999999999999999", "s.yaml:3: application spmv: "),
        ("config: gpu\napp: mm\ngrid: {size: ['64']}", "s.yaml:3: application mm: size='64': must be a whole number"),
        ("config: bare\nrepeat:\n", "s.yaml:2: repeat: has no value"),
        ("config: bare\nrepeat: 99999999999999999999999", "s.yaml:2: repeat: 99999999999999999999999 is neither"),
        ("config: bare\nset:\n  a: 1\n  node.host.harts:", "s.yaml:4: set.node.host.harts: a NoneType"),
        ("config: bare\nlimits:\n  time: 0 s", "s.yaml:3: limits.time: "),
        ("config: bare\nprogram: |\n  a\n  b", "s.yaml:2: program: there is no file "),
        ("config: bare\n\nappend: '\x00'", "s.yaml:3: not valid YAML: special characters"),
        ("a0: &a0 [1]\n" + "".join(f"a{n + 1}: &a{n + 1} [{f'*a{n}, ' * 9}]\n" for n in range(9)), "s.yaml:"),
        (
            "config: bare\nrepeat: 2\nplots:\n- {name: a, x: simulation.seed, y: c}\n"
            "- {name: a, x: simulation.seed, y: b}",
            "s.yaml:5: plots.name: there are two plots 'a'",
        ),
        ("config: bare\nfunction: statistics.py:f", "s.yaml:2: function: 'statistics.py' cannot be imported"),
        ("config: bare\nfunction: a-b.py:f", "s.yaml:2: function: 'a-b.py' cannot be imported"),
        (f"config: bare\nrepeat: {'9' * 5000}", "s.yaml:2: repeat: is a whole number of more than 1,000 digits"),
        (f"config: bare\ntime: 0x{'f' * 5000}", "s.yaml:2: time: is a whole number of more than 1,000 digits"),
        ('config: bare\ntitle: "\\ud800"', "s.yaml:2: title: has half of a surrogate pair, which is no character"),
        ('config: bare\nset: {"a\\udc80": 1}', "s.yaml:2: set: has half of a surrogate pair, which is no character"),
        ('config: bare\n"a\\nb": 1', "s.yaml:2: unknown key 'a\\x0ab'"),
        (f"config: bare\nprogram: {'p' * 300}", "s.yaml:2: program: there is no file "),
        (f"config: {'c' * 300}", "s.yaml:1: "),
        (f"config: bare\nfunction: {'f' * 300}.py:f", "s.yaml:2: function: 'fff"),
        (
            f"config: bare\nrepeat: 2\nplots: [{{name: {'p' * 300}, x: simulation.seed, y: b}}]",
            "s.yaml:3: plots.name: give at most 100 letters, digits, _ and -",
        ),
        (constrained(" + ".join(["n"] * 1200)), "s.yaml:4: constraints: constraint 'n + n + n"),
        (constrained("-" * 3000 + "n"), "s.yaml:4: constraints: constraint '------"),
        (constrained("(" * 5000), "s.yaml:4: constraints: constraint '(((((("),
        (constrained("n" + ".n" * 1000 + " > 1"), "s.yaml:4: constraint"),
        (constrained("n / 2 > 1"), "s.yaml:4: constraint 'n / 2 > 1': integer division result too large for a float"),
        (constrained("n % 3", "'%'"), "s.yaml:4: constraint 'n % 3': * and % take numbers, not str"),
        (constrained("n * 9999999999999", "abc"), "s.yaml:4: constraint 'n * 9999999999999': * and % take numbers"),
        (constrained("`a\\nb` > 1"), "s.yaml:4: constraint '`a\\x0ab` > 1': no parameter 'a\\x0ab'"),
        (constrained("__quoted_5 > 1"), "s.yaml:4: constraint '__quoted_5 > 1': no parameter '__quoted_5'"),
        ("config: gpu\napp: spmv\ninitrd: x.img", "s.yaml:3: initrd: there is no file "),
        (
            "function: a.py:f\ngrid:\n" + "".join(f"  {n}: [{', '.join(map(str, range(3000)))}]\n" for n in "abc"),
            "s.yaml:2: grid: 27,000,000,000 points, more than 1,000,000",
        ),
        (constrained("`a\\x01b` > 1"), "s.yaml:4: constraint '`a\\x01b` > 1': no parameter 'a\\x01b'"),
    ],
)
def test_bad_studies_are_one_line_with_file_line_and_key(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(text)
    for name in ("statistics.py", "a-b.py", "a.py"):
        (tmp_path / name).write_text("def f(platform=None, **given):\n    pass\n")
    monkeypatch.delitem(sys.modules, "a", raising=False)  # of another folder
    with pytest.raises(fabricvp.InputError) as caught:
        read_study("s.yaml")
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_wrong_command_lines_end_with_status_2(study, command, tmp_path):
    (tmp_path / "wrong.yaml").write_text('config: bare\ntitle: "\\ud800"\n')
    for arguments, message in (
        (["nowhere.yaml", "--out", "found"], "nowhere.yaml: cannot be read"),
        ([study], "give --out DIR, or --dry-run"),
        ([study, "--out", "found", "--jobs", "0"], "'0' is not a number of 1 … 1024"),
        ([study, "--out", os.devnull], "cannot be written to"),
        (["wrong.yaml", "--out", "found"], "wrong.yaml:2: title: has half of a surrogate pair"),
        ([study, "--out", "made", "--result-cache", os.devnull], "cannot be written to"),
    ):
        done = command("sweep", *arguments)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "found").exists() and not [*tmp_path.rglob("index.html")]
    assert "example: fabricvp sweep study.yaml --out results" in command("sweep", "--help").stdout


def test_scalars_are_those_of_yaml_1_2(tmp_path):
    (tmp_path / "functions.py").write_text("def f(**given):\n    pass\n")
    values = "[1, 0x10, 1.5, 1e3, true, 'true', on, 12:30, 010, 2 GHz]"
    (tmp_path / "s.yaml").write_text(f"function: functions.py:f\ngrid: {{n: {values}}}\n")
    found = [point["n"] for point in read_study(tmp_path / "s.yaml").points]
    assert found == [1, 16, 1.5, 1000.0, True, "true", "on", "12:30", 10, "2 GHz"]


SEARCH = """\
config: gpu
app: spmv
repeat: 2
keep: ["kernels:time_s"]
search:
  space: {node.gpus.0.compute_units: [1, 2, 4], size: {from: 64, to: 512, log: true}}
  objective: kernels:time_s
  budget: 5
  batch: 2
"""


def test_a_search(command, tmp_path):
    """The same points as the sampler of Python chooses; the best one is named."""
    pytest.importorskip("optuna")
    (tmp_path / "study.yaml").write_text(SEARCH)
    dry = command("sweep", "study.yaml", "--dry-run")
    assert dry.stdout == "at most 5 points, with all seeds, chosen by what earlier ones gave\n", dry.stderr
    done = command("sweep", "study.yaml", "--out", "found")
    assert done.returncode == 0, done.stderr
    space = {"node.gpus.0.compute_units": [1, 2, 4], "size": Range(64, 512, log=True)}
    search = Search(space, "kernels:time_s", 5, batch=2)
    same = fabricvp.sweep(
        "gpu",
        app="spmv",
        sampler=search,
        repeat=2,
        statistics="kernels:time_s",
        progress=False,
        result_cache=tmp_path / "found/result_cache",
    )
    frame = pandas.read_parquet(tmp_path / "found/points.parquet")
    pandas.testing.assert_frame_equal(frame, same)
    best = same.groupby([*space])["kernels:time_s"].mean()
    sentence, counts = done.stdout.splitlines()[-2:]
    units, size = best.idxmin()
    assert sentence == (
        f"The smallest kernels:time_s is {best.min():.6g}: node.gpus.0.compute_units = {units}, size = {size}."
    )
    assert counts == "10 points, 10 ok; written to found/index.html"
    assert sentence in (tmp_path / "found/index.html").read_text()
    table = read_tables(tmp_path / "found")["sampler"]
    assert [*table["kernels:time_s"]] == sorted(best) and len(table) == 5


@pytest.mark.parametrize("word, units", [("false", 1), ("true", 4)])
def test_the_best_point_is_the_smallest_or_the_largest(tmp_path, word, units):
    pytest.importorskip("optuna")
    (tmp_path / "study.yaml").write_text(SEARCH + f"  maximise: {word}\n")
    sampler = read_study(tmp_path / "study.yaml").sampler
    frame = pandas.DataFrame(
        {"node.gpus.0.compute_units": [1, 4, 4, 2], "size": 64, "outcome": ["ok"] * 3 + ["failed"]}
    )
    sentence, table = outcome_of(sampler, frame.assign(**{"kernels:time_s": [2.0, 4.0, 6.0, 9.0]}))
    assert f"{ {1: 'smallest', 4: 'largest'}[units] } kernels:time_s is" in sentence
    assert table["node.gpus.0.compute_units"][0] == units and [*table["kernels:time_s"]] == sorted(
        [2.0, 5.0], reverse=units == 4
    )
    assert outcome_of(sampler, frame[3:])[0] == "Nothing was found: no point has ended well."


def test_what_matters(command, tmp_path):
    pytest.importorskip("SALib")
    study = SEARCH.partition("search:")[0] + (
        "sensitivity:\n  of: kernels:time_s\n  samples: 2\n"
        "  space: {size: [64, 512], node.host.harts: [1, 2]}\nplots: [{name: t, x: size, y: 'kernels:time_s'}]\n"
    )
    (tmp_path / "study.yaml").write_text(study)
    dry = command("sweep", "study.yaml", "--dry-run")
    assert dry.returncode == 0 and "points, " in dry.stdout and dry.stdout.count("size=") >= 6
    done = command("sweep", "study.yaml", "--out", "found")
    assert done.returncode == 0, done.stderr
    assert "size matters most for kernels:time_s.\n" in done.stdout
    effects = read_tables(tmp_path / "found")["sampler"].set_index("parameter")["effect"]
    assert effects["size"] > 10 * effects["node.host.harts"] and (tmp_path / "found/t.png").exists()


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("budget: 5", "budget: 0", "study.yaml:5: search: budget 0 and batch 2: 1 or more"),
        ("budget: 5", "budget: many", "study.yaml:8: search.budget: must be a whole number"),
        (
            "budget: 5",
            "budget: 1000000000000",
            "study.yaml:5: search: budget 1000000000000 and batch 2: at most 1000000",
        ),
        ("from: 64", "from: -1e400", "study.yaml:5: search: size: a range ends at 2^63 - 1 at most"),
        ("to: 512", f"to: {10**400}", "study.yaml:5: search: size: a range ends at 2^63 - 1 at most"),
        (
            "objective: kernels:",
            "objective: kernel:",
            "study.yaml:7: search.objective: no column 'kernel:time_s' (kept",
        ),
        ("  objective: kernels:time_s\n", "", "study.yaml:5: search: needs objective"),
        ("from: 64, ", "", "study.yaml:6: search.space.size: a range needs from"),
        ("from: 64", "from: few", "study.yaml:6: search.space.size: 'few' is not a number: give a list of values"),
        ("log: true", "log: 1", "study.yaml:6: search.space.size.log: must be true or false"),
        ("[1, 2, 4]", "[1, 2, 4000000]", "study.yaml:6: "),
        ("repeat: 2", "grid: {size: [1]}", "study.yaml:3: grid: there is search, which chooses the points"),
        ("batch: 2", "seed: -3", "study.yaml:5: search: seed: -3 is no whole number of 0 … 2^32 - 1"),
        ("batch", "bach", "unknown key 'bach' in search, did you mean 'batch'?"),
    ],
)
def test_wrong_searches_name_their_line(tmp_path, monkeypatch, old, new, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(SEARCH.replace(old, new, 1))
    with pytest.raises(fabricvp.InputError, match=re.escape(message)) as caught:
        read_study("study.yaml")
    assert str(caught.value).count("study.yaml") == 1


def test_files_lie_beside_the_study(tmp_path, monkeypatch):
    """Wherever the command runs, whatever key or parameter names them."""
    (tmp_path / "of_study").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file = tmp_path / "of_study/m.mtx"
    file.write_bytes(b"1")
    study = tmp_path / "of_study/study.yaml"
    study.write_text("config: gpu\napp: spmv\ninitrd: m.mtx\n")
    assert read_study(study).common.app["initrd"] == str(file)
    study.write_text("config: gpu\napp: spmv\ngrid: {initrd: [m.mtx]}\n")
    assert read_study(study).points == [{"initrd": str(file)}]
    study.write_text("config: bare\nset: {node.images.firmware: m.mtx, node.images.append: m.mtx}\ntime: 1 us\n")
    assert read_study(study).common.overrides == {"node.images.firmware": str(file), "node.images.append": "m.mtx"}
    study.write_text("config: bare\nset: {node: {images: {kernel: m.mtx}}}\ntime: 1 us\n")
    assert read_study(study).common.overrides == {"node.images.kernel": str(file)}
    study.write_text("config: bare\ngrid: {node.images.firmware: [m.mtx, 'firmware:hello.elf']}\ntime: 1 us\n")
    assert [point["node.images.firmware"] for point in read_study(study).points] == [str(file), "firmware:hello.elf"]


def test_functions_of_a_file_share_its_classes(tmp_path, command):
    """What warms the machine up may give what the function looks for."""
    text = "class Ready:\n    pass\n\ndef warm(platform):\n    return Ready()\n\n"
    (tmp_path / "fn.py").write_text(text + "def use(ready, n):\n    return isinstance(ready, Ready)\n")
    (tmp_path / "s.yaml").write_text("config: bare\nfunction: fn.py:use\nwarm_up: fn.py:warm\ngrid: {n: [1, 2]}\n")
    done = command("sweep", "s.yaml", "--out", "found")
    assert done.returncode == 0, done.stdout
    assert [*pandas.read_parquet(tmp_path / "found/points.parquet")["value"]] == [True, True]


def test_a_scheduler_that_is_not_there_removes_nothing(tmp_path, monkeypatch, capsys):
    pytest.importorskip("distributed")
    from fabricvp.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    (tmp_path / "of_m.py").write_text("def double(n):\n    return 2 * n\n")
    (tmp_path / "s.yaml").write_text("function: of_m.py:double\ngrid: {n: [1]}\n")
    assert main(["sweep", "s.yaml", "--out", "found", "--jobs", "1"]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "found").iterdir() if path.is_file()}
    capsys.readouterr()
    assert main(["sweep", "s.yaml", "--out", "found", "--scheduler", "abc"]) == 2
    assert "scheduler: 'abc' does not" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "found").iterdir() if path.is_file()}


def test_values_that_no_file_holds_end_no_sweep(tmp_path, command):
    text = "def f(n):\n    if n == 1:\n        raise ValueError('a\\udcffb')\n"
    text += "    return [{'v': 'x\\udcff'}, None, {'v': 10**5000}, {'k\\udcff': 1}][n]\n"
    (tmp_path / "fn.py").write_text(text)
    (tmp_path / "s.yaml").write_text("function: fn.py:f\ngrid: {n: [0, 1, 2, 3]}\n")
    for _ in range(2):  # from the result cache, too
        done = command("sweep", "s.yaml", "--out", "found", "--csv")
        assert done.returncode == 1 and "4 points, 2 ok; written to" in done.stdout, done.stderr
        frame = pandas.read_parquet(tmp_path / "found/points.parquet")
        assert [*frame["outcome"]] == ["ok", "failed", "failed", "ok"]
        assert frame["v"][0] == "x\\udcff" and frame["error"][1] == "ValueError: a\\udcffb"
        assert frame["error"][2] == "v: is a whole number of more than 4,096 bits" and frame["k\\udcff"][3] == 1
