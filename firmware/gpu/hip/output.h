/* SPDX-License-Identifier: Apache-2.0 */
/* printf(), assert() and the heap of device code in HIP and CUDA. The compiler (python/fabricvp/compiler) makes records
 * of calls of printf(), which the host formats, and places the heap behind a program's variables. */
#ifndef FABRICVP_GPU_HIP_OUTPUT_H
#define FABRICVP_GPU_HIP_OUTPUT_H

extern "C" __device__ int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* What assert() of the C library calls. The text begins with a mark by which the host finds it. */
extern "C" __device__ __attribute__((noinline, noreturn)) inline void __assert_fail(const char* condition,
                                                                                    const char* file, unsigned line,
                                                                                    const char* function) noexcept {
    printf("\002%s:%u: %s: assertion '%s' failed (block %u,%u,%u, thread %u,%u,%u)\n", file, line, function, condition,
           blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    __threadfence_system();
    __builtin_trap();
}

/* The heap: blocks of 16 bytes times a power of two, behind a header of 16 bytes that holds the power. Blocks that were
 * given back are in a list for each size, whose head has a count in its upper half so that no exchange takes a head
 * that left and came back. Offsets count 16 bytes from `begin`. */
enum { FABRICVP_HEAP_SIZES = 28 };
struct fabricvp_heap_state {
    unsigned long begin; /* bytes from here to the first block; the host writes it, and `bytes` */
    unsigned long bytes;
    unsigned long top; /* units of 16 bytes that were ever given out */
    unsigned long free[FABRICVP_HEAP_SIZES];
};
extern "C" __device__ fabricvp_heap_state fabricvp_heap;

FABRICVP_DEVICE unsigned long fabricvp_heap_load(unsigned long* at) { return atomicAdd(at, 0ul); }
FABRICVP_DEVICE unsigned long* fabricvp_heap_unit(unsigned long unit) {
    return (unsigned long*)((char*)&fabricvp_heap + fabricvp_heap.begin + unit * 16);
}

/* A block of a list, 0 if it is empty: units are counted from 1 there. */
FABRICVP_DEVICE unsigned long fabricvp_heap_pop(unsigned size) {
    unsigned long* const head = &fabricvp_heap.free[size];
    for (unsigned long seen = fabricvp_heap_load(head); (unsigned)seen;) {
        const unsigned long next = fabricvp_heap_load(fabricvp_heap_unit((unsigned)seen - 1) + 1);
        const unsigned long was = atomicCAS(head, seen, ((seen >> 32) + 1) << 32 | (unsigned)next);
        if (was == seen) return (unsigned)seen;
        seen = was;
    }
    return 0;
}

/* Units that were never given out, 0 if there are too few. */
FABRICVP_DEVICE unsigned long fabricvp_heap_grow(unsigned size) {
    const unsigned long units = 1ul << size;
    for (unsigned long seen = fabricvp_heap_load(&fabricvp_heap.top);;) {
        if ((seen + units) * 16 > fabricvp_heap.bytes) return 0;
        const unsigned long was = atomicCAS(&fabricvp_heap.top, seen, seen + units);
        if (was == seen) {
            *fabricvp_heap_unit(seen) = size;
            return seen + 1;
        }
        seen = was;
    }
}

/* Under names of their own: what compilers know of malloc() is that calls may be left out. */
extern "C" __device__ void* malloc(__SIZE_TYPE__ bytes) noexcept __asm__("fabricvp_malloc");
extern "C" __device__ void free(void* given) noexcept __asm__("fabricvp_free");

/* A null pointer if the heap is exhausted. Memory that was given back serves requests of its size and smaller ones. */
extern "C" __device__ __attribute__((noinline)) inline void* malloc(__SIZE_TYPE__ bytes) noexcept {
    unsigned size = 1;
    while (size < FABRICVP_HEAP_SIZES - 1 && (16ul << size) - 16 < bytes) ++size;
    if (!bytes || (16ul << size) - 16 < bytes) return nullptr;
    unsigned long unit = fabricvp_heap_pop(size);
    if (!unit) unit = fabricvp_heap_grow(size);
    for (unsigned larger = size + 1; !unit && larger < FABRICVP_HEAP_SIZES; ++larger) unit = fabricvp_heap_pop(larger);
    return unit ? fabricvp_heap_unit(unit - 1) + 2 : nullptr;
}

extern "C" __device__ __attribute__((noinline)) inline void free(void* given) noexcept {
    if (!given) return;
    unsigned long* const header = (unsigned long*)given - 2;
    const unsigned long unit = ((unsigned long)header - (unsigned long)&fabricvp_heap - fabricvp_heap.begin) / 16 + 1;
    unsigned long* const head = &fabricvp_heap.free[*header];
    for (unsigned long seen = fabricvp_heap_load(head);;) {
        atomicExch(header + 1, seen & 0xfffffffful);
        __threadfence();
        const unsigned long was = atomicCAS(head, seen, ((seen >> 32) + 1) << 32 | unit);
        if (was == seen) return;
        seen = was;
    }
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ inline void* operator new(__SIZE_TYPE__ bytes) { return malloc(bytes); }
__device__ inline void* operator new[](__SIZE_TYPE__ bytes) { return malloc(bytes); }
__device__ inline void operator delete(void* given) noexcept { free(given); }
__device__ inline void operator delete[](void* given) noexcept { free(given); }
__device__ inline void operator delete(void* given, __SIZE_TYPE__) noexcept { free(given); }
__device__ inline void operator delete[](void* given, __SIZE_TYPE__) noexcept { free(given); }
#pragma clang diagnostic pop

#endif
