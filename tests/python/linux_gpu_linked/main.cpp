/* SPDX-License-Identifier: Apache-2.0 */
#include "linked.h"

#include <cstdio>

static __device__ int hidden = 1;
namespace {
__constant__ int apart = 10;
}

/* Each file has a kernel of this name. */
static __global__ void statics(int* found) { *found = hidden += apart; }

__global__ void work(float* numbers) {
    numbers[threadIdx.x] = weigh(threadIdx.x, numbers[threadIdx.x]) + half(2.0f);
    if (threadIdx.x == 0) {
        atomicAdd(&launches, 1);
        common += 1;
    }
}

int main() {
    const float given[4] = {1, 2, 3, 4};
    float found[4];
    int *number, own = 0, count = 0, shared = 0;
    if (API(Malloc)(&number, 64)) return 1;
    float* numbers = reinterpret_cast<float*>(number) + 4;
    if (API(Memcpy)(numbers, given, sizeof given, API(MemcpyHostToDevice))) return 2;
    if (API(MemcpyToSymbol)(weights, given, sizeof given)) return 3;
    scale<<<1, 4>>>(numbers, 10);
    work<<<1, 4>>>(numbers);
    add<<<1, 4>>>(numbers, 0.5f);
    if (API(Memcpy)(found, numbers, sizeof found, API(MemcpyDeviceToHost))) return 4;
    statics<<<1, 1>>>(number);
    if (API(Memcpy)(&own, number, sizeof own, API(MemcpyDeviceToHost))) return 5;
    if (API(MemcpyFromSymbol)(&count, launches, sizeof count)) return 6;
    if (API(MemcpyFromSymbol)(&shared, common, sizeof shared)) return 7;
    std::printf("%g %g %g %g\n", found[0], found[1], found[2], found[3]);
    std::printf("%d launches, %d, statics %d and %d\n", count, shared, own, count_statics());
    if (API(MemcpyFromSymbol)(&own, hidden, sizeof own)) return 8;
    std::printf("hidden %d\n", own);
    return 0;
}
