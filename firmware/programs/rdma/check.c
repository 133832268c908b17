/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/rdma/check.h"

#include "lib/console.h"

void check_that(struct check* c, bool ok, const char* what, uint64_t seen) {
    if (ok) return;
    if (c->ok) console_printf("           %s: %s (0x%lx)\n", c->active ? "active" : "passive", what, seen);
    c->ok = false;
}

void check_barrier(struct check* c) { bootstrap_barrier_with(c->channel->bootstrap, c->channel->with); }

void check_prepare(struct check* c) {
    pattern_write(channel_at(c->channel, OUT), AREA, seed_of(c, c->active));
    memset(channel_at(c->channel, IN), UNTOUCHED, AREA);
    memset(channel_at(c->channel, EXPECTED), UNTOUCHED, AREA);
}

void check_expect(struct check* c, uint64_t to, uint64_t from, uint64_t bytes, bool of_active) {
    uint8_t* expected = channel_at(c->channel, EXPECTED + to);
    for (uint64_t i = 0; i < bytes; ++i)
        expected[i] = (uint8_t)(pattern_word(seed_of(c, of_active), (from + i) / 8) >> (from + i) % 8 * 8);
}

void check_memory(struct check* c, const char* what) {
    const uint64_t *in = (const uint64_t*)channel_at(c->channel, IN),
                   *expected = (const uint64_t*)channel_at(c->channel, EXPECTED);
    for (uint64_t i = 0; i < AREA / 8; ++i)
        if (in[i] != expected[i]) return check_that(c, false, what, 8 * i);
}

void check_print(const char* kind, const char* name, bool ok) {
    console_printf("%-3s %-22s %s\n", kind, name, ok ? "ok" : "FAILED");
}

unsigned check_all(struct channel* channel, const char* kind, const struct check_case* cases, unsigned count) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; ++i) {
        bool ok = true;
        for (unsigned round = 0; round < 2; ++round) {
            struct check c = {channel, (round == 0) == channel_is_first(channel), 1 + 2 * i + round, true};
            check_prepare(&c);
            check_barrier(&c);
            cases[i].run(&c);
            check_barrier(&c);
            ok = ok && c.ok;
        }
        check_print(kind, cases[i].name, ok);
        wrong += !ok;
    }
    return wrong;
}
