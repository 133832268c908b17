#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""public_runs.py [--gpus] DIR [NAME...]: runs kernels of MGPUSim's samples, as their sources stand, and compares with
numpy.

DIR is a clone of sarchlab/mgpusim (GitHub) (none is kept here). Inputs are like those of MGPUSim's host programs,
smaller. With --gpus they run spread over four GPUs, once for each pair of placement and dispatch policies. Ends with 1
if a result differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fabricvp
import numpy
from fabricvp.launch import DISPATCHES, PLACEMENTS
from numpy.typing import NDArray

Array = NDArray[numpy.generic]
f32, i32, u32 = numpy.float32, numpy.int32, numpy.uint32
INSTRUCTIONS = re.compile(r"(gpu\d+\.)?wavefront_instructions")
RANDOM = numpy.random.default_rng(1)


class Bench:
    """One GPU, or four, and the clone; sums times and wavefront-instructions of launches."""

    def __init__(self, folder: Path, config: str, **options: object) -> None:
        self.folder, self.options = folder, options
        platform = fabricvp.Platform.from_config(config)
        self.gpu = platform.nodes[0].gpus[0]
        self.reset()

    def reset(self) -> None:
        self.time, self.instructions, self.launches = 0.0, 0.0, 0

    def program(self, name: str, **defines: object) -> fabricvp.Program:
        """The program of a source below `amd/benchmarks`."""
        return self.gpu.program(self.folder / "amd" / "benchmarks" / name, defines=defines)

    def run(self, kernel: object, *arguments: object) -> None:
        done = kernel(*arguments, **self.options)  # type: ignore[operator]
        self.time += done.time
        self.launches += 1
        self.instructions += sum(value for name, value in done.statistics.items() if INSTRUCTIONS.fullmatch(name))


def floats(*shape: int) -> Array:
    return RANDOM.random(shape, dtype=f32)


def close(a: Array, b: Array) -> bool:
    return bool(numpy.allclose(a, b, rtol=1e-4, atol=1e-4))


def matrixtranspose(b: Bench) -> bool:
    n = 256
    a, out = floats(n, n), numpy.zeros((n, n), f32)
    kernel = b.program("amdappsdk/matrixtranspose/native/MatrixTranspose_Kernels.cl")["matrixTranspose"]
    b.run(kernel, (n // 4, n // 4), (16, 16), out, a, fabricvp.local(16 * 16 * 4 * 16), n // 4, n // 4, n // 64, 0, 0)
    return bool((out == a.T).all())


def fir(b: Bench) -> bool:
    n, taps = 16384, 16
    x, coefficients, history, out = floats(n), floats(taps), numpy.zeros(taps + 1, f32), numpy.zeros(n, f32)
    kernel = b.program("heteromark/fir/kernels.cl")["FIR"]
    b.run(kernel, n, 256, out, coefficients, x, history, taps)
    return close(out, numpy.convolve(x, coefficients)[:n])


def bitonicsort(b: Bench) -> bool:
    n = 1024
    array = RANDOM.integers(0, 1 << 32, n, dtype=u32)
    expected = numpy.sort(array)
    kernel = b.program("amdappsdk/bitonicsort/kernels.cl")["BitonicSort"]
    for stage in range(n.bit_length() - 1):
        for step in range(stage + 1):
            b.run(kernel, n // 2, 64, array, stage, step, 1)
    return bool((array == expected).all())


def matrixmultiplication(b: Bench) -> bool:
    # One row of work-groups: the source takes rows of A by local_id(1), so a second row would get those of the first.
    n, height = 128, 32
    x, y, out = floats(height, n), floats(n, n), numpy.zeros((height, n), f32)
    kernel = b.program("amdappsdk/matrixmultiplication/MatrixMultiplication_Kernels.cl")["mmmKernel_local"]
    b.run(kernel, (n // 4, height // 4), (8, 8), x, y, out, n, fabricvp.local(8 * 4 * 8 * 16))
    return close(out, x @ y)


def atax(b: Bench) -> bool:
    n = 128
    a, x, tmp, y = floats(n, n), floats(n), numpy.zeros(n, f32), numpy.zeros(n, f32)
    program = b.program("polybench/atax/native/atax.cl")
    b.run(program["atax_kernel1"], n, 64, a, x, tmp, n, n)
    b.run(program["atax_kernel2"], n, 64, a, y, tmp, n, n)
    return close(y, a.T @ (a @ x))


def bicg(b: Bench) -> bool:
    n = 128
    a, p, q, r, s = floats(n, n), floats(n), numpy.zeros(n, f32), floats(n), numpy.zeros(n, f32)
    program = b.program("polybench/bicg/native/bicg.cl")
    b.run(program["bicgKernel1"], n, 64, a, p, q, n, n)
    b.run(program["bicgKernel2"], n, 64, a, r, s, n, n)
    return close(q, a @ p) and close(s, a.T @ r)


def sparse(n: int, per_row: int) -> tuple[Array, Array, Array, Array]:
    """Row starts, columns, values, and the dense matrix."""
    dense = numpy.zeros((n, n), f32)
    columns = []
    for row in range(n):
        own = numpy.sort(RANDOM.choice(n, RANDOM.integers(1, 2 * per_row), replace=False))
        dense[row, own] = RANDOM.random(len(own), dtype=f32)
        columns.append(own)
    starts = numpy.cumsum([0, *map(len, columns)])
    flat = numpy.concatenate(columns)
    values = numpy.concatenate([dense[row, own] for row, own in enumerate(columns)])
    return starts.astype(i32), flat.astype(i32), values, dense


def spmv(b: Bench) -> bool:
    n = 512
    starts, columns, values, dense = sparse(n, 16)
    x, out, wide = floats(n), numpy.zeros(n, f32), numpy.zeros(n, f32)
    program = b.program("shoc/spmv/spmv.cl", SINGLE_PRECISION=1)
    b.run(program["spmv_csr_scalar_kernel"], n, 64, values, x, columns, starts, n, out)
    vector = program["spmv_csr_vector_kernel"]
    b.run(vector, n * 32, 128, values, x, columns, starts, n, 32, fabricvp.local(128 * 4), wide)
    return close(out, dense @ x) and close(wide, dense @ x)


def pagerank(b: Bench) -> bool:
    n = 128
    starts, columns, values, dense = sparse(n, 16)
    x, y = numpy.full(n, 1 / n, f32), numpy.zeros(n, f32)
    kernel = b.program("heteromark/pagerank/native/kernels.cl")["PageRankUpdateGpu"]
    b.run(kernel, n * 64, 64, n, starts.view(u32), columns.view(u32), values, fabricvp.local(256), x, y)
    return close(y, dense @ x)


def floydwarshall(b: Bench) -> bool:
    n = 32
    distances = RANDOM.integers(1, 200, (n, n), dtype=u32)
    numpy.fill_diagonal(distances, 0)
    expected, path = distances.copy(), numpy.zeros((n, n), u32)
    kernel = b.program("amdappsdk/floydwarshall/native/FloydWarshall_Kernels.cl")["floydWarshallPass"]
    for k in range(n):
        b.run(kernel, (n, n), (8, 8), distances, path, n, k)
        expected = numpy.minimum(expected, expected[:, k : k + 1] + expected[k : k + 1, :])
    return bool((distances == expected).all())


def kmeans(b: Bench) -> bool:
    points, features, clusters = 1024, 8, 5
    data, centres = floats(points, features), floats(clusters, features)
    swapped, found = numpy.zeros((features, points), f32), numpy.zeros(points, i32)
    program = b.program("heteromark/kmeans/kernels.cl")
    b.run(program["kmeans_kernel_swap"], points, 64, data, swapped, points, features)
    b.run(program["kmeans_kernel_compute"], points, 64, swapped, centres, found, points, clusters, features, 0, 0)
    distances = ((data[:, None, :] - centres[None]) ** 2).sum(2)
    return bool((swapped == data.T).all()) and close(distances[range(points), found], distances.min(1))


def nbody(b: Bench) -> bool:
    n, step, soft = 256, 0.005, 50.0
    position, velocity = floats(n, 4), numpy.zeros((n, 4), f32)
    new_position, new_velocity = numpy.zeros_like(position), numpy.zeros_like(velocity)
    kernel = b.program("amdappsdk/nbody/NBody_Kernels.cl")["nbody_sim"]
    local = fabricvp.local(64 * 16)
    b.run(kernel, n, 64, position, velocity, n, step, soft, local, new_position, new_velocity)
    r = position[None, :, :3].astype(float) - position[:, None, :3]
    weights = position[None, :, 3] / ((r**2).sum(2) + soft) ** 1.5
    acceleration = (r * weights[..., None]).sum(1)
    expected = position[:, :3] + velocity[:, :3] * step + 0.5 * acceleration * step * step
    return close(new_position[:, :3], expected) and close(new_velocity[:, :3], velocity[:, :3] + acceleration * step)


def im2col(b: Bench) -> bool:
    size, mask, channels, batch = 16, 3, 2, 2
    x = floats(batch, channels, size, size)
    field = size + 2 - mask + 1
    out = numpy.zeros((mask * mask * channels, field * field * batch), f32)
    kernel = b.program("dnn/gputensor/native/im2col.cl")["im2col"]
    pairs = (size, size), (mask, mask), (1, 1), (1, 1), (1, 1)
    b.run(kernel, field * field * batch, 64, x, out, *pairs, channels, batch)
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = numpy.zeros_like(out)
    for row, (c, i, j) in enumerate(numpy.ndindex(channels, mask, mask)):
        expected[row] = padded[:, c, i : i + field, j : j + field].reshape(-1)
    return bool((out == expected).all())


def stencil2d(b: Bench) -> bool:
    rows, columns, group = 64, 64, 64
    data = floats(rows + 2, columns + 2)
    out = data.copy()
    centre, cardinal, diagonal = 0.25, 0.15, 0.05
    kernel = b.program("shoc/stencil2d/stencil2d.cl", SINGLE_PRECISION=1)["StencilKernel"]
    shared = fabricvp.local(18 * (group + 2) * 4)
    b.run(kernel, (rows // 16, columns), (1, group), data, out, 2, centre, cardinal, diagonal, shared)
    d = data
    expected = centre * d[1:-1, 1:-1]
    expected = expected + cardinal * (d[:-2, 1:-1] + d[2:, 1:-1] + d[1:-1, :-2] + d[1:-1, 2:])
    expected = expected + diagonal * (d[:-2, :-2] + d[:-2, 2:] + d[2:, :-2] + d[2:, 2:])
    return close(out[1:-1, 1:-1], expected)


BENCHES: dict[str, Callable[[Bench], bool]] = {
    f.__name__: f
    for f in (
        matrixtranspose, fir, bitonicsort, matrixmultiplication, atax, bicg, spmv, pagerank, floydwarshall, kmeans,
        nbody, im2col, stencil2d,
    )
}  # fmt: skip


def rows(bench: Bench, names: list[str]) -> Iterator[tuple[str, bool]]:
    for name in names or list(BENCHES):
        bench.reset()
        yield name, BENCHES[name](bench)


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--gpus"]
    if not arguments or not set(arguments[1:]) <= set(BENCHES):
        print(f"{(__doc__ or '').splitlines()[0]}\nNAME: {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    folder, names = Path(arguments[0]), arguments[1:]
    policies: list[dict[str, object]] = [{}]
    if "--gpus" in sys.argv:
        bench = Bench(folder, "netcrafter_quad")
        policies = [
            {"all_gpus": True, "placement": placement, "dispatch": dispatch}
            for placement in PLACEMENTS
            for dispatch in DISPATCHES
        ]
    else:
        bench = Bench(folder, "gpu")
    wrong = 0
    for bench.options in policies:
        if bench.options:
            print(f"placement {bench.options['placement']}, dispatch {bench.options['dispatch']}")
        print("kernel                launches  time (us)  wavefront-instructions  result")
        for name, right in rows(bench, names):
            figures = f"{bench.launches:>8}  {bench.time * 1e6:>9.1f}  {bench.instructions:>22.0f}"
            print(f"{name:<20}  {figures}  {'right' if right else 'WRONG'}", flush=True)
            wrong += not right
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
