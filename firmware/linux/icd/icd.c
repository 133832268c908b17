/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/icd/icd.h"

#include "runtime/opencl/opencl.h"

cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
    return clGetPlatformIDs(room, platforms, count);
}

/* Before the loader asks. */
__attribute__((constructor)) static void begin(void) { cl_serve_loader(icd_dispatch, (void*)clIcdGetPlatformIDsKHR); }
