/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/echo.h"
#include "host/compnet/slots.h"
#include "host/compnet/stream.h"

#include "gpu/kernels/network.h"
#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/region.h"

enum { WARM = 2, CRASHES_AFTER_US = 30, ASTRAY = 1 << 30 };

uint64_t echo_payload(unsigned groups, const struct echo_options* o) { return slots_bytes(groups, o->most); }

/* \param stream where the queue talks between kernels, else NULL */
static bool one(struct scheme* s, struct gpu_queue_handle* queue, struct stream* stream, const struct echo_options* o,
                uint64_t size, const struct place* results, uint8_t* bytes) {
    const unsigned with = s->party->index ^ 1;
    const uint64_t rounds = WARM + o->rounds;
    struct network_echo_arguments a = {.access = s->access.lanes,
                                       .results = results->lanes,
                                       .local = s->payload.lanes,
                                       .remote = s->remote[with].payload,
                                       .pitch = o->most,
                                       .patience = ECHO_PATIENCE_NS,
                                       .bytes = (uint32_t)size,
                                       .rounds = (uint32_t)rounds,
                                       .warm = WARM,
                                       .peer = with,
                                       .begins = s->party->index < with,
                                       .in_entry = size == 8 && o->in_entry};
    const struct slots slots = {s->groups, o->most, size, rounds, 1, bytes};
    if (o->astray && a.begins) a.remote += ASTRAY;
    slots_prepare(s, &slots, false);
    scheme_meet(s);
    if (a.begins) region_begin("echo");
    unsigned fault = 0;
    if (stream)
        echo_stream(stream, s, &a, results);
    else
        fault = slots_perform(s, queue, "network_echo", &a, sizeof a, o->crash && a.begins ? CRASHES_AFTER_US : 0,
                              ECHO_PATIENCE_NS);
    if (a.begins) region_end();
    scheme_meet(s);
    const struct slots_times times = slots_times(s, results);
    bool right = !fault && times.right;
    if (right && !slots_are_right(s, with, &slots)) {
        console_printf("what has come is not what was sent\n");
        right = false;
    }
    if (a.begins)
        console_printf("# echo %s %u threads %u groups %lu bytes %lu ps, slowest %lu ps\n", scheme_name(s->kind),
                       s->threads, s->groups, size, times.total * 1000 / s->groups / o->rounds,
                       times.longest * 1000 / o->rounds);
    return right;
}

bool echo_run(struct scheme* s, struct gpu_queue_handle* queue, const struct echo_options* o) {
    const struct place results = place_take(s->node, s->groups * sizeof(struct network_group), true);
    uint8_t* bytes = heap_allocate_aligned(echo_payload(s->groups, o), GPU_PAGE);
    bool right = true;
    if (!bytes) panic("echo: out of memory");
    struct stream* stream = s->kind == SCHEME_ASYNC ? heap_allocate(sizeof *stream) : NULL;
    if (stream) {
        stream_begin(stream, s, ECHO_PATIENCE_NS);
        gpu_linked_kernel(s->node, "network_mark", "network_mark");
    }
    for (uint64_t size = o->least; right && size <= o->most; size *= 2)
        right = one(s, queue, stream, o, size, &results, bytes);
    heap_free(bytes);
    console_printf("echo       %s\n", right ? "ok" : "FAILED");
    return right;
}
