/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/expected.h"

#include "lib/libc.h"

static float sum_of(enum collective_algorithm algorithm, unsigned nodes, unsigned chunk, float* x) {
    if (algorithm == COLLECTIVE_RING) {
        float sum = x[chunk];
        for (unsigned i = 1; i < nodes; ++i) sum = sum + x[(chunk + i) % nodes];
        return sum;
    }
    for (unsigned distance = 1; distance < nodes; distance *= 2)
        for (unsigned r = 0; r + distance < nodes; r += 2 * distance) x[r] = x[r] + x[r + distance];
    return x[0];
}

void expected_make(struct expected* e, enum collective_algorithm algorithm, unsigned nodes, unsigned rounds) {
    e->nodes = nodes;
    for (unsigned i = 0; i < EXPECTED_PERIOD; ++i) e->begin[i] = 1.0f / (float)(3 + i);
    for (unsigned chunk = 0; chunk < collective_chunks(algorithm, nodes); ++chunk)
        for (uint64_t i = 0; i < EXPECTED_PERIOD; ++i) {
            float sum = 0;
            for (unsigned round = 0; round < rounds; ++round) {
                float x[NETWORK_MAX_PEERS] = {0};
                for (unsigned r = 0; r < nodes; ++r) x[r] = round ? sum : e->begin[expected_phase(i, r)];
                sum = sum_of(algorithm, nodes, chunk, x);
            }
            e->sum[chunk][expected_phase(i, 0)] = sum;
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

bool expected_is(const struct expected* e, unsigned chunk, uint64_t first, const float* found, size_t count) {
    const uint32_t *bits = (const uint32_t*)(const void*)found, *sums = (const uint32_t*)(const void*)e->sum[chunk];
    unsigned phase = expected_phase(first, 0);
    bool ok = true;
    for (size_t i = 0; i < count; ++i, phase = next(phase)) ok &= bits[i] == sums[phase];
    return ok;
}
