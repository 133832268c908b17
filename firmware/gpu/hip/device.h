/* SPDX-License-Identifier: Apache-2.0 */
/* What device code in HIP and CUDA stands on; included before each source. Math comes from picolibc's libm. */
#ifndef FABRICVP_GPU_HIP_DEVICE_H
#define FABRICVP_GPU_HIP_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/gpu_isa.h"

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
/* The section tells the compiler (compiler/module.py) what kernels only read. The declaration is what lets const
 * variables and others be in it: clang compares those by __declspec with the first that is there. */
#define __constant__ __attribute__((constant)) __declspec(allocate(".rodata.constant"))
__attribute__((constant, unused, section(".rodata.constant"))) static int fabricvp_constant;
/* The first number, where it is one, is the most threads of a block (compiler/module.py reads the annotation). */
#define __launch_bounds__(max_threads, ...) __attribute__((annotate("launch_bounds:" FABRICVP_TEXT(max_threads))))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
/* What these become part of has the line of the source that calls them: they have no lines themselves (nodebug). */
#define FABRICVP_DEVICE static __device__ inline __attribute__((nodebug, always_inline, unused))
#define FABRICVP_BOTH static __host__ __device__ inline __attribute__((nodebug, always_inline, unused))
#define FABRICVP_C extern "C" __device__ inline __attribute__((nodebug, always_inline))
#define FABRICVP_TEXT_(x) #x
#define FABRICVP_TEXT(x) FABRICVP_TEXT_(x)

/* Vectors: members x, y, z, w, and make_ functions. Alignments are CUDA's. */
#define FABRICVP_VECTORS(T, name, two, four)                                                      \
    struct name##1 {                                                                              \
        T x;                                                                                      \
    };                                                                                            \
    struct __attribute__((aligned(two))) name##2 {                                                \
        T x, y;                                                                                   \
    };                                                                                            \
    struct name##3 {                                                                              \
        T x, y, z;                                                                                \
    };                                                                                            \
    struct __attribute__((aligned(four))) name##4 {                                               \
        T x, y, z, w;                                                                             \
    };                                                                                            \
    static __host__ __device__ inline name##1 make_##name##1(T x) { return {x}; }                 \
    static __host__ __device__ inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    static __host__ __device__ inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    static __host__ __device__ inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
FABRICVP_VECTORS(char, char, 2, 4)
FABRICVP_VECTORS(unsigned char, uchar, 2, 4)
FABRICVP_VECTORS(short, short, 4, 8)
FABRICVP_VECTORS(unsigned short, ushort, 4, 8)
FABRICVP_VECTORS(int, int, 8, 16)
FABRICVP_VECTORS(unsigned, uint, 8, 16)
FABRICVP_VECTORS(long, long, 16, 16)
FABRICVP_VECTORS(unsigned long, ulong, 16, 16)
FABRICVP_VECTORS(long long, longlong, 16, 16)
FABRICVP_VECTORS(unsigned long long, ulonglong, 16, 16)
FABRICVP_VECTORS(float, float, 8, 16)
FABRICVP_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* Registers of a lane as members that are read: threadIdx.x, blockIdx.y, … */
#define FABRICVP_CSR(number)                                       \
    ({                                                             \
        unsigned long value_;                                      \
        __asm__("csrr %0, " FABRICVP_TEXT(number) : "=r"(value_)); \
        (unsigned)value_;                                          \
    })
#define FABRICVP_MEMBER(name, expression)                 \
    __declspec(property(get = get_##name)) unsigned name; \
    __device__ __attribute__((nodebug, always_inline)) unsigned get_##name() const { return expression; }
#define FABRICVP_COORDINATES(type, X, Y, Z)                                          \
    struct type {                                                                    \
        FABRICVP_MEMBER(x, X)                                                        \
        FABRICVP_MEMBER(y, Y)                                                        \
        FABRICVP_MEMBER(z, Z)                                                        \
        __device__ operator dim3() const { return dim3(get_x(), get_y(), get_z()); } \
        __device__ operator uint3() const { return {get_x(), get_y(), get_z()}; }    \
    };
#define FABRICVP_GROUPS(d)                                                                  \
    ((FABRICVP_CSR(GPU_CSR_GRID_SIZE_X + d) + FABRICVP_CSR(GPU_CSR_GROUP_SIZE_X + d) - 1) / \
     FABRICVP_CSR(GPU_CSR_GROUP_SIZE_X + d))
FABRICVP_COORDINATES(fabricvp_thread, FABRICVP_CSR(GPU_CSR_LOCAL_ID_X), FABRICVP_CSR(GPU_CSR_LOCAL_ID_X + 1),
                     FABRICVP_CSR(GPU_CSR_LOCAL_ID_X + 2))
FABRICVP_COORDINATES(fabricvp_block, FABRICVP_CSR(GPU_CSR_GROUP_ID_X), FABRICVP_CSR(GPU_CSR_GROUP_ID_X + 1),
                     FABRICVP_CSR(GPU_CSR_GROUP_ID_X + 2))
FABRICVP_COORDINATES(fabricvp_sizes, FABRICVP_CSR(GPU_CSR_GROUP_SIZE_X), FABRICVP_CSR(GPU_CSR_GROUP_SIZE_X + 1),
                     FABRICVP_CSR(GPU_CSR_GROUP_SIZE_X + 2))
FABRICVP_COORDINATES(fabricvp_grid, FABRICVP_GROUPS(0), FABRICVP_GROUPS(1), FABRICVP_GROUPS(2))
static constexpr __device__ fabricvp_thread threadIdx{};
static constexpr __device__ fabricvp_block blockIdx{};
static constexpr __device__ fabricvp_sizes blockDim{};
static constexpr __device__ fabricvp_grid gridDim{};

#ifndef __CUDACC__ /* HIP's own names */
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#endif

/* Barriers and fences. */
#define FABRICVP_INSTRUCTION(funct, bits)                                                                      \
    __asm__ volatile(".insn i " FABRICVP_TEXT(GPU_OPCODE) ", " FABRICVP_TEXT(funct) ", x0, x0, %0" ::"i"(bits) \
                     : "memory")
FABRICVP_DEVICE void __syncthreads() { FABRICVP_INSTRUCTION(GPU_FUNCT_BARRIER, 0); }
FABRICVP_DEVICE void __threadfence_block() {
    FABRICVP_INSTRUCTION(GPU_FUNCT_FENCE, GPU_SCOPE_WORK_GROUP | GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE);
}
FABRICVP_DEVICE void __threadfence() {
    FABRICVP_INSTRUCTION(GPU_FUNCT_FENCE, GPU_SCOPE_AGENT | GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE);
}
FABRICVP_DEVICE void __threadfence_system() {
    FABRICVP_INSTRUCTION(GPU_FUNCT_FENCE, GPU_SCOPE_SYSTEM | GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE);
}
FABRICVP_DEVICE long long clock64() {
    unsigned long value;
    __asm__ volatile("csrr %0, " FABRICVP_TEXT(GPU_CSR_CYCLE) : "=r"(value));
    return (long long)value;
}
FABRICVP_DEVICE int clock() { return (int)clock64(); }

/* Atomics, relaxed, performed where all lanes see them. */
#define FABRICVP_FETCH(f, T, instruction)                                                             \
    FABRICVP_DEVICE T f(T* at, T operand) {                                                           \
        T old;                                                                                        \
        __asm__ volatile(instruction " %0, %2, (%1)" : "=r"(old) : "r"(at), "r"(operand) : "memory"); \
        return old;                                                                                   \
    }
#define FABRICVP_ATOMICS(T, suffix, min, max)                                                                     \
    FABRICVP_FETCH(atomicAdd, T, "amoadd." suffix)                                                                \
    FABRICVP_FETCH(atomicExch, T, "amoswap." suffix)                                                              \
    FABRICVP_FETCH(atomicMin, T, min "." suffix)                                                                  \
    FABRICVP_FETCH(atomicMax, T, max "." suffix)                                                                  \
    FABRICVP_FETCH(atomicAnd, T, "amoand." suffix)                                                                \
    FABRICVP_FETCH(atomicOr, T, "amoor." suffix)                                                                  \
    FABRICVP_FETCH(atomicXor, T, "amoxor." suffix)                                                                \
    FABRICVP_DEVICE T atomicSub(T* at, T operand) { return atomicAdd(at, (T)(0 - operand)); }                     \
    FABRICVP_DEVICE T atomicCAS(T* at, T expected, T desired) {                                                   \
        long old, failed;                                                                                         \
        __asm__ volatile("1: lr." suffix " %0, (%2)\nbne %0, %3, 2f\nsc." suffix " %1, %4, (%2)\nbnez %1, 1b\n2:" \
                         : "=&r"(old), "=&r"(failed)                                                              \
                         : "r"(at), "r"(sizeof(T) == 4 ? (long)(int)expected : (long)expected), "r"(desired)      \
                         : "memory");                                                                             \
        return (T)old;                                                                                            \
    }
FABRICVP_ATOMICS(int, "w", "amomin", "amomax")
FABRICVP_ATOMICS(unsigned, "w", "amominu", "amomaxu")
FABRICVP_ATOMICS(long long, "d", "amomin", "amomax")
FABRICVP_ATOMICS(unsigned long long, "d", "amominu", "amomaxu")
FABRICVP_ATOMICS(unsigned long, "d", "amominu", "amomaxu")
/* Up to a limit, then from 0 again; down to 0, then from the limit again. */
FABRICVP_DEVICE unsigned atomicInc(unsigned* at, unsigned limit) {
    for (unsigned seen = *(volatile unsigned*)at;;) {
        const unsigned was = atomicCAS(at, seen, seen >= limit ? 0 : seen + 1);
        if (was == seen) return was;
        seen = was;
    }
}
FABRICVP_DEVICE unsigned atomicDec(unsigned* at, unsigned limit) {
    for (unsigned seen = *(volatile unsigned*)at;;) {
        const unsigned was = atomicCAS(at, seen, seen == 0 || seen > limit ? limit : seen - 1);
        if (was == seen) return was;
        seen = was;
    }
}
#define FABRICVP_FLOAT_ATOMICS(T, I, sum)                                                                              \
    FABRICVP_DEVICE T atomicAdd(T* at, T operand) {                                                                    \
        I old;                                                                                                         \
        __asm__ volatile(".insn r " FABRICVP_TEXT(GPU_OPCODE) ", " FABRICVP_TEXT(GPU_FUNCT_ATOMIC) ", " FABRICVP_TEXT( \
                             sum) ", %0, %1, %2"                                                                       \
                         : "=r"(old)                                                                                   \
                         : "r"(at), "r"(__builtin_bit_cast(I, operand))                                                \
                         : "memory");                                                                                  \
        return __builtin_bit_cast(T, old);                                                                             \
    }                                                                                                                  \
    FABRICVP_DEVICE T atomicExch(T* at, T value) {                                                                     \
        return __builtin_bit_cast(T, atomicExch((I*)at, __builtin_bit_cast(I, value)));                                \
    }
FABRICVP_FLOAT_ATOMICS(float, unsigned, GPU_ATOMIC_ADD_S)
FABRICVP_FLOAT_ATOMICS(double, unsigned long long, GPU_ATOMIC_ADD_D)

/* Barriers that tell all threads for how many of them a condition holds. */
FABRICVP_DEVICE int __syncthreads_count(int condition) {
    __shared__ int count;
    __syncthreads();
    count = 0; /* by all: any thread may have returned */
    __syncthreads();
    if (condition) atomicAdd(&count, 1);
    __syncthreads();
    return *(volatile int*)&count;
}
FABRICVP_DEVICE int __syncthreads_or(int condition) { return __syncthreads_count(condition) != 0; }
FABRICVP_DEVICE int __syncthreads_and(int condition) { return __syncthreads_count(!condition) == 0; }

/* Operations between the lanes of a wavefront (gpu/lanes.h). Masks of HIP have 64 bits, those of CUDA one for each
 * lane. */
#define LANES_FUNCTION FABRICVP_DEVICE
namespace fabricvp {
#include "../lanes.h"
}
#if defined(__CUDACC__) && WAVEFRONT_LANES == 32
typedef unsigned fabricvp_mask;
#else
typedef unsigned long long fabricvp_mask;
#endif
static constexpr __device__ int warpSize = WAVEFRONT_LANES;
FABRICVP_DEVICE unsigned __lane_id() { return fabricvp::lane_number(); }
FABRICVP_DEVICE fabricvp_mask __activemask() { return fabricvp::lane_active(); }
FABRICVP_DEVICE fabricvp_mask __ballot(int predicate) { return fabricvp::lane_ballot(predicate); }
FABRICVP_DEVICE int __any(int predicate) { return fabricvp::lane_ballot(predicate) != 0; }
FABRICVP_DEVICE int __all(int predicate) { return fabricvp::lane_ballot(!predicate) == 0; }
FABRICVP_DEVICE void __syncwarp(fabricvp_mask mask = (fabricvp_mask)-1) { fabricvp::lane_barrier(mask); }
FABRICVP_DEVICE fabricvp_mask __ballot_sync(fabricvp_mask mask, int predicate) {
    lane_exchange(mask, predicate != 0, LANES_KIND_BALLOT);
    return fabricvp::lane_ballot_of(predicate) & mask;
}
FABRICVP_DEVICE int __any_sync(fabricvp_mask mask, int predicate) { return fabricvp::lane_any(mask, predicate); }
FABRICVP_DEVICE int __all_sync(fabricvp_mask mask, int predicate) { return fabricvp::lane_all(mask, predicate); }
#define FABRICVP_SHUFFLE(T, of, suffix, place, kind)                                                    \
    FABRICVP_DEVICE T __shfl##suffix(T var, of lane, int width = warpSize) {                            \
        return fabricvp_shuffle(var, place((unsigned)lane, (unsigned)width));                           \
    }                                                                                                   \
    FABRICVP_DEVICE T __shfl##suffix##_sync(fabricvp_mask mask, T var, of lane, int width = warpSize) { \
        const unsigned from = place((unsigned)lane, (unsigned)width);                                   \
        lane_exchange(mask, fabricvp_bits(var), kind);                                                  \
        return fabricvp_shuffle_of(var, from);                                                          \
    }
/* All of a type that has fabricvp_shuffle(), fabricvp_bits() and fabricvp_shuffle_of(). */
#define FABRICVP_ALL_SHUFFLES(T)                                                 \
    FABRICVP_SHUFFLE(T, int, , fabricvp::lane_at, LANES_KIND_AT)                 \
    FABRICVP_SHUFFLE(T, unsigned, _up, fabricvp::lane_below, LANES_KIND_BELOW)   \
    FABRICVP_SHUFFLE(T, unsigned, _down, fabricvp::lane_above, LANES_KIND_ABOVE) \
    FABRICVP_SHUFFLE(T, int, _xor, fabricvp::lane_across, LANES_KIND_ACROSS)
#define FABRICVP_SHUFFLES(T, name, U, bits, V)                                                           \
    FABRICVP_DEVICE T fabricvp_shuffle(T value, unsigned from) {                                         \
        return __builtin_bit_cast(T, fabricvp::lane_shuffle_##name(__builtin_bit_cast(U, value), from)); \
    }                                                                                                    \
    FABRICVP_DEVICE V fabricvp_bits(T value) { return __builtin_bit_cast(V, value); }                    \
    FABRICVP_DEVICE T fabricvp_shuffle_of(T value, unsigned from) {                                      \
        return __builtin_bit_cast(T, fabricvp::lane_shuffle_of_##bits(fabricvp_bits(value), from));      \
    }                                                                                                    \
    FABRICVP_ALL_SHUFFLES(T)
FABRICVP_SHUFFLES(int, i32, int, u32, unsigned)
FABRICVP_SHUFFLES(unsigned, u32, unsigned, u32, unsigned)
FABRICVP_SHUFFLES(float, f32, float, u32, unsigned)
FABRICVP_SHUFFLES(long, i64, long, u64, unsigned long)
FABRICVP_SHUFFLES(unsigned long, u64, unsigned long, u64, unsigned long)
FABRICVP_SHUFFLES(long long, i64, long, u64, unsigned long)
FABRICVP_SHUFFLES(unsigned long long, u64, unsigned long, u64, unsigned long)
FABRICVP_SHUFFLES(double, f64, double, u64, unsigned long)
#define FABRICVP_MATCHES(T, name, U)                                                         \
    FABRICVP_DEVICE fabricvp_mask __match_any_sync(fabricvp_mask mask, T value) {            \
        return fabricvp::lane_match_##name(mask, __builtin_bit_cast(U, value));              \
    }                                                                                        \
    FABRICVP_DEVICE fabricvp_mask __match_all_sync(fabricvp_mask mask, T value, int* pred) { \
        *pred = fabricvp::lane_match_all_##name(mask, __builtin_bit_cast(U, value));         \
        return *pred ? mask : 0;                                                             \
    }
FABRICVP_MATCHES(int, u32, unsigned)
FABRICVP_MATCHES(unsigned, u32, unsigned)
FABRICVP_MATCHES(float, u32, unsigned)
FABRICVP_MATCHES(long, u64, unsigned long)
FABRICVP_MATCHES(unsigned long, u64, unsigned long)
FABRICVP_MATCHES(long long, u64, unsigned long)
FABRICVP_MATCHES(unsigned long long, u64, unsigned long)
FABRICVP_MATCHES(double, u64, unsigned long)
#define FABRICVP_REDUCE(operation, name, T)                                      \
    FABRICVP_DEVICE T __reduce_##operation##_sync(fabricvp_mask mask, T value) { \
        return fabricvp::lane_reduce_##operation##_##name(mask, value);          \
    }
FABRICVP_REDUCE(add, u32, unsigned)
FABRICVP_REDUCE(add, i32, int)
FABRICVP_REDUCE(min, u32, unsigned)
FABRICVP_REDUCE(min, i32, int)
FABRICVP_REDUCE(max, u32, unsigned)
FABRICVP_REDUCE(max, i32, int)
FABRICVP_REDUCE(and, u32, unsigned)
FABRICVP_REDUCE(or, u32, unsigned)
FABRICVP_REDUCE(xor, u32, unsigned)

/* Integers and bits. */
FABRICVP_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
FABRICVP_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
FABRICVP_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
FABRICVP_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
FABRICVP_DEVICE int __ffs(int x) { return x ? __builtin_ctz((unsigned)x) + 1 : 0; }
FABRICVP_DEVICE int __ffsll(long long x) { return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0; }
FABRICVP_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
FABRICVP_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
FABRICVP_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned by) {
    const unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned byte = (unsigned)(both >> (by >> 4 * i & 7) * 8 & 0xff);
        result |= (by >> 4 * i & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * i;
    }
    return result;
}
FABRICVP_DEVICE int __mul24(int x, int y) { return x * y; }
FABRICVP_DEVICE int __mulhi(int x, int y) { return (int)((long)x * y >> 32); }
FABRICVP_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long)x * y >> 32); }
template <class T>
FABRICVP_DEVICE T __ldg(const T* at) {
    return *at;
}
/* On the host, too, and of a mixed pair in its unsigned type, as CUDA has them. */
#define FABRICVP_ORDER_OF(T, A, B)                                      \
    FABRICVP_BOTH T min(A x, B y) { return (T)y < (T)x ? (T)y : (T)x; } \
    FABRICVP_BOTH T max(A x, B y) { return (T)x < (T)y ? (T)y : (T)x; }
#define FABRICVP_ORDER(T)                                 \
    FABRICVP_ORDER_OF(T, T, T)                            \
    FABRICVP_ORDER_OF(unsigned T, unsigned T, unsigned T) \
    FABRICVP_ORDER_OF(unsigned T, T, unsigned T) FABRICVP_ORDER_OF(unsigned T, unsigned T, T)
FABRICVP_ORDER(int)
FABRICVP_ORDER(long)
FABRICVP_ORDER(long long)

/* Mathematics: the same names for float and double, and names with f for float. */
#define FABRICVP_MATH1(name)                             \
    extern "C" __device__ float name##f(float) noexcept; \
    extern "C" __device__ double name(double) noexcept;  \
    FABRICVP_DEVICE float name(float x) { return name##f(x); }
#define FABRICVP_MATH2(name)                                    \
    extern "C" __device__ float name##f(float, float) noexcept; \
    extern "C" __device__ double name(double, double) noexcept; \
    FABRICVP_DEVICE float name(float x, float y) { return name##f(x, y); }
/* clang-format off */
FABRICVP_MATH1(acos) FABRICVP_MATH1(acosh) FABRICVP_MATH1(asin) FABRICVP_MATH1(asinh) FABRICVP_MATH1(atan)
FABRICVP_MATH1(atanh) FABRICVP_MATH1(cbrt) FABRICVP_MATH1(ceil) FABRICVP_MATH1(cos) FABRICVP_MATH1(cosh)
FABRICVP_MATH1(erf) FABRICVP_MATH1(exp) FABRICVP_MATH1(exp2) FABRICVP_MATH1(expm1)
FABRICVP_MATH1(floor) FABRICVP_MATH1(log) FABRICVP_MATH1(log10) FABRICVP_MATH1(log1p) FABRICVP_MATH1(log2)
FABRICVP_MATH1(logb) FABRICVP_MATH1(nearbyint) FABRICVP_MATH1(rint) FABRICVP_MATH1(round) FABRICVP_MATH1(sin)
FABRICVP_MATH1(sinh) FABRICVP_MATH1(tan) FABRICVP_MATH1(tanh) FABRICVP_MATH1(tgamma) FABRICVP_MATH1(trunc)
FABRICVP_MATH2(atan2) FABRICVP_MATH2(copysign) FABRICVP_MATH2(fdim) FABRICVP_MATH2(fmod) FABRICVP_MATH2(hypot)
FABRICVP_MATH2(pow) FABRICVP_MATH2(remainder)
/* libm's erfcf() is off by more than 50 ulps where results are small. */
extern "C" __device__ double erfc(double) noexcept;
FABRICVP_DEVICE float erfcf(float x) { return (float)erfc((double)x); }
FABRICVP_DEVICE float erfc(float x) { return erfcf(x); }
#define FABRICVP_BUILTIN1(name)                                                   \
    FABRICVP_C float name##f(float x) noexcept { return __builtin_##name##f(x); } \
    FABRICVP_C double name(double x) noexcept { return __builtin_##name(x); }     \
    FABRICVP_DEVICE float name(float x) { return __builtin_##name##f(x); }
#define FABRICVP_BUILTIN2(name)                                                               \
    FABRICVP_C float name##f(float x, float y) noexcept { return __builtin_##name##f(x, y); } \
    FABRICVP_C double name(double x, double y) noexcept { return __builtin_##name(x, y); }    \
    FABRICVP_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }
FABRICVP_BUILTIN1(sqrt) FABRICVP_BUILTIN1(fabs) FABRICVP_BUILTIN2(fmin) FABRICVP_BUILTIN2(fmax)
#define FABRICVP_FLOAT_ORDER(T, A, B, suffix)                                                      \
    static __host__ __device__ inline T min(A x, B y) { return __builtin_fmin##suffix(x, y); } \
    static __host__ __device__ inline T max(A x, B y) { return __builtin_fmax##suffix(x, y); }
FABRICVP_FLOAT_ORDER(float, float, float, f)
FABRICVP_FLOAT_ORDER(double, double, double, )
FABRICVP_FLOAT_ORDER(double, float, double, )
FABRICVP_FLOAT_ORDER(double, double, float, )
FABRICVP_C float fmaf(float x, float y, float z) noexcept { return __builtin_fmaf(x, y, z); }
FABRICVP_C double fma(double x, double y, double z) noexcept { return __builtin_fma(x, y, z); }
FABRICVP_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
FABRICVP_DEVICE float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
FABRICVP_DEVICE double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
FABRICVP_C int abs(int x) noexcept { return x < 0 ? -x : x; }
FABRICVP_DEVICE float abs(float x) { return __builtin_fabsf(x); }
FABRICVP_DEVICE double abs(double x) { return __builtin_fabs(x); }
/* Fast forms are the precise functions. */
FABRICVP_DEVICE float __sinf(float x) { return sinf(x); }
FABRICVP_DEVICE float __cosf(float x) { return cosf(x); }
FABRICVP_DEVICE float __tanf(float x) { return tanf(x); }
FABRICVP_DEVICE float __expf(float x) { return expf(x); }
FABRICVP_DEVICE float __logf(float x) { return logf(x); }
FABRICVP_DEVICE float __log2f(float x) { return log2f(x); }
FABRICVP_DEVICE float __log10f(float x) { return log10f(x); }
FABRICVP_DEVICE float __powf(float x, float y) { return powf(x, y); }
FABRICVP_DEVICE float __fdividef(float x, float y) { return x / y; }
FABRICVP_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
FABRICVP_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
FABRICVP_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
FABRICVP_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
FABRICVP_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
FABRICVP_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
FABRICVP_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

/* clang-format on */
#include "intrinsics.h"
#include "libm.h"
#include "output.h"
#include "textures.h"
#endif
