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
        out[lane] = __shfl_up_sync(FULL, lane, 4);
}
__global__ void places(int* out) {
    int lane = threadIdx.x;
    if (lane & 1)
        out[lane] = __reduce_add_sync(FULL, lane);
    else
        out[lane] = __ballot_sync(FULL, lane) + 1;
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
    with pytest.raises(KernelFault, match=r"(?s)barrier.*program\.cl:[46]\nthe lanes of the mask do not all"):
        program["wrong"](1, 64, out)
    with pytest.raises(KernelFault, match=r"(?s)barrier.*program\.cl:1[13]\nthe lanes of the mask do not all"):
        program["places"](1, 64, out)
    program["right"](1, 64, out)
    assert out.tolist() == [6, 6] * 32


MATCHES = """
#define ARM(more)                                            \\
    same[t] = __match_any_sync(FULL, value) + more;          \\
    __match_all_sync(FULL, lane == 9, &one);                 \\
    __match_all_sync(FULL, 4711ull, &two);                   \\
    sums[t] = __reduce_add_sync(FULL, lane - 20);            \\
    least[t] = __reduce_min_sync(FULL, value + 3);           \\
    most[t] = __reduce_max_sync(FULL, -lane);                \\
    bits[t] = __reduce_xor_sync(FULL, value)
__global__ void matches(unsigned long long* same, int* all, int* sums, unsigned* least, int* most,
                        unsigned* bits) {
    int t = threadIdx.x, lane = t % warpSize;
    unsigned value = lane * 7 % 5;
    double number = lane / 3;
    int one, two;
    if (lane & 1) {
        ARM(0);
    } else {
        ARM(1ull);
    }
    all[t] = one + 2 * two;
    if (lane % 3 == 0) return;                 // ended lanes count as gone
    if (lane % 3 == 1) same[t] += __match_any_sync(FULL, number) & 2;
    else same[t] += __match_any_sync(FULL, number) & 2;
}
""".replace("FULL", "~0ull")


@pytest.mark.timeout(200)
@pytest.mark.parametrize("language, width", [("hip", 64), ("cuda", 32)])
def test_matches_and_reductions_at_several_places(gpu, language, width):
    same, (everything, sums, most) = numpy.zeros(64, "u8"), (numpy.zeros(64, "i4") for _ in range(3))
    least, bits = (numpy.zeros(64, "u4") for _ in range(2))
    gpu.program(MATCHES, language=language)["matches"](1, 64, same, everything, sums, least, most, bits)
    lane = numpy.arange(64) % width
    value, number = lane[:width] * 7 % 5, lane[:width] // 3
    for t in range(64):
        own = sum(1 << other for other in range(width) if value[other] == value[lane[t]])
        # Lane 1, which has not ended, has the number 0 as lane 2 has.
        more = 2 if lane[t] % 3 and number[lane[t]] == 0 else 0
        assert int(same[t]) == own + int(lane[t] % 2 == 0) + more, t
    assert (everything == 2).all() and (sums == sum(range(width)) - 20 * width).all()
    assert (least == 3).all() and (most == 0).all() and (bits == numpy.bitwise_xor.reduce(value)).all()


ARMS = """__global__ void halves(int* out) {
    int lane = threadIdx.x % warpSize, half = warpSize / 2;
    if (lane < half) {
        out[threadIdx.x] = __shfl_xor_sync(FULL, lane, half);
    } else {
        out[threadIdx.x] = 100 + __shfl_xor_sync(FULL, lane, half);
    }
}
__global__ void thirds(double* out, unsigned long long* votes) {
    int t = threadIdx.x, lane = t % warpSize;
    double value = 1.5 * lane;
    for (int k = 0; k < 3; ++k) {
        if (lane % 3 == 0) {
            value = __shfl_sync(FULL, value, lane + 1) + 1;
            votes[t] = __ballot_sync(FULL, lane & 4);
        } else if (lane % 3 == 1) {
            value = __shfl_sync(FULL, value, lane + 7) + 2;
            votes[t] = __ballot_sync(FULL, lane & 8);
        } else {
            value = __shfl_sync(FULL, value, 3) + 3;
            votes[t] = __ballot_sync(FULL, lane & 1);
        }
    }
    out[t] = value;
    if (lane & 1) {
        if (__any_sync(FULL, lane == 5)) votes[t] += 2;
        if (!__all_sync(FULL, lane != 4)) votes[t] += 4;
    } else {
        if (__any_sync(FULL, 0)) votes[t] += 2;
        if (!__all_sync(FULL, lane != 4)) votes[t] += 4;
    }
}
__global__ void subsets(int* out) {
    int lane = threadIdx.x % warpSize;
    if (lane == 1) {
        out[threadIdx.x] = __shfl_sync(3, lane + 10, 0);
    } else if (lane == 0 || lane == 2) {
        int first = 0;
        if (lane == 0) first = __shfl_sync(3, lane + 10, 1);
        out[threadIdx.x] = 1000 * first + __shfl_sync(5, lane + 20, lane ^ 2);
    } else {
        int own = __shfl(lane, 0);
        if (lane > 60) return;
        out[threadIdx.x] = own == lane ? 1 : 0;
    }
}
""".replace("FULL", "~0ull")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("level", ["0", "2", "3"])
@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_calls_in_both_arms(gpu, language, level):
    """As CUDA has it from compute capability 7.0 on."""
    program, lanes = gpu.program(ARMS, language=language, options=[f"-O{level}"]), {"hip": 64, "cuda": 32}[language]
    out = numpy.zeros(128, "i4")
    program["halves"](1, 128, out)
    lane = numpy.arange(128) % lanes
    assert (out == (lane ^ lanes // 2) + 100 * (lane >= lanes // 2)).all()
    values, votes = numpy.zeros(128), numpy.zeros(128, "u8")
    program["thirds"](1, 128, values, votes)
    own = numpy.arange(lanes)
    wanted = 1.5 * own
    source = numpy.select([own % 3 == 0, own % 3 == 1], [own + 1, own + 7], 3) % lanes
    for _ in range(3):
        wanted = wanted[source] + own % 3 + 1
    assert (values == numpy.tile(wanted, 128 // lanes)).all()
    bits = [bool(n & (4, 8, 1)[n % 3]) for n in range(lanes)]
    assert (votes == sum(1 << n for n, bit in enumerate(bits) if bit) + 6).all()
    out[:] = -1
    program["subsets"](1, 128, out)
    assert out[:3].tolist() == [11 * 1000 + 22, 10, 20] and out[lanes : lanes + 3].tolist() == [11022, 10, 20]
