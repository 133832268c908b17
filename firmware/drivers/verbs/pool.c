/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/verbs/internal.h"
#include "lib/heap.h"
#include "lib/machine.h"

void* verbs_pages(uint64_t bytes) {
    bytes = (bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    void* at = heap_allocate_aligned(bytes, bytes >= VERBS_CHUNK ? VERBS_CHUNK : HCA_PAGE);
    if (!at) panic("verbs: out of memory");
    memset(at, 0, bytes);
    return at;
}

void verbs_pool_init(struct verbs_pool* pool, uint64_t* words, uint32_t count, uint32_t reserved) {
    *pool = (struct verbs_pool){words, count, reserved};
    for (uint32_t i = 0; i < reserved; ++i) words[i / 64] |= UINT64_C(1) << i % 64;
}

static bool is_allocated(const struct verbs_pool* pool, uint32_t i) { return pool->allocated[i / 64] >> i % 64 & 1; }

/* First fit from where the lowest free one may be. */
uint32_t verbs_pool_allocate(struct verbs_pool* pool, uint32_t count) {
    uint32_t run = 0;
    for (uint32_t i = pool->from; i < pool->count; ++i) {
        run = is_allocated(pool, i) ? 0 : run + 1;
        if (run < count) continue;
        const uint32_t first = i + 1 - count;
        for (uint32_t k = first; k <= i; ++k) pool->allocated[k / 64] |= UINT64_C(1) << k % 64;
        if (first == pool->from) pool->from = i + 1;
        return first;
    }
    return VERBS_NONE;
}

void verbs_pool_free(struct verbs_pool* pool, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) pool->allocated[i / 64] &= ~(UINT64_C(1) << i % 64);
    if (first < pool->from) pool->from = first;
}
