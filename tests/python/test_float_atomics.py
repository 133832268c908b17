# SPDX-License-Identifier: Apache-2.0
"""Sums of numbers by atomics, which the L2 or the local data share makes."""

import fabricvp
import numpy
import opencl_machine
import pytest

opencl_machine.require_compiler()

SOURCE = """
template <class T> __global__ void scatter(T* sums, T* old, const int* to) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = atomicAdd(&sums[to[i]], (T)(i % 7 + 1));
}
template <class T> __global__ void local_sums(T* sums) {
    __shared__ T part[8];
    if (threadIdx.x < 8) part[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&part[threadIdx.x % 8], (T)threadIdx.x);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&sums[threadIdx.x], part[threadIdx.x]);
}
template <class T> __global__ void once(T* x, const T* y) { atomicAdd(&x[threadIdx.x], y[threadIdx.x]); }
template __global__ void scatter(float*, float*, const int*);
template __global__ void scatter(double*, double*, const int*);
template __global__ void local_sums(float*);
template __global__ void local_sums(double*);
template __global__ void once(float*, const float*);
template __global__ void once(double*, const double*);
"""
TYPES = (("float", "f4"), ("double", "f8"))


@pytest.fixture(scope="module")
def hip(gpu):
    return gpu.program(SOURCE, language="hip")


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("name", "dtype"), TYPES)
def test_scattered_sums(hip, name, dtype):
    """Whole numbers, so that every order gives the same sum; old values of a place are its partial sums."""
    to = numpy.random.default_rng(3).integers(0, 5, 1024, dtype="i4")
    sums, old = numpy.zeros(5, dtype), numpy.zeros(1024, dtype)
    done = hip[f"scatter<{name}>"](4, 256, sums, old, to)
    added = numpy.arange(1024) % 7 + 1
    assert (sums == numpy.bincount(to, added)).all()
    for place in range(5):
        order = numpy.argsort(old[to == place])
        assert (numpy.cumsum(added[to == place][order])[:-1] == old[to == place][order][1:]).all()
    # Each wavefront executes one atomic; loops around compare-and-swap would take dozens of rounds.
    assert done.statistics["wavefront_instructions"] < 16 * 60


@pytest.mark.timeout(100)
@pytest.mark.parametrize(("name", "dtype"), TYPES)
def test_sums_in_the_local_data_share(hip, name, dtype):
    sums = numpy.zeros(8, dtype)
    hip[f"local_sums<{name}>"](3, 256, sums)
    assert (sums == [3 * sum(range(k, 256, 8)) for k in range(8)]).all()


@pytest.mark.timeout(100)
@pytest.mark.parametrize(("name", "dtype"), TYPES)
def test_rounding_and_special_values(hip, name, dtype):
    tiny = numpy.finfo(dtype).smallest_subnormal
    eps = numpy.finfo(dtype).eps
    x = numpy.array([1, 1, 1 + eps, -0.0, 0.0, numpy.inf, numpy.inf, numpy.nan, tiny, numpy.finfo(dtype).max], dtype)
    y = numpy.array([eps / 2, eps, eps / 2, -0.0, -0.0, -numpy.inf, 1, 1, tiny, numpy.finfo(dtype).max], dtype)
    with numpy.errstate(all="ignore"):
        want = x + y
    hip[f"once<{name}>"](1, 10, x, y)
    bits = {"f4": "u4", "f8": "u8"}[dtype]
    assert (numpy.isnan(x) == numpy.isnan(want)).all()
    assert (x.view(bits) == want.view(bits))[~numpy.isnan(want)].all()
    canonical = {"f4": 0x7FC00000, "f8": 0x7FF8 << 48}[dtype]
    assert (x.view(bits)[numpy.isnan(want)] == canonical).all()


@pytest.mark.timeout(300)
def test_all_gpus_add_to_one_place():
    with fabricvp.spawn("netcrafter_quad", overrides={"node.gpus.*.compute_units": 4}) as platform:
        hip = platform.nodes[0].gpus[0].program(SOURCE, language="hip")
        to = numpy.zeros(2048, "i4")
        sums, old = numpy.zeros(1, "f4"), numpy.zeros(2048, "f4")
        hip["scatter<float>"](32, 64, sums, old, to, all_gpus=True)
        assert sums[0] == (numpy.arange(2048) % 7 + 1).sum() and len(set(old)) == 2048
