/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of HIP's run-time share. */
#ifndef FABRICVP_RUNTIME_HIP_H
#define FABRICVP_RUNTIME_HIP_H

#include "runtime/compute.h"
#include "runtime/include/hip/hip_runtime_api.h"

struct ihipStream_t {
    struct handle handle;
    struct compute_stream* stream;
    bool blocking;    /* in order with the default stream of its device */
    hipGraph_t graph; /* that it captures into; NULL: it does not */
    bool captures;    /* it began that, and no other stream */
    unsigned capture; /* its number, never 0 */
    struct ihipStream_t* next;
};
struct ihipEvent_t {
    struct handle handle;
    struct compute_event* recorded; /* NULL: not yet */
    unsigned capture;               /* in which it was recorded last; 0: in none */
    bool timed, blocking;
};
struct ihipModuleSymbol_t {
    struct compute_kernel kernel;
};
struct ihipModule_t {
    struct handle handle;
    struct compute_program* program;
};

extern const char hip_stream_kind[], hip_event_kind[], hip_module_kind[], hip_function_kind[];

/* Notes an error for hipGetLastError(). \returns it */
hipError_t hip_result(hipError_t error);
/* Of a fault of a GPU (enum gpu_fault). */
hipError_t hip_fault(unsigned fault);

/* A kernel by the address of its host function, of the current device. */
hipError_t hip_kernel_of(const void* host, const struct compute_kernel** kernel);
/* Whether host and kernels reach these bytes: managed, pinned or registered memory. */
bool hip_is_mapped(const void* memory, size_t bytes);
/* Whether all of it is registered. */
bool hip_is_registered(const void* memory, size_t bytes);
/* Where kernels reach registered memory: where the host does, unless fixed apertures of the GPU lie there. */
uintptr_t hip_registered_address(uintptr_t at);
/* The host's pointer for one of kernels to registered memory; others stay as they are. */
void* hip_host_pointer(const void* pointer);
/* For kernels of all GPUs. \param bus where devices have it */
void hip_map_everywhere(gpu_address at, uintptr_t bus, uint64_t bytes);
/* Waits for them. */
void hip_unmap_everywhere(gpu_address at, uint64_t bytes);
/* \returns false if no such memory begins there */
bool hip_free_mapped(void* memory);

/* What a launch may ask for, as hipModuleLaunchKernel() has it. `arguments` are good until the next call. */
hipError_t hip_check_launch(const struct compute_kernel* kernel, dim3 blocks, dim3 threads, unsigned shared_bytes,
                            void** parameters, void** extra, struct compute_grid* grid, const uint8_t** arguments);
hipError_t hip_launch(const struct compute_kernel* kernel, const struct compute_grid* grid, const void* arguments,
                      hipStream_t handle);
hipError_t hip_set(void* memory, uint32_t value, size_t width, size_t bytes, hipStream_t handle);

/* The graph that a stream captures into, NULL if it does not. */
hipGraph_t hip_capturing(hipStream_t handle);
void hip_begin_capture(hipStream_t stream);
void hip_end_capture(hipGraph_t graph);
hipError_t hip_capture_kernel(hipGraph_t graph, const struct compute_kernel* kernel, const struct compute_grid* grid,
                              const void* arguments);
hipError_t hip_capture_copy(hipGraph_t graph, void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hip_capture_set(hipGraph_t graph, void* memory, uint32_t value, size_t width, size_t bytes);
hipError_t hip_capture_call(hipGraph_t graph, hipHostFn_t function, void* data);

/* The current device, NULL if there is no GPU. */
struct compute_device* hip_device(void);

/* A stream by its handle; NULL: the default stream of the current device. \returns
 * false for a wrong handle, or without space for the default stream */
bool hip_stream(hipStream_t handle, struct compute_stream** stream);
/* Why there is none. */
hipError_t hip_no_stream(hipStream_t handle);
/* What a command of a stream waits for: commands of the default stream wait for those of all others of the device, and
 * these for the default stream's. */
struct hip_order {
    struct compute_event** events;
    struct compute_after after;
};
/* \returns false without host memory */
bool hip_begin(struct hip_order* order, hipStream_t handle, struct compute_stream* stream);
/* Ends what hip_begin() began. \param wait for the command's end, and tell of faults */
hipError_t hip_added(struct hip_order* order, struct compute_event* event, struct compute_stream* wait);

#endif
