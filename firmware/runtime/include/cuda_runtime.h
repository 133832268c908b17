/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's names of what the run-time of HIP has, for programs in one source. Names that are not here are not there. */
#ifndef FABRICVP_CUDA_RUNTIME_H
#define FABRICVP_CUDA_RUNTIME_H

#include "hip/hip_runtime.h"

typedef hipError_t cudaError_t;
typedef hipError_t cudaError;
typedef hipMemcpyKind cudaMemcpyKind;
typedef hipStream_t cudaStream_t;
typedef hipEvent_t cudaEvent_t;
#define cudaDeviceProp hipDeviceProp_t /* stands behind `struct`, too */

#define cudaSuccess hipSuccess
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorInitializationError hipErrorNotInitialized
#define cudaErrorInvalidConfiguration hipErrorInvalidConfiguration
#define cudaErrorInvalidSymbol hipErrorInvalidSymbol
#define cudaErrorInvalidMemcpyDirection hipErrorInvalidMemcpyDirection
#define cudaErrorInvalidDeviceFunction hipErrorInvalidDeviceFunction
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorInvalidDevice hipErrorInvalidDevice
#define cudaErrorInvalidResourceHandle hipErrorInvalidHandle
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorIllegalAddress hipErrorIllegalAddress
#define cudaErrorLaunchOutOfResources hipErrorLaunchOutOfResources
#define cudaErrorLaunchTimeout hipErrorLaunchTimeOut
#define cudaErrorLaunchFailure hipErrorLaunchFailure
#define cudaErrorUnknown hipErrorUnknown

#define cudaMemcpyHostToHost hipMemcpyHostToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaEventDefault hipEventDefault
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEventDisableTiming hipEventDisableTiming
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

template <class T>
cudaError_t cudaMallocHost(T** memory, size_t bytes) {
    return hipHostMalloc(memory, bytes, hipHostMallocDefault);
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

#endif
