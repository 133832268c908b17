# SPDX-License-Identifier: Apache-2.0
"""Idioms of sources in CUDA and HIP: values that one lane alone has, endless loops, and the functions that kernels call
beside libm's of one argument."""

import numpy
import opencl_machine
import pytest
from fabricvp.compiler import build

opencl_machine.require_compiler()

LEADER = """
#ifdef __CUDACC__
typedef unsigned mask;
#define FIRST(x) __ffs(x)
#define COUNT(x) __popc(x)
#define SHUFFLE(m, x, lane) __shfl_sync(m, x, lane)
#else
typedef unsigned long long mask;
#define FIRST(x) __ffsll(x)
#define COUNT(x) __popcll(x)
#define SHUFFLE(m, x, lane) __shfl(x, lane)
#endif
__global__ void filter(int* counter, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first;
    if (i >= n || i % 3) return;
    mask m = __activemask();
    int leader = FIRST(m) - 1, rank = COUNT(m & (((mask)1 << threadIdx.x % warpSize) - 1));
    if (rank == 0) first = atomicAdd(counter, (int)COUNT(m));  // no other lane has a value
    out[SHUFFLE(m, first, leader) + rank] = i;
}
"""
GROUP = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void filter(int* counter, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || i % 3) return;
    auto g = cg::coalesced_threads();
    int first;
    if (g.thread_rank() == 0) first = atomicAdd(counter, (int)g.size());
    out[g.shfl(first, 0) + g.thread_rank()] = i;
}
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("source", "language"), [(LEADER, "cuda"), (LEADER, "hip"), (GROUP, "cuda")])
def test_a_leader_adds_for_its_wavefront(gpu, source, language):
    counter, out = numpy.zeros(1, "i4"), numpy.zeros(1000, "i4")
    gpu.program(source, language=language)["filter"](8, 128, counter, out, 1000)
    assert counter[0] == 334 and sorted(out[:334]) == list(range(0, 1000, 3)) and not out[334:].any()


def test_kernels_that_never_end():
    source = "__global__ void spin(int* x) { for (;;); }\n__global__ void one(int* x) { *x = 1; }"
    for name in "a.cu", "a.hip":
        assert list(build(source, name).kernels) == ["spin", "one"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("__global__ void f(int* x) { __builtin_unreachable(); }\n__global__ void g(int* x) { *x = 1; }",
         "kernel 'f' has no code: all that it does is undefined, so clang leaves it out"),
        ("struct big { int a[1100]; };\n__global__ void f(big b, int* x) { *x = b.a[5]; }",
         "kernel 'f' has 4408 bytes of arguments, and a launch has room for 4096"),
    ],
)  # fmt: skip
def test_kernels_that_cannot_be(source, says):
    opencl_machine.assert_refused(source, "bad.cu", says)
    if "unreachable" in source:
        opencl_machine.assert_refused("kernel void f(global int* x) { __builtin_unreachable(); }", "bad.cl", says)


#: Expressions of int i = 3, float f = 1 and double d = 0.1, and their values.
VALUES = {
    "sqrt(2)": 2**0.5, "pow(2, 10)": 1024, "pow(2.f, 3.)": 8, "pow(f + 1, i)": 8, "hypot(3, 4)": 5, "floor(7)": 7,
    "abs(-5ll)": 5, "labs(-5l)": 5, "ldexp(1.5f, i)": 12, "scalbn(1.0, -i)": 0.125, "frexpf(8.f, &q)": 0.5,
    "modff(-2.75f, &s)": -0.75, "remquof(7.f, 2.f, &q)": -1, "nextafterf(f, 2.f)": 1 + 2**-23, "ilogbf(f * 8)": 3,
    "ilogb(0.0)": -(1 << 31), "lrintf(f * 2.5f)": 2, "lround(2.5)": 3, "llrintf(-2.5f)": -2, "lgammaf(f)": 0,
    "isnan(nanf(\"\"))": 1, "isinf(f / 0)": 1, "isfinite(d)": 1, "signbit(-0.0f)": 1, "isnan(d)": 0,
    "exp10f(2.f)": 100, "sinpif(f / 2)": 1, "cospi(1.0)": -1, "normcdff(0.f)": 0.5, "norm3df(f, 2.f, 2.f)": 3,
    "__float2int_rn(f * 2.5f)": 2, "__float2int_ru(f * 2.5f)": 3, "__float2int_rz(f * -2.5f)": -2,
    "__float2int_rd(f * -2.5f)": -3, "__float2uint_rn(f * -3)": 0, "__float2int_rn(f * 1e20f)": (1 << 31) - 1,
    "__float2int_rn(nanf(\"\"))": 0, "__double2int_rn(nan(\"\"))": -(1 << 31), "__int2float_rz(16777216 + i)": 16777218,
    "__double2float_ru(d) > d": 1, "__double2float_rd(d) < d": 1, "__fadd_ru(f, 1e-10f)": 1 + 2**-23,
    "__fadd_rd(f, 1e-10f)": 1, "__fmaf_rn(f, 3.f, 4.f)": 7, "__drcp_rn(4.0)": 0.25, "__fsqrt_rn(f * 9)": 3,
    "__hadd(i, 6)": 4, "__rhadd(i, 6)": 5, "__uhadd(4294967295u, 1u)": 1 << 31, "__umul64hi(1ull << 63, i * 2)": 3,
    "__funnelshift_l(0x80000000u, 1u, 1)": 3, "__funnelshift_rc(5u, 7u, 40)": 7, "__usad(1u, 5u, 2u)": 6,
    "__dp4a(0x010203ff, 0x01010101, 5)": 10, "atomicAdd_block(x, 2)": 0, "atomicAdd_system(x, 1)": 2,
    "atomicCAS((unsigned short*)(x + 1) + 1, (unsigned short)0, (unsigned short)9)": 0, "x[1] >> 16": 9,
    "new (x + 2) pair(7) == (void*)(x + 2)": 1, "x[3]": 14, "__hneu(none, one)": 1, "none != one": 1,
    "__hne(none, one)": 0, "__hbne2(pairs, pairs)": 0, "__hne(one, __half(2))": 1, "(float)__hadd(one, one)": 2,
    "(memset(bytes, i, 8), memcpy(x + 4, bytes, 8), x[5])": 0x03030303,
}  # fmt: skip
FUNCTIONS = """#include <cuda_fp16.h>
#ifdef HEADERS
#include <cmath>
#include <math.h>
#include <cstring>
#include <new>
#endif
struct pair { int a, b; __device__ pair(int x) : a(x), b(2 * x) {} };
__global__ void evaluate(double* out, int* x, int i, float f, double d) {
    int q; float s; char bytes[8];
    __half none = __float2half(nanf("")), one = __float2half(f);
    __half2 pairs(none, one);
    LINES
}
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("language", "defines"), [("cuda", []), ("cuda", ["HEADERS"]), ("hip", ["HEADERS"])])
def test_functions(gpu, language, defines):
    lines = "\n    ".join(f"out[{n}] = {expression};" for n, expression in enumerate(VALUES))
    out = numpy.zeros(len(VALUES))
    source = FUNCTIONS.replace("LINES", lines)
    gpu.program(source, language=language, defines=defines)["evaluate"](1, 1, out, numpy.zeros(8, "i4"), 3, 1, 0.1)
    wrong = {e: (got, wanted) for (e, wanted), got in zip(VALUES.items(), out) if abs(got - wanted) > 1e-9}
    assert not wrong
