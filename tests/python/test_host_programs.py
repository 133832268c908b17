# SPDX-License-Identifier: Apache-2.0
"""Host programs in C that use HIP and OpenCL on bare metal: every call with its errors, on machines with one GPU, with
several that reach each other, and with two that do not; the examples; what they are built with."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import opencl_machine
import pytest

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAMS = REPOSITORY / "tests" / "firmware" / "runtime"
EXAMPLES = REPOSITORY / "examples" / "host_programs"
API = REPOSITORY / "firmware" / "runtime" / "include" / "hip" / "hip_runtime_api.h"
MAKEFILE = f"""PYTHON = {sys.executable}
include $(shell $(PYTHON) -m fabricvp sdk)/fabricvp.mk
hip_kernels.elf: hip_kernels.hip
	$(build_program)
opencl_kernels.elf: opencl_kernels.cl
	$(build_program)
%_calls.elf: %_calls.c %_kernels.elf
	$(build_compute_host)
opencl_objects.elf: opencl_objects.c opencl_kernels.elf
	$(build_compute_host)
"""
SMALL = """base: gpu
node:
  gpus:
    - {below: switch0, compute_unit: {lds: {size: 48 KiB}}, memory: {l2: {size: 1 MiB}}}
"""
TWO_APART = "base: gpu\nnode:\n  gpus:\n    - below: switch0\n    - below: switch0\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder in which each language's program has been built."""
    folder = tmp_path_factory.mktemp("programs")
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "two_apart.yaml").write_text(TWO_APART)
    (folder / "small.yaml").write_text(SMALL)
    done = subprocess.run(
        ["make", "-s", "-C", folder, "hip_calls.elf", "opencl_calls.elf", "opencl_objects.elf", "CFLAGS=-Werror"],
        capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0 and "warning" not in done.stderr, done.stdout + done.stderr
    return folder


def assert_all_right(done, checks):
    """A line for each check, and its count."""
    lines = done.stdout.replace("\r", "").splitlines()
    assert done.returncode == 0 and "0 wrong" in lines and "FAILED" not in done.stdout, done.stdout + done.stderr
    assert sum(line.endswith(" ok") for line in lines) == checks, done.stdout


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "language, machine, checks, says",
    [
        ("hip", "gpu", 90, "1 GPUs"),
        ("hip", "netcrafter_quad", 94, "reaches the memory of GPU 1"),
        ("hip", "two_apart.yaml", 93, "does not reach the memory of GPU 1"),
        ("hip", "apu", 90, "1 GPUs"),
        ("hip", "small.yaml", 90, "49152 bytes of shared memory"),
        ("opencl", "small.yaml", 65, "49152 bytes of local memory, 1048576 of L2"),
        ("opencl", "gpu", 65, "1 GPUs"),
        ("opencl", "netcrafter_quad", 66, "4 GPUs"),
        ("opencl", "two_apart.yaml", 66, "2 GPUs"),
    ],
)
def test_every_call(programs, command, language, machine, checks, says):
    done = command("run", machine, "--firmware", f"{language}_calls.elf", cwd=programs, stdin=subprocess.DEVNULL)
    assert_all_right(done, checks)
    assert says in done.stdout
    assert ("kernel says 2 1.00 so\n" in done.stdout.replace("\r", "")) == (language == "hip")
    # A wild pointer names kernel, lane and address.
    assert "(wild.kernel+0x" in done.stdout and "address 0x0" in done.stdout


@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["gpu", "apu"])
def test_what_objects_of_opencl_do(programs, command, machine):
    done = command("run", machine, "--firmware", "opencl_objects.elf", cwd=programs, stdin=subprocess.DEVNULL)
    assert_all_right(done, 66)


def test_the_page_names_every_call_of_opencl():
    header = (REPOSITORY / "firmware" / "runtime" / "include" / "CL" / "cl.h").read_text()
    declared = re.findall(r"^\w[\w* ]*\b(cl[A-Z]\w+)\(", header, re.MULTILINE)
    page = (REPOSITORY / "docs" / "howto" / "host_programs.md").read_text()
    named = re.findall(r"`(cl[A-Z]\w+)`", page.partition("| part | calls of OpenCL |")[2])
    assert len(declared) > 80 and sorted(set(named)) == sorted(declared)


def test_the_page_names_every_call_of_hip():
    declared = re.findall(r"^(?:hipError_t|const char\*) (hip\w+)\(", API.read_text(), re.MULTILINE)
    page = (REPOSITORY / "docs" / "howto" / "host_programs.md").read_text()
    named = re.findall(r"`(hip[A-Z]\w+)`", page.partition("| part | calls of OpenCL |")[0])
    others = {"hipThreadIdx_x", "hipGridDim_z"}  # no calls
    assert len(declared) > 80 and sorted(set(named) - others) == sorted(declared)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["vector_add_hip", "spmv_opencl"])
def test_examples(command, tmp_path, name):
    shutil.copytree(EXAMPLES, tmp_path / "examples" / "host_programs")
    (tmp_path / "examples" / "kernels").symlink_to(REPOSITORY / "examples" / "kernels")
    done = subprocess.run(
        ["make", "-C", tmp_path / "examples" / "host_programs", f"run_{name}", f"PYTHON={sys.executable}"],
        capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0 and "the result is right" in done.stdout, done.stdout + done.stderr


NO_GPU = """#include <CL/cl.h>
#include <hip/hip_runtime.h>
#include <stdio.h>
int main(void) {
    int n = -1, a = 1, b = 2;
    cl_device_id device;
    cl_uint count = 9;
    void* p;
    printf("HIP %d %d", hipGetDeviceCount(&n), n);
    printf(" %d %d %d", hipSetDevice(0), hipMalloc(&p, 64), hipMemcpy(&a, &b, 4, hipMemcpyHostToDevice));
    printf(" %d %d\\n", hipDeviceSynchronize(), hipStreamSynchronize(NULL));
    printf("OpenCL %d", clGetDeviceIDs(NULL, CL_DEVICE_TYPE_GPU, 1, &device, &count));
    printf(" %u\\n%.3f\\n", count, 1.5);
    return 0;
}
"""


@pytest.mark.timeout(600)
def test_machines_without_a_gpu(command, tmp_path):
    (tmp_path / "main.c").write_text(NO_GPU)
    (tmp_path / "Makefile").write_text(MAKEFILE + "main.elf: main.c\n\t$(build_compute_host)\n")
    subprocess.run(["make", "-C", tmp_path, "main.elf"], check=True, timeout=500, capture_output=True)
    done = command("run", "bare", "--firmware", "main.elf", stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and "HIP 100 0 100 100 100 100 100" in done.stdout, done.stdout + done.stderr
    assert "OpenCL -1 0" in done.stdout and "1.500" in done.stdout


@pytest.mark.timeout(600)
def test_variables_of_a_thread_are_refused(tmp_path):
    """tp holds the hart's number."""
    (tmp_path / "main.c").write_text("#include <errno.h>\nint main(void) { return errno; }\n")
    (tmp_path / "Makefile").write_text(MAKEFILE + "main.elf: main.c\n\t$(build_compute_host)\n")
    done = subprocess.run(["make", "-C", tmp_path, "main.elf"], capture_output=True, text=True, timeout=500)
    assert done.returncode and "programs for harts cannot have variables of a thread, such as errno" in done.stderr
