/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's errors. Those without a name of HIP are never returned; they are there for programs that name all. */
#ifndef FABRICVP_DRIVER_TYPES_H
#define FABRICVP_DRIVER_TYPES_H

#include "hip/hip_runtime_api.h"

#define __DRIVER_TYPES_H__ /* by which headers of programs ask for these */

#define CUDART_VERSION 11000 /* the API, as far as it is there */

#define cudaSuccess hipSuccess
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorInitializationError hipErrorNotInitialized
#define cudaErrorCudartUnloading ((hipError_t)4)
#define cudaErrorProfilerDisabled ((hipError_t)5)
#define cudaErrorProfilerNotInitialized ((hipError_t)6)
#define cudaErrorProfilerAlreadyStarted ((hipError_t)7)
#define cudaErrorProfilerAlreadyStopped ((hipError_t)8)
#define cudaErrorInvalidConfiguration hipErrorInvalidConfiguration
#define cudaErrorInvalidPitchValue ((hipError_t)12)
#define cudaErrorInvalidSymbol hipErrorInvalidSymbol
#define cudaErrorInvalidHostPointer ((hipError_t)16)
#define cudaErrorInvalidDevicePointer ((hipError_t)17)
#define cudaErrorInvalidTexture ((hipError_t)18)
#define cudaErrorInvalidTextureBinding ((hipError_t)19)
#define cudaErrorInvalidChannelDescriptor ((hipError_t)20)
#define cudaErrorInvalidMemcpyDirection hipErrorInvalidMemcpyDirection
#define cudaErrorAddressOfConstant ((hipError_t)22)
#define cudaErrorTextureFetchFailed ((hipError_t)23)
#define cudaErrorTextureNotBound ((hipError_t)24)
#define cudaErrorSynchronizationError ((hipError_t)25)
#define cudaErrorInvalidFilterSetting ((hipError_t)26)
#define cudaErrorInvalidNormSetting ((hipError_t)27)
#define cudaErrorMixedDeviceExecution ((hipError_t)28)
#define cudaErrorNotYetImplemented ((hipError_t)31)
#define cudaErrorMemoryValueTooLarge ((hipError_t)32)
#define cudaErrorInsufficientDriver ((hipError_t)35)
#define cudaErrorInvalidSurface ((hipError_t)37)
#define cudaErrorDuplicateVariableName ((hipError_t)43)
#define cudaErrorDuplicateTextureName ((hipError_t)44)
#define cudaErrorDuplicateSurfaceName ((hipError_t)45)
#define cudaErrorDevicesUnavailable ((hipError_t)46)
#define cudaErrorIncompatibleDriverContext ((hipError_t)49)
#define cudaErrorMissingConfiguration ((hipError_t)52)
#define cudaErrorPriorLaunchFailure ((hipError_t)53)
#define cudaErrorLaunchMaxDepthExceeded ((hipError_t)65)
#define cudaErrorLaunchFileScopedTex ((hipError_t)66)
#define cudaErrorLaunchFileScopedSurf ((hipError_t)67)
#define cudaErrorSyncDepthExceeded ((hipError_t)68)
#define cudaErrorLaunchPendingCountExceeded ((hipError_t)69)
#define cudaErrorInvalidDeviceFunction hipErrorInvalidDeviceFunction
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorInvalidDevice hipErrorInvalidDevice
#define cudaErrorStartupFailure ((hipError_t)127)
#define cudaErrorInvalidKernelImage hipErrorInvalidImage
#define cudaErrorUnmapBufferObjectFailed ((hipError_t)206)
#define cudaErrorMapBufferObjectFailed ((hipError_t)205)
#define cudaErrorNoKernelImageForDevice hipErrorNoBinaryForGpu
#define cudaErrorECCUncorrectable ((hipError_t)214)
#define cudaErrorUnsupportedLimit ((hipError_t)215)
#define cudaErrorDeviceAlreadyInUse ((hipError_t)216)
#define cudaErrorPeerAccessUnsupported hipErrorPeerAccessUnsupported
#define cudaErrorInvalidPtx ((hipError_t)218)
#define cudaErrorInvalidGraphicsContext ((hipError_t)219)
#define cudaErrorSharedObjectSymbolNotFound ((hipError_t)302)
#define cudaErrorSharedObjectInitFailed ((hipError_t)303)
#define cudaErrorOperatingSystem ((hipError_t)304)
#define cudaErrorInvalidResourceHandle hipErrorInvalidHandle
#define cudaErrorIllegalState hipErrorIllegalState
#define cudaErrorSymbolNotFound hipErrorNotFound
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorIllegalAddress hipErrorIllegalAddress
#define cudaErrorLaunchOutOfResources hipErrorLaunchOutOfResources
#define cudaErrorLaunchTimeout hipErrorLaunchTimeOut
#define cudaErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define cudaErrorPeerAccessNotEnabled hipErrorPeerAccessNotEnabled
#define cudaErrorSetOnActiveProcess ((hipError_t)708)
#define cudaErrorAssert ((hipError_t)710)
#define cudaErrorTooManyPeers ((hipError_t)711)
#define cudaErrorHostMemoryAlreadyRegistered hipErrorHostMemoryAlreadyRegistered
#define cudaErrorHostMemoryNotRegistered hipErrorHostMemoryNotRegistered
#define cudaErrorHardwareStackError ((hipError_t)714)
#define cudaErrorIllegalInstruction ((hipError_t)715)
#define cudaErrorMisalignedAddress ((hipError_t)716)
#define cudaErrorInvalidAddressSpace ((hipError_t)717)
#define cudaErrorInvalidPc ((hipError_t)718)
#define cudaErrorLaunchFailure hipErrorLaunchFailure
#define cudaErrorCooperativeLaunchTooLarge hipErrorCooperativeLaunchTooLarge
#define cudaErrorNotPermitted ((hipError_t)800)
#define cudaErrorNotSupported hipErrorNotSupported
#define cudaErrorStreamCaptureUnsupported hipErrorStreamCaptureUnsupported
#define cudaErrorUnknown hipErrorUnknown
#define cudaErrorApiFailureBase ((hipError_t)10000)

#endif
