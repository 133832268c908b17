// SPDX-License-Identifier: Apache-2.0
// What floating-point instructions compute, named as in instruction_table.h. Single-precision values are unboxed
// 32-bit patterns. `rm` is a resolved rounding mode; exceptions are ORed into `flags`.
#pragma once

#include "riscv/fpu.h"
#include "riscv/semantics.h"

namespace fabricvp::riscv::semantics {

using flag_set = std::uint32_t;

#define FABRICVP_ARITHMETIC(op)                                                                               \
    inline u32 f##op##_s(u32 a, u32 b, unsigned rm, flag_set& flags) { return fpu::op##_s(a, b, rm, flags); } \
    inline u64 f##op##_d(u64 a, u64 b, unsigned rm, flag_set& flags) { return fpu::op##_d(a, b, rm, flags); }
FABRICVP_ARITHMETIC(add)
FABRICVP_ARITHMETIC(sub)
FABRICVP_ARITHMETIC(mul)
FABRICVP_ARITHMETIC(div)
#undef FABRICVP_ARITHMETIC

#define FABRICVP_FUSED(op)                                                                                           \
    inline u32 op##_s(u32 a, u32 b, u32 c, unsigned rm, flag_set& flags) { return fpu::op##_s(a, b, c, rm, flags); } \
    inline u64 op##_d(u64 a, u64 b, u64 c, unsigned rm, flag_set& flags) { return fpu::op##_d(a, b, c, rm, flags); }
FABRICVP_FUSED(fmadd)
FABRICVP_FUSED(fmsub)
FABRICVP_FUSED(fnmsub)
FABRICVP_FUSED(fnmadd)
#undef FABRICVP_FUSED

inline u32 fsqrt_s(u32 a, unsigned rm, flag_set& flags) { return fpu::sqrt_s(a, rm, flags); }
inline u64 fsqrt_d(u64 a, unsigned rm, flag_set& flags) { return fpu::sqrt_d(a, rm, flags); }

#define FABRICVP_SIGN(op)                                                       \
    inline u32 f##op##_s(u32 a, u32 b, flag_set&) { return fpu::op##_s(a, b); } \
    inline u64 f##op##_d(u64 a, u64 b, flag_set&) { return fpu::op##_d(a, b); }
FABRICVP_SIGN(sgnj)
FABRICVP_SIGN(sgnjn)
FABRICVP_SIGN(sgnjx)
#undef FABRICVP_SIGN

#define FABRICVP_EXTREME(op)                                                                 \
    inline u32 f##op##_s(u32 a, u32 b, flag_set& flags) { return fpu::op##_s(a, b, flags); } \
    inline u64 f##op##_d(u64 a, u64 b, flag_set& flags) { return fpu::op##_d(a, b, flags); }
FABRICVP_EXTREME(min)
FABRICVP_EXTREME(max)
#undef FABRICVP_EXTREME

#define FABRICVP_FLOAT_COMPARE(op)                                                           \
    inline u64 f##op##_s(u32 a, u32 b, flag_set& flags) { return fpu::op##_s(a, b, flags); } \
    inline u64 f##op##_d(u64 a, u64 b, flag_set& flags) { return fpu::op##_d(a, b, flags); }
FABRICVP_FLOAT_COMPARE(eq)
FABRICVP_FLOAT_COMPARE(lt)
FABRICVP_FLOAT_COMPARE(le)
#undef FABRICVP_FLOAT_COMPARE

#define FABRICVP_CONVERT(to)                                                                               \
    inline u64 fcvt_##to##_s(u32 a, unsigned rm, flag_set& flags) { return fpu::s_to_##to(a, rm, flags); } \
    inline u64 fcvt_##to##_d(u64 a, unsigned rm, flag_set& flags) { return fpu::d_to_##to(a, rm, flags); } \
    inline u32 fcvt_s_##to(u64 a, unsigned rm, flag_set& flags) { return fpu::to##_to_s(a, rm, flags); }   \
    inline u64 fcvt_d_##to(u64 a, unsigned rm, flag_set& flags) { return fpu::to##_to_d(a, rm, flags); }
FABRICVP_CONVERT(w)
FABRICVP_CONVERT(wu)
FABRICVP_CONVERT(l)
FABRICVP_CONVERT(lu)
#undef FABRICVP_CONVERT

inline u32 fcvt_s_d(u64 a, unsigned rm, flag_set& flags) { return fpu::d_to_s(a, rm, flags); }
inline u64 fcvt_d_s(u32 a, unsigned, flag_set& flags) { return fpu::s_to_d(a, flags); }
inline u64 fclass_s(u32 a) { return fpu::class_s(a); }
inline u64 fclass_d(u64 a) { return fpu::class_d(a); }
/// Moves take the raw register: fmv.x.w does not look at the boxing.
inline u64 fmv_x_w(u64 a) { return sext32(a); }
inline u64 fmv_x_d(u64 a) { return a; }
inline u32 fmv_w_x(u64 a) { return static_cast<u32>(a); }
inline u64 fmv_d_x(u64 a) { return a; }

}  // namespace fabricvp::riscv::semantics
