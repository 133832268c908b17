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
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import fabricvp
import numpy
from fabricvp.launch import DISPATCHES, PLACEMENTS
from numpy.typing import NDArray

Sizes = int | tuple[int, ...]
Array = NDArray[numpy.generic]
f32, i32, u32 = numpy.float32, numpy.int32, numpy.uint32
INSTRUCTIONS = re.compile(r"(gpu\d+\.)?wavefront_instructions")
RANDOM = numpy.random.default_rng(1)


class Bench:
    """One GPU, or four, and the clone; sums times and wavefront-instructions of launches."""

    def __init__(self, folder: Path, config: str, overrides: dict[str, object] | None = None) -> None:
        self.folder = folder
        self.options: dict[str, object] = {}  #: of launches
        platform = fabricvp.Platform.from_config(config, overrides=overrides)
        self.gpus = platform.nodes[0].gpus
        self.gpu = self.gpus[0]
        self.reset()

    def reset(self) -> None:
        self.time, self.kernel_time, self.instructions, self.launches = 0.0, 0.0, 0.0, 0
        self.statistics: Counter[str] = Counter()
        self.grids: list[tuple[int, int]] = []  #: of each launch: work-items, and those of a work-group

    def program(self, name: str, **defines: object) -> fabricvp.Program:
        """The program of a source below `amd/benchmarks`."""
        return self.gpu.program(self.folder / "amd" / "benchmarks" / name, defines=defines)

    def run(self, kernel: object, grid: Sizes, group: Sizes, *arguments: object) -> None:
        done = kernel(grid, group, *arguments, **self.options)  # type: ignore[operator]
        self.time += done.time
        self.kernel_time += done.kernel_time
        self.launches += 1
        self.statistics.update(done.statistics)
        self.grids.append((int(numpy.prod(grid)), int(numpy.prod(group))))
        self.instructions += sum(value for name, value in done.statistics.items() if INSTRUCTIONS.fullmatch(name))


def floats(*shape: int) -> Array:
    return RANDOM.random(shape, dtype=f32)


def close(a: Array, b: Array) -> bool:
    return bool(numpy.allclose(a, b, rtol=1e-4, atol=1e-4))


def matrixtranspose(b: Bench, n: int = 256) -> bool:
    a, out = floats(n, n), numpy.zeros((n, n), f32)
    kernel = b.program("amdappsdk/matrixtranspose/native/MatrixTranspose_Kernels.cl")["matrixTranspose"]
    b.run(kernel, (n // 4, n // 4), (16, 16), out, a, fabricvp.local(16 * 16 * 4 * 16), n // 4, n // 4, n // 64, 0, 0)
    return bool((out == a.T).all())


def fir(b: Bench, n: int = 16384, taps: int = 16) -> bool:
    x, coefficients, history, out = floats(n), floats(taps), numpy.zeros(taps + 1, f32), numpy.zeros(n, f32)
    kernel = b.program("heteromark/fir/kernels.cl")["FIR"]
    b.run(kernel, n, 256, out, coefficients, x, history, taps)
    return close(out, numpy.convolve(x, coefficients)[:n])


def bitonicsort(b: Bench, n: int = 1024) -> bool:
    array = RANDOM.integers(0, 1 << 32, n, dtype=u32)
    expected = numpy.sort(array)
    kernel = b.program("amdappsdk/bitonicsort/kernels.cl")["BitonicSort"]
    for stage in range(n.bit_length() - 1):
        for step in range(stage + 1):
            b.run(kernel, n // 2, 64, array, stage, step, 1)
    return bool((array == expected).all())


def matrixmultiplication(b: Bench, n: int = 128, height: int = 32) -> bool:
    # The source takes rows of A by local_id(1), so all rows of work-groups compute those of the first.
    x, y, out = floats(height, n), floats(n, n), numpy.zeros((height, n), f32)
    kernel = b.program("amdappsdk/matrixmultiplication/MatrixMultiplication_Kernels.cl")["mmmKernel_local"]
    b.run(kernel, (n // 4, height // 4), (8, 8), x, y, out, n, fabricvp.local(8 * 4 * 8 * 16))
    return close(out[:32], x[:32] @ y)


def atax(b: Bench, n: int = 128, group: int = 64) -> bool:
    a, x, tmp, y = floats(n, n), floats(n), numpy.zeros(n, f32), numpy.zeros(n, f32)
    program = b.program("polybench/atax/native/atax.cl")
    b.run(program["atax_kernel1"], n, group, a, x, tmp, n, n)
    b.run(program["atax_kernel2"], n, group, a, y, tmp, n, n)
    return close(y, a.T @ (a @ x))


def bicg(b: Bench, n: int = 128, group: int = 64) -> bool:
    a, p, q, r, s = floats(n, n), floats(n), numpy.zeros(n, f32), floats(n), numpy.zeros(n, f32)
    program = b.program("polybench/bicg/native/bicg.cl")
    b.run(program["bicgKernel1"], n, group, a, p, q, n, n)
    b.run(program["bicgKernel2"], n, group, a, r, s, n, n)
    return close(q, a @ p) and close(s, a.T @ r)


class Sparse:
    """A square matrix with `per_row` entries a row on average, drawn over all places, as MGPUSim's generator does."""

    def __init__(self, n: int, per_row: int) -> None:
        places = numpy.unique(RANDOM.integers(0, n * n, n * per_row))
        self.rows, self.columns = places // n, (places % n).astype(i32)
        self.starts = numpy.searchsorted(self.rows, numpy.arange(n + 1)).astype(i32)
        self.values = floats(len(places))

    def times(self, x: Array) -> Array:
        return numpy.bincount(self.rows, self.values.astype(float) * x[self.columns], len(x))


def spmv(b: Bench, n: int = 512, per_row: int = 16, group: int = 64, vector: bool = True) -> bool:
    m = Sparse(n, per_row)
    x, out, wide = floats(n), numpy.zeros(n, f32), numpy.zeros(n, f32)
    program = b.program("shoc/spmv/spmv.cl", SINGLE_PRECISION=1)
    b.run(program["spmv_csr_scalar_kernel"], n, group, m.values, x, m.columns, m.starts, n, out)
    if not vector:
        return close(out, m.times(x))
    kernel, local = program["spmv_csr_vector_kernel"], fabricvp.local(128 * 4)
    b.run(kernel, n * 32, 128, m.values, x, m.columns, m.starts, n, 32, local, wide)
    return close(out, m.times(x)) and close(wide, m.times(x))


def pagerank(b: Bench, n: int = 128, per_row: int = 16, iterations: int = 1) -> bool:
    m = Sparse(n, per_row)
    x, y = numpy.full(n, 1 / n, f32), numpy.zeros(n, f32)
    kernel = b.program("heteromark/pagerank/native/kernels.cl")["PageRankUpdateGpu"]
    expected = x
    for _ in range(iterations):
        b.run(kernel, n * 64, 64, n, m.starts.view(u32), m.columns.view(u32), m.values, fabricvp.local(256), x, y)
        x, y, expected = y, x, m.times(expected)
    return close(x, expected)


def floydwarshall(b: Bench, n: int = 32, passes: int = 0) -> bool:
    distances = RANDOM.integers(1, 200, (n, n), dtype=u32)
    numpy.fill_diagonal(distances, 0)
    expected, path = distances.copy(), numpy.zeros((n, n), u32)
    kernel = b.program("amdappsdk/floydwarshall/native/FloydWarshall_Kernels.cl")["floydWarshallPass"]
    for k in range(passes or n):
        b.run(kernel, (n, n), (8, 8), distances, path, n, k)
        expected = numpy.minimum(expected, expected[:, k : k + 1] + expected[k : k + 1, :])
    return bool((distances == expected).all())


def kmeans(b: Bench, points: int = 1024, features: int = 8, clusters: int = 5) -> bool:
    data, centres = floats(points, features), floats(clusters, features)
    swapped, found = numpy.zeros((features, points), f32), numpy.zeros(points, i32)
    program = b.program("heteromark/kmeans/kernels.cl")
    b.run(program["kmeans_kernel_swap"], points, 64, data, swapped, points, features)
    b.run(program["kmeans_kernel_compute"], points, 64, swapped, centres, found, points, clusters, features, 0, 0)
    distances = ((data[:, None, :] - centres[None]) ** 2).sum(2)
    return bool((swapped == data.T).all()) and close(distances[range(points), found], distances.min(1))


def nbody(b: Bench, n: int = 256, group: int = 64) -> bool:
    step, soft = 0.005, 50.0
    position, velocity = floats(n, 4), numpy.zeros((n, 4), f32)
    new_position, new_velocity = numpy.zeros_like(position), numpy.zeros_like(velocity)
    kernel = b.program("amdappsdk/nbody/NBody_Kernels.cl")["nbody_sim"]
    local = fabricvp.local(group * 16)
    b.run(kernel, n, group, position, velocity, n, step, soft, local, new_position, new_velocity)
    r = position[None, :, :3].astype(float) - position[:, None, :3]
    weights = position[None, :, 3] / ((r**2).sum(2) + soft) ** 1.5
    acceleration = (r * weights[..., None]).sum(1)
    expected = position[:, :3] + velocity[:, :3] * step + 0.5 * acceleration * step * step
    return close(new_position[:, :3], expected) and close(new_velocity[:, :3], velocity[:, :3] + acceleration * step)


def im2col(b: Bench, size: int = 16, channels: int = 2, batch: int = 2) -> bool:
    mask = 3
    x = floats(batch, channels, size, size)
    field = size + 2 - mask + 1
    out = numpy.zeros((mask * mask * channels, field * field * batch), f32)
    kernel = b.program("dnn/gputensor/native/im2col.cl")["im2col_2d"]
    pairs = (size, size), (mask, mask), (1, 1), (1, 1), (1, 1)
    b.run(kernel, (field * field * batch, len(out)), (8, 8), x, out, *pairs, channels, batch)
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = numpy.zeros_like(out)
    for row, (c, i, j) in enumerate(numpy.ndindex(channels, mask, mask)):
        expected[row] = padded[:, c, i : i + field, j : j + field].reshape(-1)
    return bool((out == expected).all())


def stencil2d(b: Bench, rows: int = 64, columns: int = 64, padding: int = 2) -> bool:
    group = 64
    pitch = (columns + 1) // padding * padding + padding  # of a row with a column on each side
    data = floats(rows + 2, pitch)
    out = data.copy()
    centre, cardinal, diagonal = 0.25, 0.15, 0.05
    kernel = b.program("shoc/stencil2d/stencil2d.cl", SINGLE_PRECISION=1)["StencilKernel"]
    shared = fabricvp.local(18 * (group + 2) * 4)
    b.run(kernel, (rows // 16, columns), (1, group), data, out, padding, centre, cardinal, diagonal, shared)
    d, out = data[:, : columns + 2], out[:, : columns + 2]
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
