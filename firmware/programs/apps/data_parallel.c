/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a network on several GPUs, each with images of its own: gradients become their mean by an all-reduce around
 * a ring, layer by layer, in blocks. A GPU pushes a part of a block to the next one, which adds it to its own, and
 * waits for all after each step; so each part goes around once to be summed, and once more to be known. */
#include "gpu/kernels/neural_network.h"
#include "programs/apps/neural_network.h"

enum { BLOCK = 65536 /* floats */, LANES = 1024, GROUP = 64 };

static unsigned count_of(const struct neural_network* n) {
    unsigned count = 0;
    for (; n; n = n->next) ++count;
    return count;
}

static struct neural_network* after(struct neural_network* first, const struct neural_network* copy) {
    return copy->next ? copy->next : first;
}

static bool step(struct neural_network* copy, gpu_address to, gpu_address from, uint64_t elements, float scale) {
    const struct ring_reduce_arguments a = {from, to, elements, scale};
    copy->app->alone = copy->alone;
    return app_run_1d(copy->app, app_kernel(copy->app, "ring_reduce"), LANES, GROUP, &a, sizeof a);
}

/* A part of a block: one a copy, the last ones perhaps shorter or empty. */
static uint64_t part_of(uint64_t block, unsigned count, unsigned part, uint64_t* at) {
    const uint64_t size = (block + count - 1) / count;
    *at = part * size < block ? part * size : block;
    return block - *at < size ? block - *at : size;
}

/* What one copy does in a step of the ring. */
typedef bool (*ring_step)(struct neural_network* copy, struct neural_network* next, gpu_address block, uint64_t at,
                          uint64_t elements, float scale);

static bool push(struct neural_network* copy, struct neural_network* next, gpu_address block, uint64_t at,
                 uint64_t elements, float scale) {
    (void)scale;
    return step(copy, next->ring + 4 * at, copy->gradients + block + 4 * at, elements, 0);
}

static bool add(struct neural_network* copy, struct neural_network* next, gpu_address block, uint64_t at,
                uint64_t elements, float scale) {
    (void)next;
    return step(copy, copy->gradients + block + 4 * at, copy->ring + 4 * at, elements, scale);
}

static bool share(struct neural_network* copy, struct neural_network* next, gpu_address block, uint64_t at,
                  uint64_t elements, float scale) {
    (void)scale;
    return step(copy, next->gradients + block + 4 * at, copy->gradients + block + 4 * at, elements, 0);
}

/* All copies do a step on the part with their number plus `first`, and wait for each other. */
static bool all(struct neural_network* n, unsigned count, ring_step what, gpu_address block, uint64_t floats,
                unsigned first, float scale) {
    unsigned number = 0;
    for (struct neural_network* copy = n; copy; copy = copy->next, ++number) {
        uint64_t at;
        const uint64_t elements = part_of(floats, count, (number + first) % count, &at);
        if (elements && !what(copy, after(n, copy), block, at, elements, scale)) return false;
    }
    return app_join(n->app);
}

static bool reduce_block(struct neural_network* n, unsigned count, gpu_address block, uint64_t floats) {
    for (unsigned s = 0; s + 1 < count; ++s) {
        const float scale = s + 2 == count ? 1.0f / (float)count : 1.0f;
        if (!all(n, count, push, block, floats, count - s, 0) ||
            !all(n, count, add, block, floats, 2 * count - s - 1, scale))
            return false;
    }
    for (unsigned s = 0; s + 1 < count; ++s)
        if (!all(n, count, share, block, floats, count + 1 - s, 0)) return false;
    return true;
}

bool neural_reduce(struct neural_network* n) {
    const unsigned count = count_of(n);
    if (count < 2) return true;
    if (!app_join(n->app)) return false;
    for (unsigned i = 0; i < n->layers; ++i) {
        if (n->layer[i].kind != LAYER_CONVOLUTION && n->layer[i].kind != LAYER_NORM) continue;
        uint64_t end = n->used;
        for (unsigned later = n->layers; --later > i;)
            if (n->layer[later].kind == LAYER_CONVOLUTION || n->layer[later].kind == LAYER_NORM)
                end = n->layer[later].weight;
        for (uint64_t at = n->layer[i].weight; at < end; at += BLOCK)
            if (!reduce_block(n, count, 4 * at, end - at < BLOCK ? end - at : BLOCK)) return false;
    }
    return true;
}

void neural_connect(struct neural_network* copies, unsigned count) {
    for (unsigned i = 0; i < count && count > 1; ++i) {
        copies[i].next = i + 1 < count ? &copies[i + 1] : NULL;
        copies[i].app->alone = copies[i].alone;
        copies[i].ring = app_buffer(copies[i].app, 4ull * BLOCK);
    }
}

bool neural_copies_agree(struct neural_network* n) {
    if (!n->next) return true;
    const uint64_t bytes = 4 * n->used;
    void *first = app_host(n->app, bytes), *other = app_host(n->app, bytes);
    app_download(n->app, first, n->parameters, bytes);
    for (struct neural_network* copy = n->next; copy; copy = copy->next) {
        app_download(n->app, other, copy->parameters, bytes);
        if (memcmp(first, other, bytes) != 0) return false;
    }
    return true;
}
