/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_hash.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/pgas/workloads.h"

static void on_hart(const void* arguments) {
    static struct pgas_context context;
    static struct pgas_coalesced_requests requests;
    pgas_hash_run(arguments, &context, &requests);
}

/* How often each key came, at all nodes. */
static uint32_t* count_keys(const struct pgas_runtime* w, const struct pgas_hash_arguments* a) {
    uint32_t* counts = heap_allocate(4 * (uint64_t)a->universe);
    if (!counts) panic("hash: out of memory");
    memset(counts, 0, 4 * (uint64_t)a->universe);
    for (unsigned rank = 0; rank < w->bootstrap->comm.size; ++rank)
        for (unsigned group = 0; group < w->callers; ++group)
            for (uint32_t i = 0; i < a->keys; ++i) ++counts[hash_id(a, rank, group, i, 0)];
    return counts;
}

/* Every key of this node stands in one bucket, with its count, and can be found from where it belongs; nothing else is
 * there. */
static bool is_table_correct(const struct pgas_runtime* w, const struct pgas_hash_arguments* a,
                             const struct hash_bucket* table, const uint32_t* counts) {
    uint32_t used = 0, found = 0, mine = 0;
    for (uint32_t b = 0; b >> a->log_buckets == 0; ++b) used += table[b].key != 0;
    for (uint32_t id = 0; id < a->universe; ++id) {
        const uint64_t key = hash_key(id);
        uint32_t tries = 0;
        if (hash_owner(key, w->bootstrap->comm.size) != w->bootstrap->comm.rank || !counts[id]) continue;
        ++mine;
        while (tries >> a->log_buckets == 0 && table[hash_slot(a, key, tries)].key &&
               table[hash_slot(a, key, tries)].key != key)
            ++tries;
        if (tries >> a->log_buckets) continue;
        const struct hash_bucket* b = &table[hash_slot(a, key, tries)];
        found += b->key == key && b->count == counts[id];
    }
    if (used != mine || found != mine)
        console_printf("%u keys in the table, %u right, %u expected\n", used, found, mine);
    return used == mine && found == mine;
}

static bool are_lookups_correct(const struct pgas_runtime* w, const struct pgas_hash_arguments* a,
                                const uint64_t* found, const uint32_t* counts) {
    uint32_t wrong = 0;
    for (unsigned group = 0; group < w->callers; ++group)
        for (uint32_t i = 0; i < a->lookups; ++i)
            wrong +=
                found[(uint64_t)group * a->lookups + i] != counts[hash_id(a, w->bootstrap->comm.rank, group, i, 1)];
    if (wrong) console_printf("%u of %u keys were looked up wrongly\n", wrong, w->callers * a->lookups);
    return !wrong;
}

bool hash_run(struct pgas_runtime* w, unsigned log_buckets, uint32_t keys, uint32_t universe) {
    const uint64_t table = sizeof(struct hash_bucket) << log_buckets, responses = 16ull * w->callers * w->items,
                   found = 8ull * w->callers * keys;
    pgas_runtime_open(w, table + responses + found);
    const struct rdma_buffer cycles = pgas_runtime_allocate(w, 16 * w->callers),
                             grid = pgas_runtime_allocate(w, sizeof(struct grid_barrier));
    const struct pgas_hash_arguments a = {.contexts = pgas_runtime_address(w, &w->contexts),
                                          .grid = pgas_runtime_address(w, &grid),
                                          .cycles = pgas_runtime_address(w, &cycles),
                                          .table = 0,
                                          .responses = table,
                                          .found = table + responses,
                                          .log_buckets = log_buckets,
                                          .keys = keys,
                                          .lookups = keys,
                                          .universe = universe};
    const struct pgas_workload work = {"pgas_hash", on_hart, &a, sizeof a};
    uint8_t* got = heap_allocate(table + responses + found);
    if (!got) panic("hash: out of memory");
    bool ok = pgas_runtime_run(w, &work);
    if (ok) {
        uint32_t* counts = count_keys(w, &a);
        rdma_buffer_read(w->node, got, &w->segment, 0, table + responses + found);
        ok = is_table_correct(w, &a, (const struct hash_bucket*)got, counts);
        ok = are_lookups_correct(w, &a, (const uint64_t*)(got + table + responses), counts) && ok;
        heap_free(counts);
    }
    pgas_runtime_report(w, "hash", "update", &cycles, 0, 2, w->callers);
    pgas_runtime_report(w, "hash", "look_up", &cycles, 1, 2, w->callers);
    heap_free(got);
    return ok;
}
