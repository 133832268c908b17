/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/load.h"

#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/result.h"

enum { TIMES_L2 = 6, L2_BYTES = 1 << 20, STEP = 8 * STREAM_GROUP }; /* STEP: words that a work-group reads at a time */

void load_begin(struct load* l, struct gpu_node* node, unsigned groups) {
    *l = (struct load){.groups = groups};
    if (!groups) return;
    const uint64_t part = (TIMES_L2 * L2_BYTES / 8 / groups + STEP - 1) / STEP * STEP, words = part * groups;
    uint64_t* numbers = heap_allocate_aligned(8 * words, GPU_LARGE_PAGE);
    if (!numbers) panic("load: out of memory");
    for (uint64_t i = 0; i < words; ++i) numbers[i] = i;
    const gpu_address from = gpu_allocate_large(node, 0, 8 * words);
    l->found = gpu_allocate_on(node, 0, GPU_PAGE);
    l->stop = l->found + 64;
    gpu_create_queue(&l->queue, node, 0, 4, 0, 1);
    if (gpu_copy_to(node, from, numbers, 8 * words)) panic("load: the GPU's memory cannot be written");
    heap_free(numbers);
    const struct network_stream_arguments a = {from, l->stop, l->found, words};
    const struct gpu_grid grid = {.items = {STREAM_GROUP * groups}, .group = {STREAM_GROUP}};
    l->packet =
        gpu_dispatch(&l->queue, gpu_linked_kernel(node, "network_stream", "network_stream"), &grid, &a, sizeof a);
}

bool load_end(struct load* l) {
    const uint64_t stop = 1;
    struct network_stream_result found;
    if (!l->groups) return true;
    gpu_write(l->queue.node, l->stop, &stop, sizeof stop);
    if (gpu_wait(&l->queue, l->packet)) return false;
    gpu_read(l->queue.node, &found, l->found, sizeof found);
    result_begin("load");
    result_u64("groups", l->groups);
    result_u64("passes", found.passes);
    result_end();
    if (found.wrong) console_printf("load: %u words were wrong\n", found.wrong);
    return !found.wrong;
}
