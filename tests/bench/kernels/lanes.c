/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes_bench measures: arithmetic only, with and without diverged lanes, local memory. */
#include "gpu.h"

struct arguments {
    uint32_t* out;
    uint32_t iterations;
};

/* Integer and floating-point arithmetic, all lanes together. */
KERNEL(alu, struct arguments) {
    uint32_t state = (uint32_t)global_id(0) * 2654435761u + 1;
    uint64_t sum = 0;
    float f = 1.0f;
    double d = 0.5;
    for (uint32_t i = 0; i < args->iterations; ++i) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        sum += state & 0xffff;
        f = f * 1.0001f + (float)(int32_t)(state & 0xff);
        d = d * 0.999 + f;
    }
    args->out[global_id(0)] = state + (uint32_t)sum + (uint32_t)(int32_t)f + (uint32_t)(int64_t)d;
}

/* Half of the lanes on each side of branches that change with every turn. */
KERNEL(divergent, struct arguments) {
    uint32_t state = (uint32_t)global_id(0) * 2654435761u + 1, sum = 0;
    for (uint32_t i = 0; i < args->iterations; ++i) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        if (state & 0x100) {
            sum = sum * 3 + (state >> 4);
            sum ^= sum >> 7;
            __asm__ volatile("" : "+r"(sum));
            sum += 77;
        } else {
            sum = sum * 5 ^ state;
            sum -= sum >> 9;
            __asm__ volatile("" : "+r"(sum));
            sum += 11;
        }
    }
    args->out[global_id(0)] = sum;
}

/* Local memory: every lane reads its neighbour's word. */
LDS uint32_t words[1024];
KERNEL(local, struct arguments) {
    const unsigned me = (unsigned)local_id(0);
    uint32_t sum = me;
    words[me] = me;
    barrier();
    for (uint32_t i = 0; i < args->iterations; ++i) {
        sum += ((volatile uint32_t*)words)[(me + i) & 255];
        ((volatile uint32_t*)words)[me] = sum;
    }
    args->out[global_id(0)] = sum;
}

/* Device memory: lines of an array, one after the other. */
KERNEL(stream, struct arguments) {
    const uint32_t* in = args->out;
    const size_t items = grid_size(0);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < args->iterations; ++i) sum += in[(global_id(0) + i * items) & 0x3fffff];
    args->out[global_id(0)] = sum;
}
