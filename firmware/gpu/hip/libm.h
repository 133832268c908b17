/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematics of device code beside device.h: the rest of libm, what CUDA adds to it, and other types of arguments. */
#ifndef FABRICVP_GPU_HIP_LIBM_H
#define FABRICVP_GPU_HIP_LIBM_H

/* Integers count as double, and so does a pair of float and double. Other mixed pairs have a function already. */
template <class T>
struct fabricvp_kind {
    static constexpr bool whole = __is_integral(T);
};
template <class T, bool = fabricvp_kind<T>::whole>
struct fabricvp_whole {};
template <class T>
struct fabricvp_whole<T, true> {
    typedef double type;
};
template <class A, class B, bool = fabricvp_kind<A>::whole&& fabricvp_kind<B>::whole>
struct fabricvp_mixed {};
template <class A, class B>
struct fabricvp_mixed<A, B, true> {
    typedef double type;
};
template <>
struct fabricvp_mixed<float, double, false> {
    typedef double type;
};
template <>
struct fabricvp_mixed<double, float, false> {
    typedef double type;
};
#define FABRICVP_OF_WHOLE(name)                                  \
    template <class T>                                           \
    FABRICVP_DEVICE typename fabricvp_whole<T>::type name(T x) { \
        return name((double)x);                                  \
    }
#define FABRICVP_OF_MIXED(name)                                          \
    template <class A, class B>                                          \
    FABRICVP_DEVICE typename fabricvp_mixed<A, B>::type name(A x, B y) { \
        return name((double)x, (double)y);                               \
    }
/* clang-format off */
FABRICVP_OF_WHOLE(acos) FABRICVP_OF_WHOLE(acosh) FABRICVP_OF_WHOLE(asin) FABRICVP_OF_WHOLE(asinh)
FABRICVP_OF_WHOLE(atan) FABRICVP_OF_WHOLE(atanh) FABRICVP_OF_WHOLE(cbrt) FABRICVP_OF_WHOLE(ceil)
FABRICVP_OF_WHOLE(cos) FABRICVP_OF_WHOLE(cosh) FABRICVP_OF_WHOLE(erf) FABRICVP_OF_WHOLE(erfc)
FABRICVP_OF_WHOLE(exp) FABRICVP_OF_WHOLE(exp2) FABRICVP_OF_WHOLE(expm1) FABRICVP_OF_WHOLE(fabs)
FABRICVP_OF_WHOLE(floor) FABRICVP_OF_WHOLE(log) FABRICVP_OF_WHOLE(log10) FABRICVP_OF_WHOLE(log1p)
FABRICVP_OF_WHOLE(log2) FABRICVP_OF_WHOLE(logb) FABRICVP_OF_WHOLE(nearbyint) FABRICVP_OF_WHOLE(rint)
FABRICVP_OF_WHOLE(round) FABRICVP_OF_WHOLE(sin) FABRICVP_OF_WHOLE(sinh) FABRICVP_OF_WHOLE(sqrt)
FABRICVP_OF_WHOLE(tan) FABRICVP_OF_WHOLE(tanh) FABRICVP_OF_WHOLE(tgamma) FABRICVP_OF_WHOLE(trunc)
FABRICVP_OF_MIXED(atan2) FABRICVP_OF_MIXED(copysign) FABRICVP_OF_MIXED(fdim) FABRICVP_OF_MIXED(fmax)
FABRICVP_OF_MIXED(fmin) FABRICVP_OF_MIXED(fmod) FABRICVP_OF_MIXED(hypot) FABRICVP_OF_MIXED(pow)
FABRICVP_OF_MIXED(remainder)
FABRICVP_C long labs(long x) noexcept { return x < 0 ? -x : x; }
/* clang-format on */
FABRICVP_C long long llabs(long long x) noexcept { return x < 0 ? -x : x; }
FABRICVP_DEVICE long abs(long x) { return labs(x); }
FABRICVP_DEVICE long long abs(long long x) { return llabs(x); }

/* Kinds of numbers. */
#define FABRICVP_KIND(name, expression)                       \
    FABRICVP_DEVICE bool name(float x) { return expression; } \
    FABRICVP_DEVICE bool name(double x) { return expression; }
FABRICVP_KIND(isnan, __builtin_isnan(x))
FABRICVP_KIND(isinf, __builtin_isinf(x))
FABRICVP_KIND(isfinite, __builtin_isfinite(x))
FABRICVP_KIND(isnormal, __builtin_isnormal(x))
FABRICVP_DEVICE bool signbit(float x) { return __builtin_bit_cast(unsigned, x) >> 31; }
FABRICVP_DEVICE bool signbit(double x) { return __builtin_bit_cast(unsigned long, x) >> 63; }

/* Functions with whole numbers. They travel as long: registers hold them with their sign extended. None of these has
 * the symbol of libm's function, which it may be made of. */
#define FABRICVP_LIBM_SCALE(name, T, suffix)                                                  \
    extern "C" __device__ T fabricvp_##name##suffix(T, long) noexcept __asm__(#name #suffix); \
    FABRICVP_DEVICE T name##suffix(T x, int n) noexcept { return fabricvp_##name##suffix(x, n); }
FABRICVP_LIBM_SCALE(ldexp, float, f)
FABRICVP_LIBM_SCALE(ldexp, double, )
FABRICVP_DEVICE float scalbnf(float x, int n) noexcept { return ldexpf(x, n); }
FABRICVP_DEVICE double scalbn(double x, int n) noexcept { return ldexp(x, n); }
FABRICVP_DEVICE int fabricvp_clipped(long n) { return n > 1 << 20 ? 1 << 20 : n < -(1 << 20) ? -(1 << 20) : (int)n; }
FABRICVP_DEVICE float scalblnf(float x, long n) noexcept { return ldexpf(x, fabricvp_clipped(n)); }
FABRICVP_DEVICE double scalbln(double x, long n) noexcept { return ldexp(x, fabricvp_clipped(n)); }
FABRICVP_DEVICE float ldexp(float x, int n) { return ldexpf(x, n); }
FABRICVP_DEVICE float scalbn(float x, int n) { return ldexpf(x, n); }
FABRICVP_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }
#define FABRICVP_LIBM_POINTER(name, T)                       \
    extern "C" __device__ float name##f(float, T*) noexcept; \
    FABRICVP_DEVICE float name(float x, T* to) { return name##f(x, to); }
FABRICVP_LIBM_POINTER(frexp, int)
FABRICVP_LIBM_POINTER(modf, float)
extern "C" __device__ double frexp(double, int*) noexcept;
extern "C" __device__ double modf(double, double*) noexcept;
extern "C" __device__ float remquof(float, float, int*) noexcept;
extern "C" __device__ double remquo(double, double, int*) noexcept;
FABRICVP_DEVICE float remquo(float x, float y, int* to) { return remquof(x, y, to); }
FABRICVP_MATH2(nextafter)
/* Of zero and NaN the least integer, as in the C library that host code is compiled with. */
#define FABRICVP_ILOGB(name, T)                                           \
    extern "C" __device__ int fabricvp_##name(T) noexcept __asm__(#name); \
    FABRICVP_DEVICE int name(T x) noexcept { return x == 0 || x != x ? -2147483647 - 1 : fabricvp_##name(x); }
FABRICVP_ILOGB(ilogbf, float)
FABRICVP_ILOGB(ilogb, double)
FABRICVP_DEVICE int ilogb(float x) { return ilogbf(x); }
/* To whole numbers: to nearest, and halves away from zero. */
#define FABRICVP_TO_LONG(name, T, suffix, format, mode)                    \
    FABRICVP_DEVICE long l##name##suffix(T x) noexcept {                   \
        long whole;                                                        \
        __asm__("fcvt.l." format " %0, %1, " mode : "=r"(whole) : "f"(x)); \
        return whole;                                                      \
    }                                                                      \
    FABRICVP_DEVICE long long ll##name##suffix(T x) noexcept { return l##name##suffix(x); }
FABRICVP_TO_LONG(rint, float, f, "s", "rne")
FABRICVP_TO_LONG(rint, double, , "d", "rne")
FABRICVP_TO_LONG(round, float, f, "s", "rmm")
FABRICVP_TO_LONG(round, double, , "d", "rmm")
FABRICVP_DEVICE long lrint(float x) { return lrintf(x); }
FABRICVP_DEVICE long long llrint(float x) { return lrintf(x); }
FABRICVP_DEVICE long lround(float x) { return lroundf(x); }
FABRICVP_DEVICE long long llround(float x) { return lroundf(x); }

/* Functions of libm that keep state have a form without. */
extern "C" __device__ float lgammaf_r(float, int*) noexcept;
extern "C" __device__ double lgamma_r(double, int*) noexcept;
FABRICVP_DEVICE float lgammaf(float x) noexcept {
    int sign;
    return lgammaf_r(x, &sign);
}
FABRICVP_DEVICE double lgamma(double x) noexcept {
    int sign;
    return lgamma_r(x, &sign);
}
FABRICVP_DEVICE float lgamma(float x) { return lgammaf(x); }
FABRICVP_DEVICE float nanf(const char*) noexcept { return __builtin_nanf(""); }
FABRICVP_DEVICE double nan(const char*) noexcept { return __builtin_nan(""); }

/* What CUDA and HIP add. Forms of float compute in double where that is what makes them exact. */
FABRICVP_DEVICE void sincosf(float x, float* s, float* c) noexcept { *s = sinf(x), *c = cosf(x); }
FABRICVP_DEVICE void sincos(double x, double* s, double* c) noexcept { *s = sin(x), *c = cos(x); }
FABRICVP_DEVICE void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
FABRICVP_DEVICE void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
FABRICVP_DEVICE float exp10f(float x) noexcept { return (float)exp2((double)x * 3.3219280948873623); }
FABRICVP_DEVICE double exp10(double x) noexcept { return pow(10.0, x); }
FABRICVP_DEVICE float exp10(float x) { return exp10f(x); }
FABRICVP_DEVICE float __exp10f(float x) { return exp10f(x); }
FABRICVP_DEVICE float rcbrtf(float x) { return (float)(1 / cbrt((double)x)); }
FABRICVP_DEVICE double rcbrt(double x) { return 1 / cbrt(x); }
FABRICVP_DEVICE float rhypotf(float x, float y) { return (float)(1 / __builtin_sqrt((double)x * x + (double)y * y)); }
FABRICVP_DEVICE double rhypot(double x, double y) { return 1 / hypot(x, y); }
FABRICVP_DEVICE float norm3df(float x, float y, float z) {
    return (float)__builtin_sqrt((double)x * x + (double)y * y + (double)z * z);
}
FABRICVP_DEVICE double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
FABRICVP_DEVICE float rnorm3df(float x, float y, float z) {
    return (float)(1 / __builtin_sqrt((double)x * x + (double)y * y + (double)z * z));
}
FABRICVP_DEVICE double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
FABRICVP_DEVICE float normcdff(float x) { return (float)(erfc((double)x * -0.70710678118654752) / 2); }
FABRICVP_DEVICE double normcdf(double x) { return erfc(x * -0.70710678118654752) / 2; }
/* Multiples of pi: whole turns go first, exactly. */
FABRICVP_DEVICE double sinpi(double x) noexcept {
    const double r = x - 2 * rint(x * 0.5), a = __builtin_fabs(r), s = a > 0.5 ? 1 - a : a;
    const double pi = 3.14159265358979323846, sine = s > 0.25 ? cos(pi * (0.5 - s)) : sin(pi * s);
    return isfinite(x) ? __builtin_copysign(sine, r == 0 ? x : r) : x - x;
}
FABRICVP_DEVICE double cospi(double x) noexcept {
    const double a = __builtin_fabs(x - 2 * rint(x * 0.5)), s = a > 0.5 ? 1 - a : a;
    const double pi = 3.14159265358979323846, cosine = s > 0.25 ? sin(pi * (0.5 - s)) : cos(pi * s);
    return isfinite(x) ? a > 0.5 ? -cosine : cosine : x - x;
}
FABRICVP_DEVICE float sinpif(float x) noexcept { return (float)sinpi((double)x); }
FABRICVP_DEVICE float cospif(float x) noexcept { return (float)cospi((double)x); }
FABRICVP_DEVICE void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
FABRICVP_DEVICE void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }

#endif
