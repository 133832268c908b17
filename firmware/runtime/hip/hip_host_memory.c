/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that kernels reach over PCIe, at the address that the host has for it: managed memory, and pinned
 * memory. */
#include "lib/dma.h"
#include "lib/heap.h"
#include "runtime/hip/hip.h"

struct mapping {
    uintptr_t at;
    uint64_t bytes, mapped; /* asked for; whole pages */
    bool managed;
    struct mapping* next;
};
static struct mapping* mappings;

static struct mapping* find(const void* memory, uint64_t bytes) {
    const uintptr_t at = (uintptr_t)memory;
    for (struct mapping* m = mappings; m; m = m->next)
        if (at >= m->at && at - m->at <= m->bytes && bytes <= m->bytes - (at - m->at)) return m;
    return NULL;
}

static bool is_managed(const void* memory, size_t bytes) {
    const struct mapping* m = find(memory, bytes);
    return m && m->managed;
}

bool hip_is_mapped(const void* memory, size_t bytes) { return find(memory, bytes) || hip_is_registered(memory, bytes); }

/* Each address space once: GPUs that reach each other share one. */
static bool is_first_of_node(unsigned index) {
    for (unsigned i = 0; i < index; ++i)
        if (compute_reaches(compute_device(i), compute_device(index))) return false;
    return true;
}

void hip_map_everywhere(gpu_address at, uintptr_t bus, uint64_t bytes) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        if (is_first_of_node(i)) gpu_map_host_there(compute_device(i)->node, at, bus, bytes);
}

void hip_unmap_everywhere(gpu_address at, uint64_t bytes) {
    for (unsigned i = 0; i < compute_device_count(); ++i) compute_wait_device(compute_device(i));
    for (unsigned i = 0; i < compute_device_count(); ++i)
        if (is_first_of_node(i)) gpu_free(compute_device(i)->node, at, bytes);
}

/* \returns NULL without space for the note, or where devices do not reach the host's memory */
static struct mapping* map(void* memory, uint64_t bytes, bool managed) {
    struct mapping* m = heap_allocate(sizeof *m);
    if (!m) return NULL;
    *m = (struct mapping){(uintptr_t)memory, bytes, (bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1), managed,
                          mappings};
    hip_map_everywhere(m->at, m->at, m->mapped);
    return mappings = m;
}

static void unmap(struct mapping* m) {
    struct mapping** at = &mappings;
    hip_unmap_everywhere(m->at, m->mapped);
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    heap_free(m);
}

static hipError_t allocate(void** memory, size_t bytes, bool managed) {
    *memory = NULL;
    if (!bytes) return hipSuccess;
    if (!hip_device()) return hip_result(hipErrorNoDevice);
    const size_t whole = (bytes + GPU_PAGE - 1) & ~(size_t)(GPU_PAGE - 1);
    void* p = bytes > whole ? NULL : dma_allocate(whole, GPU_PAGE);
    if (p && !map(p, bytes, managed)) {
        dma_free(p);
        p = NULL;
    }
    *memory = p;
    return p ? hipSuccess : hip_result(hipErrorOutOfMemory);
}

hipError_t hipMallocManaged(void** memory, size_t bytes, unsigned int flags) {
    if (!memory || (flags != hipMemAttachGlobal && flags != hipMemAttachHost)) return hip_result(hipErrorInvalidValue);
    return allocate(memory, bytes, true);
}

bool hip_free_mapped(void* memory) {
    struct mapping* m = find(memory, 0);
    if (!m || m->at != (uintptr_t)memory) return false;
    unmap(m);
    dma_free(memory);
    return true;
}

hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned int flags) {
    if (!memory || flags & ~(unsigned)(hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined))
        return hip_result(hipErrorInvalidValue);
    return allocate(memory, bytes, false); /* mapped in any case */
}

hipError_t hipHostFree(void* memory) {
    if (!memory) return hipSuccess;
    struct mapping* m = find(memory, 0);
    if (!m || m->managed || m->at != (uintptr_t)memory) return hip_result(hipErrorInvalidValue);
    unmap(m);
    dma_free(memory);
    return hipSuccess;
}

hipError_t hipHostGetDevicePointer(void** device, void* memory, unsigned int flags) {
    if (!device || flags || !hip_is_mapped(memory, 0)) return hip_result(hipErrorInvalidValue);
    *device = (void*)(find(memory, 0) ? (uintptr_t)memory : hip_registered_address((uintptr_t)memory));
    return hipSuccess;
}

/* Managed memory stays with the host. */
hipError_t hipMemPrefetchAsync(const void* memory, size_t bytes, int device, hipStream_t stream) {
    (void)stream;
    if (!is_managed(memory, bytes)) return hip_result(hipErrorInvalidValue);
    return device == hipCpuDeviceId || (device >= 0 && compute_device((unsigned)device))
               ? hipSuccess
               : hip_result(hipErrorInvalidDevice);
}

hipError_t hipMemAdvise(const void* memory, size_t bytes, hipMemoryAdvise advice, int device) {
    (void)device;
    return (unsigned)advice - 1 < 6 && is_managed(memory, bytes) ? hipSuccess : hip_result(hipErrorInvalidValue);
}
