/* SPDX-License-Identifier: Apache-2.0 */
/* Types of OpenCL for the host: numbers and vectors. */
#ifndef FABRICVP_CL_PLATFORM_H
#define FABRICVP_CL_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#define CL_CALLBACK
#define CL_API_CALL
#define CL_API_ENTRY

typedef int8_t cl_char;
typedef uint8_t cl_uchar;
typedef int16_t cl_short;
typedef uint16_t cl_ushort;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef int64_t cl_long;
typedef uint64_t cl_ulong;
typedef uint16_t cl_half;
typedef float cl_float;
typedef double cl_double;

/* Vectors: `s` has the elements. */
#define FABRICVP_CL_VECTOR(type, n)                                        \
    typedef union {                                                        \
        cl_##type s[n];                                                    \
        uint8_t aligned __attribute__((aligned(sizeof(cl_##type) * (n)))); \
    } cl_##type##n;
#define FABRICVP_CL_VECTORS(type) \
    FABRICVP_CL_VECTOR(type, 2)   \
    FABRICVP_CL_VECTOR(type, 4)   \
    FABRICVP_CL_VECTOR(type, 8)   \
    FABRICVP_CL_VECTOR(type, 16)  \
    typedef cl_##type##4 cl_##type##3;
FABRICVP_CL_VECTORS(char)
FABRICVP_CL_VECTORS(uchar)
FABRICVP_CL_VECTORS(short)
FABRICVP_CL_VECTORS(ushort)
FABRICVP_CL_VECTORS(int)
FABRICVP_CL_VECTORS(uint)
FABRICVP_CL_VECTORS(long)
FABRICVP_CL_VECTORS(ulong)
FABRICVP_CL_VECTORS(float)
FABRICVP_CL_VECTORS(double)

#endif
