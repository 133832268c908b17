/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of half precision in memory, which belong to the core of OpenCL C (1.2, 6.12.7). clang declares them
 * with cl_khr_fp16 only, by which kernels could calculate with halves as well, and devices do not report it. */
#ifndef FABRICVP_GPU_OPENCL_HALF_ACCESS_H
#define FABRICVP_GPU_OPENCL_HALF_ACCESS_H

#define HALF_OV_ __attribute__((overloadable))
#define HALF_LOAD_(n, space)                                    \
    HALF_OV_ float##n vload_half##n(size_t, const space half*); \
    HALF_OV_ float##n vloada_half##n(size_t, const space half*);
#define HALF_LOADS_(space)                                \
    HALF_OV_ float vload_half(size_t, const space half*); \
    HALF_LOAD_(2, space) HALF_LOAD_(3, space) HALF_LOAD_(4, space) HALF_LOAD_(8, space) HALF_LOAD_(16, space)
#define HALF_STORE_(n, F, space, mode)                             \
    HALF_OV_ void vstore_half##n##mode(F##n, size_t, space half*); \
    HALF_OV_ void vstorea_half##n##mode(F##n, size_t, space half*);
#define HALF_STORES_(F, space, mode)                         \
    HALF_OV_ void vstore_half##mode(F, size_t, space half*); \
    HALF_STORE_(2, F, space, mode)                           \
    HALF_STORE_(3, F, space, mode)                           \
    HALF_STORE_(4, F, space, mode) HALF_STORE_(8, F, space, mode) HALF_STORE_(16, F, space, mode)
#define HALF_MODES_(F, space) \
    HALF_STORES_(F, space, )  \
    HALF_STORES_(F, space, _rte) HALF_STORES_(F, space, _rtz) HALF_STORES_(F, space, _rtp) HALF_STORES_(F, space, _rtn)
#define HALF_SPACE_(space) HALF_LOADS_(space) HALF_MODES_(float, space) HALF_MODES_(double, space)
HALF_LOADS_(constant)
HALF_SPACE_(global)
HALF_SPACE_(local)
HALF_SPACE_(private)
#if __OPENCL_C_VERSION__ >= 200
HALF_SPACE_(generic)
#endif

#endif
