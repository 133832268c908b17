/* SPDX-License-Identifier: Apache-2.0 */
/* Networking from inside of kernels: this hart performs what work-groups leave in their queues. */
#include "network/service.h"

#include <stddef.h>

#include "abi/gpu_queue_lines.h"
#include "cp/access.h"
#include "cp/launch.h"
#include "cp/registers.h"
#include "cp/service.h"

__attribute__((
    section(".noinit"))) static struct network_service threads[MAX_HARTS]; /* written when a descriptor begins */
static bool serving[MAX_HARTS];

static volatile struct gpu_network* shared(unsigned hart) { return SRAM(struct gpu_network, GPU_SRAM_NETWORK) + hart; }

/* The host's request: a descriptor begins or ends. */
static void update(unsigned hart) {
    volatile struct gpu_network* n = shared(hart);
    const uint32_t requested = n->state;
    if (requested == n->acknowledged) return;
    serving[hart] = requested == GPU_QUEUE_ACTIVE;
    if (serving[hart]) {
        virtual_select(hart, n->address_space);
        register_write64(CP_LINES_BEGIN, n->lines);
        register_write64(CP_LINES_BYTES, n->lines_bytes);
        register_write(CP_LINES_LOCK, n->lock);
        network_service_start(&threads[hart], (const struct network_service_descriptor*)GPU_VIRTUAL(n->descriptor),
                              GPU_VIRTUAL(0));
    }
    release();
    n->acknowledged = requested;
}

static void handle(unsigned hart, uint32_t events) {
    (void)events;
    update(hart);
}

static enum work serve(unsigned hart) {
    if (!serving[hart]) return WORK_NONE;
    virtual_select(hart, shared(hart)->address_space);
    return network_service_poll(&threads[hart]) ? WORK_DONE : WORK_WAITS;
}

void network_service_abort(unsigned hart) {
    if (!serving[hart]) return;
    serving[hart] = false;
    for (unsigned i = 0; i < threads[hart].queues && i < NETWORK_MAX_QUEUES; ++i)
        virtual_store(
            (uint64_t)threads[hart].consumers[i].queue - GPU_VIRTUAL(0) + offsetof(struct network_queue, closed),
            NETWORK_FAILED | HCA_ABORTED);
    release();
}

const struct service network_service_entry = {GPU_EVENT_HOST, update, handle, serve};
