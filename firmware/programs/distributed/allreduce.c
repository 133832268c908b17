/* SPDX-License-Identifier: Apache-2.0 */
/* A ring all-reduce: in size - 1 steps each member gets the sum of one chunk, in as many more all get all chunks. The
 * vector is followed by a place for what is to be added, where each chunk has its own. */
#include "gpu/kernels/network_copy.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "network/schedule.h"
#include "programs/distributed/distributed.h"

enum { GROUP = 256, MAX_GROUPS = 256, RANGE = 251 };

struct step {
    uint64_t elements;
    unsigned members, step;
};

uint64_t allreduce_bytes(const struct distributed* d) { return 8 * d->size + 128; }

static uint64_t staging_at(uint64_t elements) { return (4 * elements + 63) & ~UINT64_C(63); }

static uint64_t begin_of(const struct step* s, unsigned chunk) {
    return collective_chunk_begin(s->elements, s->members, chunk);
}

static struct ring_transfer transfer(const void* context, unsigned member) {
    const struct step* s = context;
    const struct collective_step c = collective_ring(member, s->members, s->step);
    const uint64_t from = 4 * begin_of(s, c.send_chunk), end = 4 * begin_of(s, c.send_chunk + 1u);
    return (struct ring_transfer){from, c.adds ? staging_at(s->elements) + from : from, end - from};
}

static void add(struct distributed* d, const struct step* s) {
    struct ring* r = &d->ring;
    uint64_t packet[MAX_GPUS];
    bool adds[MAX_GPUS] = {false};
    for (unsigned g = 0; g < r->gpus; ++g) {
        const struct collective_step c = collective_ring(r->first + g, s->members, s->step);
        const uint64_t begin = begin_of(s, c.receive_chunk), count = begin_of(s, c.receive_chunk + 1u) - begin;
        if (!c.adds || !count) continue;
        const gpu_address memory = r->member[g].memory;
        const struct network_copy_arguments a = {.from = memory + staging_at(s->elements) + 4 * begin,
                                                 .to = memory + 4 * begin,
                                                 .count = (uint32_t)count,
                                                 .adds = 1};
        const uint64_t groups = (count + GROUP - 1) / GROUP;
        const struct gpu_grid grid = {.items = {GROUP * (uint32_t)(groups < MAX_GROUPS ? groups : MAX_GROUPS)},
                                      .group = {GROUP}};
        packet[g] = ring_launch(r, g, "network_copy", &grid, &a, sizeof a);
        adds[g] = true;
    }
    for (unsigned g = 0; g < r->gpus; ++g)
        if (adds[g]) ring_wait(r, g, packet[g]);
}

/* Small whole numbers, so that sums are exact in any order: a member's share has its own weight. */
static uint64_t drawn(uint64_t i) { return distributed_random(0, i) % RANGE; }
static float input(uint64_t i, unsigned member) { return (float)(drawn(i) * (member + 1) + member); }
static float expected(uint64_t i, unsigned members) {
    return (float)(drawn(i) * members * (members + 1) / 2 + (uint64_t)members * (members - 1) / 2);
}

bool allreduce_run(struct distributed* d) {
    struct ring* r = &d->ring;
    struct step s = {d->size, r->size, 0};
    float* vector = heap_allocate_aligned(4 * d->size, GPU_PAGE);
    if (!vector) panic("allreduce: no memory for %lu elements", d->size);
    for (unsigned g = 0; g < r->gpus; ++g) {
        for (uint64_t i = 0; i < d->size; ++i) vector[i] = input(i, r->first + g);
        ring_write(r, g, 0, vector, 4 * d->size);
    }
    distributed_begin(d, "allreduce");
    for (; s.step < 2 * (r->size - 1) && !r->failed; ++s.step) {
        ring_shift(r, RING_UP, transfer, &s);
        add(d, &s);
    }
    distributed_end(d);
    bool ok = !r->failed;
    for (unsigned g = 0; g < r->gpus && ok; ++g) {
        ring_read(r, g, vector, 0, 4 * d->size);
        for (uint64_t i = 0; i < d->size && ok; ++i)
            if (vector[i] != expected(i, r->size)) ok = distributed_mismatch(d, g, "element", i);
    }
    return ok;
}
