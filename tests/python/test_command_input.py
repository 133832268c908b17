# SPDX-License-Identifier: Apache-2.0
"""What users of the command mistype, and what it warns of: one line each."""

import opencl_machine
import pytest

KERNEL = "kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "gpu", "--program", "k.cl", "--grid", "128²", "--arg", "zeros:8B"), "run: --grid '128²': must be N, "),
        (("run", "gpu", "--program", "k.cl", "--recursion", "²"), "run: --recursion '²': must be a number of calls"),
        (("sweep", "s.yaml", "--jobs", "²"), "sweep: argument --jobs: '²' is not a number of 1 … 1024 "),
    ],
)
def test_digits_that_are_none(command, tmp_path, arguments, says):
    opencl_machine.require_compiler()
    (tmp_path / "k.cl").write_text(KERNEL)
    done = command(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"fabricvp {says}")


def test_warnings_are_one_line(command, tmp_path):
    (tmp_path / "s.yaml").write_text("config: gpu\napp: vectoradd\ngrid: {size: [64]}\nkeep: [sim.tme_s]\n")
    done = command("sweep", "s.yaml", "--out", "found")
    said = [line for line in done.stderr.splitlines() if "tme_s" in line or ".py" in line]
    assert said == ["fabricvp: no statistic matches 'sim.tme_s': did you mean 'sim.time_s'?"], done.stderr
