/* SPDX-License-Identifier: Apache-2.0 */
/* For host programs in C, and for programs in one source. Device code alone includes the header of this name in
 * gpu/hip/include. */
#ifndef FABRICVP_HIP_RUNTIME_H
#define FABRICVP_HIP_RUNTIME_H

#ifdef __cplusplus /* what the headers of hipcc and nvcc include, and programs rely on */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#endif

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
hipError_t hipMallocManaged(T** memory, size_t bytes, unsigned int flags = hipMemAttachGlobal) {
    return hipMallocManaged(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
hipError_t hipMallocPitch(T** memory, size_t* pitch, size_t width, size_t rows) {
    return hipMallocPitch(reinterpret_cast<void**>(memory), pitch, width, rows);
}
template <class T>
hipError_t hipHostGetDevicePointer(T** device, void* memory, unsigned int flags) {
    return hipHostGetDevicePointer(reinterpret_cast<void**>(device), memory, flags);
}
template <class T>
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, T* kernel) {
    return hipFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class T>
hipError_t hipFuncSetAttribute(T* kernel, hipFuncAttribute attribute, int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class T>
hipError_t hipFuncSetCacheConfig(T* kernel, hipFuncCache_t preference) {
    return hipFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), preference);
}
template <class T>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block_size, size_t shared_bytes) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), block_size,
                                                        shared_bytes);
}
template <class T>
hipError_t hipOccupancyMaxPotentialBlockSize(int* blocks, int* block_size, T* kernel, size_t shared_bytes = 0,
                                             int limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(blocks, block_size, reinterpret_cast<const void*>(kernel), shared_bytes,
                                             limit);
}
template <class T>
hipError_t hipLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, unsigned int shared_bytes,
                                      hipStream_t stream) {
    return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared_bytes,
                                      stream);
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
template <size_t bytes_of_name>
hipError_t hipMemcpyToSymbol(const char (&name)[bytes_of_name], const void* from, size_t bytes, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol(__hipSymbolByName(name, bytes_of_name), from, bytes, offset, kind);
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
template <size_t bytes_of_name>
hipError_t hipMemcpyFromSymbol(void* to, const char (&name)[bytes_of_name], size_t bytes, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(to, __hipSymbolByName(name, bytes_of_name), bytes, offset, kind);
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
#include "texture_functions.h"
#endif

#endif
