/* SPDX-License-Identifier: Apache-2.0 */
#include "host/compnet/expected.h"

#include "host/libc.h"

static float sum_of(enum collective_way way, unsigned nodes, unsigned part, float* x) {
    if (way == COLLECTIVE_RING) {
        float sum = x[part];
        for (unsigned i = 1; i < nodes; ++i) sum = sum + x[(part + i) % nodes];
        return sum;
    }
    for (unsigned distance = 1; distance < nodes; distance *= 2)
        for (unsigned r = 0; r + distance < nodes; r += 2 * distance) x[r] = x[r] + x[r + distance];
    return x[0];
}

void expected_make(struct expected* e, enum collective_way way, unsigned nodes, unsigned rounds) {
    e->nodes = nodes;
    for (unsigned i = 0; i < EXPECTED_PERIOD; ++i) e->begin[i] = 1.0f / (float)(3 + i);
    for (unsigned part = 0; part < collective_parts(way, nodes); ++part)
        for (uint64_t i = 0; i < EXPECTED_PERIOD; ++i) {
            float sum = 0;
            for (unsigned round = 0; round < rounds; ++round) {
                float x[NETWORK_MOST_PEERS] = {0};
                for (unsigned r = 0; r < nodes; ++r) x[r] = round ? sum : e->begin[expected_phase(i, r)];
                sum = sum_of(way, nodes, part, x);
            }
            e->sum[part][expected_phase(i, 0)] = sum;
        }
}

static unsigned next(unsigned phase) {
    phase += 7919 % EXPECTED_PERIOD;
    return phase >= EXPECTED_PERIOD ? phase - EXPECTED_PERIOD : phase;
}

void expected_begin(const struct expected* e, unsigned rank, uint64_t first, float* to, size_t count) {
    unsigned phase = expected_phase(first, rank);
    for (size_t i = 0; i < count; ++i, phase = next(phase)) to[i] = e->begin[phase];
}

bool expected_is(const struct expected* e, unsigned part, uint64_t first, const float* found, size_t count) {
    const uint32_t *bits = (const uint32_t*)(const void*)found, *sums = (const uint32_t*)(const void*)e->sum[part];
    unsigned phase = expected_phase(first, 0);
    bool right = true;
    for (size_t i = 0; i < count; ++i, phase = next(phase)) right &= bits[i] == sums[phase];
    return right;
}
