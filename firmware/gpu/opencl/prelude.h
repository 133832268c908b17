/* SPDX-License-Identifier: Apache-2.0 */
/* Included before each source in OpenCL C. */
#ifndef FABRICVP_GPU_OPENCL_PRELUDE_H
#define FABRICVP_GPU_OPENCL_PRELUDE_H

#include "half_access.h"

/* The text begins with a mark by which the host finds it. */
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                                             \
    ((condition)                                                                                                      \
         ? (void)0                                                                                                    \
         : (void)(printf("\002%s:%d: %s: assertion '%s' failed (work-item %u,%u,%u)\n", __FILE__, __LINE__, __func__, \
                         #condition, (uint)get_global_id(0), (uint)get_global_id(1), (uint)get_global_id(2)),         \
                  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_all_svm_devices),   \
                  __builtin_trap()))
#endif

#endif
