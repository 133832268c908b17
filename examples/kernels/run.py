# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of this folder in OpenCL C, HIP, CUDA and C, and compares with numpy: `python run.py [NAME…]`. All
run on one GPU, the stencil on four, in wavefronts of 64 lanes, so that times can be compared. The folder's Makefile
builds the kernels in C, by clang and by GCC."""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fabricvp
import numpy
from fabricvp.data import sdk_folder

HERE = Path(__file__).parent
LANGUAGES = {"OpenCL": ".cl", "HIP": ".hip", "CUDA": ".cu"}
COMPILERS = {"C, clang": "clang", "C, GCC": "gcc"}


class Kernels:
    """The kernels of one source in one language, called in the same way whatever the language."""

    def __init__(self, gpu, file):
        self.program, self.opencl, self.launches = gpu.program(file, wavefront=64), file.suffix == ".cl", []

    def __call__(self, name, items, group, *arguments, local=(), **options):
        """``local``: bytes of arrays in the local data share: arguments in OpenCL, one array behind all in CUDA."""
        if self.opencl:
            arguments += tuple(fabricvp.local(size) for size in local)
            done = self.program[name](items, group, *arguments, **options)
        else:
            blocks = tuple(-(-n // size) for n, size in zip(items, group))
            done = self.program[name](blocks, group, *arguments, shared_mem=sum(local), **options)
        self.launches.append(done)


class KernelsInC:
    """The same for an image of the Makefile: arguments are members of the kernel's struct."""

    def __init__(self, gpu, elf):
        self.gpu, self.elf, self.opencl, self.launches = gpu, elf, True, []

    def __call__(self, name, items, group, *arguments, local=(), **options):
        """Local arrays are the kernel's own."""
        members = {int: ctypes.c_uint32, float: ctypes.c_float}
        members = [members[type(a)](a) if type(a) in members else a for a in arguments]
        done = self.gpu.launch(self.elf, items, members, group=group, kernel=name, **options)
        for place, array in done.buffers.items():
            arguments[place][...] = array.reshape(arguments[place].shape)
        self.launches.append(done)


def vector_add(run, random):
    n = 100_000
    a, b = random.random((2, n), dtype="f4")
    c = numpy.zeros_like(a)
    run("vector_add", (n,), (256,), a, b, c, n)
    numpy.testing.assert_array_equal(c, a + b)


def matmul(run, random):
    n = 128
    a, b = random.random((2, n, n), dtype="f4")
    c = numpy.zeros_like(a)
    run("matmul" if run.opencl else "matmul<16>", (n, n), (16, 16), a, b, c, n)
    numpy.testing.assert_allclose(c, a @ b, rtol=1e-5)


def reduction(run, random):
    n = 100_000
    x, total = random.integers(0, 1000, n, dtype="u4"), numpy.zeros(1, "u4")
    run("reduction", (4096,), (256,), x, total, n, local=[4 * 256])
    assert total[0] == x.sum()


def warp_reduction(run, random):
    n = 100_000
    x, total = random.integers(0, 1000, n, dtype="u4"), numpy.zeros(1, "u4")
    run("warp_reduction", (4096,), (256,), x, total, n)
    assert total[0] == x.sum()


def histogram(run, random):
    n = 100_000
    x, bins = random.integers(0, 256, n, dtype="u1"), numpy.zeros(256, "u4")
    run("histogram", (4096,), (256,), x, bins, n)
    numpy.testing.assert_array_equal(bins, numpy.bincount(x, minlength=256))


def prefix_sum(run, random):
    n, group = 50_000, 256
    x = random.integers(-100, 100, n, dtype="i4")
    expected = numpy.cumsum(x)
    blocks = -(-n // group)
    totals, total, space = numpy.zeros(blocks, "i4"), numpy.zeros(1, "i4"), [4 * group] * 2
    run("scan", (blocks * group,), (group,), x, totals, n, local=space)
    run("scan", (group,), (group,), totals, total, blocks, local=space)
    run("add_totals", (blocks * group,), (group,), x, totals, n)
    numpy.testing.assert_array_equal(x, expected)


def nbody(run, random):
    n, softening = 512, 0.01
    bodies = random.random((n, 4), dtype="f4")
    result = numpy.zeros_like(bodies)
    run("accelerations", (n,), (64,), bodies, result, n, softening, local=[16 * 64])
    r = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    weights = bodies[None, :, 3] / ((r**2).sum(2) + softening) ** 1.5
    numpy.testing.assert_allclose(result[:, :3], (r * weights[..., None]).sum(1), rtol=1e-4, atol=1e-3)


def spmv(run, random):
    n = 512
    dense = random.random((n, n), dtype="f4") * (random.random((n, n)) < 0.05)
    rows, columns = dense.nonzero()
    starts = numpy.searchsorted(rows, numpy.arange(n + 1)).astype("u4")
    matrix = starts, columns.astype("u4"), dense[rows, columns]
    x = random.random(n, dtype="f4")
    y, z = numpy.zeros((2, n), "f4")
    run("spmv_scalar", (n,), (64,), *matrix, x, y, n)
    run("spmv_vector", (n * 64,), (64,), *matrix, x, z, local=[4 * 64])
    for found in y, z:
        numpy.testing.assert_allclose(found, dense @ x, rtol=1e-4)


def stencil(run, random):
    n, steps = 512, 4  # four GPUs work for longer than their launches take to begin
    grid = random.random((n, n), dtype="f4")
    old, new = grid.copy(), numpy.zeros_like(grid)
    for _ in range(steps):
        run("stencil", (n, n), (64, 4), old, new, n, all_gpus=True)
        old, new = new, old
        inner = (grid[1:-1, :-2] + grid[1:-1, 2:]) + (grid[:-2, 1:-1] + grid[2:, 1:-1])
        grid[1:-1, 1:-1] = numpy.float32(0.25) * inner
    numpy.testing.assert_array_equal(old, grid)


EXAMPLES = {
    f.__name__: f for f in (vector_add, matmul, reduction, warp_reduction, histogram, prefix_sum, nbody, spmv, stencil)
}


def build(folder):
    """Builds the kernels in C, if there are tools for it. Gives the images' folders, by column."""
    if not shutil.which("make") or not shutil.which("riscv64-unknown-elf-gcc"):
        return {}
    own = [f"{name}={value}" for name, value in (("BUILD", folder), ("SDK", sdk_folder()))]
    targets = [Path(folder) / compiler for compiler in COMPILERS.values()]
    names = [target / f"{name}.elf" for target in targets for name in EXAMPLES if (HERE / f"{name}.c").exists()]
    subprocess.run(["make", "--silent", "-C", HERE, *own, *map(str, names)], check=True, stdout=subprocess.DEVNULL)
    return dict(zip(COMPILERS, targets))


def time_of(name, column, images):
    """Microseconds of simulated time of an example in one language, on a machine of its own: where buffers lie after
    other launches changes times by up to a tenth."""
    file = HERE / (name + LANGUAGES[column]) if column in LANGUAGES else images.get(column, HERE) / f"{name}.elf"
    if not file.exists():  # OpenCL C 1.2 has no shuffles
        return "-"
    with fabricvp.spawn("netcrafter_quad" if name == "stencil" else "gpu") as machine:
        run = (Kernels if column in LANGUAGES else KernelsInC)(machine.nodes[0].gpus[0], file)
        EXAMPLES[name](run, numpy.random.default_rng(1))
        return f"{1e6 * sum(done.time for done in run.launches):.1f}"


def main():
    columns = [*LANGUAGES, *COMPILERS]
    with tempfile.TemporaryDirectory() as folder:
        images = build(folder)
        print(f"{'kernels':<14}" + "".join(f"{column:>10}" for column in columns) + "   us of simulated time")
        for name in sys.argv[1:] or EXAMPLES:
            times = [time_of(name, column, images) for column in columns]
            print(f"{name:<14}" + "".join(f"{time:>10}" for time in times) + "   right")


if __name__ == "__main__":
    main()
