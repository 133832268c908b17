/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics of CUDA and HIP beside device.h: integers, arithmetic and conversions with a rounding, memory. */
#ifndef FABRICVP_GPU_HIP_INTRINSICS_H
#define FABRICVP_GPU_HIP_INTRINSICS_H

/* Integers. */
FABRICVP_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    unsigned long long high;
    __asm__("mulhu %0, %1, %2" : "=r"(high) : "r"(x), "r"(y));
    return high;
}
FABRICVP_DEVICE long long __mul64hi(long long x, long long y) {
    long long high;
    __asm__("mulh %0, %1, %2" : "=r"(high) : "r"(x), "r"(y));
    return high;
}
FABRICVP_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
FABRICVP_DEVICE unsigned __sad(int x, int y, unsigned z) { return (x < y ? (unsigned)y - x : (unsigned)x - y) + z; }
FABRICVP_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x < y ? y - x : x - y) + z; }
FABRICVP_DEVICE int __hadd(int x, int y) { return (int)(((long)x + y) >> 1); }
FABRICVP_DEVICE int __rhadd(int x, int y) { return (int)(((long)x + y + 1) >> 1); }
FABRICVP_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long)x + y) >> 1); }
FABRICVP_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long)x + y + 1) >> 1); }
/* Of the words high:low; those with c shift by 32 at most, others by less. */
FABRICVP_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((unsigned long)high << 32 | low) << (by & 31) >> 32);
}
FABRICVP_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((unsigned long)high << 32 | low) >> (by & 31));
}
FABRICVP_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by < 32 ? __funnelshift_l(low, high, by) : low;
}
FABRICVP_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by < 32 ? __funnelshift_r(low, high, by) : high;
}
FABRICVP_DEVICE int __dp4a(int x, int y, int sum) {
    for (int i = 0; i < 32; i += 8) sum += (int)(signed char)(x >> i) * (signed char)(y >> i);
    return sum;
}
FABRICVP_DEVICE unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (x >> i & 255) * (y >> i & 255);
    return sum;
}
FABRICVP_DEVICE int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long, x) >> 32); }
FABRICVP_DEVICE int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long, x); }
FABRICVP_DEVICE double __hiloint2double(int high, int low) {
    return __builtin_bit_cast(double, (unsigned long)(unsigned)high << 32 | (unsigned)low);
}

#define FABRICVP_ORDER_BY_NAME(T, name)                             \
    FABRICVP_DEVICE T name##min(T x, T y) { return y < x ? y : x; } \
    FABRICVP_DEVICE T name##max(T x, T y) { return x < y ? y : x; }
FABRICVP_ORDER_BY_NAME(unsigned, u)
FABRICVP_ORDER_BY_NAME(long long, ll)
FABRICVP_ORDER_BY_NAME(unsigned long long, ull)

/* Arithmetic with a rounding, which is never fused. Results are in registers of floating point, the first kind that
 * their constraint names; the front end knows the second alone. */
#define FABRICVP_ROUNDINGS(F, ...) \
    F(rn, "rne", __VA_ARGS__) F(rz, "rtz", __VA_ARGS__) F(ru, "rup", __VA_ARGS__) F(rd, "rdn", __VA_ARGS__)
#define FABRICVP_ROUNDED1(suffix, mode, name, T, instruction)           \
    FABRICVP_DEVICE T __##name##_##suffix(T x) {                        \
        T result;                                                       \
        __asm__(instruction " %0, %1, " mode : "=fr"(result) : "f"(x)); \
        return result;                                                  \
    }
#define FABRICVP_ROUNDED2(suffix, mode, name, T, instruction)                       \
    FABRICVP_DEVICE T __##name##_##suffix(T x, T y) {                               \
        T result;                                                                   \
        __asm__(instruction " %0, %1, %2, " mode : "=fr"(result) : "f"(x), "f"(y)); \
        return result;                                                              \
    }
#define FABRICVP_ROUNDED3(suffix, mode, name, T, instruction)                                   \
    FABRICVP_DEVICE T __##name##_##suffix(T x, T y, T z) {                                      \
        T result;                                                                               \
        __asm__(instruction " %0, %1, %2, %3, " mode : "=fr"(result) : "f"(x), "f"(y), "f"(z)); \
        return result;                                                                          \
    }
#define FABRICVP_ROUNDED_INVERSE(suffix, mode, name, T, divide) \
    FABRICVP_DEVICE T __##name##_##suffix(T x) { return divide##_##suffix((T)1, x); }
#define FABRICVP_ARITHMETIC(letter, T, format, fused)                       \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED2, letter##add, T, "fadd." format)   \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED2, letter##sub, T, "fsub." format)   \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED2, letter##mul, T, "fmul." format)   \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED2, letter##div, T, "fdiv." format)   \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED1, letter##sqrt, T, "fsqrt." format) \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED3, fused, T, "fmadd." format)        \
    FABRICVP_ROUNDINGS(FABRICVP_ROUNDED_INVERSE, letter##rcp, T, __##letter##div)
FABRICVP_ARITHMETIC(f, float, "s", fmaf)
FABRICVP_ARITHMETIC(d, double, "d", fma)
FABRICVP_DEVICE float __frsqrt_rn(float x) { return (float)(1 / __builtin_sqrt((double)x)); }

/* Conversions. Numbers beyond the type become its nearest value. NaN is 0, or of what has 64 bits the upper bit alone,
 * as CUDA has it. */
#define FABRICVP_TO_WHOLE(suffix, mode, from, From, to, To, instruction, nan) \
    FABRICVP_DEVICE To __##from##2##to##_##suffix(From x) {                   \
        To whole;                                                             \
        __asm__(instruction " %0, %1, " mode : "=r"(whole) : "f"(x));         \
        return x != x ? nan : whole;                                          \
    }
#define FABRICVP_FROM_WHOLE(suffix, mode, from, From, to, To, instruction) \
    FABRICVP_DEVICE To __##from##2##to##_##suffix(From x) {                \
        To number;                                                         \
        __asm__(instruction " %0, %1, " mode : "=fr"(number) : "r"(x));    \
        return number;                                                     \
    }
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, float, float, int, int, "fcvt.w.s", 0)
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, float, float, uint, unsigned, "fcvt.wu.s", 0)
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, float, float, ll, long long, "fcvt.l.s", (long long)(1ull << 63))
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, float, float, ull, unsigned long long, "fcvt.lu.s", 1ull << 63)
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, double, double, int, int, "fcvt.w.d", -2147483647 - 1)
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, double, double, uint, unsigned, "fcvt.wu.d", 1u << 31)
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, double, double, ll, long long, "fcvt.l.d", (long long)(1ull << 63))
FABRICVP_ROUNDINGS(FABRICVP_TO_WHOLE, double, double, ull, unsigned long long, "fcvt.lu.d", 1ull << 63)
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, int, int, float, float, "fcvt.s.w")
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, uint, unsigned, float, float, "fcvt.s.wu")
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, ll, long long, float, float, "fcvt.s.l")
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, ull, unsigned long long, float, float, "fcvt.s.lu")
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, ll, long long, double, double, "fcvt.d.l")
FABRICVP_ROUNDINGS(FABRICVP_FROM_WHOLE, ull, unsigned long long, double, double, "fcvt.d.lu")
FABRICVP_DEVICE double __int2double_rn(int x) { return x; }
FABRICVP_DEVICE double __uint2double_rn(unsigned x) { return x; }
#define FABRICVP_NARROWED(suffix, mode, instruction)                    \
    FABRICVP_DEVICE float __double2float_##suffix(double x) {           \
        float number;                                                   \
        __asm__(instruction " %0, %1, " mode : "=fr"(number) : "f"(x)); \
        return number;                                                  \
    }
FABRICVP_ROUNDINGS(FABRICVP_NARROWED, "fcvt.s.d")

/* Atomics by their scope: all are performed where all lanes see them. */
#define FABRICVP_SCOPED_ATOMIC(f, scope)           \
    template <class T, class U>                    \
    FABRICVP_DEVICE T f##scope(T* at, U operand) { \
        return f(at, (T)operand);                  \
    }
#define FABRICVP_SCOPED_ATOMICS(f) FABRICVP_SCOPED_ATOMIC(f, _block) FABRICVP_SCOPED_ATOMIC(f, _system)
FABRICVP_SCOPED_ATOMICS(atomicAdd)
FABRICVP_SCOPED_ATOMICS(atomicSub)
FABRICVP_SCOPED_ATOMICS(atomicExch)
FABRICVP_SCOPED_ATOMICS(atomicMin)
FABRICVP_SCOPED_ATOMICS(atomicMax)
FABRICVP_SCOPED_ATOMICS(atomicAnd)
FABRICVP_SCOPED_ATOMICS(atomicOr)
FABRICVP_SCOPED_ATOMICS(atomicXor)
FABRICVP_SCOPED_ATOMICS(atomicInc)
FABRICVP_SCOPED_ATOMICS(atomicDec)
#define FABRICVP_SCOPED_CAS(f)                          \
    template <class T, class U, class V>                \
    FABRICVP_DEVICE T f(T* at, U expected, V desired) { \
        return atomicCAS(at, (T)expected, (T)desired);  \
    }
FABRICVP_SCOPED_CAS(atomicCAS_block)
FABRICVP_SCOPED_CAS(atomicCAS_system)
/* A part of a word. */
FABRICVP_DEVICE unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short desired) {
    unsigned* const word = (unsigned*)((unsigned long)at & ~3ul);
    const unsigned shift = (unsigned long)at & 2 ? 16 : 0;
    for (unsigned seen = *(volatile unsigned*)word;;) {
        const unsigned short old = (unsigned short)(seen >> shift);
        if (old != expected) return old;
        const unsigned was = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)desired << shift);
        if (was == seen) return old;
        seen = was;
    }
}

/* Memory. Hints about caches are none here. */
#define FABRICVP_HINTED(suffix)                   \
    template <class T>                            \
    FABRICVP_DEVICE T __ld##suffix(const T* at) { \
        return *at;                               \
    }
FABRICVP_HINTED(ca)
FABRICVP_HINTED(cg)
FABRICVP_HINTED(cs)
FABRICVP_HINTED(lu)
extern "C" __device__ void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) noexcept;
extern "C" __device__ void* memmove(void* to, const void* from, __SIZE_TYPE__ bytes) noexcept;
extern "C" __device__ void* memset(void* to, int value, __SIZE_TYPE__ bytes) noexcept;
extern "C" __device__ int memcmp(const void* x, const void* y, __SIZE_TYPE__ bytes) noexcept;
__device__ inline __attribute__((nodebug, always_inline)) void* operator new(__SIZE_TYPE__, void* at) noexcept {
    return at;
}
__device__ inline __attribute__((nodebug, always_inline)) void* operator new[](__SIZE_TYPE__, void* at) noexcept {
    return at;
}

FABRICVP_DEVICE void __trap() { __builtin_trap(); }
/* Lets other lanes of the wavefront run, which is what a loop that waits needs it for; it takes no time of its own. */
FABRICVP_DEVICE void __nanosleep(unsigned) { __asm__ volatile(".word 0x0100000f" ::: "memory"); }

#endif
