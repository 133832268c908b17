/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels: the host fills them in, the kernel finds them at the start of its argument aperture.
 * Pointers are 64-bit global addresses. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_ARGUMENTS_H
#define FABRICVP_GPU_KERNELS_ARGUMENTS_H

#include <stdint.h>

#ifdef FABRICVP_KERNEL
#define POINTER(type) type*
#else
#define POINTER(type) uint64_t
#endif

struct vectoradd_arguments {
    POINTER(const float) a;
    POINTER(const float) b;
    POINTER(float) c;
    uint64_t n;
};

struct transpose_arguments { /* tiles of 16×16 through LDS */
    POINTER(const uint32_t) from;
    POINTER(uint32_t) to;
    uint32_t rows, columns; /* multiples of 16 */
};

enum { FIR_TAPS = 16 };
struct fir_arguments { /* y[i] = Σ h[k]·x[i + k]; x has n + FIR_TAPS - 1 elements */
    POINTER(const float) x;
    POINTER(const float) h;
    POINTER(float) y;
    uint64_t n;
};

struct reduction_arguments { /* one partial sum a work-group of 256 */
    POINTER(const uint32_t) from;
    POINTER(uint64_t) partial;
    uint64_t n;
};

enum { HISTOGRAM_BINS = 256 };
struct histogram_arguments {      /* bins in LDS, then atomics */
    POINTER(const uint32_t) from; /* four samples of 8 bits each */
    POINTER(uint32_t) bins;
    uint64_t words;
    uint64_t words_per_lane;
};

struct stencil_arguments { /* five points, borders copied */
    POINTER(const float) from;
    POINTER(float) to;
    uint32_t width, height;
};

struct mm_arguments { /* mm: c = a·b, n×n, tiles of 16×16 through LDS; mm_naive: c += a·b, a lane an element */
    POINTER(const float) a;
    POINTER(const float) b;
    POINTER(float) c;
    uint32_t n; /* mm: a multiple of 16 */
};

struct column_products_arguments { /* to = x·m, a row by a matrix n×n in double precision; a lane a column */
    POINTER(const float) m;
    POINTER(const double) x;
    POINTER(double) to;
    uint32_t n;
};

struct bitonic_arguments { /* one compare-and-exchange stage; a lane a pair */
    POINTER(uint32_t) keys;
    uint64_t pairs;
    uint32_t stage, pass;
};

struct locks_arguments {
    POINTER(uint32_t) lock;
    POINTER(uint64_t) counter;  /* incremented under the lock */
    POINTER(uint64_t) mailbox;  /* one a wavefront: producer and consumer lanes */
    POINTER(uint64_t) received; /* what the consumer of each wavefront has got, summed */
    uint64_t rounds;
};

#endif
