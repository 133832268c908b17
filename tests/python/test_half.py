# SPDX-License-Identifier: Apache-2.0
"""Half precision of CUDA and HIP against numpy's, for all numbers, and fused sums against exact ones."""

from fractions import Fraction

import numpy
import opencl_machine
import pytest

opencl_machine.require_compiler()

SOURCE = """
#include <cuda_fp16.h>
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void convert(const __half* x, float* f, int* whole, unsigned short* to_zero, __half* back, const float* g) {
    const int i = index();
    f[i] = __half2float(x[i]);
    whole[i] = __half2int_rn(x[i]);
    to_zero[i] = __half2ushort_rz(x[i]);
    back[4 * i] = __float2half_rn(g[i]);
    back[4 * i + 1] = __float2half_rz(g[i]);
    back[4 * i + 2] = __float2half_ru(g[i]);
    back[4 * i + 3] = __float2half_rd(g[i]);
}
__global__ void arithmetic(const half* x, const half* y, const half* z, half* to, int n) {
    const int i = index();
    to[i] = x[i] + y[i];
    to[n + i] = x[i] - y[i];
    to[2 * n + i] = x[i] * y[i];
    to[3 * n + i] = x[i] / y[i];
    to[4 * n + i] = __hfma(x[i], y[i], z[i]);
    to[5 * n + i] = hsqrt(x[i]);
    to[6 * n + i] = __hmax(x[i], y[i]);
    to[7 * n + i] = -x[i];
    to[8 * n + i] = (half)(float)((x[i] < y[i]) + 2 * (x[i] == y[i]) + 4 * __hisnan(x[i]));
}
__global__ void pairs(const __half2* x, __half2* y, float* sums, __half add) {
    const int i = index();
    y[i] = __hfma2(x[i], __float2half2_rn(2.0f), __half2half2(add));
    __half2 sum = x[i];
    for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (i % 32 == 0) sums[i / 32] = __low2float(sum) + __high2float(sum);
}
__global__ void count(__half* to) { atomicAdd(&to[threadIdx.x % 3], __half(1)); }
"""
ALL = numpy.arange(1 << 16, dtype="u2").view("f2")


@pytest.fixture(scope="module")
def cuda(gpu):
    return gpu.program(SOURCE, language="cuda")


def assert_same(found, wanted):
    """Bit for bit, but any NaN for a NaN."""
    nan = numpy.isnan(wanted)
    assert (numpy.isnan(found) == nan).all()
    bits = {2: "u2", 4: "u4"}[found.dtype.itemsize]
    wrong = numpy.flatnonzero((found.view(bits) != wanted.view(bits)) & ~nan)
    assert not len(wrong), (len(wrong), found[wrong[0]], wanted[wrong[0]])


def rounded(x, mode):
    """Numbers as halfs: numpy rounds to nearest; the others are the neighbour where that went the wrong way."""
    with numpy.errstate(over="ignore"):
        nearest = x.astype("f2")
    wide = nearest.astype("f4")
    limit = numpy.float16(numpy.inf)
    with numpy.errstate(over="ignore"):
        down, up = numpy.nextafter(nearest, -limit), numpy.nextafter(nearest, limit)
    low, high = numpy.where(wide > x, down, nearest), numpy.where(wide < x, up, nearest)
    zero = numpy.where(x > 0, low, high)
    return {"rn": nearest, "rd": low, "ru": high, "rz": zero}[mode]


@pytest.mark.timeout(200)
def test_conversions(cuda):
    n = len(ALL)
    random = numpy.random.default_rng(5)
    g = random.integers(0, 1 << 32, n, dtype="u4").view("f4")
    g[: n // 2] = (2.0 ** random.uniform(-27, 17, n // 2) * random.choice([-1, 1], n // 2)).astype("f4")
    g[:4] = numpy.inf, -numpy.inf, 65520, 65519.996
    g[numpy.isnan(g)] = 0
    f, whole, to_zero = numpy.zeros(n, "f4"), numpy.zeros(n, "i4"), numpy.zeros(n, "u2")
    back = numpy.zeros((n, 4), "f2")
    cuda["convert"](n // 256, 256, ALL, f, whole, to_zero, back, g)
    assert_same(f, ALL.astype("f4"))
    finite = numpy.isfinite(ALL)
    assert (whole[finite] == numpy.rint(ALL[finite].astype("f4"))).all()
    assert (to_zero[finite] == numpy.clip(numpy.trunc(ALL[finite].astype("f4")), 0, 65535)).all()
    assert set(whole[~finite]) == {0, 2**31 - 1, -(2**31)} and set(to_zero[~finite]) == {0, 65535}
    for k, mode in enumerate(("rn", "rz", "ru", "rd")):
        assert_same(back[:, k].copy(), rounded(g, mode))


@pytest.mark.timeout(200)
def test_arithmetic(cuda):
    n = 1 << 14
    random = numpy.random.default_rng(6)
    x, y, z = random.integers(0, 1 << 16, (3, n), dtype="u2").view("f2")
    ordinary = slice(0, n // 2)
    x[ordinary], y[ordinary], z[ordinary] = random.uniform(-3, 3, (3, n // 2)).astype("f2")
    # These cancel, so that what is left lies far below a product's first bits.
    close = slice(0, n // 4)
    z[close] = (-(x[close] * y[close]).astype("f8") * (1 + 2.0**-9)).astype("f2")
    # The product lies between two halfs, in the middle, and z decides; a float would lose it.
    between = slice(n // 4, n // 2)
    x[between], y[between] = 1 + 2 * random.integers(512, 1024, n // 4), 2.0**-10 * 1.5
    z[between] = random.choice([-1, 1], n // 4) * 2.0**-24
    to = numpy.zeros((9, n), "f2")
    cuda["arithmetic"](n // 256, 256, x, y, z, to, n)
    with numpy.errstate(all="ignore"):
        for row, wanted in enumerate((x + y, x - y, x * y, x / y)):
            assert_same(to[row], wanted)
        assert_same(to[5], numpy.sqrt(x))
        assert_same(to[7], -x)
        largest = numpy.fmax(x, y)
        assert (to[6] == largest)[~numpy.isnan(largest)].all()
        assert (to[8] == (x < y) + 2 * (x == y) + 4 * numpy.isnan(x)).all()
    for i in numpy.flatnonzero(numpy.isfinite(x) & numpy.isfinite(y) & numpy.isfinite(z)):
        exact = Fraction(float(x[i])) * Fraction(float(y[i])) + Fraction(float(z[i]))
        assert nearest(exact) in (to[4, i], None), (x[i], y[i], z[i], to[4, i])


def nearest(exact):
    """The half next to a fraction, by comparing with its neighbours; None where it is infinite."""
    guess = numpy.float16(min(max(float(exact), -65504.0), 65504.0))
    if abs(exact) >= 65520:
        return None
    near = [guess, numpy.nextafter(guess, numpy.float16(numpy.inf)), numpy.nextafter(guess, numpy.float16(-numpy.inf))]
    return min(
        (h for h in near if numpy.isfinite(h)), key=lambda h: (abs(Fraction(float(h)) - exact), h.view("u2") & 1)
    )


@pytest.mark.timeout(100)
def test_pairs_shuffles_and_atomics(cuda):
    x = numpy.arange(128, dtype="f2")
    y, sums = numpy.zeros(128, "f2"), numpy.zeros(2, "f4")
    cuda["pairs"](1, 64, x, y, sums, 0.5)
    assert (y == 2 * x + numpy.float16(0.5)).all()
    assert list(sums) == [sum(range(64)), sum(range(64, 128))]
    to = numpy.zeros(4, "f2")
    cuda["count"](1, 96, to)
    assert list(to) == [32, 32, 32, 0]
