# SPDX-License-Identifier: Apache-2.0
"""The tests of kernels with another compiler than the usual one: `FABRICVP_SECOND_CLANG` names it, or it is one that
the package knows and that is installed beside the first."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import opencl_machine
import pytest
from fabricvp.compiler import toolchain

opencl_machine.require_compiler()

TESTS = (
    "opencl_kernels hip_kernels kernel_printf program_variables wavefronts cooperative_groups half lane_operations"
    " opencl_divergence float_atomics opencl_integers opencl_math compile_command streams program_record recursion"
    " locality locality_launches locality_declared"
)


def second_clang():
    """The command of the other compiler, or a skip."""
    if named := os.environ.get("FABRICVP_SECOND_CLANG"):
        return named
    first = os.path.realpath(toolchain.clang())
    for version in opencl_machine.installed_versions():
        found = shutil.which(f"clang-{version}")
        if os.path.realpath(found) != first:
            return found
    return pytest.skip("there is one clang alone (FABRICVP_SECOND_CLANG names another one)")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", TESTS.split())
def test_kernels_of_another_compiler(name):
    file = Path(__file__).with_name(f"test_{name}.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", file],
        env={**os.environ, "FABRICVP_CLANG": second_clang()}, capture_output=True, text=True, timeout=1100, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-4000:] + done.stderr


def test_an_unknown_version_is_refused(tmp_path):
    other = tmp_path / "clang"
    other.write_text("#!/bin/sh\necho 'Debian clang version 17.0.1'\n")
    other.chmod(0o755)
    source = tmp_path / "a.cl"
    source.write_text("kernel void f() {}\n")
    done = subprocess.run(
        [sys.executable, "-m", "fabricvp", "cc", source, "-o", tmp_path / "a.elf"],
        env={**os.environ, "FABRICVP_CLANG": str(other)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode and done.stderr.count("\n") == 1, done.stderr
    assert "kernels need clang 14 or 19, and" in done.stderr and "is 'Debian clang version 17.0.1'" in done.stderr
