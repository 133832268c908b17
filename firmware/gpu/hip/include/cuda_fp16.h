/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision of CUDA and HIP. Lanes have no unit for it: each operation computes with float or double, and rounds
 * once, to nearest. Host code has conversions, arithmetic and comparisons, too. */
#ifndef FABRICVP_GPU_CUDA_FP16_H
#define FABRICVP_GPU_CUDA_FP16_H

#define HALF_FUNCTION FABRICVP_BOTH
#include "../../half.h"

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};

struct __half {
    unsigned short bits;

    __half() = default;
    __host__ __device__ constexpr __half(__half_raw raw) : bits(raw.x) {}
#define FABRICVP_HALF_OF(T)                                                       \
    __host__ __device__ __half(T x) : bits(half_from((double)x, HALF_TO_EVEN)) {} \
    __host__ __device__ __half& operator=(T x) { return bits = half_from((double)x, HALF_TO_EVEN), *this; }
    FABRICVP_HALF_OF(float)
    FABRICVP_HALF_OF(double)
    FABRICVP_HALF_OF(int)
    FABRICVP_HALF_OF(unsigned)
    FABRICVP_HALF_OF(short)
    FABRICVP_HALF_OF(unsigned short)
    /* Numbers of 64 bits may be rounded on their way to a double, but halfs end at 65,504. */
    FABRICVP_HALF_OF(long)
    FABRICVP_HALF_OF(unsigned long)
    FABRICVP_HALF_OF(long long)
    FABRICVP_HALF_OF(unsigned long long)
    __host__ __device__ operator float() const { return half_to_float(bits); }
    __host__ __device__ operator __half_raw() const { return {bits}; }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
    __half x, y;

    __half2() = default;
    __host__ __device__ __half2(__half x_, __half y_) : x(x_), y(y_) {}
};
typedef __half2 half2;

/* Conversions; whole numbers by type and by their name in those of functions. */
#define FABRICVP_HALF_INTEGERS(F) \
    F(int, int) F(unsigned, uint) F(short, short) F(unsigned short, ushort) F(long long, ll) F(unsigned long long, ull)
FABRICVP_BOTH __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
FABRICVP_BOTH __half __short_as_half(short bits) { return __half_raw{(unsigned short)bits}; }
FABRICVP_BOTH unsigned short __half_as_ushort(__half x) { return x.bits; }
FABRICVP_BOTH short __half_as_short(__half x) { return (short)x.bits; }
#define FABRICVP_TO_HALF(T, name, suffix, mode) \
    FABRICVP_BOTH __half __##name##2half##suffix(T x) { return __half_raw{half_from((double)x, mode)}; }
#define FABRICVP_TO_HALFS(T, name)               \
    FABRICVP_TO_HALF(T, name, _rn, HALF_TO_EVEN) \
    FABRICVP_TO_HALF(T, name, _rz, HALF_TO_ZERO) \
    FABRICVP_TO_HALF(T, name, _ru, HALF_UP)      \
    FABRICVP_TO_HALF(T, name, _rd, HALF_DOWN)
FABRICVP_TO_HALFS(float, float)
FABRICVP_HALF_INTEGERS(FABRICVP_TO_HALFS)
FABRICVP_TO_HALF(float, float, , HALF_TO_EVEN)
FABRICVP_TO_HALF(double, double, , HALF_TO_EVEN)
FABRICVP_BOTH float __half2float(__half x) { return x; }
/* To whole numbers: NaN is 0, and what lies beyond the type its nearest value. */
#define FABRICVP_FROM_HALF(T, name, suffix, rounded)                                              \
    FABRICVP_BOTH T __half2##name##suffix(__half from) {                                          \
        const float x = from, y = rounded(x);                                                     \
        const T least = (T)-1 < (T)0 ? (T)((T)1 << (8 * sizeof(T) - 1)) : 0;                      \
        if (x != x) return 0;                                                                     \
        if (y <= (float)least) return least;                                                      \
        return y >= -(float)(T)~least && y < (float)(T)~least ? (T)y : y < 0 ? least : (T)~least; \
    }
#define FABRICVP_FROM_HALFS(T, name)                   \
    FABRICVP_FROM_HALF(T, name, _rn, __builtin_rintf)  \
    FABRICVP_FROM_HALF(T, name, _rz, __builtin_truncf) \
    FABRICVP_FROM_HALF(T, name, _ru, __builtin_ceilf)  \
    FABRICVP_FROM_HALF(T, name, _rd, __builtin_floorf)
FABRICVP_HALF_INTEGERS(FABRICVP_FROM_HALFS)

/* Pairs. */
FABRICVP_BOTH __half2 make_half2(__half x, __half y) { return {x, y}; }
FABRICVP_BOTH __half2 __halves2half2(__half x, __half y) { return {x, y}; }
FABRICVP_BOTH __half2 __half2half2(__half x) { return {x, x}; }
FABRICVP_BOTH __half2 __float2half2_rn(float x) { return {x, x}; }
FABRICVP_BOTH __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
FABRICVP_BOTH __half2 __float22half2_rn(float2 x) { return {x.x, x.y}; }
FABRICVP_BOTH float2 __half22float2(__half2 x) { return {x.x, x.y}; }
FABRICVP_BOTH __half __low2half(__half2 x) { return x.x; }
FABRICVP_BOTH __half __high2half(__half2 x) { return x.y; }
FABRICVP_BOTH float __low2float(__half2 x) { return x.x; }
FABRICVP_BOTH float __high2float(__half2 x) { return x.y; }
FABRICVP_BOTH __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
FABRICVP_BOTH __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
FABRICVP_BOTH __half2 __lows2half2(__half2 x, __half2 y) { return {x.x, y.x}; }
FABRICVP_BOTH __half2 __highs2half2(__half2 x, __half2 y) { return {x.y, y.y}; }
FABRICVP_BOTH __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }

/* Arithmetic. A float has more than twice a half's bits, so that sums, products, quotients and roots are rounded right
 * although they are rounded twice. */
#define FABRICVP_HALF_BINARY(name, operation)                                                                       \
    FABRICVP_BOTH __half __h##name(__half x, __half y) { return (float)x operation(float) y; }                      \
    FABRICVP_BOTH __half2 __h##name##2(__half2 x, __half2 y) { return {__h##name(x.x, y.x), __h##name(x.y, y.y)}; } \
    FABRICVP_BOTH __half operator operation(__half x, __half y) { return __h##name(x, y); }                         \
    FABRICVP_BOTH __half2 operator operation(__half2 x, __half2 y) { return __h##name##2(x, y); }                   \
    FABRICVP_BOTH __half& operator operation##=(__half& x, __half y) { return x = __h##name(x, y); }                \
    FABRICVP_BOTH __half2& operator operation##=(__half2& x, __half2 y) { return x = __h##name##2(x, y); }
FABRICVP_HALF_BINARY(add, +)
FABRICVP_HALF_BINARY(sub, -)
FABRICVP_HALF_BINARY(mul, *)
FABRICVP_HALF_BINARY(div, /)
FABRICVP_BOTH __half2 __h2div(__half2 x, __half2 y) { return __hdiv2(x, y); }
FABRICVP_BOTH __half __hneg(__half x) { return __half_raw{(unsigned short)(x.bits ^ 0x8000)}; }
FABRICVP_BOTH __half __habs(__half x) { return __half_raw{(unsigned short)(x.bits & 0x7fff)}; }
FABRICVP_BOTH __half2 __hneg2(__half2 x) { return {__hneg(x.x), __hneg(x.y)}; }
FABRICVP_BOTH __half2 __habs2(__half2 x) { return {__habs(x.x), __habs(x.y)}; }
FABRICVP_BOTH __half operator-(__half x) { return __hneg(x); }
FABRICVP_BOTH __half2 operator-(__half2 x) { return __hneg2(x); }
/* The product is exact in double. So is the sum where its last bits decide between two halfs: a product and a half that
 * are more than 53 bits apart round to the larger one, which is then a half, or beyond all of them. */
FABRICVP_BOTH __half __hfma(__half x, __half y, __half z) {
    return __half_raw{half_from((double)(float)x * (double)(float)y + (double)(float)z, HALF_TO_EVEN)};
}
FABRICVP_BOTH __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
    return {__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y)};
}
/* Within 0 and 1; NaN becomes 0. */
FABRICVP_BOTH __half fabricvp_saturate(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
FABRICVP_BOTH __half __hadd_sat(__half x, __half y) { return fabricvp_saturate(__hadd(x, y)); }
FABRICVP_BOTH __half __hsub_sat(__half x, __half y) { return fabricvp_saturate(__hsub(x, y)); }
FABRICVP_BOTH __half __hmul_sat(__half x, __half y) { return fabricvp_saturate(__hmul(x, y)); }
FABRICVP_BOTH __half __hfma_sat(__half x, __half y, __half z) { return fabricvp_saturate(__hfma(x, y, z)); }

/* Comparisons, which do not hold for NaN; those with u do. */
#define FABRICVP_HALF_PAIRS(name)                                                                                 \
    FABRICVP_BOTH bool __hb##name##2(__half2 x, __half2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
    FABRICVP_BOTH __half2 __h##name##2(__half2 x, __half2 y) {                                                    \
        return {(float)__h##name(x.x, y.x), (float)__h##name(x.y, y.y)};                                          \
    }
#define FABRICVP_HALF_COMPARISON(name, operation, expression, operators)                       \
    FABRICVP_BOTH bool __h##name(__half from, __half other) {                                  \
        const float x = from, y = other;                                                       \
        return expression;                                                                     \
    }                                                                                          \
    FABRICVP_BOTH bool __h##name##u(__half x, __half y) {                                      \
        return __builtin_isunordered((float)x, (float)y) || (float)x operation(float) y;       \
    }                                                                                          \
    FABRICVP_HALF_PAIRS(name)                                                                  \
    FABRICVP_HALF_PAIRS(name##u)                                                               \
    FABRICVP_BOTH bool operator operation(__half x, __half y) { return __h##operators(x, y); } \
    FABRICVP_BOTH bool operator operation(__half2 x, __half2 y) { return __hb##operators##2(x, y); }
FABRICVP_HALF_COMPARISON(eq, ==, x == y, eq)
FABRICVP_HALF_COMPARISON(ne, !=, x<y || x> y, neu)
FABRICVP_HALF_COMPARISON(lt, <, x < y, lt)
FABRICVP_HALF_COMPARISON(le, <=, x <= y, le)
FABRICVP_HALF_COMPARISON(gt, >, x > y, gt)
FABRICVP_HALF_COMPARISON(ge, >=, x >= y, ge)
FABRICVP_BOTH bool __hisnan(__half x) { return (x.bits & 0x7fff) > 0x7c00; }
FABRICVP_BOTH int __hisinf(__half x) { return (x.bits & 0x7fff) == 0x7c00 ? (x.bits & 0x8000 ? -1 : 1) : 0; }
FABRICVP_BOTH __half __hmax(__half x, __half y) { return __builtin_fmaxf(x, y); }
FABRICVP_BOTH __half __hmin(__half x, __half y) { return __builtin_fminf(x, y); }
FABRICVP_BOTH __half2 __hmax2(__half2 x, __half2 y) { return {__hmax(x.x, y.x), __hmax(x.y, y.y)}; }
FABRICVP_BOTH __half2 __hmin2(__half2 x, __half2 y) { return {__hmin(x.x, y.x), __hmin(x.y, y.y)}; }

/* Mathematics: float's functions, rounded. */
#define FABRICVP_HALF_MATH(name, expression)      \
    FABRICVP_DEVICE __half h##name(__half from) { \
        const float x = from;                     \
        return expression;                        \
    }                                             \
    FABRICVP_DEVICE __half2 h2##name(__half2 x) { return {h##name(x.x), h##name(x.y)}; }
FABRICVP_HALF_MATH(sqrt, __builtin_sqrtf(x))
FABRICVP_HALF_MATH(rsqrt, 1 / __builtin_sqrtf(x))
FABRICVP_HALF_MATH(rcp, 1 / x)
FABRICVP_HALF_MATH(exp, expf(x))
FABRICVP_HALF_MATH(exp2, exp2f(x))
FABRICVP_HALF_MATH(exp10, powf(10.0f, x))
FABRICVP_HALF_MATH(log, logf(x))
FABRICVP_HALF_MATH(log2, log2f(x))
FABRICVP_HALF_MATH(log10, log10f(x))
FABRICVP_HALF_MATH(sin, sinf(x))
FABRICVP_HALF_MATH(cos, cosf(x))
FABRICVP_HALF_MATH(tanh, tanhf(x))
FABRICVP_HALF_MATH(ceil, __builtin_ceilf(x))
FABRICVP_HALF_MATH(floor, __builtin_floorf(x))
FABRICVP_HALF_MATH(trunc, __builtin_truncf(x))
FABRICVP_HALF_MATH(rint, __builtin_rintf(x))

/* Atomics: halfs are part of a word. */
FABRICVP_DEVICE __half atomicAdd(__half* at, __half operand) {
    unsigned* const word = (unsigned*)((unsigned long)at & ~3ul);
    const unsigned shift = (unsigned long)at & 2 ? 16 : 0;
    for (unsigned seen = *(volatile unsigned*)word;;) {
        const __half old = __ushort_as_half((unsigned short)(seen >> shift));
        const unsigned sum = (unsigned)__hadd(old, operand).bits << shift;
        const unsigned was = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | sum);
        if (was == seen) return old;
        seen = was;
    }
}
FABRICVP_DEVICE __half2 atomicAdd(__half2* at, __half2 operand) {
    return {atomicAdd(&at->x, operand.x), atomicAdd(&at->y, operand.y)};
}

/* Shuffles. */
#define FABRICVP_HALF_SHUFFLES(T, U)                                                                \
    FABRICVP_DEVICE unsigned fabricvp_bits(T value) { return __builtin_bit_cast(U, value); }        \
    FABRICVP_DEVICE T fabricvp_shuffle(T value, unsigned from) {                                    \
        return __builtin_bit_cast(T, (U)fabricvp::lane_shuffle_u32(fabricvp_bits(value), from));    \
    }                                                                                               \
    FABRICVP_DEVICE T fabricvp_shuffle_of(T value, unsigned from) {                                 \
        return __builtin_bit_cast(T, (U)fabricvp::lane_shuffle_of_u32(fabricvp_bits(value), from)); \
    }                                                                                               \
    FABRICVP_ALL_SHUFFLES(T)
FABRICVP_HALF_SHUFFLES(__half, unsigned short)
FABRICVP_HALF_SHUFFLES(__half2, unsigned)

#endif
