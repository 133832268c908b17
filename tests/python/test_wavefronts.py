# SPDX-License-Identifier: Apache-2.0
"""Wavefronts of 32 and 64 lanes, and lanes that have ended before a barrier, in OpenCL C, HIP and CUDA."""

import subprocess
import warnings

import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError

opencl_machine.require_compiler()

EARLY = """__global__ void early(int* out, int n) {
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    if (t >= n) return;
    atomicAdd(&sum, t);
    __syncthreads();
    out[t] = sum;
}
"""
SIZES = """__global__ void sizes(unsigned long long* out) {
    int t = threadIdx.x;
    out[4 * t] = warpSize;
    out[4 * t + 1] = __lane_id();
    out[4 * t + 2] = __ballot(1);
    out[4 * t + 3] = __shfl_down_sync(__activemask(), t, 1);
}
"""


@pytest.mark.timeout(100)
@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_threads_that_have_returned_count_as_arrived(gpu, language):
    program = gpu.program(EARLY, language=language)
    for n in (1, 100, 200, 256):
        out = numpy.zeros(256, "i4")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            program["early"](1, 256, out, n)
        assert (out[:n] == n * (n - 1) // 2).all() and not out[n:].any()


@pytest.mark.timeout(100)
def test_barriers_that_count_need_no_particular_thread(gpu):
    source = """__global__ void count(int* out) {
    int t = threadIdx.x;
    if (t % 4 == 0) return;
    int first = __syncthreads_count(t & 1);
    out[t] = 100 * first + __syncthreads_or(t == 0) + 10 * __syncthreads_and(t > 0);
}
"""
    out = numpy.zeros(128, "i4")
    gpu.program(source, language="hip")["count"](1, 128, out)
    assert [*out[:8]] == [0, 6410, 6410, 6410] * 2


@pytest.mark.timeout(100)
def test_work_items_that_have_returned_are_worth_a_warning(gpu):
    source = """kernel void early(global int* out, int n) {
    local int values[128];
    int t = get_local_id(0);
    if (t >= n) return;
    values[t] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[t] = values[n - 1 - t];
}
"""
    program, out = gpu.program(source), numpy.zeros(128, "i4")
    with pytest.warns(UserWarning, match=r"(?s)kernel 'early': work-items had ended before a barrier.*program\.cl:6"):
        program["early"](128, 128, out, 100)
    assert (out[:100] == numpy.arange(100)[::-1]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program["early"](128, 128, out, 128)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("language", "wavefront", "lanes"), [("hip", None, 64), ("cuda", None, 32), ("hip", 32, 32), ("cuda", 64, 64)]
)
def test_sizes_of_wavefronts(gpu, language, wavefront, lanes):
    out = numpy.zeros((100, 4), "u8")
    gpu.program(SIZES, language=language, wavefront=wavefront)["sizes"](1, 100, out)
    for t, row in enumerate(out.tolist()):
        count = min(lanes, 100 - t // lanes * lanes)
        assert row == [lanes, t % lanes, (1 << count) - 1, t + 1 if t % lanes + 1 < count else t]


@pytest.mark.timeout(100)
def test_opencl_in_wavefronts_of_32(gpu):
    source = "kernel void copy(global const int* x, global int* y) { y[get_global_id(0)] = x[get_global_id(0)] + 1; }"
    x, y = numpy.arange(4096, dtype="i4"), numpy.zeros(4096, "i4")
    counts = []
    for wavefront in (64, 32):
        y[:] = 0
        statistics = gpu.program(source, wavefront=wavefront)["copy"](4096, 256, x, y).statistics
        assert (y == x + 1).all() and statistics["lanes_per_instruction"] == wavefront
        counts.append([statistics[name] for name in ("wavefront_instructions", "lane_instructions")])
    assert counts[0][0] * 2 == counts[1][0] and counts[0][1] == counts[1][1]
    with pytest.raises(InputError, match="wavefront 16: wavefronts have 32 or 64 lanes"):
        gpu.program(source, wavefront=16)


@pytest.mark.timeout(100)
def test_the_command_line_takes_a_size(command, tmp_path):
    (tmp_path / "sizes.cu").write_text(SIZES)
    for option, flags in (((), 3), (("--wavefront", "64"), 1)):
        done = command("cc", "sizes.cu", "-o", "sizes.elf", *option)
        assert done.returncode == 0, done.stderr
        subprocess.run(
            ["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".kernels", "sizes.elf", "kernels"],
            cwd=tmp_path,
            check=True,
        )
        assert int.from_bytes((tmp_path / "kernels").read_bytes()[6:8], "little") == flags
