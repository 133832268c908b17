/* SPDX-License-Identifier: Apache-2.0 */
/* libm in kernels: picolibc's <math.h>, and the stack that its functions need. The deepest call, yn(), takes 1,056
 * bytes, most of them to reduce the arguments of trigonometric functions. */
#ifndef FABRICVP_GPU_MATH_H
#define FABRICVP_GPU_MATH_H

#include_next <math.h>

/* In place of picolibc 1.8's, which is off by more than 50 ulps where results are small. */
static inline float gpu_erfcf(float x) { return (float)erfc(x); }
#define erfcf gpu_erfcf

#undef GPU_DEFAULT_STACK
#define GPU_DEFAULT_STACK 1600

#endif
