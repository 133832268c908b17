/* SPDX-License-Identifier: Apache-2.0 */
/* Networking from inside of kernels: this hart performs what work-groups leave in their queues. */
#include "network/service.h"

#include <stddef.h>

#include "abi/gpu_queue_lines.h"
#include "cp/access.h"
#include "cp/launch.h"
#include "cp/registers.h"
#include "cp/service.h"

__attribute__((section(".noinit"))) static struct network_thread threads[MOST_HARTS]; /* written when a duty begins */
static bool serves[MOST_HARTS];

static volatile struct gpu_network* shared(unsigned hart) { return SRAM(struct gpu_network, GPU_SRAM_NETWORK) + hart; }

/* The host's request: a duty begins or ends. */
static void look(unsigned hart) {
    volatile struct gpu_network* n = shared(hart);
    const uint32_t wanted = n->state;
    if (wanted == n->taken) return;
    serves[hart] = wanted == GPU_QUEUE_ACTIVE;
    if (serves[hart]) {
        virtual_select(hart, n->address_space);
        register_write64(CP_LINES_BEGIN, n->lines);
        register_write64(CP_LINES_BYTES, n->lines_bytes);
        register_write(CP_LINES_LOCK, n->lock);
        network_begin(&threads[hart], (const struct network_duty*)GPU_VIRTUAL(n->duty), GPU_VIRTUAL(0));
    }
    release();
    n->taken = wanted;
}

static void take(unsigned hart, uint32_t events) {
    (void)events;
    look(hart);
}

static enum work serve(unsigned hart) {
    if (!serves[hart]) return WORK_NONE;
    virtual_select(hart, shared(hart)->address_space);
    return network_serve(&threads[hart]) ? WORK_DONE : WORK_WAITS;
}

void networking_abandon(unsigned hart) {
    if (!serves[hart]) return;
    serves[hart] = false;
    for (unsigned i = 0; i < threads[hart].queues && i < NETWORK_MOST_QUEUES; ++i)
        virtual_store((uint64_t)threads[hart].served[i].queue - GPU_VIRTUAL(0) + offsetof(struct network_queue, closed),
                      NETWORK_FAILED | HCA_ABORTED);
    release();
}

const struct service networking = {GPU_EVENT_HOST, look, take, serve};
