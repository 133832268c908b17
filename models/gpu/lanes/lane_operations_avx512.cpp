// SPDX-License-Identifier: Apache-2.0
// For hosts with AVX-512 (F, DQ, BW, VL, CD).
#if defined(__x86_64__)
#include <cstring>

#include "gpu/lanes/lane_operations.h"
#include "riscv/float_semantics.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx512cd,fma,bmi,bmi2,prefer-vector-width=512")
#define LANES_NAME avx512_lane_operations
#define LANES_TEXT "avx512"
#define LANES_FMA 1
#include "gpu/lanes/lane_rows.inc"
#pragma GCC pop_options
#endif
