// SPDX-License-Identifier: Apache-2.0
// What an instruction of each floating-point format does with its operation `o`, for the dispatch loop and for
// translated code. Who includes this says before how an instruction is made of it:
//   FLOAT(name, prologue, statement)  one that writes a register or flags
//   READS_FLOAT(name, statement)      one that only reads
// with `x`, `f` the registers, FRM and FLAGS of fcsr, and NO_ROUNDING_MODE where the instruction is illegal.
// clang-format off
#define F1S fpu::unbox_s(f[o->rs1])
#define F2S fpu::unbox_s(f[o->rs2])
#define F3S fpu::unbox_s(f[o->rs3])
#define F1D f[o->rs1]
#define F2D f[o->rs2]
#define F3D f[o->rs3]
#define FX1 x[o->rs1]
#define SET_S(value) f[o->rd] = fpu::box_s(value)
#define SET_D(value) f[o->rd] = (value)
#define SET_X(value) x[o->rd] = (value)
#define ROUNDING                                                                  \
    unsigned rm = static_cast<unsigned>(o->immediate);                            \
    if (rm == 7) {                                                                \
        rm = FRM;                                                                 \
        if (__builtin_expect(rm > 4, 0)) NO_ROUNDING_MODE;                        \
    }
#define EXECUTE_f_ssss_rm(name) FLOAT(name, ROUNDING, SET_S(semantics::name(F1S, F2S, F3S, rm, FLAGS)))
#define EXECUTE_f_dddd_rm(name) FLOAT(name, ROUNDING, SET_D(semantics::name(F1D, F2D, F3D, rm, FLAGS)))
#define EXECUTE_f_sss_rm(name) FLOAT(name, ROUNDING, SET_S(semantics::name(F1S, F2S, rm, FLAGS)))
#define EXECUTE_f_ddd_rm(name) FLOAT(name, ROUNDING, SET_D(semantics::name(F1D, F2D, rm, FLAGS)))
#define EXECUTE_f_ss_rm(name) FLOAT(name, ROUNDING, SET_S(semantics::name(F1S, rm, FLAGS)))
#define EXECUTE_f_dd_rm(name) FLOAT(name, ROUNDING, SET_D(semantics::name(F1D, rm, FLAGS)))
#define EXECUTE_f_sd_rm(name) FLOAT(name, ROUNDING, SET_S(semantics::name(F1D, rm, FLAGS)))
#define EXECUTE_f_ds_rm(name) FLOAT(name, ROUNDING, SET_D(semantics::name(F1S, rm, FLAGS)))
#define EXECUTE_f_xs_rm(name) FLOAT(name, ROUNDING, SET_X(semantics::name(F1S, rm, FLAGS)))
#define EXECUTE_f_xd_rm(name) FLOAT(name, ROUNDING, SET_X(semantics::name(F1D, rm, FLAGS)))
#define EXECUTE_f_sx_rm(name) FLOAT(name, ROUNDING, SET_S(semantics::name(FX1, rm, FLAGS)))
#define EXECUTE_f_dx_rm(name) FLOAT(name, ROUNDING, SET_D(semantics::name(FX1, rm, FLAGS)))
#define EXECUTE_f_sss(name) FLOAT(name, , SET_S(semantics::name(F1S, F2S, FLAGS)))
#define EXECUTE_f_ddd(name) FLOAT(name, , SET_D(semantics::name(F1D, F2D, FLAGS)))
#define EXECUTE_f_xss(name) FLOAT(name, , SET_X(semantics::name(F1S, F2S, FLAGS)))
#define EXECUTE_f_xdd(name) FLOAT(name, , SET_X(semantics::name(F1D, F2D, FLAGS)))
#define EXECUTE_f_xs(name) READS_FLOAT(name, SET_X(semantics::name(F1S)))
#define EXECUTE_f_xd(name) READS_FLOAT(name, SET_X(semantics::name(F1D)))
#define EXECUTE_f_sx(name) FLOAT(name, , SET_S(semantics::name(FX1)))
#define EXECUTE_f_dx(name) FLOAT(name, , SET_D(semantics::name(FX1)))
// clang-format on
