# SPDX-License-Identifier: Apache-2.0
"""Files that a run would write over: refused in one line, before anything is written."""

import os

import pytest


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--script", "s", "--junit", "f", "--coverage", "f"], "--junit f: --coverage writes that file, too"),
        (["--script", "s", "--junit", "f", "--coverage", "./f"], "--junit f: --coverage writes that file, too"),
        (["--coverage", "linked", "--console", "file:s"], "--console s: --coverage writes that file, too"),
        (["--profile", "f.html", "--console", "node0=file:f.html"], "--console f.html: --profile writes that file"),
        (["--profile", "f.html", "--coverage", "f.folded"], "--profile f.folded: --coverage writes that file, too"),
        (["--console", "node0=file:f", "--console", "node1=file:f"], "--console f: --console writes that file, too"),
        (["--out", "o", "--coverage", "o/stats.json"], "--coverage o/stats.json: --out writes that file, too"),
        (["--out", "o", "--coverage", "o/f", "--junit", "g"], "--junit needs --script"),
        (["--script", "s", "--junit", "s"], "--junit s: the run reads that file"),
        (["--symbols", "s", "--coverage", "s"], "--coverage s: the run reads that file"),
        (["--replay", "node0=s", "--console", "file:s"], "--console s: the run reads that file"),
    ],
)
def test_one_file_for_two(arguments, says, command, tmp_path):
    (tmp_path / "s").write_text("expect x\n")
    os.link(tmp_path / "s", tmp_path / "linked")
    before = sorted(tmp_path.iterdir())
    done = command("run", "bare", "--time", "1us", *arguments)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert sorted(tmp_path.iterdir()) == before and (tmp_path / "s").read_text() == "expect x\n"


def test_a_configuration_of_ones_own_is_not_written_over(command, tmp_path):
    (tmp_path / "own.yaml").write_text("base: bare\n")
    done = command("run", "own.yaml", "--time", "1us", "--coverage", "own.yaml")
    assert done.returncode == 2 and "--coverage own.yaml: the run reads that file" in done.stderr, done.stderr


def test_buffers_of_a_kernel_may_be_written_back_but_not_two_to_one_file(command, tmp_path):
    (tmp_path / "fill.cl").write_text("kernel void fill(global int *a, global int *b) { *a = 1; *b = 2; }\n")
    (tmp_path / "data").write_bytes(bytes(4))
    run = ("run", "gpu", "--program", "fill.cl", "--arg")
    done = command(*run, "out:4 B:./data", "--arg", "inout:data")
    assert done.returncode == 2 and "another buffer goes into that file" in done.stderr, done.stderr
    done = command(*run, "in:data", "--arg", "inout:data")
    assert done.returncode == 0 and (tmp_path / "data").read_bytes() == b"\2\0\0\0", done.stderr


def test_several_may_write_to_a_device(command):
    done = command("run", "bare", "--time", "1us", "--coverage", "/dev/null", "--console", "file:/dev/null")
    assert done.returncode == 0, done.stderr


def test_a_source_is_not_written_over(command, tmp_path):
    (tmp_path / "fill.cl").write_text("kernel void fill(global int *a) { *a = 1; }\n")
    for more in (["--arg", "out:4:fill.cl"], ["--arg", "zeros:4", "--coverage", "fill.cl"]):
        done = command("run", "gpu", "--program", "fill.cl", *more)
        assert done.returncode == 2 and "fill.cl: the run reads that file" in done.stderr, done.stderr
    assert (tmp_path / "fill.cl").read_text().startswith("kernel")


def test_files_may_lie_in_the_folder_of_results(command, tmp_path):
    done = command("run", "bare", "--time", "1us", "--out", "o", "--coverage", "o/f", "--profile", "o/p.html")
    assert done.returncode == 0, done.stderr
    assert {"f", "p.html", "p.folded", "stats.json"} <= {path.name for path in (tmp_path / "o").iterdir()}


def test_results_of_an_earlier_run_go(command, tmp_path):
    for name in ("trace.pftrace", "profile.html", "profile.folded", "initrd.node0.img", "stats.csv.77.tmp", "mine"):
        (tmp_path / "o").mkdir(exist_ok=True)
        (tmp_path / "o" / name).write_text("old")
    done = command("run", "bare", "--time", "1us", "--out", "o")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o" / "mine").exists()
    assert not [path for path in (tmp_path / "o").iterdir() if path.name != "mine" and path.read_bytes() == b"old"]


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["run", "bare", "extra"], "'extra': unexpected argument: usage: fabricvp run CONFIG"),
        (["run", "bare", "--trace", "x.json"], "--trace takes no value: 'x.json' (see fabricvp run --help)"),
        (["run", "bare", "--", "a", "b"], "'a': unexpected argument"),
        (["list", "foo"], "'foo': unexpected argument"),
    ],
)
def test_an_argument_too_many(arguments, says, command):
    done = command(*arguments)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
