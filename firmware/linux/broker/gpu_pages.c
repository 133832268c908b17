/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of GPUs, in large pages. The first of each has the roots of page tables. */
#include <stdlib.h>

#include "lib/machine.h"
#include "linux/broker/broker.h"

enum { OWN = 255, ROOTS = 2 };
static uint8_t* owners[MAX_GPUS]; /* by page */

static uint64_t count_of(unsigned gpu) { return gpus.gpu[gpu].memory_bytes / GPU_LARGE_PAGE; }

void gpu_pages_start(void) {
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
        owners[gpu] = calloc(count_of(gpu), 1);
        if (!owners[gpu]) panic("no memory for the owners of gpu%u's pages", gpu);
        owners[gpu][0] = OWN;
    }
}

uint64_t gpu_pages_root(unsigned space, unsigned which) { return GPU_PAGE * (1 + ROOTS * (uint64_t)space + which); }

uint64_t gpu_pages_bytes(unsigned owner, unsigned gpu) {
    uint64_t found = 0;
    for (uint64_t page = 0; page < count_of(gpu); ++page) found += owners[gpu][page] == owner;
    return found * GPU_LARGE_PAGE;
}

static void give(unsigned owner, unsigned gpu, uint64_t first, uint64_t count, struct broker_message* reply) {
    for (uint64_t page = first; page < first + count; ++page) owners[gpu][page] = (uint8_t)owner;
    reply->range[reply->count++] = (struct broker_range){first * GPU_LARGE_PAGE, count * GPU_LARGE_PAGE};
}

/* Free pages behind each other from `first` on, at most `most`. */
static uint64_t run_at(unsigned gpu, uint64_t first, uint64_t most) {
    uint64_t length = 0;
    while (length < most && first + length < count_of(gpu) && !owners[gpu][first + length]) ++length;
    return length;
}

/* All or nothing; where memory is in more ranges than a message has, nothing. */
bool gpu_pages_take(unsigned owner, unsigned gpu, uint64_t count, bool contiguous, struct broker_message* reply) {
    reply->count = 0;
    for (uint64_t page = 0, length; page < count_of(gpu) && count; page += length ? length : 1) {
        length = run_at(gpu, page, count);
        if (!length || (contiguous && length < count)) continue;
        if (reply->count == BROKER_MAX_RANGES) break;
        give(owner, gpu, page, length, reply);
        count -= length;
    }
    if (!count) return true;
    for (uint32_t i = 0; i < reply->count; ++i) gpu_pages_return(owner, gpu, &reply->range[i]);
    reply->count = 0;
    return false;
}

void gpu_pages_return(unsigned owner, unsigned gpu, const struct broker_range* range) {
    const uint64_t end = (range->at + range->bytes) / GPU_LARGE_PAGE;
    for (uint64_t page = range->at / GPU_LARGE_PAGE; page < end && page < count_of(gpu); ++page)
        if (owners[gpu][page] == owner) owners[gpu][page] = 0;
}

void gpu_pages_drop(unsigned owner) {
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu)
        for (uint64_t page = 0; page < count_of(gpu); ++page)
            if (owners[gpu][page] == owner) owners[gpu][page] = 0;
}
