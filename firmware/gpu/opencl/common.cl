/* SPDX-License-Identifier: Apache-2.0 */
/* Common functions (OpenCL C 1.2, 6.12.4), and min, max and clamp of integers (6.12.3). */
#include "base.h"

#define SCALAR_LAST(n, f, T) OV T##n f(T##n x, T y) { return f(x, (T##n)y); }
#define SCALARS_LAST(n, f, T) OV T##n f(T##n x, T y, T z) { return f(x, (T##n)y, (T##n)z); }
#define SCALAR_FIRST(n, f, T) OV T##n f(T y, T##n x) { return f((T##n)y, x); }
#define SCALARS_FIRST(n, f, T) OV T##n f(T y, T z, T##n x) { return f((T##n)y, (T##n)z, x); }
#define SCALAR_THIRD(n, f, T) OV T##n f(T##n x, T##n y, T z) { return f(x, y, (T##n)z); }

#define ORDERED(T)                                                                                             \
    BINARY(T, min, T) BINARY(T, max, T) TERNARY(T, clamp, T)                                                   \
    FOR_VECTORS(SCALAR_LAST, min, T) FOR_VECTORS(SCALAR_LAST, max, T) FOR_VECTORS(SCALARS_LAST, clamp, T)
#define INTEGERS(T, U)                                                                                         \
    OV T min(T x, T y) { return y < x ? y : x; }                                                               \
    OV T max(T x, T y) { return x < y ? y : x; }                                                               \
    OV T clamp(T x, T low, T high) { return min(max(x, low), high); }                                          \
    ORDERED(T)
FOR_INTEGERS(INTEGERS)

#define FLOATS(T, fmin, fmax, copysign, DEGREES, RADIANS)                                                      \
    OV T min(T x, T y) { return fmin(x, y); }                                                                  \
    OV T max(T x, T y) { return fmax(x, y); }                                                                  \
    OV T clamp(T x, T low, T high) { return fmin(fmax(x, low), high); }                                        \
    OV T degrees(T x) { return x * DEGREES; }                                                                  \
    OV T radians(T x) { return x * RADIANS; }                                                                  \
    OV T mix(T x, T y, T a) { return x + (y - x) * a; }                                                        \
    OV T step(T edge, T x) { return x < edge ? (T)0 : (T)1; }                                                  \
    OV T smoothstep(T low, T high, T x) {                                                                      \
        const T t = fmin(fmax((x - low) / (high - low), (T)0), (T)1);                                          \
        return t * t * (3 - 2 * t);                                                                            \
    }                                                                                                          \
    OV T sign(T x) { return x != x ? (T)0 : x == 0 ? x : copysign((T)1, x); }                                  \
    ORDERED(T) UNARY(T, degrees, T) UNARY(T, radians, T) TERNARY(T, mix, T) BINARY(T, step, T)                  \
    TERNARY(T, smoothstep, T) UNARY(T, sign, T)                                                                \
    FOR_VECTORS(SCALAR_THIRD, mix, T) FOR_VECTORS(SCALAR_FIRST, step, T) FOR_VECTORS(SCALARS_FIRST, smoothstep, T)
FLOATS(float, __builtin_fminf, __builtin_fmaxf, __builtin_copysignf, 57.295779513082321f, 0.017453292519943295f)
FLOATS(double, __builtin_fmin, __builtin_fmax, __builtin_copysign, 57.295779513082321, 0.017453292519943295)
