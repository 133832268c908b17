/* SPDX-License-Identifier: Apache-2.0 */
/* Relational functions (OpenCL C 1.2, 6.12.6). Scalars give 1, elements of vectors -1. */
#include "base.h"

#define COMPARE(f, T, I, expression)                                                                           \
    OV int f(T x, T y) { return expression; }                                                                  \
    COMPARE_V(2, f, T, I, expression) COMPARE_V(3, f, T, I, expression) COMPARE_V(4, f, T, I, expression)       \
    COMPARE_V(8, f, T, I, expression) COMPARE_V(16, f, T, I, expression)
#define COMPARE_V(n, f, T, I, expression) OV I##n f(T##n x, T##n y) { return expression; }
#define TEST(f, T, I, expression)                                                                              \
    HELPER I f##_one(T x) { return (expression) ? (I)-1 : (I)0; }                                              \
    HELPER UNARY_TESTS(f, T, I)                                                                                \
    OV int f(T x) { return expression; }                                                                       \
    OV I##2 f(T##2 x) { return f##_one(x); }                                                                   \
    OV I##3 f(T##3 x) { return f##_one(x); }                                                                   \
    OV I##4 f(T##4 x) { return f##_one(x); }                                                                   \
    OV I##8 f(T##8 x) { return f##_one(x); }                                                                   \
    OV I##16 f(T##16 x) { return f##_one(x); }
#define UNARY_TESTS(f, T, I)                                                                                   \
    I##2 f##_one(T##2 x) { return (I##2)(f##_one(x.s0), f##_one(x.s1)); }                                      \
    HELPER I##3 f##_one(T##3 x) { return (I##3)(f##_one(x.s0), f##_one(x.s1), f##_one(x.s2)); }                \
    HELPER I##4 f##_one(T##4 x) { return (I##4)(f##_one(x.lo), f##_one(x.hi)); }                               \
    HELPER I##8 f##_one(T##8 x) { return (I##8)(f##_one(x.lo), f##_one(x.hi)); }                               \
    HELPER I##16 f##_one(T##16 x) { return (I##16)(f##_one(x.lo), f##_one(x.hi)); }
#define FLOATS(T, I, as, mask, infinity, smallest)                                                             \
    COMPARE(isequal, T, I, x == y) COMPARE(isnotequal, T, I, x != y) COMPARE(isgreater, T, I, x > y)           \
    COMPARE(isgreaterequal, T, I, x >= y) COMPARE(isless, T, I, x < y) COMPARE(islessequal, T, I, x <= y)      \
    COMPARE(islessgreater, T, I, x < y || x > y) COMPARE(isordered, T, I, x == x && y == y)                    \
    COMPARE(isunordered, T, I, x != x || y != y)                                                               \
    TEST(isfinite, T, I, (as(x) & mask) < infinity) TEST(isinf, T, I, (as(x) & mask) == infinity)              \
    TEST(isnan, T, I, (as(x) & mask) > infinity)                                                               \
    TEST(isnormal, T, I, (as(x) & mask) < infinity && (as(x) & mask) >= smallest) TEST(signbit, T, I, as(x) < 0)
FLOATS(float, int, as_int, 0x7fffffff, 0x7f800000, 0x00800000)
FLOATS(double, long, as_long, 0x7fffffffffffffffL, 0x7ff0000000000000L, 0x0010000000000000L)

#define GATHER(T)                                                                                              \
    OV int any(T x) { return x < 0; }                                                                          \
    OV int any(T##2 x) { return (x.s0 | x.s1) < 0; }                                                           \
    OV int any(T##3 x) { return (x.s0 | x.s1 | x.s2) < 0; }                                                    \
    OV int any(T##4 x) { return any(x.lo | x.hi); }                                                            \
    OV int any(T##8 x) { return any(x.lo | x.hi); }                                                            \
    OV int any(T##16 x) { return any(x.lo | x.hi); }                                                           \
    OV int all(T x) { return x < 0; }                                                                          \
    OV int all(T##2 x) { return (x.s0 & x.s1) < 0; }                                                           \
    OV int all(T##3 x) { return (x.s0 & x.s1 & x.s2) < 0; }                                                    \
    OV int all(T##4 x) { return all(x.lo & x.hi); }                                                            \
    OV int all(T##8 x) { return all(x.lo & x.hi); }                                                            \
    OV int all(T##16 x) { return all(x.lo & x.hi); }
GATHER(char) GATHER(short) GATHER(int) GATHER(long)

#define SELECT(T, I)                                                                                           \
    OV T select(T x, T y, I c) { return c ? y : x; }                                                           \
    SELECT_V(2, T, I) SELECT_V(3, T, I) SELECT_V(4, T, I) SELECT_V(8, T, I) SELECT_V(16, T, I)
/* The most significant bit of each element chooses. */
#define SELECT_V(n, T, I)                                                                                      \
    OV T##n select(T##n x, T##n y, I##n c) {                                                                   \
        const I##n m = (c >> (8 * sizeof(I) - 1)) * (I)((I)-1 < 0 ? 1 : -1);                                   \
        return __builtin_astype((__builtin_astype(x, I##n) & ~m) | (__builtin_astype(y, I##n) & m), T##n);     \
    }
SELECT(char, char) SELECT(char, uchar) SELECT(uchar, char) SELECT(uchar, uchar)
SELECT(short, short) SELECT(short, ushort) SELECT(ushort, short) SELECT(ushort, ushort)
SELECT(int, int) SELECT(int, uint) SELECT(uint, int) SELECT(uint, uint) SELECT(float, int) SELECT(float, uint)
SELECT(long, long) SELECT(long, ulong) SELECT(ulong, long) SELECT(ulong, ulong) SELECT(double, long) SELECT(double, ulong)

#define BITSELECT(T, I) BITSELECT_(T, I) BITSELECT_(T##2, I##2) BITSELECT_(T##3, I##3) BITSELECT_(T##4, I##4) \
    BITSELECT_(T##8, I##8) BITSELECT_(T##16, I##16)
#define BITSELECT_(T, I)                                                                                       \
    OV T bitselect(T x, T y, T c) {                                                                            \
        const I a = __builtin_astype(x, I), b = __builtin_astype(y, I), m = __builtin_astype(c, I);            \
        return __builtin_astype((I)((a & ~m) | (b & m)), T);                                                   \
    }
BITSELECT(char, char) BITSELECT(uchar, uchar) BITSELECT(short, short) BITSELECT(ushort, ushort) BITSELECT(int, int)
BITSELECT(uint, uint) BITSELECT(long, long) BITSELECT(ulong, ulong) BITSELECT(float, int) BITSELECT(double, long)
