/* SPDX-License-Identifier: Apache-2.0 */
/* For host programs in C, and for programs in one source. Device code alone includes the header of this name in
 * gpu/hip/include. */
#ifndef FABRICVP_HIP_RUNTIME_H
#define FABRICVP_HIP_RUNTIME_H

#include "hip/hip_runtime_api.h"

#ifdef FABRICVP_GPU_HIP_DEVICE_H /* device code in this source */
template <class T>
hipError_t hipMalloc(T** memory, size_t bytes) {
    return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
hipError_t hipHostMalloc(T** memory, size_t bytes, unsigned int flags = hipHostMallocDefault) {
    return hipHostMalloc(reinterpret_cast<void**>(memory), bytes, flags);
}
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#endif

#endif
