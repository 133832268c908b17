# SPDX-License-Identifier: Apache-2.0
"""What tests of kernels in OpenCL C share: a compiler or a skip, and a small GPU."""

import shutil
import subprocess

import fabricvp
import pytest
from fabricvp.compiler import build
from fabricvp.errors import InputError


def require_compiler():
    """Skips where no clang 14 is there, and none could be installed."""
    if shutil.which("clang-14") and shutil.which("opt-14"):
        return
    if subprocess.run(["apt-cache", "show", "clang-14"], capture_output=True, check=False).returncode:
        pytest.skip("no clang-14, and no archive that has it", allow_module_level=True)
    pytest.fail("clang-14 or llvm-14 is not installed: scripts/setup.sh build", pytrace=False)


def small_gpu():
    """A machine in a process of its own, for `with`."""
    return fabricvp.spawn("gpu", node__gpus__0__compute_units=4)


def assert_refused(source, file, says):
    """A source that cannot be compiled ends in one line that says why."""
    with pytest.raises(InputError) as raised:
        build(source, file)
    assert says in str(raised.value) and "\n" not in str(raised.value)
