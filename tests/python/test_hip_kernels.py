# SPDX-License-Identifier: Apache-2.0
"""Device code in HIP and CUDA: templates, shared memory, structs, atomics, mathematics, and what is refused."""

import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError

opencl_machine.require_compiler()

SOURCE = """
#include <RUNTIME>
#include <cmath>
#include <cstdint>
#if defined(__CUDACC__) == defined(__HIPCC__)
#error one of both
#endif
struct settings { float scale; double shift; int list[2]; };
__constant__ float table[4] = {1, 2, 4, 8};
template <class T> __global__ void axpy(T a, const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void axpy<float>(float, const float*, float*, int);
template __global__ void axpy<double>(double, const double*, double*, int);

__device__ float helper(float x) { return __sinf(x) + sqrtf(x) + std::pow(x, 2.0f) + fmax(x, 1.0f); }

extern "C" __global__ void __launch_bounds__(64) mixed(settings s, float* y, const int32_t* z, float4 v, bool flag,
                                                             long long w) {
    __shared__ float tile[64];
    extern __shared__ float more[];
    int l = threadIdx.x;
    s.list[1] += 1;  // a kernel's own copy
    tile[l] = y[l] + table[l & 3];
    more[l] = s.shift;
    __syncthreads();
    auto scaled = [=](float q) { return q * v.z; };
    y[l] = scaled(tile[63 - l]) + more[l ^ 1] + helper(z[l]) + s.list[1] + flag + w;
}
__global__ void places(unsigned* out) {
    dim3 threads = blockDim;
    unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * threads.x * threads.y + threadIdx.y * threads.x + threadIdx.x;
    out[i] = gridDim.x << 24 | gridDim.y << 16 | blockDim.x << 8 | blockDim.y;
}
__global__ void atomics(float* f, unsigned* u, int* i, double* d, unsigned long long* w) {
    atomicAdd(f, 1.5f);
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 6);
    atomicMax(&i[0], (int)threadIdx.x);
    atomicSub(&i[1], 2);
    atomicCAS(&i[2], 0, 7);
    atomicAdd(d, 0.25);
    atomicExch(&u[2], 5u);
    atomicAdd(w, 1ull << 33);
}
__global__ void votes(int* out, const int* x) {
    int v = x[threadIdx.x];
    int counted = __syncthreads_count(v & 1), all = __syncthreads_and(v < 200), any = __syncthreads_or(v == 7);
    out[threadIdx.x] = counted * 100 + all * 10 + any;
}
__global__ void bits(unsigned* out, unsigned x, long long y) {
    unsigned r[] = {(unsigned)__popc(x), (unsigned)__clz(x), (unsigned)__ffs(x), __brev(x),
                    __byte_perm(x, 0x11223344u, 0x7210u), (unsigned)__popcll(y), (unsigned)__clzll(y), __umulhi(x, x),
                    __float_as_uint(1.0f), (unsigned)min(3, 5)};
    for (int k = 0; k < 10; ++k) out[k] = r[k];
}
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("language", "header"), [("hip", "hip/hip_runtime.h"), ("cuda", "cuda_runtime.h")])
def test_kernels(gpu, language, header):
    program = gpu.program(SOURCE.replace("RUNTIME", header), language=language)
    assert list(program) == ["axpy<float>", "axpy<double>", "mixed", "places", "atomics", "votes", "bits"]
    x, y = numpy.random.default_rng(1).random((2, 1000))
    expected, kept = 2 * x + y, x.copy()
    program["axpy<double>"](4, 256, 2.0, x, y, 1000)  # blocks, threads
    numpy.testing.assert_allclose(y, expected, rtol=1e-15)
    assert (x == kept).all()

    record = numpy.zeros(1, numpy.dtype([("scale", "f4"), ("shift", "f8"), ("list", "i4", 2)], align=True))[0]
    record["shift"], record["list"] = 5, [1, 10]
    y, z = numpy.arange(64, dtype="f4"), numpy.arange(64, dtype="i4") % 5
    before, wide = y.astype(float), z.astype(float)
    program["mixed"](1, 64, record, y, z, (1, 2, 3, 4), True, 100, shared_mem=256)
    tile = before + numpy.array([1, 2, 4, 8] * 16)
    helper = numpy.sin(wide) + numpy.sqrt(wide) + wide**2 + numpy.maximum(wide, 1)
    numpy.testing.assert_allclose(y, tile[::-1] * 3 + 5 + helper + 11 + 1 + 100, rtol=1e-6)

    out = numpy.zeros(6 * 32, "u4")
    program["places"]((3, 2), (8, 4), out)
    assert (out == (3 << 24 | 2 << 16 | 8 << 8 | 4)).all()

    f, u, i = numpy.zeros(1, "f4"), numpy.zeros(3, "u4"), numpy.zeros(3, "i4")
    d, w = numpy.zeros(1), numpy.zeros(1, "u8")
    program["atomics"](3, 64, f, u, i, d, w)
    assert f[0] == 288 and d[0] == 48 and w[0] == 192 << 33
    assert u.tolist() == [192 % 10, -192 % 7, 5] and i.tolist() == [63, -384, 7]

    out = numpy.zeros(128, "i4")
    program["votes"](1, 128, out, numpy.arange(128, dtype="i4"))
    assert (out == 64 * 100 + 11).all()

    out, n = numpy.zeros(10, "u4"), 0x00F0_1234
    program["bits"](1, 1, out, n, (1 << 40) + 3)
    assert out.tolist() == [
        n.bit_count(), 8, 3, int(f"{n:032b}"[::-1], 2), 0x11F01234, 3, 23, n * n >> 32, 0x3F800000, 3,
    ]  # fmt: skip
    with pytest.raises(InputError, match="'bits': give the threads of a block"):
        program["bits"](1, None, out, n, 1)
    with pytest.raises(InputError, match="'mixed': 128 threads of a block: __launch_bounds__ says 64"):
        program["mixed"](1, 128, record, y, z, (1, 2, 3, 4), True, 100, shared_mem=256)
    with pytest.raises(TypeError, match="argument 1 'y': an array of float32"):
        program["mixed"](1, 64, record, z, z, (1, 2, 3, 4), True, 100)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("__global__ void f(int* x) {\n x[0] = y; }", "bad.cu:2:9: error: use of undeclared identifier 'y'"),
        ("__device__ int n; __device__ int* p = &n;\n__global__ void f() { *p = n++; }", "'p' begins with the address"),
        ("__device__ int g(int);\n__global__ void f(int* x) { x[0] = g(1); }", "undefined: g(int)"),
        ("__global__ void f(int* x) { x[0] = __vadd4(x[1], 1); }", "use of undeclared identifier '__vadd4'"),
        ("__global__ void f(int* x) { printf(x); }", "error: "),
    ],
)  # fmt: skip
def test_sources_that_cannot_be_compiled(source, says):
    opencl_machine.assert_refused(source, "bad.cu", says)


@pytest.mark.timeout(100)
def test_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cu").write_text(SOURCE.replace("RUNTIME", "cuda_runtime.h"))
    numpy.arange(1024, dtype="f4").tofile(tmp_path / "x.bin")
    numpy.ones(1024, "f4").tofile(tmp_path / "y.bin")
    small = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cu", "--kernel-name", "axpy<float>")
    arguments = ("--arg", "f32:3", "--arg", "in:x.bin", "--arg", "inout:y.bin", "--arg", "i32:1024")
    done = command(*small, "--grid", 4, "--block", 256, *arguments, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (numpy.fromfile(tmp_path / "y.bin", "f4") == 3 * numpy.arange(1024) + 1).all()


@pytest.mark.timeout(200)
def test_wavefronts_and_stacks_from_the_command_line(command, tmp_path):
    (tmp_path / "k.cu").write_text("""__global__ void width(int* x) { x[0] = warpSize; }
__global__ void stack(int* x) { volatile int a[64]; for (int i = 0; i < 64; ++i) a[i] = i; x[threadIdx.x] = a[5]; }
""")
    small = ("run", "gpu", "--set", "node.gpus.0.compute_units=4", "--program", "k.cu", "--block", 64)
    for option, lanes in ((), 32), (("--wavefront", "64"), 64), (("--wavefront=32",), 32):
        done = command(*small, "--kernel-name", "width", *option, "--arg", "out:4B:x.bin", timeout=90)
        assert done.returncode == 0 and list(numpy.fromfile(tmp_path / "x.bin", "i4")) == [lanes], done.stderr
        assert "for their stacks" not in done.stderr
    done = command(*small, "--kernel-name", "stack", "--arg", "zeros:256B", timeout=90)
    assert done.returncode == 0 and " % of the lanes' memory transactions are for their stacks" in done.stderr
    done = command(*small, "--kernel-name", "width", "--wavefront", "16", "--arg", "zeros:4B")
    assert (done.returncode, done.stderr) == (2, "fabricvp run: --wavefront '16': must be 32 or 64\n")
