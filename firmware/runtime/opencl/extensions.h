/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of OpenCL C may use beyond its core: devices report these, and kernels see their macros and no others.
 * Atomics of 32 bits belong to the core since OpenCL 1.1. */
#ifndef FABRICVP_RUNTIME_OPENCL_EXTENSIONS_H
#define FABRICVP_RUNTIME_OPENCL_EXTENSIONS_H

#define OPENCL_EXTENSIONS                                                                                              \
    "cl_khr_fp64 cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics " \
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "                   \
    "cl_khr_int64_extended_atomics"

/* What kernels in OpenCL C 3.0 find of its optional features; other versions do not know their names. */
#define OPENCL_C_FEATURES                                                                                    \
    "__opencl_c_atomic_order_acq_rel __opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device "        \
    "__opencl_c_atomic_scope_all_devices __opencl_c_fp64 __opencl_c_generic_address_space __opencl_c_int64 " \
    "__opencl_c_program_scope_global_variables"

#endif
