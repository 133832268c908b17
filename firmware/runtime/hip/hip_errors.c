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

#define HIP_ERRORS(E)                                                                               \
    E(hipSuccess, "no error")                                                                       \
    E(hipErrorInvalidValue, "invalid argument")                                                     \
    E(hipErrorOutOfMemory, "out of memory")                                                         \
    E(hipErrorNotInitialized, "not initialized")                                                    \
    E(hipErrorInvalidConfiguration, "a grid or block that cannot be launched")                      \
    E(hipErrorInvalidSymbol, "no variable of this program")                                         \
    E(hipErrorInvalidMemcpyDirection, "a copy in a direction that there is not")                    \
    E(hipErrorInvalidDeviceFunction, "no kernel of this program")                                   \
    E(hipErrorNoDevice, "there is no GPU")                                                          \
    E(hipErrorInvalidDevice, "there is no such GPU")                                                \
    E(hipErrorInvalidImage, "not an image of kernels")                                              \
    E(hipErrorInvalidContext, "invalid context")                                                    \
    E(hipErrorNoBinaryForGpu, "no image for this GPU")                                              \
    E(hipErrorPeerAccessUnsupported, "GPUs that do not reach each other")                           \
    E(hipErrorFileNotFound, "no such file")                                                         \
    E(hipErrorInvalidHandle, "invalid handle")                                                      \
    E(hipErrorIllegalState, "not as things are")                                                    \
    E(hipErrorStreamCaptureUnsupported, "not while a stream captures")                              \
    E(hipErrorNotFound, "no such name")                                                             \
    E(hipErrorNotReady, "not ready")                                                                \
    E(hipErrorIllegalAddress, "a kernel used an address that is not there")                         \
    E(hipErrorLaunchOutOfResources, "a kernel needs more than the GPU has")                         \
    E(hipErrorCooperativeLaunchTooLarge, "a cooperative grid that the GPU does not hold at a time") \
    E(hipErrorLaunchTimeOut, "a kernel ran too long")                                               \
    E(hipErrorPeerAccessAlreadyEnabled, "peer access is enabled already")                           \
    E(hipErrorPeerAccessNotEnabled, "peer access is not enabled")                                   \
    E(hipErrorHostMemoryAlreadyRegistered, "kernels reach this memory already")                     \
    E(hipErrorHostMemoryNotRegistered, "memory that was not registered")                            \
    E(hipErrorLaunchFailure, "a kernel failed")                                                     \
    E(hipErrorNotSupported, "not supported")                                                        \
    E(hipErrorUnknown, "unknown error")

const char* hipGetErrorName(hipError_t error) {
    switch (error) {
#define NAME(name, text) \
    case name: return #name;
        HIP_ERRORS(NAME)
#undef NAME
    }
    return "hipErrorUnknown";
}

const char* hipGetErrorString(hipError_t error) {
    switch (error) {
#define TEXT(name, text) \
    case name: return text;
        HIP_ERRORS(TEXT)
#undef TEXT
    }
    return "unknown error";
}
