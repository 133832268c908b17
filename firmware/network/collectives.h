/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and all-reduces among the same work-group of all nodes, on puts, whoever performs these. A work-group takes
 * part with flags of its own (struct collective_flags) at the same offset of each node's memory. Kernels include gpu.h
 * before. */
#ifndef FABRICVP_NETWORK_COLLECTIVES_H
#define FABRICVP_NETWORK_COLLECTIVES_H

#include "network/network.h"
#include "network/schedule.h"

struct collective {
    struct network* network;
    const struct network_team* team;
    uint64_t flags;    /* offset in each node's memory */
    uint64_t patience; /* nanoseconds that a node is waited for */
};

GPU_INLINE void collective_say(const struct collective* c, unsigned node, uint64_t flag, uint64_t word) {
    network_put_data(c->network, node, word, c->team->memory[node] + c->flags + flag, 8);
}
GPU_INLINE bool collective_hear(const struct collective* c, uint64_t flag, uint32_t number, uint64_t* seen) {
    return network_hear_word((const void*)(uintptr_t)(c->team->memory[c->team->rank] + c->flags + flag), number,
                             c->patience, seen);
}

/* Waits until all nodes have come here as often; `number` counts from 1 on. One lane calls it. \returns false if one
 * does not come */
GPU_APART bool network_barrier(const struct collective* c, uint32_t number) {
    const unsigned rank = c->team->rank, nodes = c->team->nodes;
    uint64_t seen;
    for (unsigned level = 0; 1u << level < nodes; ++level) {
        const uint64_t flag = offsetof(struct collective_flags, met[0]) + 8 * level;
        collective_say(c, (rank + (1u << level)) % nodes, flag, COLLECTIVE_NUMBER(number));
        if (!collective_hear(c, flag, number, &seen)) return false;
    }
    return true;
}

/* The greatest of all nodes' `value` (a power of two of nodes), by exchanges over 1, 2, 4 … nodes. One lane calls it.
 * \returns false if a node is not heard */
GPU_INLINE bool network_greatest(const struct collective* c, uint32_t number, uint32_t* value) {
    for (unsigned level = 0; 1u << level < c->team->nodes; ++level) {
        const uint64_t flag = offsetof(struct collective_flags, exchanged[0][0]) + 16 * level + 8 * (number & 1);
        uint64_t seen;
        collective_say(c, c->team->rank ^ 1u << level, flag, COLLECTIVE_NUMBER(number) | *value);
        if (!collective_hear(c, flag, number, &seen)) return false;
        if ((uint32_t)seen > *value) *value = (uint32_t)seen;
    }
    return true;
}

/* Of a work-group's all-reduce: floats at `vector`, and places for what comes, each of `elements`. Offsets in each
 * node's memory. */
struct collective_vector {
    uint64_t vector, places, pitch; /* pitch: bytes from one place to the next */
    uint64_t elements;
};
/* What a step is for the work-group: the lane that speaks says it. */
LDS struct collective_turn {
    bool failed, adds;
    const float* other; /* to be added to floats `begin` to `end` of the vector */
    uint64_t begin, end;
} collective_turn;

/* One lane sends what a step says, and waits for what comes. */
GPU_APART void collective_move(const struct collective* c, const struct collective_vector* v, enum collective_way way,
                               uint32_t round, unsigned step) {
    const unsigned rank = c->team->rank, nodes = c->team->nodes, parts = collective_parts(way, nodes);
    const struct collective_step s = collective_step(way, rank, nodes, step);
    const uint32_t number = round * collective_steps(way, nodes) + step + 1;
    const uint64_t base = c->team->memory[rank];
    uint64_t seen;
    if (s.sends) {
        const uint64_t begin = collective_begin(v->elements, parts, s.send_part),
                       end = collective_begin(v->elements, parts, s.send_part + 1u);
        const uint64_t from = v->vector + 4 * begin, to = s.adds ? v->places + s.place * v->pitch + 4 * begin : from;
        if (end > begin)
            network_put(c->network, s.to, base + from, c->team->memory[s.to] + to, (uint32_t)(4 * (end - begin)));
        collective_say(c, s.to, offsetof(struct collective_flags, arrived[0]) + 8ull * s.send_flag,
                       COLLECTIVE_NUMBER(number));
    }
    collective_turn.failed =
        s.takes &&
        !collective_hear(c, offsetof(struct collective_flags, arrived[0]) + 8ull * s.take_flag, number, &seen);
    collective_turn.adds = s.takes && s.adds;
    collective_turn.other = (const float*)(uintptr_t)(base + v->places + s.place * v->pitch);
    collective_turn.begin = collective_begin(v->elements, parts, s.take_part);
    collective_turn.end = collective_begin(v->elements, parts, s.take_part + 1u);
}

/* One lane waits for what it has sent. */
GPU_APART void collective_end(const struct collective* c) {
    collective_turn.failed = network_quiet(c->network) != NETWORK_DONE;
}

/* The whole work-group adds, with several loads a lane under way. */
GPU_INLINE void collective_add(float* to, const float* other, uint64_t begin, uint64_t end) {
    enum { UNDER_WAY = 4 };
    const uint64_t stride = group_size(0);
    uint64_t at = begin + local_id(0);
    for (; at + (UNDER_WAY - 1) * stride < end; at += UNDER_WAY * stride) {
        float mine[UNDER_WAY], theirs[UNDER_WAY]; /* in registers, once the loops are unrolled */
#pragma GCC unroll 4
        for (unsigned i = 0; i < UNDER_WAY; ++i) mine[i] = to[at + i * stride], theirs[i] = other[at + i * stride];
#pragma GCC unroll 4
        for (unsigned i = 0; i < UNDER_WAY; ++i) to[at + i * stride] = mine[i] + theirs[i];
    }
    for (; at < end; at += stride) to[at] = to[at] + other[at];
}

/* Sums a vector over all nodes; all have all of it then. Every lane of the work-group calls it; `round` counts calls
 * from 0 on. \returns false if a node is not heard, or a request has failed */
GPU_INLINE bool network_all_reduce(const struct collective* c, enum collective_way way,
                                   const struct collective_vector* v, uint32_t round) {
    const unsigned steps = collective_steps(way, c->team->nodes);
    float* const vector = (float*)(uintptr_t)(c->team->memory[c->team->rank] + v->vector);
    const bool speaks = local_id(0) == 0;
    for (unsigned i = 0; i < steps; ++i) {
        fence_release(GPU_SCOPE_SYSTEM);
        barrier();
        if (speaks) collective_move(c, v, way, round, i);
        barrier();
        if (collective_turn.failed) return false;
        fence_acquire(GPU_SCOPE_SYSTEM);
        if (collective_turn.adds)
            collective_add(vector, collective_turn.other, collective_turn.begin, collective_turn.end);
    }
    barrier();
    if (speaks) collective_end(c);
    barrier();
    return !collective_turn.failed;
}

#endif
