/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and fences (OpenCL C 1.2, 6.12.8 and 6.12.9; 2.0, 6.13.8 and 6.13.11.4), copies by a work-group. */
#include "base.h"

/* A work-group shares an L1 cache and a local data share, so its barrier makes both kinds of memory consistent. */
HELPER void wait(void) { INSTRUCTION(GPU_FUNCT_BARRIER, 0); }
OV void barrier(cl_mem_fence_flags flags) { wait(); }
OV void work_group_barrier(cl_mem_fence_flags flags) { wait(); }

HELPER void fence(uint ordering, memory_scope scope) {
    if (scope == memory_scope_device || scope == memory_scope_all_svm_devices) {
        const int wide = scope == memory_scope_all_svm_devices;
        if (ordering == GPU_FENCE_ACQUIRE)
            wide ? ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_ACQUIRE | GPU_SCOPE_SYSTEM); })
                 : ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_ACQUIRE | GPU_SCOPE_AGENT); });
        else if (ordering == GPU_FENCE_RELEASE)
            wide ? ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_RELEASE | GPU_SCOPE_SYSTEM); })
                 : ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_RELEASE | GPU_SCOPE_AGENT); });
        else
            wide ? ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE | GPU_SCOPE_SYSTEM); })
                 : ({ INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE | GPU_SCOPE_AGENT); });
    } else
        INSTRUCTION(GPU_FUNCT_FENCE, GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE | GPU_SCOPE_WORK_GROUP);
}
OV void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    if (scope == memory_scope_device || scope == memory_scope_all_svm_devices) fence(GPU_FENCE_RELEASE, scope);
    wait();
    if (scope == memory_scope_device || scope == memory_scope_all_svm_devices) fence(GPU_FENCE_ACQUIRE, scope);
}
OV void mem_fence(cl_mem_fence_flags flags) { fence(0, memory_scope_work_group); }
OV void read_mem_fence(cl_mem_fence_flags flags) { fence(0, memory_scope_work_group); }
OV void write_mem_fence(cl_mem_fence_flags flags) { fence(0, memory_scope_work_group); }
OV void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
    if (order == memory_order_relaxed) return;
    fence(order == memory_order_acquire   ? GPU_FENCE_ACQUIRE
          : order == memory_order_release ? GPU_FENCE_RELEASE
                                          : GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE,
          scope);
}

/* Each work-item copies its share; wait_group_events() is the barrier behind it. The last group of a dimension may be
 * smaller. */
#define WIDTH(d)                                                                                                    \
    ({                                                                                                              \
        const size_t size_ = CSR(GPU_CSR_GROUP_SIZE_X + d),                                                         \
                     rest_ = CSR(GPU_CSR_GRID_SIZE_X + d) - CSR(GPU_CSR_GROUP_ID_X + d) * size_;                    \
        rest_ < size_ ? rest_ : size_;                                                                              \
    })
#define COPY_LOOP(T, i, n)                                                                                          \
    for (size_t width_ = WIDTH(0), height_ = WIDTH(1), step_ = width_ * height_ * WIDTH(2),                         \
                i = CSR(GPU_CSR_LOCAL_ID_X) +                                                                       \
                    width_ * (CSR(GPU_CSR_LOCAL_ID_X + 1) + height_ * CSR(GPU_CSR_LOCAL_ID_X + 2));                 \
         i < n; i += step_)
#define COPIES(T)                                                                                          \
    OV event_t async_work_group_copy(local T* to, const global T* from, size_t n, event_t e) {             \
        COPY_LOOP(T, i, n) to[i] = from[i];                                                                \
        return e;                                                                                          \
    }                                                                                                      \
    OV event_t async_work_group_copy(global T* to, const local T* from, size_t n, event_t e) {             \
        COPY_LOOP(T, i, n) to[i] = from[i];                                                                \
        return e;                                                                                          \
    }                                                                                                      \
    OV event_t async_work_group_strided_copy(local T* to, const global T* from, size_t n, size_t stride, event_t e) { \
        COPY_LOOP(T, i, n) to[i] = from[i * stride];                                                       \
        return e;                                                                                          \
    }                                                                                                      \
    OV event_t async_work_group_strided_copy(global T* to, const local T* from, size_t n, size_t stride, event_t e) { \
        COPY_LOOP(T, i, n) to[i * stride] = from[i];                                                       \
        return e;                                                                                          \
    }                                                                                                      \
    OV void prefetch(const global T* from, size_t n) {}
#define ALL_COPIES(T) COPIES(T) COPIES(T##2) COPIES(T##3) COPIES(T##4) COPIES(T##8) COPIES(T##16)
ALL_COPIES(char) ALL_COPIES(uchar) ALL_COPIES(short) ALL_COPIES(ushort) ALL_COPIES(int) ALL_COPIES(uint)
ALL_COPIES(long) ALL_COPIES(ulong) ALL_COPIES(float) ALL_COPIES(double)
OV void wait_group_events(int n, generic event_t* events) { wait(); }
