/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hip/hip.h"

static int current;
static uint16_t peers_enabled[MAX_GPUS]; /* bit n of device d: for GPU n */

struct compute_device* hip_device(void) {
    return compute_device((unsigned)current);
}

static struct compute_device* device_of(int index) { return index < 0 ? NULL : compute_device((unsigned)index); }

static hipError_t no_device(void) {
    return hip_result(compute_device_count() ? hipErrorInvalidDevice : hipErrorNoDevice);
}

hipError_t hipInit(unsigned int flags) {
    if (flags) return hip_result(hipErrorInvalidValue);
    return compute_device_count() ? hipSuccess : hip_result(hipErrorNoDevice);
}

hipError_t hipGetDeviceCount(int* n) {
    if (!n) return hip_result(hipErrorInvalidValue);
    *n = (int)compute_device_count();
    return *n ? hipSuccess : hip_result(hipErrorNoDevice);
}

hipError_t hipSetDevice(int device) {
    if (!device_of(device)) return no_device();
    current = device;
    return hipSuccess;
}

hipError_t hipGetDevice(int* device) {
    if (!device) return hip_result(hipErrorInvalidValue);
    if (!hip_device()) return no_device();
    *device = current;
    return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
    const struct compute_device* d = device_of(device);
    if (!p) return hip_result(hipErrorInvalidValue);
    if (!d) return no_device();
    *p = (hipDeviceProp_t){.name = "FabricVP GPU",
                           .totalGlobalMem = d->gpu->memory_bytes,
                           .sharedMemPerBlock = d->gpu->lds_bytes,
                           .sharedMemPerMultiprocessor = d->gpu->lds_bytes,
                           .regsPerBlock = (int)(d->gpu->register_bytes / 4),
                           .regsPerMultiprocessor = (int)(d->gpu->register_bytes / 4),
                           .l2CacheSize = (int)d->gpu->l2_bytes,
                           .memoryClockRate = (int)(d->gpu->memory_clock / 1000),
                           .memoryBusWidth = (int)d->gpu->memory_bus_bits,
                           .warpSize = COMPUTE_WAVEFRONT,
                           .maxThreadsPerBlock = GPU_MAX_WORKGROUP_ITEMS,
                           .clockRate = (int)(d->gpu->clock / 1000),
                           .multiProcessorCount = (int)d->gpu->compute_units,
                           .maxThreadsPerMultiProcessor = (int)(d->gpu->wavefront_slots * d->gpu->slot_lanes),
                           .major = 1,
                           .cooperativeLaunch = 1,
                           .integrated = d->gpu->shared != 0,
                           .totalConstMem = d->gpu->memory_bytes, /* constants lie in device memory */
                           .memPitch = INT32_MAX,
                           .textureAlignment = GPU_PAGE,
                           .clockInstructionRate = (int)(d->gpu->clock / 1000),
                           .asyncEngineCount = 1,
                           .deviceOverlap = 1,
                           .concurrentKernels = 1,
                           .canMapHostMemory = 1,
                           .managedMemory = 1,
                           .unifiedAddressing = 1,
                           .gcnArchName = "rv64imafd"};
    for (unsigned i = 0; i < 3; ++i) {
        p->maxThreadsDim[i] = GPU_MAX_WORKGROUP_ITEMS;
        p->maxGridSize[i] = INT32_MAX;
    }
    if (d->gpu->function) {
        p->pciBusID = (int)d->gpu->function->bus->number;
        p->pciDeviceID = d->gpu->function->device;
    }
    return hipSuccess;
}

hipError_t hipDeviceSynchronize(void) {
    struct compute_device* d = hip_device();
    if (!d) return no_device();
    compute_wait_device(d);
    return hip_result(hip_fault(compute_take_device_fault(d)));
}

hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer) {
    if (!can_access) return hip_result(hipErrorInvalidValue);
    if (!device_of(device) || !device_of(peer)) return no_device();
    *can_access = device != peer && compute_reaches(device_of(device), device_of(peer));
    return hipSuccess;
}

/* GPUs that reach each other share an address space, so this only keeps count. */
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags) {
    int can = 0;
    if (flags) return hip_result(hipErrorInvalidValue);
    const hipError_t error = hipDeviceCanAccessPeer(&can, current, peer);
    if (error) return error;
    if (!can) return hip_result(hipErrorPeerAccessUnsupported);
    if (peers_enabled[current] >> peer & 1) return hip_result(hipErrorPeerAccessAlreadyEnabled);
    peers_enabled[current] |= (uint16_t)(1u << peer);
    return hipSuccess;
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
    if (!device_of(peer)) return no_device();
    if (!(peers_enabled[current] >> peer & 1)) return hip_result(hipErrorPeerAccessNotEnabled);
    peers_enabled[current] &= (uint16_t) ~(1u << peer);
    return hipSuccess;
}
