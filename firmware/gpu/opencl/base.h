/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in functions of OpenCL C are written with. Each family (work_item.cl, math.cl, …) becomes bitcode, and
 * the compiler inlines what a kernel calls. Files are compiled without clang's own declarations of built-in functions,
 * so that a definition is what is written here. */
#ifndef FABRICVP_GPU_OPENCL_BASE_H
#define FABRICVP_GPU_OPENCL_BASE_H

#include "abi/gpu_isa.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
/* A built-in function. Clang mangles overloadable ones by their parameters, as it does calls of kernels. */
#define OV __attribute__((overloadable, always_inline))
#define HELPER static __attribute__((overloadable, always_inline))

/* Reads a register of the lane. It is not volatile: the same register read twice is read once. */
#define CSR(number)                                       \
    ({                                                    \
        ulong value_;                                     \
        __asm__("csrr %0, " TEXT(number) : "=r"(value_)); \
        value_;                                           \
    })
#define INSTRUCTION(funct, immediate) \
    __asm__ volatile(".insn i " TEXT(GPU_OPCODE) ", " TEXT(funct) ", x0, x0, %0" ::"i"(immediate) : "memory")

/* The vector forms of f(x), f(x, y) and f(x, y, z) from the scalar ones; R is the result's element type. */
#define UNARY(R, f, T)                                              \
    OV R##2 f(T##2 x) { return (R##2)(f(x.s0), f(x.s1)); }          \
    OV R##3 f(T##3 x) { return (R##3)(f(x.s0), f(x.s1), f(x.s2)); } \
    OV R##4 f(T##4 x) { return (R##4)(f(x.lo), f(x.hi)); }          \
    OV R##8 f(T##8 x) { return (R##8)(f(x.lo), f(x.hi)); }          \
    OV R##16 f(T##16 x) { return (R##16)(f(x.lo), f(x.hi)); }
#define BINARY2(R, f, T, U)                                                                   \
    OV R##2 f(T##2 x, U##2 y) { return (R##2)(f(x.s0, y.s0), f(x.s1, y.s1)); }                \
    OV R##3 f(T##3 x, U##3 y) { return (R##3)(f(x.s0, y.s0), f(x.s1, y.s1), f(x.s2, y.s2)); } \
    OV R##4 f(T##4 x, U##4 y) { return (R##4)(f(x.lo, y.lo), f(x.hi, y.hi)); }                \
    OV R##8 f(T##8 x, U##8 y) { return (R##8)(f(x.lo, y.lo), f(x.hi, y.hi)); }                \
    OV R##16 f(T##16 x, U##16 y) { return (R##16)(f(x.lo, y.lo), f(x.hi, y.hi)); }
#define BINARY(R, f, T) BINARY2(R, f, T, T)
#define TERNARY3(R, f, T, U, V)                                                                    \
    OV R##2 f(T##2 x, U##2 y, V##2 z) { return (R##2)(f(x.s0, y.s0, z.s0), f(x.s1, y.s1, z.s1)); } \
    OV R##3 f(T##3 x, U##3 y, V##3 z) {                                                            \
        return (R##3)(f(x.s0, y.s0, z.s0), f(x.s1, y.s1, z.s1), f(x.s2, y.s2, z.s2));              \
    }                                                                                              \
    OV R##4 f(T##4 x, U##4 y, V##4 z) { return (R##4)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); } \
    OV R##8 f(T##8 x, U##8 y, V##8 z) { return (R##8)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); } \
    OV R##16 f(T##16 x, U##16 y, V##16 z) { return (R##16)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); }
#define TERNARY(R, f, T) TERNARY3(R, f, T, T, T)
/* Forms whose last operands are scalars. */
#define FOR_VECTORS(F, ...) F(2, __VA_ARGS__) F(3, __VA_ARGS__) F(4, __VA_ARGS__) F(8, __VA_ARGS__) F(16, __VA_ARGS__)

#define FOR_INTEGERS(F) \
    F(char, uchar)      \
    F(uchar, uchar) F(short, ushort) F(ushort, ushort) F(int, uint) F(uint, uint) F(long, ulong) F(ulong, ulong)

#endif
