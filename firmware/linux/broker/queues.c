/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of command processors. Processes write their entries themselves; the broker ends what a process has left. */
#define _GNU_SOURCE
#include <unistd.h>

#include "lib/mmio.h"
#include "linux/broker/broker.h"

enum { STEP_US = 20, LIMIT_US = 100000 };
static uint8_t owners[MAX_GPUS][GPU_QUEUES];

static uintptr_t entry_of(unsigned gpu, unsigned queue) {
    return gpus.gpu[gpu].registers + GPU_SRAM_WINDOW + GPU_SRAM_QUEUES + queue * sizeof(struct gpu_queue);
}

bool queues_take(unsigned owner, unsigned gpu, uint64_t* queue) {
    for (unsigned q = 0; q < GPU_QUEUES; ++q)
        if (!owners[gpu][q]) {
            owners[gpu][q] = (uint8_t)owner;
            *queue = q;
            return true;
        }
    return false;
}

void queues_return(unsigned owner, unsigned gpu, uint64_t queue) {
    if (queue < GPU_QUEUES && owners[gpu][queue] == owner) owners[gpu][queue] = 0;
}

unsigned queues_owner(unsigned gpu, unsigned queue) { return owners[gpu][queue]; }

struct gpu_queue queues_entry(unsigned gpu, unsigned queue) {
    uint64_t words[sizeof(struct gpu_queue) / 8];
    struct gpu_queue entry;
    for (unsigned i = 0; i < sizeof words / 8; ++i) words[i] = mmio_read64(entry_of(gpu, queue) + 8 * i);
    memcpy(&entry, words, sizeof entry);
    return entry;
}

void queues_abort(unsigned gpu, unsigned queue) {
    mmio_write32(entry_of(gpu, queue) + offsetof(struct gpu_queue, state), GPU_QUEUE_FREE);
    mmio_write32(gpus.gpu[gpu].registers + GPU_HOST_REQUEST, 1);
}

static bool is_free(unsigned gpu, unsigned queue) {
    return mmio_read32(entry_of(gpu, queue) + offsetof(struct gpu_queue, acknowledged)) == GPU_QUEUE_FREE;
}

bool queues_drop(unsigned owner) {
    bool all = true;
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
        for (unsigned q = 0; q < GPU_QUEUES; ++q)
            if (owners[gpu][q] == owner) queues_abort(gpu, q);
        for (unsigned q = 0; q < GPU_QUEUES; ++q) {
            if (owners[gpu][q] != owner) continue;
            unsigned waited = 0;
            for (; !is_free(gpu, q) && waited < LIMIT_US; waited += STEP_US) usleep(STEP_US);
            if (waited < LIMIT_US)
                owners[gpu][q] = 0;
            else
                all = false;
        }
    }
    return all;
}
