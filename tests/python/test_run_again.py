# SPDX-License-Identifier: Apache-2.0
"""`config.resolved.yaml` of a run does the same again, with what the command has made itself: the job of a kernel, and
the RAM disk with a program for Linux."""

import json
import shutil

import opencl_machine
import pytest
from test_linux_gpu import EXAMPLES, WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

KERNEL = """kernel void twice(global int* x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2; }"""


def statistics(folder):
    values = json.loads((folder / "stats.json").read_text())
    return {path: value for path, value in values.items() if path not in ("sim.wall_s",)}


def again(command, tmp_path, timeout):
    """The folder of a run, moved and run again."""
    shutil.move(tmp_path / "first", tmp_path / "moved")
    done = command(
        "run", "moved/config.resolved.yaml", "--console", "none", "--quiet", "--out", "second", timeout=timeout
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert statistics(tmp_path / "second") == statistics(tmp_path / "moved")


@pytest.mark.timeout(100)
def test_a_kernel_runs_again(command, tmp_path):
    (tmp_path / "k.cl").write_text(KERNEL)
    given = ["run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cl", "--grid", "64"]
    given += ["--arg", "zeros:256B", "--arg", "i32:64", "--console", "none", "--quiet", "--out", "first"]
    done = command(*given)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "first/run.json").read_text())["command"] == ["fabricvp", *given]
    assert "initrd: initrd.node0.img" in (tmp_path / "first/config.resolved.yaml").read_text()
    again(command, tmp_path, 90)


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_a_program_on_linux_runs_again(command, tmp_path):
    done = command("cc", EXAMPLES / "saxpy.hip", "-o", "saxpy", "--target", "linux")
    assert done.returncode == 0, done.stderr
    given = ["run", "linux_gpu", "--program", "saxpy", "--seed", "1", "--quiet", "--out", "first", "--", "100", "2.5"]
    done = command(*given, timeout=6000)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "first/run.json").read_text())["command"] == ["fabricvp", *given]
    again(command, tmp_path, 6000)
