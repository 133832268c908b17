/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time of HIP for host programs on bare metal, in C: the calls, names and values of AMD's public API that are
 * there. docs/howto/host_programs.md lists what differs. */
#ifndef FABRICVP_HIP_RUNTIME_API_H
#define FABRICVP_HIP_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#include "../texture_types.h"

#ifdef __cplusplus
extern "C" {
#define FABRICVP_DEFAULT(value) = value
#else
#define FABRICVP_DEFAULT(value)
#endif

typedef enum hipError_t {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorNotInitialized = 3,
    hipErrorInvalidConfiguration = 9,
    hipErrorInvalidSymbol = 13,
    hipErrorInvalidMemcpyDirection = 21,
    hipErrorInvalidDeviceFunction = 98,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
    hipErrorInvalidImage = 200,
    hipErrorInvalidContext = 201,
    hipErrorNoBinaryForGpu = 209,
    hipErrorFileNotFound = 301,
    hipErrorInvalidHandle = 400,
    hipErrorIllegalState = 401,
    hipErrorNotFound = 500,
    hipErrorNotReady = 600,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchOutOfResources = 701,
    hipErrorCooperativeLaunchTooLarge = 720,
    hipErrorLaunchTimeOut = 702,
    hipErrorPeerAccessUnsupported = 217,
    hipErrorPeerAccessAlreadyEnabled = 704,
    hipErrorPeerAccessNotEnabled = 705,
    hipErrorHostMemoryAlreadyRegistered = 712,
    hipErrorHostMemoryNotRegistered = 713,
    hipErrorLaunchFailure = 719,
    hipErrorNotSupported = 801,
    hipErrorStreamCaptureUnsupported = 900,
    hipErrorUnknown = 999
} hipError_t;

typedef enum hipMemcpyKind {
    hipMemcpyHostToHost = 0,
    hipMemcpyHostToDevice = 1,
    hipMemcpyDeviceToHost = 2,
    hipMemcpyDeviceToDevice = 3,
    hipMemcpyDefault = 4
} hipMemcpyKind;

enum { hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2 };
enum { hipStreamDefault = 0, hipStreamNonBlocking = 1 };
enum { hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipHostMallocWriteCombined = 4 };
enum {
    hipHostRegisterDefault = 0,
    hipHostRegisterPortable = 1,
    hipHostRegisterMapped = 2,
    hipHostRegisterReadOnly = 8
};
enum { hipMemAttachGlobal = 1, hipMemAttachHost = 2 };
enum { hipCpuDeviceId = -1 };
enum {
    hipDeviceScheduleAuto = 0,
    hipDeviceScheduleSpin = 1,
    hipDeviceScheduleYield = 2,
    hipDeviceScheduleBlockingSync = 4,
    hipDeviceMapHost = 8
};
#define HIP_VERSION 50200000 /* the API of 5.2, as far as it is there */

typedef enum hipMemoryAdvise {
    hipMemAdviseSetReadMostly = 1,
    hipMemAdviseUnsetReadMostly = 2,
    hipMemAdviseSetPreferredLocation = 3,
    hipMemAdviseUnsetPreferredLocation = 4,
    hipMemAdviseSetAccessedBy = 5,
    hipMemAdviseUnsetAccessedBy = 6
} hipMemoryAdvise;

typedef enum hipFuncCache_t {
    hipFuncCachePreferNone,
    hipFuncCachePreferShared,
    hipFuncCachePreferL1,
    hipFuncCachePreferEqual
} hipFuncCache_t;

typedef enum hipFuncAttribute {
    hipFuncAttributeMaxDynamicSharedMemorySize = 8,
    hipFuncAttributePreferredSharedMemoryCarveout = 9
} hipFuncAttribute;

/* Numbers of these are our own. */
typedef enum hipDeviceAttribute_t {
    hipDeviceAttributeClockRate,
    hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeComputeCapabilityMinor,
    hipDeviceAttributeCooperativeLaunch,
    hipDeviceAttributeIntegrated,
    hipDeviceAttributeL2CacheSize,
    hipDeviceAttributeManagedMemory,
    hipDeviceAttributeMaxBlockDimX,
    hipDeviceAttributeMaxBlockDimY,
    hipDeviceAttributeMaxBlockDimZ,
    hipDeviceAttributeMaxGridDimX,
    hipDeviceAttributeMaxGridDimY,
    hipDeviceAttributeMaxGridDimZ,
    hipDeviceAttributeMaxRegistersPerBlock,
    hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeMaxThreadsPerBlock,
    hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeMemoryBusWidth,
    hipDeviceAttributeMemoryClockRate,
    hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributeWarpSize
} hipDeviceAttribute_t;

typedef struct ihipStream_t* hipStream_t; /* NULL: the default stream of the current device */
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipGraph_t* hipGraph_t;
typedef struct hipGraphExec* hipGraphExec_t;
typedef struct hip_node* hipGraphNode_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef void* hipDeviceptr_t;
typedef int hipDevice_t;

#ifndef FABRICVP_GPU_HIP_DEVICE_H /* device code has one with a constructor */
typedef struct dim3 {
    uint32_t x, y, z;
#ifdef __cplusplus
    constexpr dim3(uint32_t nx = 1, uint32_t ny = 1, uint32_t nz = 1) : x(nx), y(ny), z(nz) {}
#endif
} dim3;
#endif

typedef struct hipDeviceProp_t {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    size_t sharedMemPerMultiprocessor;
    int regsPerBlock, regsPerMultiprocessor; /* of 32 bits; 0: they limit nothing */
    int warpSize;                            /* of HIP and OpenCL C; wavefronts of CUDA have 32 lanes */
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate, memoryClockRate; /* kHz */
    int memoryBusWidth;             /* bits */
    int l2CacheSize;
    int multiProcessorCount;
    int maxThreadsPerMultiProcessor;
    int major, minor;
    int cooperativeLaunch;
    int integrated; /* 1: it shares the host's memory */
    size_t totalConstMem, memPitch, textureAlignment;
    int clockInstructionRate; /* kHz */
    int asyncEngineCount;     /* copies overlap with kernels of other streams, though the host waits for them */
    int deviceOverlap;        /* the same */
    int concurrentKernels, canMapHostMemory, managedMemory, concurrentManagedAccess, unifiedAddressing;
    int computeMode, ECCEnabled, kernelExecTimeoutEnabled, isMultiGpuBoard;
    int pciDomainID, pciBusID, pciDeviceID; /* 0 of an APU */
    char gcnArchName[256];
} hipDeviceProp_t;

typedef struct hipFuncAttributes {
    size_t sharedSizeBytes; /* static, a block */
    size_t localSizeBytes;  /* stack, a thread */
    int maxThreadsPerBlock;
    int maxDynamicSharedSizeBytes;
} hipFuncAttributes;

typedef void (*hipHostFn_t)(void* data);
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void* data);

typedef enum hipStreamCaptureMode {
    hipStreamCaptureModeGlobal,
    hipStreamCaptureModeThreadLocal,
    hipStreamCaptureModeRelaxed
} hipStreamCaptureMode;

typedef enum hipStreamCaptureStatus {
    hipStreamCaptureStatusNone,
    hipStreamCaptureStatusActive,
    hipStreamCaptureStatusInvalidated
} hipStreamCaptureStatus;

typedef struct hipKernelNodeParams {
    dim3 blockDim;
    void** extra;
    void* func; /* the host function of a kernel */
    dim3 gridDim;
    void** kernelParams;
    unsigned int sharedMemBytes;
} hipKernelNodeParams;

typedef struct hipMemsetParams {
    void* dst;
    unsigned int elementSize; /* 1, 2 or 4 bytes */
    size_t height;            /* 1 */
    size_t pitch;
    unsigned int value;
    size_t width; /* in elements */
} hipMemsetParams;

typedef struct hipHostNodeParams {
    hipHostFn_t fn;
    void* userData;
} hipHostNodeParams;

/* Of hipModuleLaunchKernel(): a packed block of arguments in place of a list of pointers. */
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)
#define HIP_LAUNCH_PARAM_END ((void*)0x03)

hipError_t hipInit(unsigned int flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int* device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceReset(void);
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t preference); /* changes nothing */
hipError_t hipSetDeviceFlags(unsigned int flags);              /* how waits wait, on Linux */
hipError_t hipDriverGetVersion(int* version);
hipError_t hipRuntimeGetVersion(int* version);
hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags);
hipError_t hipDeviceDisablePeerAccess(int peer);

hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char* hipGetErrorName(hipError_t error);
const char* hipGetErrorString(hipError_t error);
const char* __hipCudaErrorName(hipError_t error); /* what cudaGetErrorName() says */

hipError_t hipMalloc(void** memory, size_t bytes);
hipError_t hipFree(void* memory);
hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned int flags);
hipError_t hipHostFree(void* memory);
/* Of memory of hipHostMalloc(), hipMallocManaged() or hipHostRegister(). The host's pointer means the same, but for
 * registered memory below 2 GiB. */
hipError_t hipHostGetDevicePointer(void** device, void* memory, unsigned int flags);
/* Kernels reach the memory over PCIe, whatever the flags. */
hipError_t hipHostRegister(void* memory, size_t bytes, unsigned int flags);
hipError_t hipHostUnregister(void* memory);
/* Memory of the host, which kernels read and write over PCIe. */
hipError_t hipMallocManaged(void** memory, size_t bytes, unsigned int flags FABRICVP_DEFAULT(hipMemAttachGlobal));
hipError_t hipMemPrefetchAsync(const void* memory, size_t bytes, int device, hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipMemAdvise(const void* memory, size_t bytes, hipMemoryAdvise advice, int device);
hipError_t hipMallocPitch(void** memory, size_t* pitch, size_t width, size_t rows);
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                            hipMemcpyKind kind, hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipMemset2D(void* memory, size_t pitch, int value, size_t width, size_t rows);
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* all_bytes);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes);
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemset(void* memory, int value, size_t bytes);
hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipMemsetD32(hipDeviceptr_t memory, int value, size_t words);

hipError_t hipModuleLoad(hipModule_t* module, const char* file);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipModuleGetGlobal(hipDeviceptr_t* memory, size_t* bytes, hipModule_t module, const char* name);
/* All blocks are on the GPU at the same time, or hipErrorCooperativeLaunchTooLarge is returned. Where only its
 * registers are too many, the kernel ends with hipErrorLaunchOutOfResources. */
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes, hipStream_t stream,
                                            void** parameters);
/* By slots of wavefronts and shared memory; registers may allow fewer. */
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block_size,
                                                              size_t shared_bytes);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void** parameters, void** extra);

/* Of programs in one source (docs/howto/linux_gpu.md): a kernel by the address of its host function. */
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream);
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel);
hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value);
hipError_t hipFuncSetCacheConfig(const void* kernel, hipFuncCache_t preference); /* changes nothing */
/* By slots of wavefronts and shared memory; registers may allow fewer. */
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                        size_t shared_bytes);
hipError_t hipOccupancyMaxPotentialBlockSize(int* blocks, int* block_size, const void* kernel,
                                             size_t shared_bytes FABRICVP_DEFAULT(0), int limit FABRICVP_DEFAULT(0));
/* A variable or constant of device code by what stands for it on the host; of each device its own. */
hipError_t hipGetSymbolAddress(void** memory, const void* symbol);
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol);
hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset FABRICVP_DEFAULT(0),
                             hipMemcpyKind kind FABRICVP_DEFAULT(hipMemcpyHostToDevice));
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset FABRICVP_DEFAULT(0),
                               hipMemcpyKind kind FABRICVP_DEFAULT(hipMemcpyDeviceToHost));
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream FABRICVP_DEFAULT(NULL));
/* A variable whose name may stand in its place, as in CUDA up to 4.2: what stands for it. */
const void* __hipSymbolByName(const char* name, size_t bytes);
/* Textures by references, which are variables of device code; deprecated in HIP and CUDA. */
hipError_t hipBindTexture(size_t* offset, const textureReference* texture, const void* memory,
                          const hipChannelFormatDesc* format, size_t bytes);
hipError_t hipUnbindTexture(const textureReference* texture);
hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* texture);
/* What compilers make calls of: the code of a program before main(), and <<<...>>>. */
void** __hipRegisterFatBinary(const void* data);
void __hipRegisterLinkedImage(const void* image); /* that of all files, whose device code is linked */
void __hipRegisterFunction(void** binary, const void* host, char* device_name, const char* name, unsigned int threads,
                           void* thread, void* block, dim3* block_size, dim3* grid_size, int* warp_size);
void __hipUnregisterFatBinary(void** binary);
void __hipRegisterVar(void** binary, void* host, char* device_name, const char* name, int external, size_t bytes,
                      int constant, int global);
void __hipRegisterManagedVar(void** binary, void** pointer, void* first, const char* name, size_t bytes,
                             unsigned int alignment);
void __hipRegisterTexture(void** binary, void* host, char* device_name, const char* name, int dimensions,
                          int normalized, int external);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes FABRICVP_DEFAULT(0),
                                      hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);

hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags);
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority);
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags);

/* In the stream's order, in a call of the run-time; they must not call it themselves. */
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned int flags);

hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream FABRICVP_DEFAULT(NULL));
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

/* Graphs are replayed: a launch adds nodes to its stream in the order in which they were added or captured. */
hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count);
hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                 const hipKernelNodeParams* parameters);
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                   void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                 const hipMemsetParams* parameters);
hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                               const hipHostNodeParams* parameters);
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes);
hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);

#ifdef __cplusplus
}
#endif

#endif
