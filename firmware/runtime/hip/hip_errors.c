/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hip/hip.h"

static hipError_t last;

hipError_t hip_result(hipError_t error) {
    if (error != hipSuccess) last = error;
    return error;
}

hipError_t hip_fault(unsigned fault) {
    switch (fault) {
        case GPU_FAULT_NONE: return hipSuccess;
        case GPU_FAULT_UNMAPPED:
        case GPU_FAULT_READ_ONLY:
        case GPU_FAULT_NOT_EXECUTABLE:
        case GPU_FAULT_BAD_APERTURE: return hipErrorIllegalAddress;
        case GPU_FAULT_RESOURCES: return hipErrorLaunchOutOfResources;
        case GPU_FAULT_RUNAWAY:
        case GPU_TIMED_OUT: return hipErrorLaunchTimeOut;
        default: return hipErrorLaunchFailure;
    }
}

hipError_t hipGetLastError(void) {
    const hipError_t error = last;
    last = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void) { return last; }

/* HIP's name, CUDA's, and what it means. */
#define HIP_ERRORS(E)                                                                                               \
    E(hipSuccess, "cudaSuccess", "no error")                                                                        \
    E(hipErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument")                                            \
    E(hipErrorOutOfMemory, "cudaErrorMemoryAllocation", "out of memory")                                            \
    E(hipErrorNotInitialized, "cudaErrorInitializationError", "not initialized")                                    \
    E(hipErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "a grid or block that cannot be launched")     \
    E(hipErrorInvalidSymbol, "cudaErrorInvalidSymbol", "no variable of this program")                               \
    E(hipErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "a copy in a direction that there is not") \
    E(hipErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "no kernel of this program")                 \
    E(hipErrorNoDevice, "cudaErrorNoDevice", "there is no GPU")                                                     \
    E(hipErrorInvalidDevice, "cudaErrorInvalidDevice", "there is no such GPU")                                      \
    E(hipErrorInvalidImage, "cudaErrorInvalidKernelImage", "not an image of kernels")                               \
    E(hipErrorInvalidContext, "cudaErrorDeviceUninitialized", "invalid context")                                    \
    E(hipErrorNoBinaryForGpu, "cudaErrorNoKernelImageForDevice", "no image for this GPU")                           \
    E(hipErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported", "GPUs that do not reach each other")         \
    E(hipErrorFileNotFound, "cudaErrorFileNotFound", "no such file")                                                \
    E(hipErrorInvalidHandle, "cudaErrorInvalidResourceHandle", "invalid handle")                                    \
    E(hipErrorIllegalState, "cudaErrorIllegalState", "not as things are")                                           \
    E(hipErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "not while a stream captures")         \
    E(hipErrorNotFound, "cudaErrorSymbolNotFound", "no such name")                                                  \
    E(hipErrorNotReady, "cudaErrorNotReady", "not ready")                                                           \
    E(hipErrorIllegalAddress, "cudaErrorIllegalAddress", "a kernel used an address that is not there")              \
    E(hipErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "a kernel needs more than the GPU has")        \
    E(hipErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",                                      \
      "a cooperative grid that the GPU does not hold at a time")                                                    \
    E(hipErrorLaunchTimeOut, "cudaErrorLaunchTimeout", "a kernel ran too long")                                     \
    E(hipErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is enabled already")      \
    E(hipErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access is not enabled")                  \
    E(hipErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",                                  \
      "kernels reach this memory already")                                                                          \
    E(hipErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "memory that was not registered")        \
    E(hipErrorLaunchFailure, "cudaErrorLaunchFailure", "a kernel failed")                                           \
    E(hipErrorNotSupported, "cudaErrorNotSupported", "not supported")                                               \
    E(hipErrorUnknown, "cudaErrorUnknown", "unknown error")

const char* hipGetErrorName(hipError_t error) {
    switch (error) {
#define NAME(name, cuda, text) \
    case name: return #name;
        HIP_ERRORS(NAME)
#undef NAME
    }
    return "hipErrorUnknown";
}

const char* __hipCudaErrorName(hipError_t error) {
    switch (error) {
#define NAME(name, cuda, text) \
    case name: return cuda;
        HIP_ERRORS(NAME)
#undef NAME
    }
    return "cudaErrorUnknown";
}

const char* hipGetErrorString(hipError_t error) {
    switch (error) {
#define TEXT(name, cuda, text) \
    case name: return text;
        HIP_ERRORS(TEXT)
#undef TEXT
    }
    return "unknown error";
}
