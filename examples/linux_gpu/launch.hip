/* SPDX-License-Identifier: Apache-2.0 */
/* When a program sees its launches: launch [ROUNDS]. Prints the time before hipLaunchKernel(), after it, and after the
 * wait, for empty kernels that are launched one after the other, in ticks of the machine's timer. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

enum { MAX_ROUNDS = 1000, WARM_UP = 5 };

static unsigned long now() {
    unsigned long ticks;
    __asm__ volatile("fence\n\trdtime %0" : "=r"(ticks)::"memory");
    return ticks;
}

int main(int argc, char** argv) {
    static unsigned long times[MAX_ROUNDS + WARM_UP][3];
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    if (rounds < 1 || rounds > MAX_ROUNDS) return fprintf(stderr, "usage: launch [ROUNDS], at most 1000\n"), 2;
    for (int i = 0; i < WARM_UP + rounds; ++i) {
        times[i][0] = now();
        nothing<<<1, 64>>>();
        times[i][1] = now();
        const hipError_t error = hipDeviceSynchronize();
        times[i][2] = now();
        if (error) return fprintf(stderr, "launch: %s\n", hipGetErrorString(error)), 1;
    }
    for (int i = WARM_UP; i < WARM_UP + rounds; ++i)
        printf("launch %lu %lu %lu\n", times[i][0], times[i][1], times[i][2]);
    return 0;
}
