/* SPDX-License-Identifier: Apache-2.0 */
/* Explicit conversions (OpenCL C 1.2, 6.2.3) to one type, which TO names: convert_int(x), convert_int4_sat_rte(x), …
 * Instructions of RISC-V name their rounding and give the nearest value of what is out of range. */
#include "base.h"

#define BITS(T) (8 * (int)sizeof(T))
#define IS_SIGNED(T) ((T)-1 < 0)
#define MIN_OF(T) ((T)(IS_SIGNED(T) ? (ulong)1 << (BITS(T) - 1) : 0))
#define MAX_OF(T) ((T) ~MIN_OF(T))
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* Names f(x) for one scalar and for vectors of it. */
#define VECTORS(name, R, F)                                                                                    \
    OV JOIN(R, 2) JOIN(JOIN(convert_, R), JOIN(2, name))(F##2 x) { return (JOIN(R, 2))(ONE(R, name)(x.s0), ONE(R, name)(x.s1)); } \
    OV JOIN(R, 3) JOIN(JOIN(convert_, R), JOIN(3, name))(F##3 x) {                                             \
        return (JOIN(R, 3))(ONE(R, name)(x.s0), ONE(R, name)(x.s1), ONE(R, name)(x.s2));                       \
    }                                                                                                          \
    HALVES(name, R, F, 4, 2) HALVES(name, R, F, 8, 4) HALVES(name, R, F, 16, 8)
#define HALVES(name, R, F, n, half)                                                                            \
    OV JOIN(R, n) JOIN(JOIN(convert_, R), JOIN(n, name))(JOIN(F, n) x) {                                       \
        return (JOIN(R, n))(JOIN(JOIN(convert_, R), JOIN(half, name))(x.lo), JOIN(JOIN(convert_, R), JOIN(half, name))(x.hi)); \
    }
#define ONE(R, name) JOIN(JOIN(convert_, R), name)
#define DEFINE(name, R, F, expression)                                                                         \
    OV R ONE(R, name)(F x) { return expression; }                                                              \
    VECTORS(name, R, F)
#define MODES(F, define, sat) define(sat, F, "rtz", ) define(sat##_rte, F, "rne", ) define(sat##_rtz, F, "rtz", ) \
    define(sat##_rtp, F, "rup", ) define(sat##_rtn, F, "rdn", )

#define ROUNDED(T, instruction, constraint, from, value)                                                       \
    ({                                                                                                         \
        T rounded_;                                                                                            \
        __asm__(instruction : constraint(rounded_) : from(value));                                             \
        rounded_;                                                                                              \
    })

#ifdef INTEGER
/* From integers rounding changes nothing. */
#define WRAP(name, F, mode, unused) DEFINE(name, TO, F, (TO)x)
#define LIMIT(name, F, mode, unused)                                                                           \
    DEFINE(name, TO, F,                                                                                        \
           IS_SIGNED(F) ? (IS_SIGNED(TO) ? ((long)x < (long)MIN_OF(TO)   ? MIN_OF(TO)                          \
                                            : (long)x > (long)MAX_OF(TO) ? MAX_OF(TO)                          \
                                                                         : (TO)x)                              \
                                         : (x < 0                            ? (TO)0                           \
                                            : (ulong)x > (ulong)MAX_OF(TO) ? MAX_OF(TO)                        \
                                                                           : (TO)x))                           \
                        : ((ulong)x > (ulong)MAX_OF(TO) ? MAX_OF(TO) : (TO)x))
#define FROM_INTEGER(F, U) MODES(F, WRAP, ) MODES(F, LIMIT, _sat)
FOR_INTEGERS(FROM_INTEGER)

/* The nearest long or ulong. */
#define WHOLE(suffix, mode)                                                                                    \
    (IS_SIGNED(TO) || sizeof(TO) < 8 ? (ulong)ROUNDED(long, "fcvt.l." suffix " %0, %1, " mode, "=r", "f", x)   \
                                     : ROUNDED(ulong, "fcvt.lu." suffix " %0, %1, " mode, "=r", "f", x))
#define LIMITED(whole)                                                                                         \
    ({                                                                                                         \
        const ulong w_ = whole;                                                                                \
        x != x                                       ? (TO)0                                                   \
        : sizeof(TO) == 8                            ? (TO)w_                                                  \
        : (long)w_ < (long)MIN_OF(TO)                ? MIN_OF(TO)                                              \
        : (long)w_ > (long)(ulong)MAX_OF(TO)         ? MAX_OF(TO)                                              \
                                                     : (TO)w_;                                                 \
    })
#define FLOAT_WRAP(name, F, mode, unused) DEFINE(name, TO, F, (TO)WHOLE(SUFFIX_##F, mode))
#define FLOAT_LIMIT(name, F, mode, unused) DEFINE(name, TO, F, LIMITED(WHOLE(SUFFIX_##F, mode)))
#define SUFFIX_float "s"
#define SUFFIX_double "d"
MODES(float, FLOAT_WRAP, ) MODES(float, FLOAT_LIMIT, _sat) MODES(double, FLOAT_WRAP, ) MODES(double, FLOAT_LIMIT, _sat)
#else

/* "#f" tells the compiler (compiler/module.py) that the result is in a floating-point register, which clang does not accept
 * for its target spir64. */
#define TO_MODES(F, define) define(, F, "rne", ) define(_rte, F, "rne", ) define(_rtz, F, "rtz", ) \
    define(_rtp, F, "rup", ) define(_rtn, F, "rdn", )
#define FROM_SIGNED(name, F, mode, unused) \
    DEFINE(name, TO, F, ROUNDED(TO, "fcvt." OF_TO ".l %0, %1, " mode " #f", "=r", "r", (long)x))
#define FROM_UNSIGNED(name, F, mode, unused) \
    DEFINE(name, TO, F, ROUNDED(TO, "fcvt." OF_TO ".lu %0, %1, " mode " #f", "=r", "r", (ulong)x))
TO_MODES(char, FROM_SIGNED) TO_MODES(short, FROM_SIGNED) TO_MODES(int, FROM_SIGNED) TO_MODES(long, FROM_SIGNED)
TO_MODES(uchar, FROM_UNSIGNED) TO_MODES(ushort, FROM_UNSIGNED) TO_MODES(uint, FROM_UNSIGNED) TO_MODES(ulong, FROM_UNSIGNED)
#define SAME(name, F, mode, unused) DEFINE(name, TO, F, (TO)x)
#define NARROWER(name, F, mode, unused) \
    DEFINE(name, TO, F, ROUNDED(TO, "fcvt.s.d %0, %1, " mode " #f", "=r", "f", x))
#ifdef DOUBLE
TO_MODES(float, SAME) TO_MODES(double, SAME)
#else
TO_MODES(float, SAME) TO_MODES(double, NARROWER)
#endif
#endif
