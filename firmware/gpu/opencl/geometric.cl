/* SPDX-License-Identifier: Apache-2.0 */
/* Geometric functions (OpenCL C 1.2, 6.12.5). Lengths of float vectors are computed in double: no square overflows. */
#include "base.h"

#define DOTS(T)                                                                                                \
    OV T dot(T x, T y) { return x * y; }                                                                       \
    OV T dot(T##2 x, T##2 y) { return x.s0 * y.s0 + x.s1 * y.s1; }                                             \
    OV T dot(T##3 x, T##3 y) { return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2; }                               \
    OV T dot(T##4 x, T##4 y) { return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3; }                 \
    OV T##3 cross(T##3 x, T##3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; }                                    \
    OV T##4 cross(T##4 x, T##4 y) { return (T##4)(x.yzx * y.zxy - x.zxy * y.yzx, 0); }
DOTS(float) DOTS(double)

#define CONVERT(x, D) __builtin_convertvector(x, D)
#define FLOAT_LENGTHS(T, D)                                                                                    \
    HELPER double square(T x) {                                                                                \
        const D d = CONVERT(x, D);                                                                             \
        return dot(d, d);                                                                                      \
    }                                                                                                          \
    OV float fast_length(T x) { return __builtin_sqrtf(dot(x, x)); }                                           \
    OV float length(T x) { return (float)__builtin_sqrt(square(x)); }                                          \
    OV T normalize(T x) {                                                                                      \
        const double s = square(x);                                                                            \
        return s == 0 ? x : CONVERT(CONVERT(x, D) / __builtin_sqrt(s), T);                                     \
    }                                                                                                          \
    OV T fast_normalize(T x) {                                                                                 \
        const float s = dot(x, x);                                                                             \
        return s == 0 ? x : x * (1 / __builtin_sqrtf(s));                                                      \
    }                                                                                                          \
    OV float distance(T x, T y) { return length(x - y); }                                                      \
    OV float fast_distance(T x, T y) { return fast_length(x - y); }
FLOAT_LENGTHS(float2, double2) FLOAT_LENGTHS(float3, double3) FLOAT_LENGTHS(float4, double4)
OV float length(float x) { return __builtin_fabsf(x); }
OV float fast_length(float x) { return __builtin_fabsf(x); }
OV float distance(float x, float y) { return __builtin_fabsf(x - y); }
OV float fast_distance(float x, float y) { return __builtin_fabsf(x - y); }
OV float normalize(float x) { return x == 0 || x != x ? x : __builtin_copysignf(1, x); }
OV float fast_normalize(float x) { return normalize(x); }

/* Doubles are scaled by a power of two of the largest element. */
HELPER double largest(double2 x) { return __builtin_fmax(__builtin_fabs(x.s0), __builtin_fabs(x.s1)); }
HELPER double largest(double3 x) { return __builtin_fmax(largest(x.xy), __builtin_fabs(x.s2)); }
HELPER double largest(double4 x) { return __builtin_fmax(largest(x.lo), largest(x.hi)); }
/* 2^-e of a finite number that is not 0, within the normal ones. */
HELPER double scale_of(double m) {
    const long e = (as_long(m) >> 52 & 0x7ff);
    return as_double((2046 - (e < 1 ? 1 : e > 2045 ? 2045 : e)) << 52);
}
#define DOUBLE_LENGTHS(D)                                                                                      \
    OV double length(D x) {                                                                                    \
        const double m = largest(x);                                                                           \
        if (m == 0 || __builtin_isinf(m)) return m;                                                            \
        const double k = scale_of(m);                                                                          \
        x *= k;                                                                                                \
        return __builtin_sqrt(dot(x, x)) / k;                                                                  \
    }                                                                                                          \
    OV D normalize(D x) {                                                                                      \
        const double m = largest(x);                                                                           \
        if (m == 0) return x;                                                                                  \
        if (!__builtin_isinf(m)) x *= scale_of(m);                                                             \
        return x / __builtin_sqrt(dot(x, x));                                                                  \
    }                                                                                                          \
    OV double distance(D x, D y) { return length(x - y); }
DOUBLE_LENGTHS(double2) DOUBLE_LENGTHS(double3) DOUBLE_LENGTHS(double4)
OV double length(double x) { return __builtin_fabs(x); }
OV double distance(double x, double y) { return __builtin_fabs(x - y); }
OV double normalize(double x) { return x == 0 || x != x ? x : __builtin_copysign(1, x); }
