# SPDX-License-Identifier: Apache-2.0
"""Cooperative groups of HIP and CUDA: blocks, tiles, and threads that are together."""

import numpy
import opencl_machine
import pytest

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
