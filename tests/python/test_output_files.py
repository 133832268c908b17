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
        (["--profile", "f", "--console", "node0=file:f"], "--console f: --profile writes that file, too"),
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
    done = command(*run, "out:4:data", "--arg", "inout:data")
    assert done.returncode == 2 and "--arg data: --arg writes that file, too" in done.stderr, done.stderr
    done = command(*run, "in:data", "--arg", "inout:data")
    assert done.returncode == 0 and (tmp_path / "data").read_bytes() == b"\2\0\0\0", done.stderr


def test_several_may_write_to_a_device(command, assemble, tmp_path):
    done = command("run", "bare", "--time", "1us", "--coverage", "/dev/null", "--console", "file:/dev/null")
    assert done.returncode in (0, 1), done.stderr
    assert "too" not in done.stderr
