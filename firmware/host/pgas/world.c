/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pgas/world.h"

#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/rdma/measure.h"
#include "host/region.h"
#include "host/timer.h"

enum { LOG_INBOX = PGAS_LOG_LETTERS + 3, CYCLES = 1 << 20 }; /* letters of PGAS_MOST_RANKS nodes */

struct place world_take(const struct world* w, uint64_t bytes) {
    return place_take(w->node, bytes, w->lanes);
}

static void make_inbox(struct world* w) {
    const struct place entries = world_take(w, verbs_cq_bytes(LOG_INBOX)), records = world_take(w, HCA_PAGE);
    if (!verbs_open_uar(&w->inbox_uar, &w->party->hca, &records.memory) ||
        !verbs_create_cq(&w->inbox_cq, &w->party->pd, LOG_INBOX, &(struct verbs_place){&entries.memory, &w->inbox_uar}))
        panic("world: no inbox, status 0x%x", w->party->hca.status);
    const struct pgas_inbox inbox = {
        .cq = {world_at(w, &entries), world_at(w, &records) + 8 * w->inbox_cq.consumer_record, w->inbox_cq.number,
               LOG_INBOX},
        .letters = w->segment.memory.bytes - PGAS_MOST_RANKS * PGAS_LETTERS * PGAS_LETTER};
    w->inbox = world_take(w, sizeof inbox);
    place_write(w->node, &w->inbox, 0, &inbox, sizeof inbox);
}

static void make_segment(struct world* w, uint64_t bytes) {
    w->segment = world_take(w, bytes + PGAS_MOST_RANKS * PGAS_LETTERS * PGAS_LETTER);
    if (!place_register(&w->mr, &w->party->pd, &w->segment, VERBS_ALL_RIGHTS))
        panic("world: the segment cannot be registered");
}

/* Cycles of a caller that `microseconds` take. */
static uint64_t cycles_of(const struct world* w, uint64_t microseconds) {
    return microseconds * 1000000 * 1024 / w->cycle_ps_1024;
}

static void make_groups(struct world* w) {
    struct {
        uint64_t address;
        uint32_t key;
    } mine = {w->segment.lanes, w->mr.key}, of[PGAS_MOST_RANKS];
    for (unsigned i = 0; i < w->party->count; ++i) {
        if (i == w->party->index)
            of[i] = mine;
        else
            party_exchange(w->party, i, &mine, &of[i], sizeof mine);
    }
    w->groups = world_take(w, w->callers * sizeof(struct pgas_group));
    for (unsigned c = 0; c < w->callers; ++c) {
        struct pgas_group g = {.rank = w->party->index,
                               .ranks = w->party->count,
                               .first_slot = c * PGAS_SLOTS,
                               .patience = cycles_of(w, w->patience_us)};
        for (unsigned i = 0; i < g.ranks; ++i) {
            g.link[i] = endpoint_link(&w->to[i], c);
            g.link[i].data =
                (struct pgas_segment){world_at(w, &w->segment), mine.address, of[i].address, mine.key, of[i].key};
        }
        place_write(w->node, &w->groups, c * sizeof g, &g, sizeof g);
    }
}

void world_open(struct world* w, uint64_t bytes) {
    const unsigned ranks = w->party->count;
    clock_start();
    w->cycle_ps_1024 =
        w->lanes ? 1024 * UINT64_C(1000000) / (w->node->gpu[0].clock / 1000000) : clock_picoseconds(1024);
    make_segment(w, bytes);
    make_inbox(w);
    const struct endpoint_shape shape = {.pairs = w->callers,
                                         .log_sends = WORLD_LOG_SENDS,
                                         .log_receives = PGAS_LOG_LETTERS,
                                         .log_cq = WORLD_LOG_SENDS + 1,
                                         .lanes = w->lanes,
                                         .queues_in_gpu = w->lanes,
                                         .cqs_in_gpu = w->lanes,
                                         .records_in_gpu = w->lanes,
                                         .board_in_gpu = w->lanes,
                                         .payload_in_gpu = w->lanes,
                                         .payload = HCA_PAGE,
                                         .ack_timeout = w->ack_timeout,
                                         .inbox = &w->inbox_cq};
    w->to = heap_allocate(ranks * sizeof *w->to);
    if (!w->to) panic("world: out of memory");
    for (unsigned i = 0; i < ranks; ++i) endpoint_open(&w->to[i], w->party, w->node, i, &shape);
    make_groups(w);
    meet_all(w->party);
}

static bool run_kernel(struct world* w, const struct world_work* work) {
    const struct gpu_grid grid = {.items = {w->callers * w->items}, .group = {(uint16_t)w->items}};
    const uint64_t packet = gpu_dispatch(w->queue, gpu_linked_kernel(w->node, work->kernel, work->kernel), &grid,
                                         work->arguments, work->bytes);
    if (w->revoke_us && w->party->index + 1 == w->party->count) {
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

static bool is_well(const struct pgas_group* g, unsigned caller) {
    if (!g->failed) return true;
    const char* why = g->failed == PGAS_SILENCE ? "nothing comes" : verbs_syndrome_name(g->failed);
    if (g->failed_slot == PGAS_ENDING)
        console_printf("rank %u, caller %u: what was asked of rank %u: %s\n", g->rank, caller, g->failed_rank, why);
    else if (g->failed_slot == PGAS_INBOX)
        console_printf("rank %u, caller %u: waiting for letters: %s\n", g->rank, caller, why);
    else
        console_printf("rank %u, caller %u: waiting for rank %u, step %u: %s\n", g->rank, caller, g->failed_rank,
                       g->failed_slot, why);
    return false;
}

bool world_run(struct world* w, const struct world_work* work) {
    bool well = true;
    meet_all(w->party);
    if (!w->party->index) region_begin(work->kernel);
    if (w->lanes)
        well = run_kernel(w, work);
    else
        work->on_hart(work->arguments);
    if (!w->party->index) region_end();
    for (unsigned c = 0; c < w->callers; ++c) {
        struct pgas_group g;
        place_read(w->node, &g, &w->groups, c * sizeof g, sizeof g);
        well = is_well(&g, c) && well;
    }
    meet_all(w->party);
    return well;
}

void world_report(const struct world* w, const char* name, const char* what, const struct place* cycles, unsigned first,
                  unsigned stride, unsigned count) {
    uint64_t most = 0;
    if (w->party->index) return;
    for (unsigned i = 0; i < count; ++i) {
        uint64_t taken;
        place_read(w->node, &taken, cycles, 8 * (first + (uint64_t)i * stride), sizeof taken);
        most = taken > most ? taken : most;
    }
    console_printf("# %s %u nodes %u callers %s %lu ps\n", name, w->party->count, w->callers, what,
                   most * w->cycle_ps_1024 / 1024);
}
