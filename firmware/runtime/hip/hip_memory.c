/* SPDX-License-Identifier: Apache-2.0 */
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
    if (!memory || hip_free_mapped(memory)) return hipSuccess;
    struct compute_memory* m = compute_find(address_of(memory), 0);
    if (!m || m->at != address_of(memory) || m->owned) return hip_result(hipErrorInvalidValue);
    compute_free(m);
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
    const unsigned other = *kind == hipMemcpyDefault ? 0 : *kind ^ found; /* bits for to and from */
    if ((other & 1 && !hip_is_mapped(to, bytes)) || (other & 2 && !hip_is_mapped(from, bytes))) return false;
    *kind = found;
    return true;
}

static hipError_t copy(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t handle, bool wait) {
    struct compute_stream* s;
    struct hip_order order;
    to = hip_host_pointer(to), from = hip_host_pointer(from);
    if ((unsigned)kind > hipMemcpyDefault) return hip_result(hipErrorInvalidMemcpyDirection);
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (!bytes) return hipSuccess;
    if (!direction(to, from, bytes, &kind)) return hip_result(hipErrorInvalidValue);
    if (!wait && hip_capturing(handle)) return hip_capture_copy(hip_capturing(handle), to, from, bytes, kind);
    if (kind == hipMemcpyHostToHost) { /* in order all the same */
        if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
        const hipError_t error = hip_added(&order, compute_mark(s, order.after), s);
        if (!error) memcpy(to, from, bytes);
        return error;
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
    memory = hip_host_pointer(memory);
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (!bytes) return hipSuccess;
    if (!wait && hip_capturing(handle)) return hip_capture_set(hip_capturing(handle), memory, value, width, bytes);
    if (hip_is_mapped(memory, bytes) && address_of(memory) % width == 0) {
        if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
        const hipError_t error = hip_added(&order, compute_mark(s, order.after), s);
        for (size_t at = 0; !error && at < bytes; at += width) memcpy((uint8_t*)memory + at, &value, width);
        return error;
    }
    if (!compute_find(address_of(memory), bytes) || address_of(memory) % width) return hip_result(hipErrorInvalidValue);
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    return hip_added(&order, compute_fill(s, address_of(memory), bytes, &value, width, order.after), wait ? s : NULL);
}

hipError_t hip_set(void* memory, uint32_t value, size_t width, size_t bytes, hipStream_t handle) {
    return set(memory, value, width, bytes, handle, false);
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

/* ---- rows ---- */

enum { PITCH = 256 };

hipError_t hipMallocPitch(void** memory, size_t* pitch, size_t width, size_t rows) {
    if (!pitch || width > SIZE_MAX - PITCH) return hip_result(hipErrorInvalidValue);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (*pitch && rows > SIZE_MAX / *pitch) return hip_result(hipErrorOutOfMemory);
    return hipMalloc(memory, *pitch * rows);
}

static hipError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                            hipMemcpyKind kind, hipStream_t handle, bool wait) {
    if (width > to_pitch || width > from_pitch) return hip_result(hipErrorInvalidValue);
    hipError_t error = hipSuccess;
    for (size_t row = 0; row < rows && !error; ++row)
        error = copy((uint8_t*)to + row * to_pitch, (const uint8_t*)from + row * from_pitch, width, kind, handle,
                     wait && row + 1 == rows);
    return error;
}

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                       hipMemcpyKind kind) {
    return copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, NULL, true);
}

hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                            hipMemcpyKind kind, hipStream_t stream) {
    return copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, stream, false);
}

hipError_t hipMemset2D(void* memory, size_t pitch, int value, size_t width, size_t rows) {
    if (width > pitch) return hip_result(hipErrorInvalidValue);
    hipError_t error = hipSuccess;
    for (size_t row = 0; row < rows && !error; ++row)
        error = set((uint8_t*)memory + row * pitch, (uint32_t)value, 1, width, NULL, row + 1 == rows);
    return error;
}
