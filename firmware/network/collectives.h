/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and all-reduces among the same work-group of all nodes, on puts of any backend. A work-group takes
 * part with flags of its own (struct collective_flags) at the same offset of each node's memory. Kernels include gpu.h
 * before. */
#ifndef FABRICVP_NETWORK_COLLECTIVES_H
#define FABRICVP_NETWORK_COLLECTIVES_H

#include "network/network.h"
#include "network/schedule.h"

struct collective {
    struct network* network;
    const struct network_segments* segments;
    uint64_t flags;   /* offset in each node's memory */
    uint64_t timeout; /* nanoseconds that a node is waited for */
};

GPU_INLINE void collective_notify(const struct collective* c, unsigned node, uint64_t flag, uint64_t word) {
    network_put_data(c->network, node, word, c->segments->memory[node] + c->flags + flag, 8);
}
GPU_INLINE bool collective_wait(const struct collective* c, uint64_t flag, uint32_t number, uint64_t* seen) {
    return network_wait_reached((const void*)(uintptr_t)(c->segments->memory[c->segments->comm.rank] + c->flags + flag),
                                number, c->timeout, seen);
}

/* Waits until all nodes have come here as often; `number` counts from 1 on. One lane calls it. \returns false if one
 * does not come */
GPU_APART bool network_barrier(const struct collective* c, uint32_t number) {
    const unsigned rank = c->segments->comm.rank, nodes = c->segments->comm.size;
    uint64_t seen;
    for (unsigned level = 0; 1u << level < nodes; ++level) {
        const uint64_t flag = offsetof(struct collective_flags, barrier_flags[0]) + 8 * level;
        collective_notify(c, (rank + (1u << level)) % nodes, flag, COLLECTIVE_NUMBER(number));
        if (!collective_wait(c, flag, number, &seen)) return false;
    }
    return true;
}

/* The greatest of all nodes' `value` (a power of two of nodes), by exchanges over 1, 2, 4 … nodes. One lane calls it.
 * \returns false if a node is not heard */
GPU_INLINE bool network_all_reduce_max(const struct collective* c, uint32_t number, uint32_t* value) {
    for (unsigned level = 0; 1u << level < c->segments->comm.size; ++level) {
        const uint64_t flag = offsetof(struct collective_flags, max_flags[0][0]) + 16 * level + 8 * (number & 1);
        uint64_t seen;
        collective_notify(c, c->segments->comm.rank ^ 1u << level, flag, COLLECTIVE_NUMBER(number) | *value);
        if (!collective_wait(c, flag, number, &seen)) return false;
        if ((uint32_t)seen > *value) *value = (uint32_t)seen;
    }
    return true;
}

/* Of a work-group's all-reduce: floats at `vector`, and places for what comes, each of `elements`. Offsets in each
 * node's memory. */
struct collective_buffers {
    uint64_t vector, staging, pitch; /* pitch: bytes from one place to the next */
    uint64_t elements;
};
/* What a step is for the work-group: the lane that speaks says it. */
LDS struct collective_step_state {
    bool failed, adds;
    float* vector;
    const float* other; /* to be added to floats `begin` to `end` of the vector */
    uint64_t begin, end;
} collective_step_state;

/* One lane sends what a step says, and waits for what comes. */
GPU_APART void collective_transfer(const struct collective* c, const struct collective_buffers* v,
                                   enum collective_algorithm algorithm, uint32_t round, unsigned step) {
    const unsigned rank = c->segments->comm.rank, nodes = c->segments->comm.size,
                   chunks = collective_chunks(algorithm, nodes);
    const struct collective_step s = collective_step(algorithm, rank, nodes, step);
    const uint32_t number = round * collective_steps(algorithm, nodes) + step + 1;
    const uint64_t base = c->segments->memory[rank];
    uint64_t seen;
    if (s.sends) {
        const uint64_t begin = collective_chunk_begin(v->elements, chunks, s.send_chunk),
                       end = collective_chunk_begin(v->elements, chunks, s.send_chunk + 1u);
        const uint64_t from = v->vector + 4 * begin,
                       to = s.adds ? v->staging + s.staging_slot * v->pitch + 4 * begin : from;
        if (end > begin)
            network_put(c->network, s.to, base + from, c->segments->memory[s.to] + to, (uint32_t)(4 * (end - begin)));
        collective_notify(c, s.to, offsetof(struct collective_flags, arrived[0]) + 8ull * s.send_flag,
                          COLLECTIVE_NUMBER(number));
    }
    collective_step_state.failed =
        s.receives &&
        !collective_wait(c, offsetof(struct collective_flags, arrived[0]) + 8ull * s.receive_flag, number, &seen);
    collective_step_state.adds = s.receives && s.adds;
    collective_step_state.vector = (float*)(uintptr_t)(base + v->vector);
    collective_step_state.other = (const float*)(uintptr_t)(base + v->staging + s.staging_slot * v->pitch);
    collective_step_state.begin = collective_chunk_begin(v->elements, chunks, s.receive_chunk);
    collective_step_state.end = collective_chunk_begin(v->elements, chunks, s.receive_chunk + 1u);
}

/* One lane waits for what it has sent. */
GPU_APART void collective_finish(const struct collective* c) {
    collective_step_state.failed = network_quiet(c->network) != NETWORK_DONE;
}

/* The whole work-group adds, with several loads a lane under way. */
GPU_INLINE void collective_add(float* to, const float* other, uint64_t begin, uint64_t end) {
    enum { IN_FLIGHT = 4 };
    const uint64_t stride = group_size(0);
    uint64_t at = begin + local_id(0);
    for (; at + (IN_FLIGHT - 1) * stride < end; at += IN_FLIGHT * stride) {
        float local[IN_FLIGHT], remote[IN_FLIGHT]; /* in registers, once the loops are unrolled */
#pragma GCC unroll 4
        for (unsigned i = 0; i < IN_FLIGHT; ++i) local[i] = to[at + i * stride], remote[i] = other[at + i * stride];
#pragma GCC unroll 4
        for (unsigned i = 0; i < IN_FLIGHT; ++i) to[at + i * stride] = local[i] + remote[i];
    }
    for (; at < end; at += stride) to[at] = to[at] + other[at];
}

/* Sums a vector over all nodes; all have all of it then. Every lane of the work-group calls it; `round` counts calls
 * from 0 on. \returns false if a node is not heard, or a request has failed */
GPU_INLINE bool network_all_reduce(const struct collective* c, enum collective_algorithm algorithm,
                                   const struct collective_buffers* v, uint32_t round) {
    const unsigned steps = collective_steps(algorithm, c->segments->comm.size);
    const bool is_leader = local_id(0) == 0;
    for (unsigned i = 0; i < steps; ++i) {
        fence_release(GPU_SCOPE_SYSTEM);
        barrier();
        if (gpu_rarely(is_leader)) collective_transfer(c, v, algorithm, round, i);
        barrier();
        if (collective_step_state.failed) return false;
        fence_acquire(GPU_SCOPE_SYSTEM);
        if (collective_step_state.adds)
            collective_add(collective_step_state.vector, collective_step_state.other, collective_step_state.begin,
                           collective_step_state.end);
    }
    barrier();
    if (gpu_rarely(is_leader)) collective_finish(c);
    barrier();
    return !collective_step_state.failed;
}

#endif
