# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of this folder on one GPU and compares with numpy: `python examples/opencl/run.py [NAME…]`."""

import sys
from pathlib import Path

import fabricvp
import numpy

HERE = Path(__file__).parent
RANDOM = numpy.random.default_rng(1)


def vector_add(gpu):
    n = 100_000
    a, b = RANDOM.random((2, n), dtype="f4")
    c = numpy.zeros_like(a)
    yield gpu.program(HERE / "vector_add.cl")["vector_add"](n, None, a, b, c, n)
    numpy.testing.assert_array_equal(c, a + b)


def matmul(gpu):
    n = 128
    a, b = RANDOM.random((2, n, n), dtype="f4")
    c = numpy.zeros_like(a)
    yield gpu.program(HERE / "matmul.cl")["matmul"]((n, n), None, a, b, c, n)
    numpy.testing.assert_allclose(c, a @ b, rtol=1e-5)


def reduction(gpu):
    n = 100_000
    x, total = RANDOM.integers(0, 1000, n, dtype="u4"), numpy.zeros(1, "u4")
    yield gpu.program(HERE / "reduction.cl")["reduction"](4096, 256, x, total, n, fabricvp.local(4 * 256))
    assert total[0] == x.sum()


def histogram(gpu):
    n = 100_000
    x, bins = RANDOM.integers(0, 256, n, dtype="u1"), numpy.zeros(256, "u4")
    yield gpu.program(HERE / "histogram.cl")["histogram"](4096, 256, x, bins, n)
    numpy.testing.assert_array_equal(bins, numpy.bincount(x, minlength=256))


def prefix_sum(gpu):
    n, group = 50_000, 256
    x = RANDOM.integers(-100, 100, n, dtype="i4")
    expected = numpy.cumsum(x)
    blocks = -(-n // group)
    program, space = gpu.program(HERE / "prefix_sum.cl"), fabricvp.local(4 * group)
    totals, total = numpy.zeros(blocks, "i4"), numpy.zeros(1, "i4")
    yield program["scan"](blocks * group, group, x, totals, n, space, space)
    yield program["scan"](group, group, totals, total, blocks, space, space)
    yield program["add_totals"](blocks * group, group, x, totals, n)
    numpy.testing.assert_array_equal(x, expected)


def nbody(gpu):
    n, softening = 512, 0.01
    bodies = RANDOM.random((n, 4), dtype="f4")
    result = numpy.zeros_like(bodies)
    yield gpu.program(HERE / "nbody.cl")["accelerations"](n, 64, bodies, result, n, softening, fabricvp.local(16 * 64))
    r = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    weights = bodies[None, :, 3] / ((r**2).sum(2) + softening) ** 1.5
    numpy.testing.assert_allclose(result[:, :3], (r * weights[..., None]).sum(1), rtol=1e-4, atol=1e-3)


def spmv(gpu):
    n = 512
    dense = RANDOM.random((n, n), dtype="f4") * (RANDOM.random((n, n)) < 0.05)
    rows, columns = dense.nonzero()
    starts = numpy.searchsorted(rows, numpy.arange(n + 1)).astype("u4")
    matrix = starts, columns.astype("u4"), dense[rows, columns]
    x, program = RANDOM.random(n, dtype="f4"), gpu.program(HERE / "spmv.cl")
    y, z = numpy.zeros((2, n), "f4")
    yield program["spmv_scalar"](n, 64, *matrix, x, y, n)
    yield program["spmv_vector"](n * 64, 64, *matrix, x, z, fabricvp.local(4 * 64))
    for found in y, z:
        numpy.testing.assert_allclose(found, dense @ x, rtol=1e-4)


EXAMPLES = {f.__name__: f for f in (vector_add, matmul, reduction, histogram, prefix_sum, nbody, spmv)}


def main():
    platform = fabricvp.Platform.from_config("gpu")
    gpu = platform.nodes[0].gpus[0]
    for name in sys.argv[1:] or EXAMPLES:
        launches = list(EXAMPLES[name](gpu))
        time = sum(launch.time for launch in launches) * 1e6
        instructions = sum(launch.statistics["wavefront_instructions"] for launch in launches)
        print(f"{name:<12} {time:8.1f} us of simulated time, {instructions:8.0f} wavefront-instructions, right")


if __name__ == "__main__":
    main()
