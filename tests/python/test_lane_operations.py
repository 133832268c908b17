# SPDX-License-Identifier: Apache-2.0
"""Operations between lanes in HIP, CUDA and C: random diverging kernels against a model, masks, faults and costs."""

import subprocess

import numpy
import opencl_machine
import pytest
from fabricvp.data import sdk_folder
from fabricvp.errors import KernelFault
from lane_programs import Program, source_of

opencl_machine.require_compiler()

GROUP, ITEMS = 104, 312  # each second wavefront is broken


def expected(program, values):
    with numpy.errstate(over="ignore"):
        parts = [
            program.run(values[first : min(first + program.lanes, group + GROUP)])
            for group in range(0, len(values), GROUP)
            for first in range(group, group + GROUP, program.lanes)
        ]
    return numpy.concatenate(parts)


def inputs(seed):
    return numpy.random.default_rng(seed).integers(0, 1 << 32, ITEMS, dtype="u4")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("level", ["0", "1", "2", "3", "s"])
@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_random_programs(gpu, language, level):
    programs = [Program(f"{language}{level}{n}", {"hip": 64, "cuda": 32}[language]) for n in range(8)]
    compiled = gpu.program(source_of(language, programs), language=language, options=[f"-O{level}"])
    for n, program in enumerate(programs):
        values, out = inputs(n), numpy.zeros(ITEMS, "u4")
        compiled[f"k{n}"](ITEMS // GROUP, GROUP, values, out)
        numpy.testing.assert_array_equal(out, expected(program, values), err_msg=f"k{n}")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("level", ["1", "2", "s"])  # -O3 copies blocks, where lanes do not reconverge
def test_random_programs_in_c(gpu, tmp_path, level):
    programs = [Program(f"c{level}{n}", 64) for n in range(8)]
    (tmp_path / "k.c").write_text(source_of("c", programs))
    (tmp_path / "Makefile").write_text(f"include {sdk_folder()}/fabricvp.mk\nk.elf: k.c\n\t$(build_kernel)\n")
    subprocess.run(["make", "-s", "-C", tmp_path, "k.elf", f"CFLAGS=-O{level} -w"], check=True)
    for n, program in enumerate(programs):
        values = inputs(n)
        buffers = {"in": values, "out": numpy.zeros_like(values)}
        done = gpu.launch(tmp_path / "k.elf", ITEMS, ["in", "out"], buffers, group=GROUP, kernel=f"k{n}")
        numpy.testing.assert_array_equal(done.buffers["out"], expected(program, values), err_msg=f"k{n}")


@pytest.mark.timeout(200)
@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_lanes_that_can_never_come(gpu, language):
    source = """__global__ void wrong(int* out) {
    int lane = threadIdx.x;
    if (lane & 1)
        out[lane] = __shfl_sync(FULL, lane, 3);
    else
        out[lane] = __shfl_sync(FULL, lane, 4);
}
__global__ void right(int* out) {
    int lane = threadIdx.x;
    if (lane & 1) {
        out[lane] = 1;
        __syncwarp();
        out[lane] += out[lane - 1];
    } else {
        out[lane] = 5;
        __syncwarp();
        out[lane] += 1;
    }
}
""".replace("FULL", "~0ull")
    program = gpu.program(source, language=language)
    out = numpy.zeros(64, "i4")
    with pytest.raises(KernelFault, match=r"(?s)barrier.*program\.cl:[46]"):
        program["wrong"](1, 64, out)
    program["right"](1, 64, out)
    assert out.tolist() == [6, 6] * 32
