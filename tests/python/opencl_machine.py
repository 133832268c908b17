# SPDX-License-Identifier: Apache-2.0
"""What tests of kernels in OpenCL C share: a compiler or a skip, and a small GPU."""

import os
import shutil
import subprocess

import fabricvp
import pytest
from fabricvp.compiler import build, toolchain
from fabricvp.errors import InputError


def require_compiler():
    """Skips where no compiler is there, and none could be installed."""
    if os.environ.get("FABRICVP_CLANG") or installed_versions():
        return
    names = [f"clang-{version}" for version in toolchain.VERSIONS]
    if subprocess.run(["apt-cache", "show", *names], capture_output=True, text=True, check=False).stdout == "":
        pytest.skip(f"no {' or '.join(names)}, and no archive that has one", allow_module_level=True)
    pytest.fail(f"{' or '.join(names)} with LLVM's opt is not installed: scripts/setup.sh build", pytrace=False)


def installed_versions():
    """Numbers of the compilers that are there with their optimizers."""
    return [v for v in toolchain.VERSIONS if shutil.which(f"clang-{v}") and shutil.which(f"opt-{v}")]


def small_gpu():
    """A machine in a process of its own, for `with`."""
    return fabricvp.spawn("gpu", node__gpus__0__compute_units=4)


def assert_refused(source, file, says):
    """A source that cannot be compiled ends in one line that says why."""
    with pytest.raises(InputError) as raised:
        build(source, file)
    assert says in str(raised.value) and "\n" not in str(raised.value)
