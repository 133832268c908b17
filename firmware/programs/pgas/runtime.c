/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/pgas/runtime.h"

#include "drivers/bootstrap/measure.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"

enum { LOG_INBOX = PGAS_LOG_MESSAGES_PER_RANK + 3, CYCLES = 1 << 20 }; /* letters of PGAS_MAX_RANKS nodes */

struct rdma_buffer pgas_runtime_allocate(const struct pgas_runtime* w, uint64_t bytes) {
    return rdma_buffer_allocate(w->node, bytes, w->lanes);
}

static void make_inbox(struct pgas_runtime* w) {
    const struct rdma_buffer entries = pgas_runtime_allocate(w, verbs_cq_bytes(LOG_INBOX)),
                             records = pgas_runtime_allocate(w, HCA_PAGE);
    if (!verbs_open_uar(&w->inbox_uar, &w->bootstrap->hca, &records.memory) ||
        !verbs_create_cq(&w->inbox_cq, &w->bootstrap->pd, LOG_INBOX,
                         &(struct verbs_object_memory){&entries.memory, &w->inbox_uar}))
        panic("pgas: no inbox, status 0x%x", w->bootstrap->hca.status);
    const struct pgas_inbox inbox = {
        .cq = {pgas_runtime_address(w, &entries), pgas_runtime_address(w, &records) + 8 * w->inbox_cq.consumer_record,
               w->inbox_cq.number, LOG_INBOX},
        .messages_offset = w->segment.memory.bytes - PGAS_MAX_RANKS * PGAS_MESSAGES_PER_RANK * PGAS_MESSAGE_BYTES};
    w->inbox = pgas_runtime_allocate(w, sizeof inbox);
    rdma_buffer_write(w->node, &w->inbox, 0, &inbox, sizeof inbox);
}

static void make_segment(struct pgas_runtime* w, uint64_t bytes) {
    w->segment = pgas_runtime_allocate(w, bytes + PGAS_MAX_RANKS * PGAS_MESSAGES_PER_RANK * PGAS_MESSAGE_BYTES);
    if (!rdma_buffer_register(&w->mr, &w->bootstrap->pd, &w->segment, VERBS_ALL_RIGHTS))
        panic("pgas: the segment cannot be registered");
}

/* Cycles of a caller that `microseconds` take. */
static uint64_t cycles_of(const struct pgas_runtime* w, uint64_t microseconds) {
    return microseconds * 1000000 * 1024 / w->cycle_ps_1024;
}

static void make_contexts(struct pgas_runtime* w) {
    struct {
        uint64_t address;
        uint32_t key;
    } local = {w->segment.lanes, w->mr.key}, of[PGAS_MAX_RANKS];
    for (unsigned i = 0; i < w->bootstrap->comm.size; ++i) {
        if (i == w->bootstrap->comm.rank)
            of[i] = local;
        else
            bootstrap_exchange(w->bootstrap, i, &local, &of[i], sizeof local);
    }
    w->contexts = pgas_runtime_allocate(w, w->callers * sizeof(struct pgas_context));
    for (unsigned c = 0; c < w->callers; ++c) {
        struct pgas_context g = {
            .comm = w->bootstrap->comm, .first_slot = c * PGAS_SLOTS, .timeout = cycles_of(w, w->timeout_us)};
        for (unsigned i = 0; i < g.comm.size; ++i) {
            g.link[i] = endpoint_link(&w->to[i], c);
            g.link[i].data = (struct pgas_segment){pgas_runtime_address(w, &w->segment), local.address, of[i].address,
                                                   local.key, of[i].key};
        }
        rdma_buffer_write(w->node, &w->contexts, c * sizeof g, &g, sizeof g);
    }
}

void pgas_runtime_open(struct pgas_runtime* w, uint64_t bytes) {
    const unsigned ranks = w->bootstrap->comm.size;
    clock_start();
    w->cycle_ps_1024 =
        w->lanes ? 1024 * UINT64_C(1000000) / (w->node->gpu[0].clock / 1000000) : clock_picoseconds(1024);
    make_segment(w, bytes);
    make_inbox(w);
    const struct endpoint_shape shape = {.qps = w->callers,
                                         .log_sq_size = PGAS_LOG_SQ_SIZE,
                                         .log_rq_size = PGAS_LOG_MESSAGES_PER_RANK,
                                         .log_cq = PGAS_LOG_SQ_SIZE + 1,
                                         .lanes = w->lanes,
                                         .queues_in_gpu = w->lanes,
                                         .cqs_in_gpu = w->lanes,
                                         .records_in_gpu = w->lanes,
                                         .notifications_in_gpu = w->lanes,
                                         .payload_in_gpu = w->lanes,
                                         .payload = HCA_PAGE,
                                         .ack_timeout = w->ack_timeout,
                                         .inbox = &w->inbox_cq};
    w->to = heap_allocate(ranks * sizeof *w->to);
    if (!w->to) panic("pgas: out of memory");
    for (unsigned i = 0; i < ranks; ++i) endpoint_open(&w->to[i], w->bootstrap, w->node, i, &shape);
    make_contexts(w);
    bootstrap_barrier(w->bootstrap);
}

static bool run_kernel(struct pgas_runtime* w, const struct pgas_workload* work) {
    const struct gpu_grid grid = {.items = {w->callers * w->items}, .group = {(uint16_t)w->items}};
    const uint64_t packet = gpu_dispatch(w->queue, gpu_linked_kernel(w->node, work->kernel, work->kernel), &grid,
                                         work->arguments, work->bytes);
    if (w->revoke_us && w->bootstrap->comm.rank + 1 == w->bootstrap->comm.size) {
        timer_wait(w->revoke_us);
        verbs_unregister(&w->mr);
    }
    const unsigned fault = gpu_wait(w->queue, packet);
    if (fault) {
        console_printf("kernel %s: %s\n", work->kernel, gpu_fault_name(fault));
        gpu_print_faults(w->node, &w->node->gpu[0]);
    }
    return !fault;
}

static bool report_failure(const struct pgas_context* g, unsigned caller) {
    if (!g->failed) return true;
    const char* why = g->failed == PGAS_TIMEOUT ? "nothing comes" : verbs_syndrome_name(g->failed);
    if (g->failed_slot == PGAS_SLOT_COMPLETION)
        console_printf("rank %u, caller %u: what was asked of rank %u: %s\n", g->comm.rank, caller, g->failed_rank,
                       why);
    else if (g->failed_slot == PGAS_SLOT_INBOX)
        console_printf("rank %u, caller %u: waiting for active messages: %s\n", g->comm.rank, caller, why);
    else
        console_printf("rank %u, caller %u: waiting for rank %u, step %u: %s\n", g->comm.rank, caller, g->failed_rank,
                       g->failed_slot, why);
    return false;
}

bool pgas_runtime_run(struct pgas_runtime* w, const struct pgas_workload* work) {
    bool ok = true;
    if (w->lanes) gpu_linked_kernel(w->node, work->kernel, work->kernel); /* loaded before time counts */
    bootstrap_barrier(w->bootstrap);
    if (!w->bootstrap->comm.rank) region_begin(work->kernel);
    if (w->lanes)
        ok = run_kernel(w, work);
    else
        work->on_hart(work->arguments);
    if (!w->bootstrap->comm.rank) region_end();
    for (unsigned c = 0; c < w->callers; ++c) {
        struct pgas_context g;
        rdma_buffer_read(w->node, &g, &w->contexts, c * sizeof g, sizeof g);
        ok = report_failure(&g, c) && ok;
    }
    bootstrap_barrier(w->bootstrap);
    return ok;
}

void pgas_runtime_report(const struct pgas_runtime* w, const char* name, const char* phase,
                         const struct rdma_buffer* cycles, unsigned first, unsigned stride, unsigned count) {
    uint64_t max = 0;
    if (w->bootstrap->comm.rank) return;
    for (unsigned i = 0; i < count; ++i) {
        uint64_t taken;
        rdma_buffer_read(w->node, &taken, cycles, 8 * (first + (uint64_t)i * stride), sizeof taken);
        max = taken > max ? taken : max;
    }
    result_begin(name);
    result_text("phase", phase);
    result_u64("nodes", w->bootstrap->comm.size);
    result_u64("callers", w->callers);
    result_u64("time_ps", max * w->cycle_ps_1024 / 1024);
    result_end();
}
