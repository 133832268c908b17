/* SPDX-License-Identifier: Apache-2.0 */
/* Integer functions (OpenCL C 1.2, 6.12.3; ctz of 2.0). */
#include "base.h"

#define BITS(T) (8 * (int)sizeof(T))
#define MIN_OF(T) ((T)((T)-1 < 0 ? (ulong)1 << (BITS(T) - 1) : 0))
#define MAX_OF(T) ((T) ~MIN_OF(T))
#define IS_SIGNED(T) ((T)-1 < 0)

/* The high half of a product of 64 bits: one instruction. */
HELPER long high_product(long x, long y) {
    long z;
    __asm__("mulh %0, %1, %2" : "=r"(z) : "r"(x), "r"(y));
    return z;
}
HELPER ulong high_product(ulong x, ulong y) {
    ulong z;
    __asm__("mulhu %0, %1, %2" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

#define SCALARS(T, U)                                                                                          \
    OV U abs(T x) { return x < 0 ? (U)-(U)x : (U)x; }                                                          \
    OV U abs_diff(T x, T y) { return x > y ? (U)x - (U)y : (U)y - (U)x; }                                      \
    OV T add_sat(T x, T y) {                                                                                   \
        T z;                                                                                                   \
        return __builtin_add_overflow(x, y, &z) ? (IS_SIGNED(T) && x < 0 ? MIN_OF(T) : MAX_OF(T)) : z;         \
    }                                                                                                          \
    OV T sub_sat(T x, T y) {                                                                                   \
        T z;                                                                                                   \
        return __builtin_sub_overflow(x, y, &z) ? (!IS_SIGNED(T) || x < 0 ? MIN_OF(T) : MAX_OF(T)) : z;        \
    }                                                                                                          \
    OV T hadd(T x, T y) { return (x >> 1) + (y >> 1) + (x & y & 1); }                                          \
    OV T rhadd(T x, T y) { return (x >> 1) + (y >> 1) + ((x | y) & 1); }                                       \
    OV T rotate(T x, T by) {                                                                                   \
        const int n = (int)by & (BITS(T) - 1);                                                                 \
        return (T)((U)x << n | (U)x >> (-n & (BITS(T) - 1)));                                                  \
    }                                                                                                          \
    OV T clz(T x) { return x ? (T)(__builtin_clzl((ulong)(U)x) - (64 - BITS(T))) : (T)BITS(T); }               \
    OV T ctz(T x) { return x ? (T)__builtin_ctzl((ulong)(U)x) : (T)BITS(T); }                                  \
    OV T popcount(T x) { return (T)__builtin_popcountl((ulong)(U)x); }                                         \
    UNARY(U, abs, T) BINARY(U, abs_diff, T) BINARY(T, add_sat, T) BINARY(T, sub_sat, T) BINARY(T, hadd, T)      \
    BINARY(T, rhadd, T) BINARY(T, rotate, T) UNARY(T, clz, T) UNARY(T, ctz, T) UNARY(T, popcount, T)
FOR_INTEGERS(SCALARS)

#define NARROW(T, W) OV T mul_hi(T x, T y) { return (T)((W)x * (W)y >> BITS(T)); }
NARROW(char, int) NARROW(uchar, int) NARROW(short, int) NARROW(ushort, uint) NARROW(int, long) NARROW(uint, ulong)
OV long mul_hi(long x, long y) { return high_product(x, y); }
OV ulong mul_hi(ulong x, ulong y) { return high_product(x, y); }
#define MULTIPLIES(T, U)                                                                                       \
    OV T mad_hi(T x, T y, T z) { return (T)(mul_hi(x, y) + z); }                                               \
    OV T mad_sat(T x, T y, T z) {                                                                              \
        const T high = mul_hi(x, y);                                                                           \
        const U low = (U)((ulong)(U)x * (ulong)(U)y);                                                          \
        const U sum = (U)(low + (U)z);                                                                         \
        const T top = (T)(high + (IS_SIGNED(T) && z < 0 ? (T)-1 : (T)0) + (T)(sum < low));                     \
        if (!IS_SIGNED(T)) return top ? MAX_OF(T) : (T)sum;                                                    \
        return top == ((T)sum < 0 ? (T)-1 : (T)0) ? (T)sum : top < 0 ? MIN_OF(T) : MAX_OF(T);                  \
    }                                                                                                          \
    BINARY(T, mul_hi, T) TERNARY(T, mad_hi, T) TERNARY(T, mad_sat, T)
FOR_INTEGERS(MULTIPLIES)

#define FAST(T)                                                                                                \
    OV T mul24(T x, T y) { return x * y; }                                                                     \
    OV T mad24(T x, T y, T z) { return x * y + z; }                                                            \
    BINARY(T, mul24, T) TERNARY(T, mad24, T)
FAST(int) FAST(uint)

#define UPSAMPLE(R, T, U)                                                                                      \
    OV R upsample(T high, U low) { return (R)((R)high << BITS(T) | (R)low); }                                  \
    BINARY2(R, upsample, T, U)
UPSAMPLE(short, char, uchar) UPSAMPLE(ushort, uchar, uchar) UPSAMPLE(int, short, ushort) UPSAMPLE(uint, ushort, ushort)
UPSAMPLE(long, int, uint) UPSAMPLE(ulong, uint, uint)
