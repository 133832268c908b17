# SPDX-License-Identifier: Apache-2.0
"""What kernels of one source are charged of the local data share, and where their variables lie in it."""

import numpy
import opencl_machine
import pytest
from fabricvp.compiler import build
from fabricvp.errors import InputError

opencl_machine.require_compiler()

SOURCE = """
__global__ void a(float* o) {
    __shared__ float q[%s];
    extern __shared__ float e[];
    q[threadIdx.x] = o[threadIdx.x]; e[threadIdx.x] = 2;
    __syncthreads();
    o[threadIdx.x] = q[(threadIdx.x + 1) %% 32] + e[31 - threadIdx.x];
}
__global__ void b(float* o) {
    __shared__ float r[8000];
    extern __shared__ float e[];
    r[threadIdx.x] = o[threadIdx.x]; e[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = r[(threadIdx.x + 1) %% 32] + e[31 - threadIdx.x];
}
__global__ void c(float* o) { __shared__ float s[64]; s[threadIdx.x] = o[threadIdx.x]; __syncthreads(); o[0] = s[31]; }
"""


def charged(source, file="k.cu"):
    return {name: kernel.lds_bytes for name, kernel in build(source, file).kernels.items()}


def test_kernels_with_one_dynamic_array_keep_their_own_variables(gpu):
    # The array begins behind the variables of all kernels that have it.
    assert charged(SOURCE % 10000) == {"a": 40000, "b": 40000, "c": 256}
    program = gpu.program(SOURCE % 10000, language="cuda")
    for name, more in ("a", 2), ("b", 1):
        values = numpy.arange(32, dtype="f4")
        program[name](1, 32, values, shared_mem=128)
        assert (values == (numpy.arange(32) + 1) % 32 + more).all()
    with pytest.raises(InputError, match="kernel 'a' has 80000 bytes of __local variables"):
        build(SOURCE % 20000, "k.cu")


def test_kernels_that_share_a_function_keep_their_own_variables():
    shared = """
__device__ float turn(float x) {
    __shared__ float s[256]; s[threadIdx.x] = x; __syncthreads(); return s[threadIdx.x ^ 1];
}
__global__ void f(float* o) { __shared__ float q[10000]; q[threadIdx.x] = turn(*o); __syncthreads(); *o = q[3]; }
__global__ void g(float* o) { __shared__ float r[8000]; r[threadIdx.x] = turn(*o); __syncthreads(); *o = r[3]; }
"""
    assert charged(shared) == {"f": 41024, "g": 33024}


def test_dynamic_arrays_of_one_kernel_begin_together():
    arrays = """
__global__ void f(float* o) {
    extern __shared__ float e[];
    extern __shared__ __align__(64) double d[];
    __shared__ float q[5];
    q[threadIdx.x] = o[1]; e[threadIdx.x] = o[0]; __syncthreads(); o[0] = d[threadIdx.x] + q[3];
}
__global__ void g(float* o) {
    extern __shared__ __align__(64) double d[];
    __shared__ float r[1000];
    r[threadIdx.x] = o[1]; d[threadIdx.x] = o[0]; __syncthreads(); o[0] = d[5] + r[3];
}
__global__ void h(float* o) {
    extern __shared__ float e[];
    e[threadIdx.x] = o[0]; __syncthreads(); o[0] = e[5];
}
"""
    assert charged(arrays) == {"f": 4032, "g": 4032, "h": 4032}
