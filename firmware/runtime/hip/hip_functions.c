/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by the address of their host function, and what devices and kernels tell of themselves. */
#include "runtime/hip/hip.h"

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel) {
    const struct compute_kernel* k;
    if (!attributes) return hip_result(hipErrorInvalidValue);
    const hipError_t error = hip_kernel_of(kernel, &k);
    if (error) return error;
    const uint32_t limit = k->info->max_group ? k->info->max_group : GPU_MAX_WORKGROUP_ITEMS;
    *attributes = (hipFuncAttributes){
        .sharedSizeBytes = k->info->lds_bytes,
        .localSizeBytes = k->info->stack_bytes,
        .maxThreadsPerBlock = (int)limit,
        .maxDynamicSharedSizeBytes = (int)(k->program->device->gpu->lds_bytes - k->info->lds_bytes)};
    return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value) {
    hipFuncAttributes own;
    const hipError_t error = hipFuncGetAttributes(&own, kernel);
    if (error) return error;
    switch (attribute) {
        case hipFuncAttributeMaxDynamicSharedMemorySize: /* whatever there is may be asked for without it, too */
            return value >= 0 && value <= own.maxDynamicSharedSizeBytes ? hipSuccess : hip_result(hipErrorInvalidValue);
        case hipFuncAttributePreferredSharedMemoryCarveout: return hipSuccess; /* caches and shared memory are apart */
    }
    return hip_result(hipErrorInvalidValue);
}

hipError_t hipFuncSetCacheConfig(const void* kernel, hipFuncCache_t preference) {
    const struct compute_kernel* k;
    if ((unsigned)preference > hipFuncCachePreferEqual) return hip_result(hipErrorInvalidValue);
    return hip_kernel_of(kernel, &k);
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t preference) {
    return (unsigned)preference > hipFuncCachePreferEqual ? hip_result(hipErrorInvalidValue) : hipSuccess;
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                        size_t shared_bytes) {
    const struct compute_kernel* k;
    if (!blocks || block_size < 1 || block_size > GPU_MAX_WORKGROUP_ITEMS) return hip_result(hipErrorInvalidValue);
    const hipError_t error = hip_kernel_of(kernel, &k);
    if (!error) *blocks = (int)compute_resident_groups(k, (uint64_t)block_size, shared_bytes);
    return error;
}

/* The size of blocks with which most threads are on a compute unit, the largest of several; and how many of them fill
 * the GPU. */
hipError_t hipOccupancyMaxPotentialBlockSize(int* blocks, int* block_size, const void* kernel, size_t shared_bytes,
                                             int limit) {
    const struct compute_kernel* k;
    if (!blocks || !block_size || limit < 0) return hip_result(hipErrorInvalidValue);
    const hipError_t error = hip_kernel_of(kernel, &k);
    if (error) return error;
    const int lanes = k->info->descriptor_flags & KERNEL_WAVEFRONT_32 ? 32 : COMPUTE_WAVEFRONT;
    const int own = (int)k->info->max_group, all = own && own < GPU_MAX_WORKGROUP_ITEMS ? own : GPU_MAX_WORKGROUP_ITEMS;
    const int largest = limit && limit < all ? limit : all;
    uint64_t best = 0;
    *block_size = 0;
    for (int size = largest; size > 0; size = (size - 1) / lanes * lanes) {
        const uint64_t groups = compute_resident_groups(k, (uint64_t)size, shared_bytes);
        if (groups * (uint64_t)size <= best) continue;
        best = groups * (uint64_t)size;
        *block_size = size;
        *blocks = (int)(groups * k->program->device->gpu->compute_units);
    }
    return best ? hipSuccess : hip_result(hipErrorInvalidValue);
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
    hipDeviceProp_t p;
    if (!value) return hip_result(hipErrorInvalidValue);
    const hipError_t error = hipGetDeviceProperties(&p, device);
    if (error) return error;
    switch (attribute) {
        case hipDeviceAttributeClockRate: *value = p.clockRate; break;
        case hipDeviceAttributeComputeCapabilityMajor: *value = p.major; break;
        case hipDeviceAttributeComputeCapabilityMinor: *value = p.minor; break;
        case hipDeviceAttributeCooperativeLaunch: *value = p.cooperativeLaunch; break;
        case hipDeviceAttributeIntegrated: *value = p.integrated; break;
        case hipDeviceAttributeL2CacheSize: *value = p.l2CacheSize; break;
        case hipDeviceAttributeManagedMemory: *value = 1; break;
        case hipDeviceAttributeMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
        case hipDeviceAttributeMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
        case hipDeviceAttributeMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
        case hipDeviceAttributeMaxGridDimX: *value = p.maxGridSize[0]; break;
        case hipDeviceAttributeMaxGridDimY: *value = p.maxGridSize[1]; break;
        case hipDeviceAttributeMaxGridDimZ: *value = p.maxGridSize[2]; break;
        case hipDeviceAttributeMaxRegistersPerBlock: *value = p.regsPerBlock; break;
        case hipDeviceAttributeMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
        case hipDeviceAttributeMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
        case hipDeviceAttributeMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
        case hipDeviceAttributeMemoryBusWidth: *value = p.memoryBusWidth; break;
        case hipDeviceAttributeMemoryClockRate: *value = p.memoryClockRate; break;
        case hipDeviceAttributeMultiprocessorCount: *value = p.multiProcessorCount; break;
        case hipDeviceAttributeWarpSize: *value = p.warpSize; break;
        default: return hip_result(hipErrorInvalidValue);
    }
    return hipSuccess;
}

/* How this program waits for all GPUs. Programs that leave it to the run-time spin, as CUDA's do where there are harts
 * enough. */
hipError_t hipSetDeviceFlags(unsigned int flags) {
    const unsigned how = flags & ~(unsigned)hipDeviceMapHost;
    if (how != hipDeviceScheduleAuto && how != hipDeviceScheduleSpin && how != hipDeviceScheduleYield &&
        how != hipDeviceScheduleBlockingSync)
        return hip_result(hipErrorInvalidValue);
    compute_set_wait(how == hipDeviceScheduleBlockingSync ? COMPUTE_BLOCK
                     : how == hipDeviceScheduleYield      ? COMPUTE_YIELD
                                                          : COMPUTE_SPIN);
    return hipSuccess;
}

/* Devices end with the program, so nothing is given back before. */
hipError_t hipDeviceReset(void) { return hipDeviceSynchronize(); }

hipError_t hipRuntimeGetVersion(int* version) {
    if (!version) return hip_result(hipErrorInvalidValue);
    *version = HIP_VERSION;
    return hipSuccess;
}

hipError_t hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }
