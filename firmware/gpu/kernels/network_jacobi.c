/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "network.h"
#include "network/collectives.h"

enum { FAILED = 0xffffffff };
LDS uint32_t max_change;
LDS uint32_t stopped;

struct jacobi {
    const struct network_jacobi_arguments* args;
    struct network network;
    struct collective all;
    struct network_request last; /* of its rows */
    bool has_request;            /* was one sent? */
    bool first, final;           /* of all work-groups */
};
LDS struct jacobi j;

GPU_INLINE float absolute(float x) { return x < 0 ? -x : x; }

/* The work-group's rows. \returns the greatest change of this lane's points */
GPU_INLINE uint32_t update(const struct network_jacobi_arguments* a, uint32_t iteration) {
    const size_t width = a->columns, part = a->rows / group_count(0), begin = 1 + group_id(0) * part;
    const float* from = (const float*)(uintptr_t)a->grid[(iteration - 1) & 1];
    float* to = (float*)(uintptr_t)a->grid[iteration & 1];
    float change = 0;
    for (size_t row = begin; row < begin + part; ++row)
        for (size_t x = 1 + local_id(0); x < width - 1; x += JACOBI_GROUP) {
            const size_t at = row * width + x;
            const float value = 0.25f * ((from[at - 1] + from[at + 1]) + (from[at - width] + from[at + width]));
            const float d = absolute(value - from[at]);
            change = d > change ? d : change;
            to[at] = value;
        }
    return jacobi_bits(change);
}

/* Row and flag to the node above (0) or below (1), which has them at its other end. */
GPU_INLINE void send_row(unsigned below, uint32_t iteration) {
    const struct network_jacobi_arguments* a = j.args;
    const uint64_t pitch = 4ull * a->columns, mine = below ? a->rows : 1, remote_row = below ? 0 : a->rows + 1;
    const unsigned peer = below ? a->segments.comm.rank + 1 : a->segments.comm.rank - 1;
    network_put(&j.network, peer, a->grid[iteration & 1] + mine * pitch,
                a->remote_grid[below][iteration & 1] + remote_row * pitch, (uint32_t)pitch);
    j.last = network_put_data(&j.network, peer, COLLECTIVE_NUMBER(iteration),
                              a->segments.memory[peer] + offsetof(struct jacobi_flags, halo[0]) + 8 * !below, 8);
    j.has_request = true;
}

/* \returns whether rows of iteration `iteration` are here */
GPU_INLINE bool wait_for_rows(uint32_t iteration) {
    const struct network_jacobi_arguments* a = j.args;
    const struct jacobi_flags* flags = (const struct jacobi_flags*)(uintptr_t)a->segments.memory[a->segments.comm.rank];
    uint64_t seen;
    return (!j.first || !a->segments.comm.rank ||
            network_wait_reached(&flags->halo[0], iteration, a->timeout, &seen)) &&
           (!j.final || a->segments.comm.rank + 1 == a->segments.comm.size ||
            network_wait_reached(&flags->halo[1], iteration, a->timeout, &seen));
}

/* All work-groups have updated their rows. The first one finds out how much has changed, and lets the others go on. */
GPU_INLINE bool global_barrier(uint32_t iteration) {
    const struct network_jacobi_arguments* a = j.args;
    const uint32_t rounds = iteration - a->first + 1;
    fence_release(GPU_SCOPE_AGENT);
    atomic_add_u32(&a->sync->arrived, 1);
    if (!j.first) {
        uint32_t seen;
        while ((int32_t)((seen = load_scoped_u32(&a->sync->released)) - iteration) < 0) gpu_pause();
        return seen == iteration;
    }
    while (load_scoped_u32(&a->sync->arrived) != rounds * group_count(0)) gpu_pause();
    fence_acquire(GPU_SCOPE_AGENT);
    uint32_t bits = load_scoped_u32(&a->sync->change[iteration & 1]);
    a->sync->change[(iteration + 1) & 1] = 0;
    if (a->uses_network && !network_all_reduce_max(&j.all, iteration, &bits)) bits = FAILED;
    a->change[iteration] = bits;
    if (a->words) *a->words = COLLECTIVE_NUMBER(iteration) | bits;
    if (bits == FAILED) a->sync->failed = NETWORK_FAILED;
    store_release(&a->sync->released, bits == FAILED ? iteration + 1 : iteration, GPU_SCOPE_SYSTEM);
    return bits != FAILED;
}

/* What one lane of the work-group does between two updates. \returns false if the network fails */
GPU_APART bool exchange_and_reduce(uint32_t iteration) {
    const struct network_jacobi_arguments* a = j.args;
    atomic_max_u32(&a->sync->change[iteration & 1], max_change);
    if (a->uses_network) {
        const uint32_t status = j.has_request ? network_wait(&j.network, j.last) : NETWORK_DONE;
        if (status) a->sync->failed = status;
        if (j.first && a->segments.comm.rank) send_row(0, iteration);
        if (j.final && a->segments.comm.rank + 1 < a->segments.comm.size) send_row(1, iteration);
    }
    return global_barrier(iteration) && (!a->uses_network || wait_for_rows(iteration));
}

KERNEL(network_jacobi, struct network_jacobi_arguments) {
    const bool first = group_id(0) == 0, final = group_id(0) + 1 == group_count(0);
    const bool communicates = args->uses_network && local_id(0) == 0 && (first || final);
    if (args->seen && first && local_id(0) == 0) {
        const uint32_t mine = (uint32_t)args->words[args->last_word], seen = (uint32_t)*args->seen;
        args->change[args->first - 1] = mine > seen ? mine : seen;
    }
    if (local_id(0) == 0) {
        j = (struct jacobi){.args = args, .first = first, .final = final};
        j.all = (struct collective){&j.network, &args->segments, offsetof(struct jacobi_flags, all), args->timeout};
        if (communicates) j.network = network_open(args->access + !first);
        stopped = 0;
    }
    for (uint32_t iteration = args->first; iteration < args->first + args->iterations; ++iteration) {
        if (local_id(0) == 0) max_change = 0;
        barrier();
        atomic_max_u32(&max_change, update(args, iteration));
        fence_release(GPU_SCOPE_SYSTEM);
        barrier();
        if (local_id(0) == 0 && !exchange_and_reduce(iteration)) stopped = 1;
        barrier();
        if (stopped) break;
        fence_acquire(GPU_SCOPE_SYSTEM);
    }
    if (!communicates) return;
    const uint32_t status = network_quiet(&j.network);
    if (status) args->sync->failed = status;
    network_close(&j.network);
}
