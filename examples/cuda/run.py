# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of this folder on one GPU and compares with numpy: `python examples/cuda/run.py [NAME…]`."""

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
    yield gpu.program(HERE / "vector_add.cu")["vector_add"](-(-n // 256), 256, a, b, c, n)
    numpy.testing.assert_array_equal(c, a + b)


def matmul(gpu):
    n = 128
    a, b = RANDOM.random((2, n, n), dtype="f4")
    c = numpy.zeros_like(a)
    yield gpu.program(HERE / "matmul.cu")["matmul<16>"]((n // 16, n // 16), (16, 16), a, b, c, n)
    numpy.testing.assert_allclose(c, a @ b, rtol=1e-5)


def reduction(gpu):
    n = 100_000
    x, total = RANDOM.integers(0, 1000, n, dtype="u4"), numpy.zeros(1, "u4")
    yield gpu.program(HERE / "reduction.cu")["reduction"](16, 256, x, total, n, shared_mem=4 * 256)
    assert total[0] == x.sum()


def warp_reduction(gpu):
    n = 100_000
    x, total = RANDOM.integers(0, 1000, n, dtype="u4"), numpy.zeros(1, "u4")
    yield gpu.program(HERE / "warp_reduction.cu")["warp_reduction"](16, 256, x, total, n)
    assert total[0] == x.sum()


def nbody(gpu):
    n, softening = 512, 0.01
    bodies = RANDOM.random((n, 4), dtype="f4")
    result = numpy.zeros_like(bodies)
    kernel = gpu.program(HERE / "nbody.cu")["accelerations"]
    yield kernel(n // 64, 64, bodies, result, n, softening, shared_mem=16 * 64)
    r = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    weights = bodies[None, :, 3] / ((r**2).sum(2) + softening) ** 1.5
    numpy.testing.assert_allclose(result[:, :3], (r * weights[..., None]).sum(1), rtol=1e-4, atol=1e-3)


EXAMPLES = {f.__name__: f for f in (vector_add, matmul, reduction, warp_reduction, nbody)}


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
