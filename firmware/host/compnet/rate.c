/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/rate.h"

#include "gpu/kernels/network.h"
#include "host/compnet/slots.h"
#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/region.h"

enum { CRASHES_AFTER_US = 10, PATIENCE_NS = 1000000 }; /* a kernel looks far more often whether it is still served */

uint64_t rate_payload(unsigned groups, const struct rate_options* o) {
    return slots_bytes(groups * (unsigned)o->messages, o->most);
}

static bool one(struct scheme* s, struct gpu_queue_handle* queue, const struct rate_options* o, uint64_t size,
                const struct place* results, uint8_t* bytes) {
    const unsigned with = s->party->index ^ 1;
    const bool sends = s->party->index < with;
    const struct network_rate_arguments a = {.access = s->access.lanes,
                                             .results = results->lanes,
                                             .local = s->payload.lanes,
                                             .remote = s->remote[with].payload,
                                             .pitch = o->most,
                                             .bytes = (uint32_t)size,
                                             .messages = (uint32_t)o->messages,
                                             .peer = with,
                                             .in_entry = size == 8 && o->in_entry};
    const struct slots slots = {s->groups * a.messages, o->most, size, 1, a.messages, bytes};
    slots_prepare(s, &slots, true);
    scheme_meet(s);
    if (!sends) {
        scheme_meet(s);
        const bool right = slots_are_right(s, with, &slots);
        if (!right) console_printf("what has come is not what was sent\n");
        return right;
    }
    region_begin("rate");
    const unsigned fault =
        slots_perform(s, queue, "network_rate", &a, sizeof a, o->crash ? CRASHES_AFTER_US : 0, PATIENCE_NS);
    region_end();
    scheme_meet(s);
    const struct slots_times times = slots_times(s, results);
    console_printf("# rate %s %u threads %u groups %lu bytes %lu messages, %lu ps each\n", scheme_name(s->kind),
                   s->threads, s->groups, size, s->groups * o->messages,
                   times.longest * 1000 / s->groups / o->messages);
    return !fault && times.right;
}

bool rate_run(struct scheme* s, struct gpu_queue_handle* queue, const struct rate_options* o) {
    const struct place results = place_take(s->node, s->groups * sizeof(struct network_group), true);
    uint8_t* bytes = heap_allocate_aligned(rate_payload(s->groups, o), GPU_PAGE);
    bool right = true;
    if (!bytes) panic("rate: out of memory");
    for (uint64_t size = o->least; right && size <= o->most; size *= 2) right = one(s, queue, o, size, &results, bytes);
    heap_free(bytes);
    console_printf("rate       %s\n", right ? "ok" : "FAILED");
    return right;
}
