/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's names of what the run-time of HIP has, for programs in one source. Names that are not here are not there. */
#ifndef FABRICVP_CUDA_RUNTIME_H
#define FABRICVP_CUDA_RUNTIME_H

#include "driver_types.h"
#include "hip/hip_runtime.h"

typedef hipError_t cudaError_t;
typedef hipError_t cudaError;
typedef hipMemcpyKind cudaMemcpyKind;
typedef hipStream_t cudaStream_t;
typedef hipEvent_t cudaEvent_t;
typedef hipGraph_t cudaGraph_t;
typedef hipGraphExec_t cudaGraphExec_t;
typedef hipGraphNode_t cudaGraphNode_t;
typedef hipKernelNodeParams cudaKernelNodeParams;
typedef hipMemsetParams cudaMemsetParams;
typedef hipHostNodeParams cudaHostNodeParams;
typedef hipStreamCaptureMode cudaStreamCaptureMode;
typedef hipStreamCaptureStatus cudaStreamCaptureStatus;
typedef hipFuncAttributes cudaFuncAttributes;
typedef hipFuncCache_t cudaFuncCache;
typedef hipHostFn_t cudaHostFn_t;
typedef hipStreamCallback_t cudaStreamCallback_t;
#define CUDART_CB
#define cudaDeviceProp hipDeviceProp_t /* stands behind `struct`, too */

#define cudaMemcpyHostToHost hipMemcpyHostToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaEventDefault hipEventDefault
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostAllocWriteCombined hipHostMallocWriteCombined
#define cudaHostRegisterDefault hipHostRegisterDefault
#define cudaHostRegisterPortable hipHostRegisterPortable
#define cudaHostRegisterMapped hipHostRegisterMapped
#define cudaHostRegisterReadOnly hipHostRegisterReadOnly
#define cudaMemAttachGlobal hipMemAttachGlobal
#define cudaMemAttachHost hipMemAttachHost
#define cudaCpuDeviceId hipCpuDeviceId
#define cudaFuncCachePreferNone hipFuncCachePreferNone
#define cudaFuncCachePreferShared hipFuncCachePreferShared
#define cudaFuncCachePreferL1 hipFuncCachePreferL1
#define cudaFuncCachePreferEqual hipFuncCachePreferEqual
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define cudaFuncAttributePreferredSharedMemoryCarveout hipFuncAttributePreferredSharedMemoryCarveout
#define cudaDeviceScheduleAuto hipDeviceScheduleAuto
#define cudaDeviceScheduleSpin hipDeviceScheduleSpin
#define cudaDeviceScheduleYield hipDeviceScheduleYield
#define cudaDeviceScheduleBlockingSync hipDeviceScheduleBlockingSync
#define cudaDeviceMapHost hipDeviceMapHost
#define cudaMemAdviseSetReadMostly hipMemAdviseSetReadMostly
#define cudaMemAdviseUnsetReadMostly hipMemAdviseUnsetReadMostly
#define cudaMemAdviseSetPreferredLocation hipMemAdviseSetPreferredLocation
#define cudaMemAdviseUnsetPreferredLocation hipMemAdviseUnsetPreferredLocation
#define cudaMemAdviseSetAccessedBy hipMemAdviseSetAccessedBy
#define cudaMemAdviseUnsetAccessedBy hipMemAdviseUnsetAccessedBy
#define cudaDevAttrClockRate hipDeviceAttributeClockRate
#define cudaDevAttrComputeCapabilityMajor hipDeviceAttributeComputeCapabilityMajor
#define cudaDevAttrComputeCapabilityMinor hipDeviceAttributeComputeCapabilityMinor
#define cudaDevAttrCooperativeLaunch hipDeviceAttributeCooperativeLaunch
#define cudaDevAttrIntegrated hipDeviceAttributeIntegrated
#define cudaDevAttrL2CacheSize hipDeviceAttributeL2CacheSize
#define cudaDevAttrManagedMemory hipDeviceAttributeManagedMemory
#define cudaDevAttrMaxBlockDimX hipDeviceAttributeMaxBlockDimX
#define cudaDevAttrMaxBlockDimY hipDeviceAttributeMaxBlockDimY
#define cudaDevAttrMaxBlockDimZ hipDeviceAttributeMaxBlockDimZ
#define cudaDevAttrMaxGridDimX hipDeviceAttributeMaxGridDimX
#define cudaDevAttrMaxGridDimY hipDeviceAttributeMaxGridDimY
#define cudaDevAttrMaxGridDimZ hipDeviceAttributeMaxGridDimZ
#define cudaDevAttrMaxRegistersPerBlock hipDeviceAttributeMaxRegistersPerBlock
#define cudaDevAttrMaxSharedMemoryPerBlock hipDeviceAttributeMaxSharedMemoryPerBlock
#define cudaDevAttrMaxThreadsPerBlock hipDeviceAttributeMaxThreadsPerBlock
#define cudaDevAttrMaxThreadsPerMultiProcessor hipDeviceAttributeMaxThreadsPerMultiProcessor
#define cudaDevAttrMemoryClockRate hipDeviceAttributeMemoryClockRate
#define cudaDevAttrWarpSize hipDeviceAttributeWarpSize
#define cudaDevAttrGlobalMemoryBusWidth hipDeviceAttributeMemoryBusWidth
#define cudaDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define cudaStreamCaptureModeGlobal hipStreamCaptureModeGlobal
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define cudaStreamCaptureStatusNone hipStreamCaptureStatusNone
#define cudaStreamCaptureStatusActive hipStreamCaptureStatusActive
#define cudaStreamCaptureStatusInvalidated hipStreamCaptureStatusInvalidated
#define cudaStreamDefault hipStreamDefault
#define cudaStreamNonBlocking hipStreamNonBlocking

#define cudaGetDeviceCount hipGetDeviceCount
#define cudaSetDevice hipSetDevice
#define cudaGetDevice hipGetDevice
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaThreadSynchronize hipDeviceSynchronize /* deprecated, and in many programs */
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceDisablePeerAccess hipDeviceDisablePeerAccess
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaGetErrorString hipGetErrorString
#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaMemGetInfo hipMemGetInfo
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyPeer hipMemcpyPeer
#define cudaGetSymbolAddress hipGetSymbolAddress
#define cudaGetSymbolSize hipGetSymbolSize
#define cudaMemcpyToSymbol hipMemcpyToSymbol
#define cudaMemcpyToSymbolAsync hipMemcpyToSymbolAsync
#define cudaMemcpyFromSymbol hipMemcpyFromSymbol
#define cudaMemcpyFromSymbolAsync hipMemcpyFromSymbolAsync
#define cudaDeviceReset hipDeviceReset
#define cudaDeviceSetCacheConfig hipDeviceSetCacheConfig
#define cudaSetDeviceFlags hipSetDeviceFlags
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaHostRegister hipHostRegister
#define cudaHostUnregister hipHostUnregister
#define cudaMallocManaged hipMallocManaged
#define cudaMemPrefetchAsync hipMemPrefetchAsync
#define cudaMemAdvise hipMemAdvise
#define cudaMallocPitch hipMallocPitch
#define cudaMemcpy2D hipMemcpy2D
#define cudaMemcpy2DAsync hipMemcpy2DAsync
#define cudaMemset2D hipMemset2D
#define cudaLaunchCooperativeKernel hipLaunchCooperativeKernel
#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaFuncSetAttribute hipFuncSetAttribute
#define cudaFuncSetCacheConfig hipFuncSetCacheConfig
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaOccupancyMaxPotentialBlockSize hipOccupancyMaxPotentialBlockSize
#define cudaLaunchHostFunc hipLaunchHostFunc
#define cudaStreamAddCallback hipStreamAddCallback
#define cudaGetErrorName __hipCudaErrorName
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaThreadExit hipDeviceReset /* deprecated */
#define cudaHostAlloc hipHostMalloc
#define cudaGraphCreate hipGraphCreate
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphAddEmptyNode hipGraphAddEmptyNode
#define cudaGraphAddKernelNode hipGraphAddKernelNode
#define cudaGraphAddMemcpyNode1D hipGraphAddMemcpyNode1D
#define cudaGraphAddMemsetNode hipGraphAddMemsetNode
#define cudaGraphAddHostNode hipGraphAddHostNode
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphLaunch hipGraphLaunch
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaLaunchKernel hipLaunchKernel
#define cudaStreamCreate hipStreamCreate
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaEventCreate hipEventCreate
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventRecord hipEventRecord
#define cudaEventQuery hipEventQuery
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventElapsedTime hipEventElapsedTime

#ifdef __cplusplus
template <class T>
cudaError_t cudaMallocHost(T** memory, size_t bytes) {
    return hipHostMalloc(memory, bytes, hipHostMallocDefault);
}
/* CUDA 12 has flags alone behind the graph, and CUDA 11 what hipGraphInstantiate() has. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                               char* log, size_t log_bytes) {
    return hipGraphInstantiate(exec, graph, error_node, log, log_bytes);
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0) {
    return flags ? hipErrorInvalidValue : hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0) {
    return hipStreamWaitEvent(stream, event, flags);
}
/* Wavefronts of kernels in CUDA have 32 lanes, and their __CUDA_ARCH__ is 700. */
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    const cudaError_t error = hipGetDeviceProperties(properties, device);
    if (error != cudaSuccess) return error;
    properties->warpSize = 32;
    properties->major = 7;
    properties->minor = 0;
    return cudaSuccess;
}
#else
#define cudaMallocHost(memory, bytes) hipHostMalloc(memory, bytes, hipHostMallocDefault)
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaGraphInstantiate hipGraphInstantiate
#define cudaGetDeviceProperties hipGetDeviceProperties /* warpSize is HIP's */
#endif
#include "cuda_texture_types.h"

#endif
