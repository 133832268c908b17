/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/rate.h"

#include "gpu/kernels/network.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "programs/compnet/slots.h"

enum { CRASHES_AFTER_US = 10, TIMEOUT_NS = 1000000 }; /* a kernel looks far more often whether it is still served */

uint64_t rate_payload(unsigned groups, const struct rate_options* o) {
    return slots_bytes(groups * (unsigned)o->messages, o->max);
}

static bool run_size(struct backend* s, struct gpu_queue_handle* queue, const struct rate_options* o, uint64_t size,
                     const struct rdma_buffer* results, uint8_t* bytes) {
    const unsigned with = s->bootstrap->comm.rank ^ 1;
    const bool is_sender = s->bootstrap->comm.rank < with;
    const struct network_rate_arguments a = {.access = s->access.lanes,
                                             .results = results->lanes,
                                             .local = s->payload.lanes,
                                             .remote = s->remote[with].payload,
                                             .pitch = o->max,
                                             .bytes = (uint32_t)size,
                                             .messages = (uint32_t)o->messages,
                                             .peer = with,
                                             .inline_data = size == 8 && o->inline_data};
    const struct slots slots = {s->groups * a.messages, o->max, size, 1, a.messages, bytes};
    slots_prepare(s, &slots, true);
    backend_barrier(s);
    if (!is_sender) {
        backend_barrier(s);
        const bool ok = slots_are_correct(s, with, &slots);
        if (!ok) console_printf("what has come is not what was sent\n");
        return ok;
    }
    region_begin("rate");
    const unsigned fault =
        slots_perform(s, queue, "network_rate", &a, sizeof a, o->crash ? CRASHES_AFTER_US : 0, TIMEOUT_NS);
    region_end();
    backend_barrier(s);
    const struct slots_times times = slots_times(s, results);
    result_begin("rate");
    result_text("backend", backend_name(s->kind));
    result_u64("threads", s->threads);
    result_u64("groups", s->groups);
    result_u64("bytes", size);
    result_u64("messages", s->groups * o->messages);
    result_u64("message_time_ps", times.longest * 1000 / s->groups / o->messages);
    result_end();
    return !fault && times.ok;
}

bool rate_run(struct backend* s, struct gpu_queue_handle* queue, const struct rate_options* o) {
    const struct rdma_buffer results =
        rdma_buffer_allocate(s->node, s->groups * sizeof(struct network_group_result), true);
    uint8_t* bytes = heap_allocate_aligned(rate_payload(s->groups, o), GPU_PAGE);
    bool ok = true;
    if (!bytes) panic("rate: out of memory");
    gpu_linked_kernel(s->node, "network_rate", "network_rate"); /* loaded before time counts */
    for (uint64_t size = o->min; ok && size <= o->max; size *= 2) ok = run_size(s, queue, o, size, &results, bytes);
    heap_free(bytes);
    console_printf("rate       %s\n", ok ? "ok" : "FAILED");
    return ok;
}
