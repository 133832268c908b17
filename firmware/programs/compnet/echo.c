/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/echo.h"
#include "programs/compnet/slots.h"
#include "programs/compnet/stream.h"

#include "gpu/kernels/network.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"

enum { WARM = 2, CRASHES_AFTER_US = 30, BAD_ADDRESS = 1 << 30 };

uint64_t echo_payload(unsigned groups, const struct echo_options* o) { return slots_bytes(groups, o->max); }

/* \param stream where the queue talks between kernels, else NULL */
static bool run_size(struct backend* s, struct gpu_queue_handle* queue, struct stream* stream,
                     const struct echo_options* o, uint64_t size, const struct rdma_buffer* results, uint8_t* bytes) {
    const unsigned with = s->bootstrap->comm.rank ^ 1;
    const uint64_t rounds = WARM + o->rounds;
    struct network_echo_arguments a = {.access = s->access.lanes,
                                       .results = results->lanes,
                                       .local = s->payload.lanes,
                                       .remote = s->remote[with].payload,
                                       .pitch = o->max,
                                       .timeout = o->crash ? ECHO_CRASH_TIMEOUT_NS : BACKEND_TIMEOUT_NS,
                                       .bytes = (uint32_t)size,
                                       .rounds = (uint32_t)rounds,
                                       .warmup_rounds = WARM,
                                       .peer = with,
                                       .initiator = s->bootstrap->comm.rank < with,
                                       .inline_data = size == 8 && o->inline_data};
    const struct slots slots = {s->groups, o->max, size, rounds, 1, bytes};
    if (o->bad_address && a.initiator) a.remote += BAD_ADDRESS;
    slots_prepare(s, &slots, false);
    backend_barrier(s);
    if (a.initiator) region_begin("echo");
    unsigned fault = 0;
    if (stream)
        echo_stream(stream, s, &a, results);
    else
        fault = slots_perform(s, queue, "network_echo", &a, sizeof a, o->crash && a.initiator ? CRASHES_AFTER_US : 0,
                              ECHO_CRASH_TIMEOUT_NS);
    if (a.initiator) region_end();
    backend_barrier(s);
    const struct slots_times times = slots_times(s, results);
    bool ok = !fault && times.ok;
    if (ok && !slots_are_correct(s, with, &slots)) {
        console_printf("what has come is not what was sent\n");
        ok = false;
    }
    if (a.initiator) {
        result_begin("echo");
        result_text("backend", backend_name(s->kind));
        result_u64("threads", s->threads);
        result_u64("groups", s->groups);
        result_u64("bytes", size);
        result_u64("time_ps", times.total * 1000 / s->groups / o->rounds);
        result_u64("max_time_ps", times.longest * 1000 / o->rounds);
        result_end();
    }
    return ok;
}

bool echo_run(struct backend* s, struct gpu_queue_handle* queue, const struct echo_options* o) {
    const struct rdma_buffer results =
        rdma_buffer_allocate(s->node, s->groups * sizeof(struct network_group_result), true);
    uint8_t* bytes = heap_allocate_aligned(echo_payload(s->groups, o), GPU_PAGE);
    bool ok = true;
    if (!bytes) panic("echo: out of memory");
    struct stream* stream = s->kind == BACKEND_GDS ? heap_allocate(sizeof *stream) : NULL;
    if (stream) {
        stream_begin(stream, s, BACKEND_TIMEOUT_NS);
        gpu_linked_kernel(s->node, "network_mark", "network_mark"); /* loaded before time counts */
    } else
        gpu_linked_kernel(s->node, "network_echo", "network_echo");
    for (uint64_t size = o->min; ok && size <= o->max; size *= 2)
        ok = run_size(s, queue, stream, o, size, &results, bytes);
    heap_free(bytes);
    console_printf("echo       %s\n", ok ? "ok" : "FAILED");
    return ok;
}
