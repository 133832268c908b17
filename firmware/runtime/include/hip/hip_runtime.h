/* SPDX-License-Identifier: Apache-2.0 */
/* For host programs in C, and for programs in one source. Device code alone includes the header of this name in
 * gpu/hip/include. */
#ifndef FABRICVP_HIP_RUNTIME_H
#define FABRICVP_HIP_RUNTIME_H

#include "hip/hip_runtime_api.h"

#ifdef __cplusplus
#define HIP_SYMBOL(symbol) symbol
template <class T>
hipError_t hipMalloc(T** memory, size_t bytes) {
    return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
hipError_t hipHostMalloc(T** memory, size_t bytes, unsigned int flags = hipHostMallocDefault) {
    return hipHostMalloc(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
hipError_t hipGetSymbolAddress(void** memory, const T& symbol) {
    return hipGetSymbolAddress(memory, static_cast<const void*>(&symbol));
}
template <class T>
hipError_t hipGetSymbolSize(size_t* bytes, const T& symbol) {
    return hipGetSymbolSize(bytes, static_cast<const void*>(&symbol));
}
template <class T>
hipError_t hipMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}
template <class T>
hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream = nullptr) {
    return hipMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, bytes, offset, kind, stream);
}
template <class T>
hipError_t hipMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}
template <class T>
hipError_t hipMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream = nullptr) {
    return hipMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), bytes, offset, kind, stream);
}
#endif
#ifdef FABRICVP_GPU_HIP_DEVICE_H /* device code in this source */
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#endif

#endif
