/* SPDX-License-Identifier: Apache-2.0 */
/* The table of calls that a loader of OpenCL's drivers finds first in every object. Its order is that of cl_khr_icd.
 * What OpenCL 1.2 has is called; what extensions and later versions have ends in CL_INVALID_OPERATION. */
#include "linux/icd/icd.h"

#include "runtime/opencl/opencl.h"

static cl_int no_call(void) { return CL_INVALID_OPERATION; }

static void* nothing(void) { return NULL; }

/* No object, with the error where the argument of that number says. All arguments of these calls are numbers and
 * pointers, so each has a register. */
#define NO_OBJECT(n, ...) \
    static void* no_object_##n(__VA_ARGS__, cl_int* error) { return cl_created(NULL, CL_INVALID_OPERATION, error); }
#define IGNORED __attribute__((unused)) long
NO_OBJECT(1, IGNORED a)
NO_OBJECT(2, IGNORED a, IGNORED b)
NO_OBJECT(3, IGNORED a, IGNORED b, IGNORED c)
NO_OBJECT(4, IGNORED a, IGNORED b, IGNORED c, IGNORED d)
NO_OBJECT(5, IGNORED a, IGNORED b, IGNORED c, IGNORED d, IGNORED e)
NO_OBJECT(6, IGNORED a, IGNORED b, IGNORED c, IGNORED d, IGNORED e, IGNORED f)

#define CALL(name) (icd_call*)name
#define STATUS (icd_call*)no_call
#define NOTHING (icd_call*)nothing
#define OBJECT(n) (icd_call*)no_object_##n

icd_call* const icd_dispatch[] = {
    /* OpenCL 1.0 */
    CALL(clGetPlatformIDs), CALL(clGetPlatformInfo), CALL(clGetDeviceIDs), CALL(clGetDeviceInfo), CALL(clCreateContext),
    CALL(clCreateContextFromType), CALL(clRetainContext), CALL(clReleaseContext), CALL(clGetContextInfo),
    CALL(clCreateCommandQueue), CALL(clRetainCommandQueue), CALL(clReleaseCommandQueue), CALL(clGetCommandQueueInfo),
    CALL(clSetCommandQueueProperty), CALL(clCreateBuffer), CALL(clCreateImage2D), CALL(clCreateImage3D),
    CALL(clRetainMemObject), CALL(clReleaseMemObject), CALL(clGetSupportedImageFormats), CALL(clGetMemObjectInfo),
    CALL(clGetImageInfo), CALL(clCreateSampler), CALL(clRetainSampler), CALL(clReleaseSampler), CALL(clGetSamplerInfo),
    CALL(clCreateProgramWithSource), CALL(clCreateProgramWithBinary), CALL(clRetainProgram), CALL(clReleaseProgram),
    CALL(clBuildProgram), CALL(clUnloadCompiler), CALL(clGetProgramInfo), CALL(clGetProgramBuildInfo),
    CALL(clCreateKernel), CALL(clCreateKernelsInProgram), CALL(clRetainKernel), CALL(clReleaseKernel),
    CALL(clSetKernelArg), CALL(clGetKernelInfo), CALL(clGetKernelWorkGroupInfo), CALL(clWaitForEvents),
    CALL(clGetEventInfo), CALL(clRetainEvent), CALL(clReleaseEvent), CALL(clGetEventProfilingInfo), CALL(clFlush),
    CALL(clFinish), CALL(clEnqueueReadBuffer), CALL(clEnqueueWriteBuffer), CALL(clEnqueueCopyBuffer),
    CALL(clEnqueueReadImage), CALL(clEnqueueWriteImage), CALL(clEnqueueCopyImage), CALL(clEnqueueCopyImageToBuffer),
    CALL(clEnqueueCopyBufferToImage), CALL(clEnqueueMapBuffer), CALL(clEnqueueMapImage), CALL(clEnqueueUnmapMemObject),
    CALL(clEnqueueNDRangeKernel), CALL(clEnqueueTask), CALL(clEnqueueNativeKernel), CALL(clEnqueueMarker),
    CALL(clEnqueueWaitForEvents), CALL(clEnqueueBarrier), CALL(clGetExtensionFunctionAddress),
    OBJECT(3), /* clCreateFromGLBuffer */
    OBJECT(5), /* clCreateFromGLTexture2D */
    OBJECT(5), /* clCreateFromGLTexture3D */
    OBJECT(3), /* clCreateFromGLRenderbuffer */
    STATUS,    /* clGetGLObjectInfo */
    STATUS,    /* clGetGLTextureInfo */
    STATUS,    /* clEnqueueAcquireGLObjects */
    STATUS,    /* clEnqueueReleaseGLObjects */
    STATUS,    /* clGetGLContextInfoKHR */
    /* cl_khr_d3d10_sharing */
    STATUS,    /* clGetDeviceIDsFromD3D10KHR */
    OBJECT(3), /* clCreateFromD3D10BufferKHR */
    OBJECT(4), /* clCreateFromD3D10Texture2DKHR */
    OBJECT(4), /* clCreateFromD3D10Texture3DKHR */
    STATUS,    /* clEnqueueAcquireD3D10ObjectsKHR */
    STATUS,    /* clEnqueueReleaseD3D10ObjectsKHR */
    /* OpenCL 1.1 */
    CALL(clSetEventCallback), CALL(clCreateSubBuffer), CALL(clSetMemObjectDestructorCallback), CALL(clCreateUserEvent),
    CALL(clSetUserEventStatus), CALL(clEnqueueReadBufferRect), CALL(clEnqueueWriteBufferRect),
    CALL(clEnqueueCopyBufferRect),
    /* cl_ext_device_fission */
    STATUS, /* clCreateSubDevicesEXT */
    STATUS, /* clRetainDeviceEXT */
    STATUS, /* clReleaseDeviceEXT */
    /* cl_khr_gl_event */
    OBJECT(2), /* clCreateEventFromGLsyncKHR */
    /* OpenCL 1.2 */
    CALL(clCreateSubDevices), CALL(clRetainDevice), CALL(clReleaseDevice), CALL(clCreateImage),
    CALL(clCreateProgramWithBuiltInKernels), CALL(clCompileProgram), CALL(clLinkProgram),
    CALL(clUnloadPlatformCompiler), CALL(clGetKernelArgInfo), CALL(clEnqueueFillBuffer), CALL(clEnqueueFillImage),
    CALL(clEnqueueMigrateMemObjects), CALL(clEnqueueMarkerWithWaitList), CALL(clEnqueueBarrierWithWaitList),
    CALL(clGetExtensionFunctionAddressForPlatform), OBJECT(5), /* clCreateFromGLTexture */
    /* cl_khr_d3d11_sharing and cl_khr_dx9_media_sharing */
    STATUS,    /* clGetDeviceIDsFromD3D11KHR */
    OBJECT(3), /* clCreateFromD3D11BufferKHR */
    OBJECT(4), /* clCreateFromD3D11Texture2DKHR */
    OBJECT(4), /* clCreateFromD3D11Texture3DKHR */
    OBJECT(5), /* clCreateFromDX9MediaSurfaceKHR */
    STATUS,    /* clEnqueueAcquireD3D11ObjectsKHR */
    STATUS,    /* clEnqueueReleaseD3D11ObjectsKHR */
    STATUS,    /* clGetDeviceIDsFromDX9MediaAdapterKHR */
    STATUS,    /* clEnqueueAcquireDX9MediaSurfacesKHR */
    STATUS,    /* clEnqueueReleaseDX9MediaSurfacesKHR */
    /* cl_khr_egl_image */
    OBJECT(5), /* clCreateFromEGLImageKHR */
    STATUS,    /* clEnqueueAcquireEGLObjectsKHR */
    STATUS,    /* clEnqueueReleaseEGLObjectsKHR */
    /* cl_khr_egl_event */
    OBJECT(3), /* clCreateEventFromEGLSyncKHR */
    /* OpenCL 2.0 */
    OBJECT(3), /* clCreateCommandQueueWithProperties */
    OBJECT(5), /* clCreatePipe */
    STATUS,    /* clGetPipeInfo */
    NOTHING,   /* clSVMAlloc */
    NOTHING,   /* clSVMFree */
    STATUS,    /* clEnqueueSVMFree */
    STATUS,    /* clEnqueueSVMMemcpy */
    STATUS,    /* clEnqueueSVMMemFill */
    STATUS,    /* clEnqueueSVMMap */
    STATUS,    /* clEnqueueSVMUnmap */
    OBJECT(2), /* clCreateSamplerWithProperties */
    STATUS,    /* clSetKernelArgSVMPointer */
    STATUS,    /* clSetKernelExecInfo */
    /* cl_khr_sub_groups */
    STATUS, /* clGetKernelSubGroupInfoKHR */
    /* OpenCL 2.1 */
    OBJECT(1), /* clCloneKernel */
    OBJECT(3), /* clCreateProgramWithIL */
    STATUS,    /* clEnqueueSVMMigrateMem */
    STATUS,    /* clGetDeviceAndHostTimer */
    STATUS,    /* clGetHostTimer */
    STATUS,    /* clGetKernelSubGroupInfo */
    STATUS,    /* clSetDefaultDeviceCommandQueue */
    /* OpenCL 2.2 */
    STATUS, /* clSetProgramReleaseCallback */
    STATUS, /* clSetProgramSpecializationConstant */
    /* OpenCL 3.0 */
    OBJECT(5), /* clCreateBufferWithProperties */
    OBJECT(6), /* clCreateImageWithProperties */
    STATUS,    /* clSetContextDestructorCallback */
};
