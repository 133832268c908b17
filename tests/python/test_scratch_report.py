# SPDX-License-Identifier: Apache-2.0
"""What kernels keep in scratch memory: the report, and that entries keep nothing for callers that they have not."""

import importlib.util
import pathlib
import subprocess
import sys

import fabricvp
import pytest

TREE = pathlib.Path(__file__).parents[2]
SCRIPT = TREE / "scripts" / "scratch_report.py"
GCC = "riscv64-unknown-elf-gcc"

KERNEL = """
#include "gpu.h"
struct arguments { const uint64_t *in; uint64_t *out; };
static uint64_t __attribute__((noinline)) twice(const uint64_t *p) { return gpu_cycle() + *p; }
KERNEL(straight, struct arguments) { args->out[global_id(0)] = args->in[global_id(0)] + 1; }
KERNEL(calls, struct arguments) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; ++i) sum += twice(args->in + i);
    args->out[global_id(0)] = sum;
}
KERNEL(array, struct arguments) {
    volatile uint64_t kept[8];
    for (unsigned i = 0; i < 8; ++i) kept[i] = args->in[i];
    args->out[global_id(0)] = kept[args->in[0] % 8];
}
"""


@pytest.fixture(scope="module")
def report():
    spec = importlib.util.spec_from_file_location("scratch_report", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["scratch_report"] = module  # as its NamedTuple wants
    spec.loader.exec_module(module)
    return module


def kernels(report, folder, *flags):
    (folder / "k.c").write_text(KERNEL)
    gpu = TREE / "firmware" / "gpu"
    subprocess.run(
        [GCC, "-march=rv64imafd_zicsr_zba_zbb", "-mabi=lp64d", "-mcmodel=medany", "-ffreestanding", "-O2", "-nostdlib",
         "-ffunction-sections", f"-I{TREE}", f"-I{TREE}/firmware", f"-I{gpu}", *flags, f"-T{gpu}/gpu.ld",
         str(folder / "k.c"), "-o", str(folder / "k.elf")],
        check=True,
    )  # fmt: skip
    return report.kernels_of(folder / "k.elf")


def test_report_tells_saves_spills_and_arrays_apart(report, tmp_path):
    found = kernels(report, tmp_path)
    assert found["straight"] == (0, 0, 0, 0, 0, 0, 1)
    assert found["calls"].saves >= 2  # what lives across the calls
    assert found["calls"].links == 1
    assert found["array"].arrays >= 1
    assert "arrays" in found["array"].reasons()


def test_flags_of_kernels_leave_callers_their_registers(report, tmp_path):
    found = kernels(report, tmp_path, f"@{TREE}/firmware/gpu/registers.flags")
    assert found["calls"].saves <= found["calls"].functions  # s0 at most


def test_no_shipped_kernel_keeps_registers_for_a_caller(report):
    folder = pathlib.Path(fabricvp.firmware_path("vectoradd")).parent
    images = [i for i in report.images_of(folder) if report.is_kernel_image(i)]
    assert len(images) > 60
    for image in images:
        for name, s in report.kernels_of(image).items():
            assert s.saves <= s.functions, f"{image.name}: {name} keeps {s.saves} registers"


def test_command_prints_a_table_and_refuses_what_is_not_there(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, fabricvp.firmware_path("vectoradd")], capture_output=True, text=True)
    assert done.returncode == 0
    assert "Nothing in scratch memory (1 kernels): `vectoradd`" in done.stdout
    done = subprocess.run([sys.executable, SCRIPT, tmp_path / "none"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
