/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program has got elsewhere, for kernels: the units that a range touches are given to devices
 * (lib/dma.h) and mapped for all GPUs, until the last range in them is unregistered. */
#include "lib/dma.h"
#include "lib/heap.h"
#include "runtime/hip/hip.h"

struct range {
    uintptr_t at;
    uint64_t bytes;
    struct range* next;
};
static struct range* ranges;

static uintptr_t unit_of(uintptr_t at) { return at & ~(uintptr_t)(DMA_UNIT - 1); }

static bool overlaps(const struct range* r, uintptr_t at, uint64_t bytes) {
    return at < r->at + r->bytes && r->at < at + bytes;
}

/* Whether a registered range other than `but` has something of a unit. */
static bool is_in_use(uintptr_t unit, const struct range* but) {
    for (const struct range* r = ranges; r; r = r->next)
        if (r != but && overlaps(r, unit, DMA_UNIT)) return true;
    return false;
}

bool hip_is_registered(const void* memory, size_t bytes) {
    const uintptr_t at = (uintptr_t)memory;
    for (const struct range* r = ranges; r; r = r->next)
        if (at >= r->at && at - r->at <= r->bytes && bytes <= r->bytes - (at - r->at)) return true;
    return false;
}

uintptr_t hip_registered_address(uintptr_t at) { return at < GPU_GLOBAL_BASE ? COMPUTE_LOW_HOST_MEMORY + at : at; }

void* hip_host_pointer(const void* pointer) {
    const uintptr_t at = (uintptr_t)pointer;
    return (void*)(at - COMPUTE_LOW_HOST_MEMORY < GPU_GLOBAL_BASE ? at - COMPUTE_LOW_HOST_MEMORY : at);
}

/* Units from `at` to `end` that no other range has. */
static void give_back(const struct range* r, uintptr_t at, uintptr_t end) {
    for (; at < end; at += DMA_UNIT) {
        if (is_in_use(at, r)) continue;
        hip_unmap_everywhere(hip_registered_address(at), DMA_UNIT);
        dma_unpin(at);
    }
}

static bool give_to_devices(const struct range* r) {
    const uintptr_t first = unit_of(r->at), end = r->at + r->bytes;
    for (uintptr_t unit = first; unit < end; unit += DMA_UNIT) {
        if (is_in_use(unit, r)) continue;
        const uintptr_t there = dma_pin(unit);
        if (!there) {
            give_back(r, first, unit);
            return false;
        }
        hip_map_everywhere(hip_registered_address(unit), there, DMA_UNIT);
    }
    return true;
}

static hipError_t check(uintptr_t at, uint64_t bytes) {
    if (hip_is_mapped((void*)at, 1)) return hipErrorHostMemoryAlreadyRegistered;
    for (const struct range* r = ranges; r; r = r->next)
        if (overlaps(r, at, bytes)) return hipErrorHostMemoryAlreadyRegistered;
    for (uintptr_t unit = unit_of(at); unit < at + bytes; unit += DMA_UNIT)
        if (!is_in_use(unit, NULL) && !dma_can_pin(unit)) return hipErrorNotSupported;
    return hipSuccess;
}

hipError_t hipHostRegister(void* memory, size_t bytes, unsigned int flags) {
    const uintptr_t at = (uintptr_t)memory;
    const unsigned known = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterReadOnly;
    if (!at || !bytes || at + bytes < at || compute_is_device_address(at)) return hip_result(hipErrorInvalidValue);
    if (flags & ~known) return hip_result(hipErrorNotSupported);
    if (!hip_device()) return hip_result(hipErrorNoDevice);
    const hipError_t error = check(at, bytes);
    if (error) return hip_result(error);
    struct range* r = heap_allocate(sizeof *r);
    if (!r) return hip_result(hipErrorOutOfMemory);
    *r = (struct range){at, bytes, ranges};
    ranges = r;
    if (give_to_devices(r)) return hipSuccess;
    ranges = r->next;
    heap_free(r);
    return hip_result(hipErrorOutOfMemory);
}

hipError_t hipHostUnregister(void* memory) {
    struct range** link = &ranges;
    while (*link && (*link)->at != (uintptr_t)memory) link = &(*link)->next;
    struct range* r = *link;
    if (!r) return hip_result(memory ? hipErrorHostMemoryNotRegistered : hipErrorInvalidValue);
    give_back(r, unit_of(r->at), r->at + r->bytes);
    *link = r->next;
    heap_free(r);
    return hipSuccess;
}
