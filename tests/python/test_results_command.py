# SPDX-License-Identifier: Apache-2.0
"""`fabricvp results`: what sweeps have measured, listed, shown, compared and removed."""

import math
import os
import re
import time

import fabricvp
import pandas
import pytest
from fabricvp.sweeps import store, summarise
from fabricvp.sweeps.comparison import compare, ok_alone, paired_p
from fabricvp.sweeps.process import Limits
from fabricvp.sweeps.results_command import _chance
from fabricvp.sweeps.store import ResultCache
from fabricvp.sweeps.task import PointOutcome, Record


@pytest.fixture
def cache(tmp_path):
    """A result cache of three points."""
    cache = ResultCache(tmp_path / "found/result_cache")
    ok = Record(PointOutcome.OK, wall_s=1.5, statistics={"sim.time_s": 0.25, "a.b": 7.0}, values={"rate": 3})
    ok.regions = {"kernels": {"time_s": 0.125}}
    failed = Record(PointOutcome.FAILED, "no \x1b[31mgood", log="one\ntwo\n", wall_s=0.5)
    cache.put("a1" * 16, "first", {"node.host.harts": 1}, Limits(), ok)
    cache.put("a2" * 16, "first", {"node.host.harts": 2}, Limits(), failed)
    cache.put("b3" * 16, "second", {"size": 4}, Limits(), ok)
    return cache


def test_list_and_show(cache, command):
    listed = command("results", "list", "found").stdout.splitlines()
    assert listed == [
        "a1a1a1a1a1a1  first  harts=1  1.5 s  ok",
        "a2a2a2a2a2a2  first  harts=2  0.5 s  failed: no \\x1b[31mgood",
        "b3b3b3b3b3b3  second  size=4  1.5 s  ok",
        "3 points",
    ]
    assert command("results", "list", "found/result_cache", "--study", "second").stdout == listed[2] + "\n1 points\n"
    assert command("results", "list", "found", "--outcome", "failed").stdout == listed[1] + "\n1 points\n"
    shown = command("results", "show", "found", "a1").stdout
    assert "parameter node.host.harts = 1\noutcome   ok\ntook      1.5 s\nrate = 3\n" in shown
    assert shown.endswith("sim.time_s = 0.25\nkernels:time_s = 0.125\n")
    assert "a.b = 7.0" in command("results", "show", "found", "b", "--keep", "a.*").stdout
    assert command("results", "show", "found", "a2").stdout.endswith("log:\none\ntwo\n")


def test_wrong_command_lines(cache, command):
    for arguments, message in (
        ([], "the following arguments are required"),
        (["lits"], "invalid choice: 'lits'"),
        (["list", "nowhere"], "nowhere: there is no such folder"),
        (["show", "found", "a"], "2 points have a key that begins with 'a'"),
        (["show", "found", "ff"], "0 points have a key that begins with 'ff'"),
        (["list", "found", "--outcome", "fine"], "invalid choice: 'fine'"),
        (["gc", "found", "--older-than", "-1"], "'-1' is not a number of 0"),
        (["diff", "found", "found"], "found/points.parquet: is not the table of `fabricvp sweep`"),
    ):
        done = command("results", *arguments)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_gc_removes_what_nothing_finds(cache, command, monkeypatch):
    monkeypatch.setattr(store, "simulator_hash", lambda: "another")
    cache.put("c4" * 16, "old", {}, Limits(), Record(PointOutcome.OK))
    broken, earlier = cache.folder / f"a1/{'a15' * 10}a1.parquet", cache.folder / f"{'0123' * 8}.point"
    part, fresh = (cache.folder / f"a1/.{'a1' * 16}.parquet.{digit * 32}.part" for digit in "bc")
    others = [cache.folder / name for name in ("a1/x.parquet", "a1/.x.part", "us/0.parquet", "my.point")]
    others += [cache.folder / f"{'a1' * 16}.parquet", cache.folder / f"us/{'a1' * 16}.parquet"]
    (cache.folder / "us").mkdir()
    for file in (broken, part, fresh, earlier, *others):
        file.write_bytes(b"PAR1")
    for file in (part, *others):
        os.utime(file, (time.time() - 7200,) * 2)
    unseen = cache.folder / f"a1/{'a16' * 10}a1.parquet"
    unseen.symlink_to(unseen)  # which cannot be opened
    first = next(file for file in cache.files() if file.stem == "a1" * 16)
    os.utime(first, (time.time() - 10 * 86400,) * 2)
    assert command("results", "gc", "found", "--dry-run").stdout.startswith("3 files, ")
    assert broken.exists() and part.exists()
    done = command("results", "gc", "found")
    assert "3 files, 0 KiB were removed" in done.stdout
    assert done.stderr.count("\n") == 1 and f"{unseen.name}: stays, since it cannot be read (" in done.stderr
    assert unseen.is_symlink() and all(file.exists() for file in others)
    unseen.unlink()
    assert not broken.exists() and not part.exists() and not earlier.exists() and fresh.exists()
    names = {"a1" * 16, "a2" * 16, "b3" * 16, "c4" * 16}
    for option, gone in (
        (["--other-simulators"], {"c4" * 16}),
        (["--older-than", "9"], {"a1" * 16}),
        (["--outcome", "failed"], {"a2" * 16}),
    ):
        command("results", "gc", "found", *option)
        names -= gone
        assert {file.stem for file in cache.files()} == names


def table(values, seeds=(1, 2, 3), outcome="ok"):
    """A sweep's table with one parameter beside the seed."""
    rows = [
        {"size": size, "simulation.seed": seed, "outcome": outcome, "error": "", "ended": "", "wall_s": 1.0, "log": ""}
        | {"time": value, "name": "x"}
        for size, of_seeds in values.items()
        for seed, value in zip(seeds, of_seeds)
    ]
    return pandas.DataFrame(rows)


def test_compare_pairs_seeds():
    before = table({8: [1.0, 2.0, 3.0], 16: [4.0, 4.0, 4.0], 32: [1.0, 1.1, 0.9]})
    after = table({8: [1.1, 2.1, 3.12], 16: [4.0, 4.0, 4.0], 32: [1.05, 1.02, 0.95]})
    found = compare(before, after, ["*"]).set_index("size")
    assert [*found["column"]] == ["time"] * 3 and [*found["seeds"]] == [3] * 3
    assert found["change"][8] == pytest.approx(6.32 / 6 - 1) and found["p"][8] < 0.05  # seeds differ by far more
    assert found["change"][16] == 0 and found["p"][16] == 1
    assert found["p"][32] > 0.5
    assert math.isnan(paired_p([1.0], [2.0])) and paired_p([1, 2], [2, 3]) == 0.0
    assert len(compare(before, table({8: [2.0, 2.0]}, seeds=(3, 4)), ["time"])) == 1  # one seed of one size
    table_of_signs = compare(table({8: [1.0, 2.0]}, seeds=(1, 2)), table({8: [2.0, 1.0]}, seeds=(1, 2)), ["*"])
    assert _chance(table_of_signs["p"][0], 2) == "p = 1 of 2 seeds" and _chance(0.0, 2) == "the same for all 2 seeds"
    for other, message in (
        (table({64: [1.0]}), "no point has been measured by both"),
        (table({8: [1.0]}, outcome="failed"), "no point has been measured by both"),
        (before.drop(columns="size"), "differ in their parameters"),
    ):
        with pytest.raises(fabricvp.InputError, match=message):
            compare(before, other, ["*"])
    with pytest.raises(fabricvp.InputError, match=re.escape("no column of both sweeps matches tim (there are: time)")):
        compare(before, after, ["tim"])


def test_compare_finds_the_points_of_any_parameters():
    """A table in a file has a parameter as text if it is text somewhere, and lists as text."""

    def of(names, *points):
        about = {"outcome": "ok", "error": "", "ended": "", "wall_s": 1.0, "branched": False, "log": ""}
        return pandas.DataFrame([{**dict(zip(names, point)), **about, "y": y} for *point, y in points])

    numbers = of("n", (1, 5.0), (2, 6.0))
    for other in (
        of("n", ("1", 5.0), ("2", 9.0), ("auto", 7.0)),
        of("n", (1.0, 5.0), (2.0, 9.0), (None, 1.0)),
        of("n", ("1.0", 5.0), ("2.0", 9.0)),
    ):
        for before, after, change in ((numbers, other, 0.5), (other, numbers, -1 / 3)):
            assert [*compare(before, after, ["*"])["change"]] == pytest.approx([0.0, change])
    assert ok_alone(numbers, of("n", ("1", 5.0), ("auto", 7.0), ("on", 7.0))) == (1, 2)
    assert ok_alone(numbers, numbers) == (0, 0) == ok_alone(of("", (5.0,)), of("", (6.0,)))
    lists = of("n", ([1, 2], 5.0), ([3], 6.0))
    for other in (lists, of("n", ("[1, 2]", 5.0), ("[3]", 6.0))):
        assert [*compare(lists, other, ["*"])["change"]] == [0.0, 0.0]
    assert [*summarise(lists)["n"]] == [[1, 2], [3]] and [*summarise(lists)["mean"]] == [5.0, 6.0]
    assert len(compare(of("nm", (1, 2, 5.0)), of("mn", (2, 1, 6.0)), ["*"])) == 1


def test_columns_and_parameters_may_have_any_names():
    def of(parameters, values):
        about = {"outcome": "ok", "error": "", "ended": "", "wall_s": 1.0, "branched": False, "log": ""}
        return pandas.DataFrame([{**parameters, **about, **values}])

    names = ("p", "seeds", "column", "before", "after", "change", "mean", "low", "high")
    parameters = {name: place for place, name in enumerate(names)}
    (found,) = compare(of(parameters, {"v": 1.0}), of(parameters, {"v": 2.0}), ["*"]).to_dict("records")
    assert (found["before"], found["after"], found["change"], found["seeds"], found["column"]) == (1, 2, 1, 1, "v")
    assert found["parameter.before"] == 3 and found["parameter.p"] == 0 and found["mean"] == 6
    (found,) = summarise(of(parameters, {"v": 2.0})).to_dict("records")
    assert (found["mean"], found["seeds"], found["column"]) == (2, 1, "v") and math.isnan(found["low"])
    assert found["parameter.mean"] == 6 and found["parameter.low"] == 7 and found["p"] == 0
    both = compare(of({}, {"pos": 1.0, "pos_x": 3.0}), of({}, {"pos": 2.0, "pos_y": 1.0}), ["*"])
    assert [*both["column"]] == ["pos"] and [*both["change"]] == [1.0]
    both = compare(of({"n": 1}, {"pos": 1.0}), of({"n": 1}, {"pos": 2.0, "pos_x": 1.0}), ["*"])
    assert [*both["change"]] == [1.0]


@pytest.mark.parametrize(
    ("before", "after", "change"), [(-10, -5, 0.5), (-5, -10, -1), (-1, 1, 2), (4, 5, 0.25), (0, -1, -math.inf)]
)
def test_what_becomes_more_changes_by_more_than_0(before, after, change):
    found = compare(table({8: [float(before)]}), table({8: [float(after)]}), ["*"])
    assert [*found["change"]] == [pytest.approx(change)]


def test_tables_that_are_none(tmp_path, capsys):
    from fabricvp.cli import main

    table({8: [1.0]}).to_parquet(tmp_path / "points.parquet")
    whole = (tmp_path / "points.parquet").read_bytes()
    table({8: [1.0]}).drop(columns="log").to_parquet(tmp_path / "points.parquet")
    assert main(["results", "diff", str(tmp_path), str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("the table is none of a sweep: it has no column 'log'\n")
    for place in range(4, len(whole), max(1, len(whole) // 300)):
        (tmp_path / "points.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        assert main(["results", "diff", str(tmp_path), str(tmp_path)]) in (0, 2), place
        assert capsys.readouterr().err.count("\n") <= 1


def test_parameters_are_printed_without_control_characters(tmp_path, capsys):
    from fabricvp.cli import main

    for name, value in (("before", 1.0), ("after", 2.0)):
        (tmp_path / name).mkdir()
        table({8: [value]}).assign(size="\x1b[31m").to_parquet(tmp_path / name / "points.parquet")
    assert main(["results", "diff", str(tmp_path / "before"), str(tmp_path / "after")]) == 0
    assert capsys.readouterr().out.startswith("size=\\x1b[31m  time: 1 -> 2 (+100.00%, one seed)\n")


def test_summaries_have_the_intervals_of_student():
    frame = table({8: [1.0, 2.0, 3.0], 16: [4.0, 4.0, 4.0]})
    found = summarise(frame, "time").set_index("size")
    assert found["mean"][8] == 2 and found["seeds"][8] == 3
    # t of 0.975 with 2 degrees of freedom is 4.30265 (any table); the standard error is 1 / sqrt(3)
    assert found["high"][8] - 2 == pytest.approx(4.30265 / 3**0.5, rel=1e-5) == 2 - found["low"][8]
    assert found["low"][16] == found["high"][16] == 4
    wide = summarise(frame, confidence=0.99).set_index("size")
    assert wide["high"][8] - 2 == pytest.approx(9.92484 / 3**0.5, rel=1e-5)
    frame.loc[0, "outcome"] = "failed"
    assert summarise(frame)["mean"][0] == 2.5
    assert math.isnan(summarise(table({8: [1.0]}))["low"][0])
    for wrong, message in (
        ({"columns": "tim"}, "no measured column 'tim' (there are: time)"),
        ({"columns": ["name"]}, "no measured column 'name'"),
        ({"confidence": 1}, "confidence: 1 is not between"),
    ):
        with pytest.raises(fabricvp.InputError, match=re.escape(message)):
            summarise(frame, **wrong)


def test_diff_of_two_studies(tmp_path, command):
    for name, units in (("one", 1), ("four", 4)):
        study = (
            f"config: gpu\napp: vectoradd\nset: {{node.gpus.0.compute_units: {units}}}\ngrid: {{size: [2048, 4096]}}\n"
        )
        (tmp_path / f"{name}.yaml").write_text(study + "repeat: 2\n")
        assert command("sweep", f"{name}.yaml", "--out", name, "--result-cache", "shared").returncode == 0
    for arguments in (["results", "diff"], ["diff"]):
        done = command(*arguments, "one", "four", "--keep", "kernels:*")
        assert done.returncode == 0
        lines = done.stdout.splitlines()
        for line, size in zip(sorted(lines[:2]), (2048, 4096)):
            pattern = rf"size={size}  kernels:time_s: \S+ -> \S+ \(-[\d.]+%, the same for all 2 seeds\)"
            assert re.fullmatch(pattern, line), line
        assert lines[2] == "2 of 2 figures changed"
    assert "figures\n" in command("results", "diff", "one", "four", "--all").stdout
    frame = pandas.read_parquet(tmp_path / "four/points.parquet")
    frame.loc[frame["simulation.seed"] == 2, "outcome"] = "failed"
    frame.to_parquet(tmp_path / "four/points.parquet")
    assert "\n2 points are ok in one alone\n" in command("results", "diff", "one", "four").stdout
    assert command("results", "list", "shared").stdout.endswith("8 points\n")
