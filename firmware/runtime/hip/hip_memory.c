/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/heap.h"
#include "runtime/hip/hip.h"

static gpu_address address_of(const void* pointer) { return (gpu_address)(uintptr_t)pointer; }

hipError_t hipMalloc(void** memory, size_t bytes) {
    if (!memory) return hip_result(hipErrorInvalidValue);
    *memory = NULL;
    struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    if (!bytes) return hipSuccess;
    const struct compute_memory* m = compute_allocate(d, bytes);
    if (!m) return hip_result(hipErrorOutOfMemory);
    *memory = (void*)m->at;
    return hipSuccess;
}

hipError_t hipFree(void* memory) {
    if (!memory) return hipSuccess;
    struct compute_memory* m = compute_find(address_of(memory), 0);
    if (!m || m->at != address_of(memory) || m->owned) return hip_result(hipErrorInvalidValue);
    compute_free(m);
    return hipSuccess;
}

hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned int flags) {
    if (!memory || flags != hipHostMallocDefault) return hip_result(hipErrorInvalidValue);
    *memory = bytes ? heap_allocate_aligned(bytes, 64) : NULL;
    return *memory || !bytes ? hipSuccess : hip_result(hipErrorOutOfMemory);
}

hipError_t hipHostFree(void* memory) {
    if (compute_find(address_of(memory), 0)) return hip_result(hipErrorInvalidValue);
    heap_free(memory);
    return hipSuccess;
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
    const struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    if (free_bytes) *free_bytes = compute_free_bytes(d);
    if (all_bytes) *all_bytes = d->gpu->memory_bytes;
    return hipSuccess;
}

/* ---- copies ---- */

/* The direction of a copy by where its ends are. \returns false if an end is neither all in an allocation nor outside
 * of device addresses, or the kind says otherwise */
static bool direction(const void* to, const void* from, size_t bytes, hipMemcpyKind* kind) {
    const bool to_device = compute_find(address_of(to), bytes), from_device = compute_find(address_of(from), bytes);
    if ((!to_device && compute_is_device_address(address_of(to))) ||
        (!from_device && compute_is_device_address(address_of(from))) || !to || !from)
        return false;
    const hipMemcpyKind found = (hipMemcpyKind)(2 * from_device + to_device);
    if (*kind != hipMemcpyDefault && *kind != found) return false;
    *kind = found;
    return true;
}

static hipError_t copy(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t handle, bool wait) {
    struct compute_stream* s;
    struct hip_order order;
    if ((unsigned)kind > hipMemcpyDefault) return hip_result(hipErrorInvalidMemcpyDirection);
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (!bytes) return hipSuccess;
    if (!direction(to, from, bytes, &kind)) return hip_result(hipErrorInvalidValue);
    if (kind == hipMemcpyHostToHost) { /* in order all the same */
        compute_wait_stream(s);
        memcpy(to, from, bytes);
        return hip_result(wait ? hip_fault(compute_take_fault(s)) : hipSuccess);
    }
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    struct compute_event* e = kind == hipMemcpyHostToDevice ? compute_write(s, address_of(to), from, bytes, order.after)
                              : kind == hipMemcpyDeviceToHost
                                  ? compute_read(s, to, address_of(from), bytes, order.after)
                                  : compute_copy(s, address_of(to), address_of(from), bytes, order.after);
    return hip_added(&order, e, wait ? s : NULL);
}

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
    return copy(to, from, bytes, kind, NULL, true);
}

hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    return copy(to, from, bytes, kind, stream, false);
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    const struct compute_memory *target = compute_find(address_of(to), bytes),
                                *source = compute_find(address_of(from), bytes);
    if (to_device < 0 || from_device < 0 || !compute_device((unsigned)to_device) ||
        !compute_device((unsigned)from_device))
        return hip_result(hipErrorInvalidDevice);
    if (!target || !source || (int)target->device->index != to_device || (int)source->device->index != from_device)
        return hip_result(hipErrorInvalidValue);
    compute_wait_device(source->device); /* in order with the default streams of both */
    compute_wait_device(target->device);
    return copy(to, from, bytes, hipMemcpyDeviceToDevice, NULL, true);
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes) {
    return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
    return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
    return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}

static hipError_t set(void* memory, uint32_t value, size_t width, size_t bytes, hipStream_t handle, bool wait) {
    struct compute_stream* s;
    struct hip_order order;
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (!bytes) return hipSuccess;
    if (!compute_find(address_of(memory), bytes) || address_of(memory) % width) return hip_result(hipErrorInvalidValue);
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    return hip_added(&order, compute_fill(s, address_of(memory), bytes, &value, width, order.after), wait ? s : NULL);
}

hipError_t hipMemset(void* memory, int value, size_t bytes) {
    return set(memory, (uint32_t)value, 1, bytes, NULL, true);
}

hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream) {
    return set(memory, (uint32_t)value, 1, bytes, stream, false);
}

hipError_t hipMemsetD32(hipDeviceptr_t memory, int value, size_t words) {
    return set(memory, (uint32_t)value, 4, words * 4, NULL, true);
}
