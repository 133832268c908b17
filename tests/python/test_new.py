# SPDX-License-Identifier: Apache-2.0
"""Projects that `fabricvp new` makes build and run, from the tree and from what an installation leaves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build" / "release"
#: What `make run` of each kind prints.
SAYS = {
    "kernel": "the result is right",
    "firmware": "sum 4999950000, ok",
    "device": "12345 squared is 152399025",
    "stage": "to_cluster0_egress.combined",
    "pcie-device": "1000 squares, ok",
    "gpu-host": "the result is right",
    "hip-host": "the result is right",
    "opencl-host": "the result is right",
    "service": "the words are right",
}
#: Other ways to run what the project has.
MORE_TARGETS = {"device": ("plugin", "program"), "pcie-device": ("plugin",)}


def make(folder, target="run", **environment):
    return subprocess.run(
        ["make", "-C", folder, target], capture_output=True, text=True, timeout=500, env={**os.environ, **environment}
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", SAYS)
def test_a_new_project_builds_and_runs(kind, command, tmp_path):
    done = command("new", kind, "mine")
    assert done.returncode == 0 and "make -C mine run" in done.stdout, done.stderr
    done = make(tmp_path / "mine")
    assert done.returncode == 0 and SAYS[kind] in done.stdout, done.stdout + done.stderr
    assert "warning" not in done.stderr
    subprocess.run(["make", "-C", tmp_path / "mine", "clean"], check=True, timeout=60, capture_output=True)
    assert not list((tmp_path / "mine").glob("*.elf"))


@pytest.mark.timeout(600)
def test_firmware_with_floats(command, tmp_path):
    """main() and what other harts run may use them from the first instruction on."""
    assert command("new", "firmware", "mine").returncode == 0
    (tmp_path / "mine" / "main.c").write_text(
        """#include "lib/console.h"
#include "lib/harts.h"
static volatile float of_hart[64];
static void add(void* unused) { (void)unused; of_hart[hart_id()] = of_hart[hart_id()] * 2.0f + 1.5f; }
int main(void) {
    volatile double half = 0.5;
    harts_run(add, 0);
    console_printf("halves: %d, %d\\n", (int)(half * 84), (int)(of_hart[0] * 4));
    return 0;
}
"""
    )
    done = make(tmp_path / "mine")
    assert done.returncode == 0 and "halves: 42, 6" in done.stdout, done.stdout + done.stderr


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", MORE_TARGETS)
def test_a_device_in_cpp(kind, command, tmp_path):
    """As a plug-in, and some built into a program of their own."""
    assert command("new", kind, "mine").returncode == 0
    for target in MORE_TARGETS[kind]:
        done = make(tmp_path / "mine", target)
        assert done.returncode == 0 and SAYS[kind] in done.stdout, done.stdout + done.stderr
        assert "warning" not in done.stderr
    make(tmp_path / "mine", "clean")
    assert not (tmp_path / "mine" / "build").exists()


@pytest.mark.timeout(600)
def test_a_stock_application_with_a_service(command, tmp_path):
    assert command("new", "service", "mine").returncode == 0
    done = make(tmp_path / "mine", "app")
    assert done.returncode == 0 and "spmv       ok" in done.stdout, done.stdout + done.stderr


@pytest.mark.timeout(1200)
def test_from_an_installation(tmp_path):
    """The files that a wheel holds: the Python sources, and what CMake installs for Python."""
    site = tmp_path / "site"
    for component in "python", "sdk":
        subprocess.run(
            ["cmake", "--install", BUILD, "--component", component, "--prefix", site],
            check=True,
            capture_output=True,
            timeout=200,
        )
    shutil.copytree(
        REPOSITORY / "python" / "fabricvp",
        site / "fabricvp",
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    # As pip does; it, too, goes on where a template is no Python yet.
    subprocess.run([sys.executable, "-m", "compileall", "-q", site], timeout=200, stdout=subprocess.DEVNULL)
    assert (site / "fabricvp/templates/device/__pycache__").is_dir()
    # -S keeps the tree's own package out; what it needs besides is given by path.
    needed = os.pathsep.join([str(site), *(p for p in sys.path if p.endswith("site-packages"))])
    where = subprocess.run(
        [sys.executable, "-S", "-c", "import fabricvp; print(fabricvp.__file__)"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": needed},
        cwd=tmp_path,
    )
    assert where.stdout.startswith(str(site)), where
    for kind in SAYS:
        done = subprocess.run(
            [sys.executable, "-S", "-m", "fabricvp", "new", kind, f"my_{kind.replace('-', '_')}"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": needed},
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        for target in MORE_TARGETS.get(kind, ()) + ("run",):
            done = make(
                tmp_path / f"my_{kind.replace('-', '_')}", target, PYTHONPATH=needed, PYTHON=f"{sys.executable} -S"
            )
            assert done.returncode == 0 and SAYS[kind] in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["new"], "KIND"),
        (["new", "kernel"], "NAME"),
        (
            ["new", "thing", "x"],
            "kernel, firmware, stage, device, pcie-device, gpu-host, hip-host, opencl-host, service",
        ),
        (["new", "kernel", "Int"], "'Int' is no name"),
        (["new", "kernel", "int"], "'int' is no name"),
        (["new", "kernel", "../x"], "is no name"),
        (["new", "device", "random"], "'random' is a module of Python"),
        (["new", "pcie-device", "string"], "'string' is a module of Python"),
        (["new", "kernel", "there"], "is there already"),
        *((["new", kind, "a\nb"], r"'a\x0ab' is no name") for kind in SAYS),
        (["new", "a\x1b[2Jb", "x"], r"'a\x1b[2Jb'"),
        (["new", "kernel", "x", "--in", "/proc/nowhere"], "cannot be written"),
        (["sdk", "please"], "please"),
    ],
)
def test_bad_input(arguments, says, command, tmp_path):
    (tmp_path / "there").mkdir()
    done = command(*arguments)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


def test_sdk(command):
    assert (Path(command("sdk", "--cmake").stdout.strip()) / "include" / "fabricvp" / "platform" / "plugin.h").is_file()
    folder = Path(command("sdk").stdout.strip())
    assert (
        (folder / "fabricvp.mk").is_file()
        and (folder / "gpu" / "gpu.h").is_file()
        and (folder / "abi" / "aql.h").is_file()
    )
