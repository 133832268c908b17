/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_hash.h"
#include "host/console.h"
#include "host/heap.h"
#include "host/machine.h"
#include "host/pgas/works.h"

static void on_hart(const void* arguments) {
    static struct pgas_group group;
    static struct pgas_together together;
    pgas_hash_run(arguments, &group, &together);
}

/* How often each key came, at all nodes. */
static uint32_t* count_keys(const struct world* w, const struct pgas_hash_arguments* a) {
    uint32_t* counts = heap_allocate(4 * (uint64_t)a->universe);
    if (!counts) panic("hash: out of memory");
    memset(counts, 0, 4 * (uint64_t)a->universe);
    for (unsigned rank = 0; rank < w->party->count; ++rank)
        for (unsigned team = 0; team < w->callers; ++team)
            for (uint32_t i = 0; i < a->keys; ++i) ++counts[hash_id(a, rank, team, i, 0)];
    return counts;
}

/* Every key of this node stands in one bucket, with its count, and can be found from where it belongs; nothing else is
 * there. */
static bool is_table_right(const struct world* w, const struct pgas_hash_arguments* a, const struct hash_bucket* table,
                           const uint32_t* counts) {
    uint32_t used = 0, found = 0, mine = 0;
    for (uint32_t b = 0; b >> a->log_buckets == 0; ++b) used += table[b].key != 0;
    for (uint32_t id = 0; id < a->universe; ++id) {
        const uint64_t key = hash_key(id);
        uint32_t tries = 0;
        if (hash_owner(key, w->party->count) != w->party->index || !counts[id]) continue;
        ++mine;
        while (tries >> a->log_buckets == 0 && table[hash_place(a, key, tries)].key &&
               table[hash_place(a, key, tries)].key != key)
            ++tries;
        if (tries >> a->log_buckets) continue;
        const struct hash_bucket* b = &table[hash_place(a, key, tries)];
        found += b->key == key && b->count == counts[id];
    }
    if (used != mine || found != mine)
        console_printf("%u keys in the table, %u right, %u expected\n", used, found, mine);
    return used == mine && found == mine;
}

static bool are_answers_right(const struct world* w, const struct pgas_hash_arguments* a, const uint64_t* found,
                              const uint32_t* counts) {
    uint32_t wrong = 0;
    for (unsigned team = 0; team < w->callers; ++team)
        for (uint32_t i = 0; i < a->lookups; ++i)
            wrong += found[(uint64_t)team * a->lookups + i] != counts[hash_id(a, w->party->index, team, i, 1)];
    if (wrong) console_printf("%u of %u keys were looked up wrongly\n", wrong, w->callers * a->lookups);
    return !wrong;
}

bool hash_run(struct world* w, unsigned log_buckets, uint32_t keys, uint32_t universe) {
    const uint64_t table = sizeof(struct hash_bucket) << log_buckets, answers = 16ull * w->callers * w->items,
                   found = 8ull * w->callers * keys;
    world_open(w, table + answers + found);
    const struct place cycles = world_take(w, 16 * w->callers), crew = world_take(w, sizeof(struct team_crew));
    const struct pgas_hash_arguments a = {.groups = world_at(w, &w->groups),
                                          .crew = world_at(w, &crew),
                                          .cycles = world_at(w, &cycles),
                                          .table = 0,
                                          .answers = table,
                                          .found = table + answers,
                                          .log_buckets = log_buckets,
                                          .keys = keys,
                                          .lookups = keys,
                                          .universe = universe};
    const struct world_work work = {"pgas_hash", on_hart, &a, sizeof a};
    uint8_t* got = heap_allocate(table + answers + found);
    if (!got) panic("hash: out of memory");
    bool right = world_run(w, &work);
    if (right) {
        uint32_t* counts = count_keys(w, &a);
        place_read(w->node, got, &w->segment, 0, table + answers + found);
        right = is_table_right(w, &a, (const struct hash_bucket*)got, counts);
        right = are_answers_right(w, &a, (const uint64_t*)(got + table + answers), counts) && right;
        heap_free(counts);
    }
    world_report(w, "hash", "counting", &cycles, 0, 2, w->callers);
    world_report(w, "hash", "looking", &cycles, 1, 2, w->callers);
    heap_free(got);
    return right;
}
