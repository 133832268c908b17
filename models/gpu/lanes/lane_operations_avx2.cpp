// SPDX-License-Identifier: Apache-2.0
// For hosts with AVX2, FMA and BMI2.
#if defined(__x86_64__)
#include <cstring>

#include "gpu/lanes/lane_operations.h"
#include "riscv/float_semantics.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2")
#define LANES_NAME avx2_lane_operations
#define LANES_TEXT "avx2"
#define LANES_FMA 1
#include "gpu/lanes/lane_rows.inc"
#pragma GCC pop_options
#endif
