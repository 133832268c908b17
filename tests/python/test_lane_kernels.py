# SPDX-License-Identifier: Apache-2.0
"""Kernels that GCC has compiled: atomics that order other accesses, and registers with two wrong bits, which end who
reads them and no one else."""

import ctypes

import fabricvp
import numpy
import pytest

SOURCE = """
#include "gpu.h"
struct message { uint32_t *ready, *flag, *data, *out; };
KERNEL(message, struct message)
{
    volatile uint32_t *data = args->data;
    if (local_id(0)) return;
    if (group_id(0) == 1) {
        args->out[0] = *data; /* stays in this compute unit's L1 */
        __atomic_fetch_add(args->ready, 1 + (args->out[0] & 0), __ATOMIC_RELAXED);
        while (!__atomic_exchange_n(args->flag, 0, __ATOMIC_ACQUIRE)) gpu_pause();
        args->out[1] = *data;
    } else {
        while (!__atomic_fetch_add(args->ready, 0, __ATOMIC_RELAXED)) gpu_pause();
        *data = 42;
        __atomic_exchange_n(args->flag, 1, __ATOMIC_RELEASE);
    }
}
LDS volatile uint32_t round, seen;
struct rounds { uint32_t *lines, *bulk, *out; uint64_t rounds; };
KERNEL(rounds, struct rounds)
{
    volatile uint32_t *bulk = args->bulk;
    uint32_t stale = 0;
    if (local_id(0) == 0) round = seen = 0;
    barrier();
    for (uint32_t r = 1; r <= args->rounds; ++r) {
        volatile uint32_t *line = args->lines + 16 * r;
        if (wavefront_id() == 0) { /* what it stores beside it fills the queues between GPUs */
            for (int i = 0; i < 8; ++i) bulk[((r * 8 + i) * 64 + lane_id()) * 16 % 262144] = r;
            if (lane_id()) continue;
            *line = r;
            fence_release(GPU_SCOPE_WORK_GROUP);
            for (round = r; seen != r;) gpu_pause();
        } else if (lane_id() == 0) {
            while (round != r) gpu_pause();
            fence_acquire(GPU_SCOPE_WORK_GROUP);
            stale += *line != r;
            seen = r;
        }
    }
    if (local_id(0) == 64) args->out[0] = stale, args->out[1] = args->lines[16 * args->rounds];
}
struct count { uint32_t *out, *data; uint64_t n, mode; };
#define TURNS(text) for (uint64_t i = 0; i < args->n; ++i) __asm__ volatile(text \\
    "\\n addi %0, %0, 1" : "+r"(sum) : "r"(args->data) : "t3", "memory")
KERNEL(count, struct count)
{
    uint32_t sum = 0;
    const int first = local_id(0) == 0;
    if (args->mode == 0) TURNS("li t3, 7");
    if (args->mode == 1 && first) TURNS("addi t3, t3, 1");
    if (args->mode == 2) TURNS("addi t3, t3, 1");
    if (args->mode == 3 && first) TURNS("lw t3, 0(%1)\\n addi t3, t3, 1");
    args->out[global_id(0)] = sum;
}
"""
TURNS = 50_000


@pytest.mark.timeout(200)
def test_who_acquires_by_an_atomic_sees_what_was_released(elf):
    with fabricvp.spawn("gpu", node__gpus__0__compute_units=2) as platform:
        gpu = platform.nodes[0].gpus[0]
        words = [gpu.array(numpy.zeros(16, "u4")) for _ in range(4)]
        gpu.launch(elf, 128, words, group=64, kernel="message")
        assert words[3].get()[:2].tolist() == [0, 42]


@pytest.mark.timeout(200)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_work_group_sees_what_a_member_released_in_another_gpus_memory(elf, place):
    """Also where NetCrafter's queues by size let a load overtake a store."""
    with fabricvp.spawn("netcrafter_quad_on") as platform:
        buffers = {"lines": numpy.zeros(1024, "u4"), "bulk": numpy.zeros(262144, "u4"), "out": numpy.zeros(16, "u4")}
        done = platform.nodes[0].gpus[0].launch(
            elf, 128, ["lines", "bulk", "out", ctypes.c_uint64(50)], group=128, kernel="rounds", buffers=buffers,
            places={"lines": place, "bulk": place},
        )  # fmt: skip
        assert done.buffers["out"][:2].tolist() == [0, 50]


@pytest.fixture(scope="module")
def with_ecc(elf):
    """One compute unit, whose registers have a code."""
    settings = {"node__gpus__0__compute_unit__register_file__ecc": True, "node__gpus__0__compute_units": 1}
    with fabricvp.spawn("gpu", **settings) as platform:
        gpu = platform.nodes[0].gpus[0]  # whose first launch takes longer, so that a flip would come too early
        gpu.launch(elf, 64, [gpu.array(numpy.zeros(64, "u4")), gpu.array(numpy.zeros(16, "u4")), 1, 0], kernel="count")
        yield platform


def count(platform, elf, mode, lane):
    """What lanes have counted, what was said, and errors beyond repair. t3 (x28) of ``lane`` flips meanwhile."""
    path = "node0.gpu0.compute_unit0.uncorrected_errors"
    before = platform.statistics.totals().get(path, 0)
    gpu = platform.nodes[0].gpus[0]
    out, data = gpu.array(numpy.zeros(64, "u4")), gpu.array(numpy.zeros(16, "u4"))
    platform.inject(
        "node0.gpu0.compute_unit0", "flip", at=platform.now + 200e-6, slot=0, lane=lane, row=28, bit=3, bits=2
    )
    try:
        gpu.launch(elf, 64, [out, data, TURNS, mode], group=64, kernel="count")
        said = ""
    except fabricvp.KernelFault as fault:
        said = str(fault)
    return out.get(), said, platform.statistics.totals().get(path, 0) - before


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("mode", "lane"),
    [(0, 0), (0, 63), (1, 5), (3, 5)],
    ids=["overwritten", "overwritten by the last lane", "of another lane", "beside a load"],
)
def test_registers_that_are_not_read_fault_no_one(with_ecc, elf, mode, lane):
    out, said, errors = count(with_ecc, elf, mode, lane)
    assert (said, errors) == ("", 0)
    assert (out == (TURNS if mode == 0 else numpy.where(numpy.arange(64) == 0, TURNS, 0))).all()


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("mode", "lane"), [(2, 0), (2, 17), (1, 0)])
def test_a_lane_that_reads_one_faults(with_ecc, elf, mode, lane):
    _, said, errors = count(with_ecc, elf, mode, lane)
    assert "poisoned" in said and f"lane {lane}" in said, said
    assert errors == 1
