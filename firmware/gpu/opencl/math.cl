/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions (OpenCL C 1.2, 6.12.2). What is no instruction comes from picolibc's libm, which is linked, and
 * half_ and native_ forms are the same functions. */
#include "base.h"

/* libm's functions by names of our own, since OpenCL's have the same ones and are overloaded. */
#define LIBM __attribute__((overloadable))
#define LIBM1(name)                                                                                            \
    LIBM float m_##name(float) __asm__(#name "f");                                                             \
    LIBM double m_##name(double) __asm__(#name);
#define LIBM2(name)                                                                                            \
    LIBM float m_##name(float, float) __asm__(#name "f");                                                      \
    LIBM double m_##name(double, double) __asm__(#name);
LIBM1(acos) LIBM1(acosh) LIBM1(asin) LIBM1(asinh) LIBM1(atan) LIBM1(atanh) LIBM1(cbrt) LIBM1(cos) LIBM1(cosh)
LIBM1(erf) LIBM1(exp) LIBM1(exp2) LIBM1(expm1) LIBM1(log) LIBM1(log10) LIBM1(log1p) LIBM1(log2)
LIBM1(logb) LIBM1(sin) LIBM1(sinh) LIBM1(tan) LIBM1(tanh) LIBM1(tgamma) LIBM2(atan2) LIBM2(fdim) LIBM2(fmod)
LIBM2(hypot) LIBM2(nextafter) LIBM2(pow) LIBM2(remainder)
/* libm's erfcf() is off by more than 50 ulps where results are small. */
LIBM double m_erfc(double) __asm__("erfc");
HELPER float m_erfc(float x) { return (float)m_erfc((double)x); }
/* Whole numbers travel as long: registers hold them with their sign extended. */
LIBM float long_ldexp(float, long) __asm__("ldexpf");
LIBM double long_ldexp(double, long) __asm__("ldexp");
HELPER float m_ldexp(float x, int n) { return long_ldexp(x, (long)n); }
HELPER double m_ldexp(double x, int n) { return long_ldexp(x, (long)n); }
LIBM int m_ilogb(float) __asm__("ilogbf");
LIBM int m_ilogb(double) __asm__("ilogb");
LIBM float m_frexp(float, private int*) __asm__("frexpf");
LIBM double m_frexp(double, private int*) __asm__("frexp");
LIBM float m_modf(float, private float*) __asm__("modff");
LIBM double m_modf(double, private double*) __asm__("modf");
LIBM float m_lgamma_r(float, private int*) __asm__("lgammaf_r");
LIBM double m_lgamma_r(double, private int*) __asm__("lgamma_r");
LIBM float m_remquo(float, float, private int*) __asm__("remquof");
LIBM double m_remquo(double, double, private int*) __asm__("remquo");

HELPER float m_fabs(float x) { return __builtin_fabsf(x); }
HELPER double m_fabs(double x) { return __builtin_fabs(x); }
HELPER float m_sqrt(float x) { return __builtin_sqrtf(x); }
HELPER double m_sqrt(double x) { return __builtin_sqrt(x); }
HELPER float m_copysign(float x, float y) { return __builtin_copysignf(x, y); }
HELPER double m_copysign(double x, double y) { return __builtin_copysign(x, y); }
HELPER float m_fmin(float x, float y) { return __builtin_fminf(x, y); }
HELPER double m_fmin(double x, double y) { return __builtin_fmin(x, y); }
HELPER float m_fmax(float x, float y) { return __builtin_fmaxf(x, y); }
HELPER double m_fmax(double x, double y) { return __builtin_fmax(x, y); }
HELPER float m_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HELPER double m_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* Numbers below these have a fraction; an instruction rounds them, and larger ones and NaN stay as they are. */
#define ROUNDING(f, mode)                                                                                      \
    HELPER float m_##f(float x) {                                                                              \
        long whole;                                                                                            \
        __asm__("fcvt.l.s %0, %1, " mode : "=r"(whole) : "f"(x));                                              \
        return m_fabs(x) < 0x1p23f ? m_copysign((float)whole, x) : x;                                          \
    }                                                                                                          \
    HELPER double m_##f(double x) {                                                                            \
        long whole;                                                                                            \
        __asm__("fcvt.l.d %0, %1, " mode : "=r"(whole) : "f"(x));                                              \
        return m_fabs(x) < 0x1p52 ? m_copysign((double)whole, x) : x;                                          \
    }
ROUNDING(floor, "rdn") ROUNDING(ceil, "rup") ROUNDING(trunc, "rtz") ROUNDING(rint, "rne") ROUNDING(round, "rmm")

#define PI 3.14159265358979323846
#define NOT_A_NUMBER(T) ((T)__builtin_nanf(""))
/* Multiples of pi: what is beyond a turn goes first, exactly. Floats are computed in double. */
HELPER double turn(double x) { return x - 2 * m_rint(x * 0.5); }
HELPER double m_sinpi(double x) {
    const double r = turn(x), a = m_fabs(r), s = a > 0.5 ? 1 - a : a;
    if (m_fabs(x) == __builtin_inf()) return NOT_A_NUMBER(double);
    return m_copysign(s > 0.25 ? m_cos(PI * (0.5 - s)) : m_sin(PI * s), r == 0 ? x : r);
}
HELPER double m_cospi(double x) {
    const double a = m_fabs(turn(x)), s = a > 0.5 ? 1 - a : a;
    if (m_fabs(x) == __builtin_inf()) return NOT_A_NUMBER(double);
    const double c = s > 0.25 ? m_sin(PI * (0.5 - s)) : m_cos(PI * s);
    return a > 0.5 ? -c : c;
}
HELPER double m_tanpi(double x) {
    const double s = m_sinpi(x), c = m_cospi(x);
    return s / c;
}
HELPER float m_sinpi(float x) { return (float)m_sinpi((double)x); }
HELPER float m_cospi(float x) { return (float)m_cospi((double)x); }
HELPER float m_tanpi(float x) { return (float)m_tanpi((double)x); }
HELPER float m_exp10(float x) { return (float)m_exp2(x * 3.3219280948873623); }
HELPER double m_exp10(double x) { return m_pow(10.0, x); }
HELPER float m_pown(float x, int n) { return (float)m_pow((double)x, (double)n); }
HELPER double m_pown(double x, int n) { return m_pow(x, (double)n); }
/* Of a positive number; a step of Newton's method takes off what the rounded 1 / n costs. */
HELPER double root(double x, int n) {
    const double r = m_pow(x, 1.0 / n);
    if (!(r > 0) || r == __builtin_inf()) return r;
    return r - r * (m_pow(r, (double)n) / x - 1) / n;
}
HELPER double m_rootn(double x, int n) {
    if (n == 0 || (x < 0 && !(n & 1))) return NOT_A_NUMBER(double);
    if (x == 0) return n > 0 ? (n & 1 ? x : 0.0) : (n & 1 ? m_copysign(__builtin_inf(), x) : __builtin_inf());
    return m_copysign(root(m_fabs(x), n), x);
}
HELPER float m_rootn(float x, int n) { return (float)m_rootn((double)x, n); }
HELPER double m_powr(double x, double y) {
    if (x < 0 || (x == 0 && y == 0) || (x == __builtin_inf() && y == 0) || (x == 1 && m_fabs(y) == __builtin_inf()))
        return NOT_A_NUMBER(double);
    return x != x || y != y ? NOT_A_NUMBER(double) : m_pow(m_fabs(x), y);
}
HELPER float m_powr(float x, float y) {
    if (x < 0 || (x == 0 && y == 0) || (x == __builtin_inff() && y == 0) || (x == 1 && m_fabs(y) == __builtin_inff()))
        return NOT_A_NUMBER(float);
    return x != x || y != y ? NOT_A_NUMBER(float) : m_pow(m_fabs(x), y);
}
HELPER float m_nan(uint code) { return as_float(0x7fc00000 | code); }
HELPER double m_nan(ulong code) { return as_double(0x7ff8000000000000UL | code); }

/* Names without a vector form that differs: f(x), f(x, y). */
#define F1(name, T, expression)                                                                                \
    OV T name(T x) { return expression; }                                                                      \
    UNARY(T, name, T)
#define F2(name, T, expression)                                                                                \
    OV T name(T x, T y) { return expression; }                                                                 \
    BINARY(T, name, T)
#define F3(name, T, expression)                                                                                \
    OV T name(T x, T y, T z) { return expression; }                                                            \
    TERNARY(T, name, T)
#define SCALAR_LAST(n, f, T) OV T##n f(T##n x, T y) { return f(x, (T##n)y); }
#define SCALAR_INT(n, f, T) OV T##n f(T##n x, int y) { return f(x, (int##n)y); }
#define FN(name, T)                                                                                            \
    OV T name(T x, int n) { return m_##name(x, n); }                                                           \
    BINARY2(T, name, T, int)

#define PLAIN(f, T) F1(f, T, m_##f(x))
#define FUNCTIONS(T)                                                                                           \
    PLAIN(acos, T) PLAIN(acosh, T) PLAIN(asin, T) PLAIN(asinh, T) PLAIN(atan, T) PLAIN(atanh, T) PLAIN(cbrt, T) \
    PLAIN(cos, T) PLAIN(cosh, T) PLAIN(erf, T) PLAIN(erfc, T) PLAIN(exp, T) PLAIN(exp2, T) PLAIN(expm1, T)     \
    PLAIN(log, T) PLAIN(log10, T) PLAIN(log1p, T) PLAIN(log2, T) PLAIN(logb, T) PLAIN(sin, T) PLAIN(sinh, T)   \
    PLAIN(tan, T) PLAIN(tanh, T) PLAIN(tgamma, T) PLAIN(fabs, T) PLAIN(sqrt, T) PLAIN(floor, T) PLAIN(ceil, T) \
    PLAIN(trunc, T) PLAIN(rint, T) PLAIN(round, T) PLAIN(sinpi, T) PLAIN(cospi, T) PLAIN(tanpi, T) PLAIN(exp10, T) \
    F1(acospi, T, m_acos(x) / (T)PI) F1(asinpi, T, m_asin(x) / (T)PI) F1(atanpi, T, m_atan(x) / (T)PI)         \
    F1(rsqrt, T, 1 / m_sqrt(x))                                                                                \
    F2(atan2, T, m_atan2(x, y)) F2(atan2pi, T, m_atan2(x, y) / (T)PI) F2(fdim, T, m_fdim(x, y))                \
    F2(fmod, T, m_fmod(x, y)) F2(hypot, T, m_hypot(x, y)) F2(nextafter, T, m_nextafter(x, y))                  \
    F2(pow, T, m_pow(x, y)) F2(powr, T, m_powr(x, y)) F2(remainder, T, m_remainder(x, y))                      \
    F2(copysign, T, m_copysign(x, y)) F2(fmin, T, m_fmin(x, y)) F2(fmax, T, m_fmax(x, y))                      \
    F2(maxmag, T, m_fabs(x) > m_fabs(y) ? x : m_fabs(y) > m_fabs(x) ? y : m_fmax(x, y))                        \
    F2(minmag, T, m_fabs(x) < m_fabs(y) ? x : m_fabs(y) < m_fabs(x) ? y : m_fmin(x, y))                        \
    F3(fma, T, m_fma(x, y, z)) F3(mad, T, x * y + z)                                                           \
    FOR_VECTORS(SCALAR_LAST, fmin, T) FOR_VECTORS(SCALAR_LAST, fmax, T)                                        \
    FN(ldexp, T) FN(pown, T) FN(rootn, T) FOR_VECTORS(SCALAR_INT, ldexp, T)                                    \
    OV int ilogb(T x) { return x == 0 ? FP_ILOGB0 : x != x ? FP_ILOGBNAN : m_ilogb(x); }                       \
    UNARY(int, ilogb, T)                                                                                       \
    OV T lgamma(T x) {                                                                                         \
        int sign;                                                                                              \
        return m_lgamma_r(x, &sign);                                                                           \
    }                                                                                                          \
    UNARY(T, lgamma, T)
FUNCTIONS(float)
FUNCTIONS(double)
OV float nan(uint code) { return m_nan(code); }
OV double nan(ulong code) { return m_nan(code); }
UNARY(float, nan, uint)
UNARY(double, nan, ulong)

/* Functions with a second result behind a pointer. The vector forms go element by element. */
#define POINTER_N(n, f, T, R, space)                                                                           \
    OV T##n f(T##n x, space R##n* to) {                                                                        \
        T##n y;                                                                                                \
        R##n second;                                                                                           \
        for (int i = 0; i < n; ++i) {                                                                          \
            R one;                                                                                             \
            y[i] = f##_one(x[i], &one);                                                                        \
            second[i] = one;                                                                                   \
        }                                                                                                      \
        *to = second;                                                                                          \
        return y;                                                                                              \
    }
#define POINTER_IN(space, f, T, R)                                                                             \
    OV T f(T x, space R* to) {                                                                                 \
        R second;                                                                                              \
        const T y = f##_one(x, &second);                                                                       \
        *to = second;                                                                                          \
        return y;                                                                                              \
    }                                                                                                          \
    POINTER_N(2, f, T, R, space) POINTER_N(3, f, T, R, space) POINTER_N(4, f, T, R, space)                     \
    POINTER_N(8, f, T, R, space) POINTER_N(16, f, T, R, space)
#define POINTER(f, T, R)                                                                                       \
    POINTER_IN(global, f, T, R) POINTER_IN(local, f, T, R) POINTER_IN(private, f, T, R) POINTER_IN(generic, f, T, R)
#define POINTERS(T, below_one)                                                                                 \
    HELPER T fract_one(T x, private T* whole) {                                                                        \
        *whole = m_floor(x);                                                                                   \
        return x != x ? x : m_fabs(x) == (T)__builtin_inf() ? m_copysign((T)0, x) : m_fmin(x - *whole, below_one); \
    }                                                                                                          \
    HELPER T frexp_one(T x, private int* e) { return m_frexp(x, e); }                                                  \
    HELPER T modf_one(T x, private T* whole) { return m_modf(x, whole); }                                              \
    HELPER T lgamma_r_one(T x, private int* sign) { return m_lgamma_r(x, sign); }                                      \
    HELPER T sincos_one(T x, private T* c) {                                                                           \
        *c = m_cos(x);                                                                                         \
        return m_sin(x);                                                                                       \
    }                                                                                                          \
    POINTER(fract, T, T) POINTER(frexp, T, int) POINTER(modf, T, T) POINTER(lgamma_r, T, int) POINTER(sincos, T, T) \
    REMQUO(T, global) REMQUO(T, local) REMQUO(T, private) REMQUO(T, generic)
#define REMQUO(T, space)                                                                                       \
    OV T remquo(T x, T y, space int* to) {                                                                     \
        int q;                                                                                                 \
        const T r = m_remquo(x, y, &q);                                                                        \
        *to = q;                                                                                               \
        return r;                                                                                              \
    }                                                                                                          \
    REMQUO_N(2, T, space) REMQUO_N(3, T, space) REMQUO_N(4, T, space) REMQUO_N(8, T, space) REMQUO_N(16, T, space)
#define REMQUO_N(n, T, space)                                                                                  \
    OV T##n remquo(T##n x, T##n y, space int##n* to) {                                                         \
        T##n r;                                                                                                \
        int##n quotient;                                                                                       \
        for (int i = 0; i < n; ++i) {                                                                          \
            int q;                                                                                             \
            r[i] = m_remquo(x[i], y[i], &q);                                                                   \
            quotient[i] = q;                                                                                   \
        }                                                                                                      \
        *to = quotient;                                                                                        \
        return r;                                                                                              \
    }
POINTERS(float, 0x1.fffffep-1f)
POINTERS(double, 0x1.fffffffffffffp-1)

#define LOW_PRECISION(prefix)                                                                                  \
    F1(prefix##cos, float, m_cos(x)) F1(prefix##sin, float, m_sin(x)) F1(prefix##tan, float, m_tan(x))         \
    F1(prefix##exp, float, m_exp(x)) F1(prefix##exp2, float, m_exp2(x)) F1(prefix##exp10, float, m_exp10(x))   \
    F1(prefix##log, float, m_log(x)) F1(prefix##log2, float, m_log2(x)) F1(prefix##log10, float, m_log10(x))   \
    F1(prefix##recip, float, 1 / x) F1(prefix##rsqrt, float, 1 / m_sqrt(x)) F1(prefix##sqrt, float, m_sqrt(x)) \
    F2(prefix##divide, float, x / y) F2(prefix##powr, float, m_powr(x, y))
LOW_PRECISION(half_)
LOW_PRECISION(native_)
