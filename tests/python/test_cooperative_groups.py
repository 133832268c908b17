# SPDX-License-Identifier: Apache-2.0
"""Cooperative groups of HIP and CUDA: blocks, tiles, and threads that are together."""

import numpy
import opencl_machine
import pytest
from fabricvp.errors import InputError, KernelFault

opencl_machine.require_compiler()

SOURCE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void blocks(unsigned* out) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ unsigned values[96];
    unsigned rank = block.thread_rank();
    values[rank] = rank * rank;
    block.sync();
    cg::sync(block);
    out[rank] = values[block.size() - 1 - rank];
}
__global__ void tiles(unsigned* out, unsigned* more) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    unsigned t = threadIdx.x;
    out[t] = cg::reduce(tile, t, cg::plus<unsigned>());
    more[4 * t] = tile.meta_group_rank() * 1000 + tile.thread_rank() * 10 + tile.shfl(t, 3) % 16;
    more[4 * t + 1] = tile.ballot(t % 3 == 0);
    more[4 * t + 2] = tile.shfl_down(t, 2) + tile.shfl_up(t, 15) + tile.shfl_xor(t, 1) + tile.size();
    int same;
    more[4 * t + 3] = tile.match_any(t % 5) + (unsigned)(tile.match_all(t / 16, same) << 16) + tile.all(t % 16 < 16) * 2
                      + tile.any(t % 16 == 5) * 4;
    tile.sync();
}
__global__ void together(unsigned* out) {
    unsigned t = threadIdx.x;
    if (t % 3 == 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        out[4 * t] = group.size() * 100 + group.thread_rank();
        out[4 * t + 1] = group.shfl(t, 2) * 1000 + group.shfl_down(t, 1);
        out[4 * t + 2] = group.ballot(t & 1);
        out[4 * t + 3] = group.shfl_up(t, 3) + group.any(t == 1) * 1000 + group.all(t & 1) * 10000;
        group.sync();
    }
}
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("language", "lanes"), [("hip", 64), ("cuda", 32)])
def test_groups(language, lanes):
    with opencl_machine.small_gpu() as platform:
        program = platform.nodes[0].gpus[0].program(SOURCE, language=language)
        out = numpy.zeros(96, "u4")
        program["blocks"](1, 96, out)
        assert (out == numpy.arange(96)[::-1] ** 2).all()

        sums, more = numpy.zeros(96, "u4"), numpy.zeros((96, 4), "u4")
        program["tiles"](1, 96, sums, more)
        for t in range(96):
            first, rank = t & ~15, t & 15
            lanes_of_tile = range(first, first + 16)
            assert sums[t] == sum(lanes_of_tile)
            expected = [
                t // 16 * 1000 + rank * 10 + 3,
                sum(1 << u - first for u in lanes_of_tile if u % 3 == 0),
                (t + 2 if rank < 14 else t) + (t - 15 if rank == 15 else t) + (t ^ 1) + 16,
                sum(1 << u - first for u in lanes_of_tile if u % 5 == t % 5) + 0xFFFF0000 + 2 + 4,
            ]
            assert more[t].tolist() == [value & 0xFFFFFFFF for value in expected]

        out = numpy.zeros((96, 4), "u4")
        program["together"](1, 96, out)
        for t in range(96):
            wavefront = t // lanes
            members = [u for u in range(96) if u % 3 == 1 and u // lanes == wavefront]
            if t not in members:
                assert not out[t].any()
                continue
            rank = members.index(t)
            below = members[rank - 3] if rank >= 3 else t
            assert out[t].tolist() == [
                len(members) * 100 + rank,
                members[2] * 1000 + (members[rank + 1] if rank + 1 < len(members) else t),
                sum(1 << n for n, u in enumerate(members) if u & 1),
                below + (1 in members) * 1000,
            ]


GRID = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int rounds;
__global__ void rotate(int* x, int* y, int n) {
    __shared__ int own[256];
    cg::grid_group grid = cg::this_grid();
    unsigned i = (unsigned)grid.thread_rank();
    own[threadIdx.x] = i;
    for (int k = 0; k < n; ++k) {
        x[i] = own[threadIdx.x] + k;
        cg::sync(grid);
        own[threadIdx.x] = x[(i + 97) % grid.size()];
        grid.sync();
    }
    y[i] = own[threadIdx.x];
    if (cg::thread_rank(grid) == 0) rounds += n;
}
__global__ void plain(int* flag, int blocks) {
    if (threadIdx.x == 0) {
        atomicAdd(flag, 1);
        while (atomicAdd(flag, 0) < blocks) {}
    }
}
__global__ void early(int* x) {
    if (blockIdx.x == 1) __builtin_trap();
    cg::this_grid().sync();
    x[0] = 1;
}
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", ["hip", "cuda"])
def test_grids_that_just_fit_wait_for_each_other(gpu, language):
    program, lanes = gpu.program(GRID, language=language), {"hip": 64, "cuda": 32}[language]
    shared = {"shared_mem": 31 << 10}  # with the kernel's own, half of a compute unit's
    for wrong in (0, 64), (64, 0), (64, 5), (64, 64, -1):
        with pytest.raises(ValueError, match="must be from 1 on, 32 or 64, and from 0 on"):
            gpu.resident_groups(*wrong)
    most = gpu.resident_groups(256, lanes, 32 << 10)
    assert most == 8 and gpu.resident_groups(256, lanes) == 4 * 40 // (256 // lanes)
    for blocks in (1, 3, most):
        size = blocks * 256
        x, y = numpy.zeros(size, "i4"), numpy.zeros(size, "i4")
        program["rotate"](blocks, 256, x, y, 3, **shared)
        assert (y == (numpy.arange(size) + 3 * 97) % size + 3).all()
    assert program.variable("rounds").get() == 9
    says = rf"a cooperative launch of {most + 1} work-groups of 256 x 1 x 1: the GPU holds at most {most} at a time"
    x = numpy.zeros((most + 1) * 256, "i4")
    with pytest.raises(InputError, match=says):
        program["rotate"](most + 1, 256, x, x.copy(), 1, **shared)
    flag, free = numpy.zeros(1, "i4"), gpu.resident_groups(64, lanes)
    program["plain"](free, 64, flag, free, cooperative=True)
    assert flag[0] == free
    with pytest.raises(InputError, match="a cooperative launch of"):
        program["plain"](free + 1, 64, flag, free + 1, cooperative=True)


@pytest.mark.timeout(200)
def test_a_grid_after_one_that_ended_with_a_fault(gpu):
    program, x = gpu.program(GRID, language="cuda"), numpy.zeros(512, "i4")
    with pytest.raises(KernelFault, match="illegal instruction"):
        program["early"](2, 64, x)
    for _ in range(2):
        y = x.copy()
        program["rotate"](2, 256, x, y, 1)
        assert (y == (numpy.arange(512) + 97) % 512).all()


@pytest.mark.timeout(200)
def test_registers_limit_grids(gpu):
    """More than 24 of a lane do not let all slots be used (docs/explanation/decisions/registers.md)."""
    program, blocks = gpu.program(GRID, language="hip"), gpu.resident_groups(256, 64, 1024)
    x = numpy.zeros(blocks * 256, "i4")
    with pytest.raises(KernelFault, match="resources"):
        program["rotate"](blocks, 256, x, x.copy(), 1)
    y = x.copy()
    program["rotate"](blocks // 2, 256, x, y, 1)
    assert (y[: len(y) // 2] == (numpy.arange(len(y) // 2) + 97) % (len(y) // 2)).all()
