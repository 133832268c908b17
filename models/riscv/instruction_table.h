// SPDX-License-Identifier: Apache-2.0
// Every instruction once: X(name, mnemonic, match, mask, format, timing class).
//
// `name` is the function in semantics.h that computes it (for loads, stores and system instructions: the handler).
// `format` says where the operands come from and so names the piece of dispatch code that an engine generates per row:
// the hart's threaded loop expands EXECUTE_<format>(name), a lane loop can expand the same rows over 64 registers.
#pragma once

// clang-format off
#define FABRICVP_RISCV_BASE_INSTRUCTIONS(X)                                     \
    X(lui, "lui", 0x00000037, 0x0000007f, upper, alu)                           \
    X(auipc, "auipc", 0x00000017, 0x0000007f, upper_pc, alu)                    \
    X(jal, "jal", 0x0000006f, 0x0000007f, jump, jump)                           \
    X(jalr, "jalr", 0x00000067, 0x0000707f, jump_register, jump)                \
    X(beq, "beq", 0x00000063, 0x0000707f, branch, branch)                       \
    X(bne, "bne", 0x00001063, 0x0000707f, branch, branch)                       \
    X(blt, "blt", 0x00004063, 0x0000707f, branch, branch)                       \
    X(bge, "bge", 0x00005063, 0x0000707f, branch, branch)                       \
    X(bltu, "bltu", 0x00006063, 0x0000707f, branch, branch)                     \
    X(bgeu, "bgeu", 0x00007063, 0x0000707f, branch, branch)                     \
    X(lb, "lb", 0x00000003, 0x0000707f, load, load)                             \
    X(lh, "lh", 0x00001003, 0x0000707f, load, load)                             \
    X(lw, "lw", 0x00002003, 0x0000707f, load, load)                             \
    X(ld, "ld", 0x00003003, 0x0000707f, load, load)                             \
    X(lbu, "lbu", 0x00004003, 0x0000707f, load, load)                           \
    X(lhu, "lhu", 0x00005003, 0x0000707f, load, load)                           \
    X(lwu, "lwu", 0x00006003, 0x0000707f, load, load)                           \
    X(sb, "sb", 0x00000023, 0x0000707f, store, store)                           \
    X(sh, "sh", 0x00001023, 0x0000707f, store, store)                           \
    X(sw, "sw", 0x00002023, 0x0000707f, store, store)                           \
    X(sd, "sd", 0x00003023, 0x0000707f, store, store)                           \
    X(addi, "addi", 0x00000013, 0x0000707f, register_immediate, alu)            \
    X(slti, "slti", 0x00002013, 0x0000707f, register_immediate, alu)            \
    X(sltiu, "sltiu", 0x00003013, 0x0000707f, register_immediate, alu)          \
    X(xori, "xori", 0x00004013, 0x0000707f, register_immediate, alu)            \
    X(ori, "ori", 0x00006013, 0x0000707f, register_immediate, alu)              \
    X(andi, "andi", 0x00007013, 0x0000707f, register_immediate, alu)            \
    X(slli, "slli", 0x00001013, 0xfc00707f, register_shift, alu)                \
    X(srli, "srli", 0x00005013, 0xfc00707f, register_shift, alu)                \
    X(srai, "srai", 0x40005013, 0xfc00707f, register_shift, alu)                \
    X(addiw, "addiw", 0x0000001b, 0x0000707f, register_immediate, alu)          \
    X(slliw, "slliw", 0x0000101b, 0xfe00707f, register_shift, alu)              \
    X(srliw, "srliw", 0x0000501b, 0xfe00707f, register_shift, alu)              \
    X(sraiw, "sraiw", 0x4000501b, 0xfe00707f, register_shift, alu)              \
    X(add, "add", 0x00000033, 0xfe00707f, register_register, alu)               \
    X(sub, "sub", 0x40000033, 0xfe00707f, register_register, alu)               \
    X(sll, "sll", 0x00001033, 0xfe00707f, register_register, alu)               \
    X(slt, "slt", 0x00002033, 0xfe00707f, register_register, alu)               \
    X(sltu, "sltu", 0x00003033, 0xfe00707f, register_register, alu)             \
    X(xor_, "xor", 0x00004033, 0xfe00707f, register_register, alu)              \
    X(srl, "srl", 0x00005033, 0xfe00707f, register_register, alu)               \
    X(sra, "sra", 0x40005033, 0xfe00707f, register_register, alu)               \
    X(or_, "or", 0x00006033, 0xfe00707f, register_register, alu)                \
    X(and_, "and", 0x00007033, 0xfe00707f, register_register, alu)              \
    X(addw, "addw", 0x0000003b, 0xfe00707f, register_register, alu)             \
    X(subw, "subw", 0x4000003b, 0xfe00707f, register_register, alu)             \
    X(sllw, "sllw", 0x0000103b, 0xfe00707f, register_register, alu)             \
    X(srlw, "srlw", 0x0000503b, 0xfe00707f, register_register, alu)             \
    X(sraw, "sraw", 0x4000503b, 0xfe00707f, register_register, alu)             \
    X(pause, "pause", 0x0100000f, 0xffffffff, system, fence)                    \
    X(fence, "fence", 0x0000000f, 0x0000707f, nothing, fence)                   \
    X(fence_i, "fence.i", 0x0000100f, 0x0000707f, system, fence)                \
    X(ecall, "ecall", 0x00000073, 0xffffffff, system, csr)                      \
    X(ebreak, "ebreak", 0x00100073, 0xffffffff, system, csr)                    \
    X(sret, "sret", 0x10200073, 0xffffffff, system, csr)                        \
    X(mret, "mret", 0x30200073, 0xffffffff, system, csr)                        \
    X(wfi, "wfi", 0x10500073, 0xffffffff, system, csr)                          \
    X(sfence_vma, "sfence.vma", 0x12000073, 0xfe007fff, system, fence)          \
    X(csrrw, "csrrw", 0x00001073, 0x0000707f, csr, csr)                         \
    X(csrrs, "csrrs", 0x00002073, 0x0000707f, csr, csr)                         \
    X(csrrc, "csrrc", 0x00003073, 0x0000707f, csr, csr)                         \
    X(csrrwi, "csrrwi", 0x00005073, 0x0000707f, csr, csr)                       \
    X(csrrsi, "csrrsi", 0x00006073, 0x0000707f, csr, csr)                       \
    X(csrrci, "csrrci", 0x00007073, 0x0000707f, csr, csr)

#define FABRICVP_RISCV_MULTIPLY_INSTRUCTIONS(X)                                 \
    X(mul, "mul", 0x02000033, 0xfe00707f, register_register, multiply)          \
    X(mulh, "mulh", 0x02001033, 0xfe00707f, register_register, multiply)        \
    X(mulhsu, "mulhsu", 0x02002033, 0xfe00707f, register_register, multiply)    \
    X(mulhu, "mulhu", 0x02003033, 0xfe00707f, register_register, multiply)      \
    X(div, "div", 0x02004033, 0xfe00707f, register_register, divide)            \
    X(divu, "divu", 0x02005033, 0xfe00707f, register_register, divide)          \
    X(rem, "rem", 0x02006033, 0xfe00707f, register_register, divide)            \
    X(remu, "remu", 0x02007033, 0xfe00707f, register_register, divide)          \
    X(mulw, "mulw", 0x0200003b, 0xfe00707f, register_register, multiply)        \
    X(divw, "divw", 0x0200403b, 0xfe00707f, register_register, divide)          \
    X(divuw, "divuw", 0x0200503b, 0xfe00707f, register_register, divide)        \
    X(remw, "remw", 0x0200603b, 0xfe00707f, register_register, divide)          \
    X(remuw, "remuw", 0x0200703b, 0xfe00707f, register_register, divide)

#define FABRICVP_RISCV_ATOMIC_INSTRUCTIONS(X)                                   \
    X(lr_w, "lr.w", 0x1000202f, 0xf9f0707f, load_reserved, atomic)              \
    X(lr_d, "lr.d", 0x1000302f, 0xf9f0707f, load_reserved, atomic)              \
    X(sc_w, "sc.w", 0x1800202f, 0xf800707f, store_conditional, atomic)          \
    X(sc_d, "sc.d", 0x1800302f, 0xf800707f, store_conditional, atomic)          \
    X(amoswap_w, "amoswap.w", 0x0800202f, 0xf800707f, atomic, atomic)           \
    X(amoadd_w, "amoadd.w", 0x0000202f, 0xf800707f, atomic, atomic)             \
    X(amoxor_w, "amoxor.w", 0x2000202f, 0xf800707f, atomic, atomic)             \
    X(amoand_w, "amoand.w", 0x6000202f, 0xf800707f, atomic, atomic)             \
    X(amoor_w, "amoor.w", 0x4000202f, 0xf800707f, atomic, atomic)               \
    X(amomin_w, "amomin.w", 0x8000202f, 0xf800707f, atomic, atomic)             \
    X(amomax_w, "amomax.w", 0xa000202f, 0xf800707f, atomic, atomic)             \
    X(amominu_w, "amominu.w", 0xc000202f, 0xf800707f, atomic, atomic)           \
    X(amomaxu_w, "amomaxu.w", 0xe000202f, 0xf800707f, atomic, atomic)           \
    X(amoswap_d, "amoswap.d", 0x0800302f, 0xf800707f, atomic, atomic)           \
    X(amoadd_d, "amoadd.d", 0x0000302f, 0xf800707f, atomic, atomic)             \
    X(amoxor_d, "amoxor.d", 0x2000302f, 0xf800707f, atomic, atomic)             \
    X(amoand_d, "amoand.d", 0x6000302f, 0xf800707f, atomic, atomic)             \
    X(amoor_d, "amoor.d", 0x4000302f, 0xf800707f, atomic, atomic)               \
    X(amomin_d, "amomin.d", 0x8000302f, 0xf800707f, atomic, atomic)             \
    X(amomax_d, "amomax.d", 0xa000302f, 0xf800707f, atomic, atomic)             \
    X(amominu_d, "amominu.d", 0xc000302f, 0xf800707f, atomic, atomic)           \
    X(amomaxu_d, "amomaxu.d", 0xe000302f, 0xf800707f, atomic, atomic)

#define FABRICVP_RISCV_BIT_INSTRUCTIONS(X)                                      \
    X(add_uw, "add.uw", 0x0800003b, 0xfe00707f, register_register, alu)         \
    X(sh1add, "sh1add", 0x20002033, 0xfe00707f, register_register, alu)         \
    X(sh2add, "sh2add", 0x20004033, 0xfe00707f, register_register, alu)         \
    X(sh3add, "sh3add", 0x20006033, 0xfe00707f, register_register, alu)         \
    X(sh1add_uw, "sh1add.uw", 0x2000203b, 0xfe00707f, register_register, alu)   \
    X(sh2add_uw, "sh2add.uw", 0x2000403b, 0xfe00707f, register_register, alu)   \
    X(sh3add_uw, "sh3add.uw", 0x2000603b, 0xfe00707f, register_register, alu)   \
    X(slli_uw, "slli.uw", 0x0800101b, 0xfc00707f, register_shift, alu)          \
    X(andn, "andn", 0x40007033, 0xfe00707f, register_register, alu)             \
    X(orn, "orn", 0x40006033, 0xfe00707f, register_register, alu)               \
    X(xnor, "xnor", 0x40004033, 0xfe00707f, register_register, alu)             \
    X(clz, "clz", 0x60001013, 0xfff0707f, register_only, alu)                   \
    X(ctz, "ctz", 0x60101013, 0xfff0707f, register_only, alu)                   \
    X(cpop, "cpop", 0x60201013, 0xfff0707f, register_only, alu)                 \
    X(clzw, "clzw", 0x6000101b, 0xfff0707f, register_only, alu)                 \
    X(ctzw, "ctzw", 0x6010101b, 0xfff0707f, register_only, alu)                 \
    X(cpopw, "cpopw", 0x6020101b, 0xfff0707f, register_only, alu)               \
    X(sext_b, "sext.b", 0x60401013, 0xfff0707f, register_only, alu)             \
    X(sext_h, "sext.h", 0x60501013, 0xfff0707f, register_only, alu)             \
    X(zext_h, "zext.h", 0x0800403b, 0xfff0707f, register_only, alu)             \
    X(orc_b, "orc.b", 0x28705013, 0xfff0707f, register_only, alu)               \
    X(rev8, "rev8", 0x6b805013, 0xfff0707f, register_only, alu)                 \
    X(max, "max", 0x0a006033, 0xfe00707f, register_register, alu)               \
    X(maxu, "maxu", 0x0a007033, 0xfe00707f, register_register, alu)             \
    X(min, "min", 0x0a004033, 0xfe00707f, register_register, alu)               \
    X(minu, "minu", 0x0a005033, 0xfe00707f, register_register, alu)             \
    X(rol, "rol", 0x60001033, 0xfe00707f, register_register, alu)               \
    X(ror, "ror", 0x60005033, 0xfe00707f, register_register, alu)               \
    X(rori, "rori", 0x60005013, 0xfc00707f, register_shift, alu)                \
    X(rolw, "rolw", 0x6000103b, 0xfe00707f, register_register, alu)             \
    X(rorw, "rorw", 0x6000503b, 0xfe00707f, register_register, alu)             \
    X(roriw, "roriw", 0x6000501b, 0xfe00707f, register_shift, alu)              \
    X(bclr, "bclr", 0x48001033, 0xfe00707f, register_register, alu)             \
    X(bclri, "bclri", 0x48001013, 0xfc00707f, register_shift, alu)              \
    X(bext, "bext", 0x48005033, 0xfe00707f, register_register, alu)             \
    X(bexti, "bexti", 0x48005013, 0xfc00707f, register_shift, alu)              \
    X(binv, "binv", 0x68001033, 0xfe00707f, register_register, alu)             \
    X(binvi, "binvi", 0x68001013, 0xfc00707f, register_shift, alu)              \
    X(bset, "bset", 0x28001033, 0xfe00707f, register_register, alu)             \
    X(bseti, "bseti", 0x28001013, 0xfc00707f, register_shift, alu)

// Formats of floating point: letters say destination and sources (s single, d double, x integer register);
// `_rm` takes a rounding mode. All return their flags through an argument.
#define FABRICVP_RISCV_FLOAT_INSTRUCTIONS(X)                                    \
    X(flw, "flw", 0x00002007, 0x0000707f, float_load, load)                     \
    X(fld, "fld", 0x00003007, 0x0000707f, float_load, load)                     \
    X(fsw, "fsw", 0x00002027, 0x0000707f, float_store, store)                   \
    X(fsd, "fsd", 0x00003027, 0x0000707f, float_store, store)                   \
    X(fmadd_s, "fmadd.s", 0x00000043, 0x0600007f, f_ssss_rm, floating)          \
    X(fmsub_s, "fmsub.s", 0x00000047, 0x0600007f, f_ssss_rm, floating)          \
    X(fnmsub_s, "fnmsub.s", 0x0000004b, 0x0600007f, f_ssss_rm, floating)        \
    X(fnmadd_s, "fnmadd.s", 0x0000004f, 0x0600007f, f_ssss_rm, floating)        \
    X(fmadd_d, "fmadd.d", 0x02000043, 0x0600007f, f_dddd_rm, floating)          \
    X(fmsub_d, "fmsub.d", 0x02000047, 0x0600007f, f_dddd_rm, floating)          \
    X(fnmsub_d, "fnmsub.d", 0x0200004b, 0x0600007f, f_dddd_rm, floating)        \
    X(fnmadd_d, "fnmadd.d", 0x0200004f, 0x0600007f, f_dddd_rm, floating)        \
    X(fadd_s, "fadd.s", 0x00000053, 0xfe00007f, f_sss_rm, floating)             \
    X(fsub_s, "fsub.s", 0x08000053, 0xfe00007f, f_sss_rm, floating)             \
    X(fmul_s, "fmul.s", 0x10000053, 0xfe00007f, f_sss_rm, floating)             \
    X(fdiv_s, "fdiv.s", 0x18000053, 0xfe00007f, f_sss_rm, float_divide)         \
    X(fsqrt_s, "fsqrt.s", 0x58000053, 0xfff0007f, f_ss_rm, float_divide)        \
    X(fsgnj_s, "fsgnj.s", 0x20000053, 0xfe00707f, f_sss, floating)              \
    X(fsgnjn_s, "fsgnjn.s", 0x20001053, 0xfe00707f, f_sss, floating)            \
    X(fsgnjx_s, "fsgnjx.s", 0x20002053, 0xfe00707f, f_sss, floating)            \
    X(fmin_s, "fmin.s", 0x28000053, 0xfe00707f, f_sss, floating)                \
    X(fmax_s, "fmax.s", 0x28001053, 0xfe00707f, f_sss, floating)                \
    X(fcvt_w_s, "fcvt.w.s", 0xc0000053, 0xfff0007f, f_xs_rm, floating)          \
    X(fcvt_wu_s, "fcvt.wu.s", 0xc0100053, 0xfff0007f, f_xs_rm, floating)        \
    X(fcvt_l_s, "fcvt.l.s", 0xc0200053, 0xfff0007f, f_xs_rm, floating)          \
    X(fcvt_lu_s, "fcvt.lu.s", 0xc0300053, 0xfff0007f, f_xs_rm, floating)        \
    X(fmv_x_w, "fmv.x.w", 0xe0000053, 0xfff0707f, f_xd, floating)               \
    X(feq_s, "feq.s", 0xa0002053, 0xfe00707f, f_xss, floating)                  \
    X(flt_s, "flt.s", 0xa0001053, 0xfe00707f, f_xss, floating)                  \
    X(fle_s, "fle.s", 0xa0000053, 0xfe00707f, f_xss, floating)                  \
    X(fclass_s, "fclass.s", 0xe0001053, 0xfff0707f, f_xs, floating)             \
    X(fcvt_s_w, "fcvt.s.w", 0xd0000053, 0xfff0007f, f_sx_rm, floating)          \
    X(fcvt_s_wu, "fcvt.s.wu", 0xd0100053, 0xfff0007f, f_sx_rm, floating)        \
    X(fcvt_s_l, "fcvt.s.l", 0xd0200053, 0xfff0007f, f_sx_rm, floating)          \
    X(fcvt_s_lu, "fcvt.s.lu", 0xd0300053, 0xfff0007f, f_sx_rm, floating)        \
    X(fmv_w_x, "fmv.w.x", 0xf0000053, 0xfff0707f, f_sx, floating)               \
    X(fadd_d, "fadd.d", 0x02000053, 0xfe00007f, f_ddd_rm, floating)             \
    X(fsub_d, "fsub.d", 0x0a000053, 0xfe00007f, f_ddd_rm, floating)             \
    X(fmul_d, "fmul.d", 0x12000053, 0xfe00007f, f_ddd_rm, floating)             \
    X(fdiv_d, "fdiv.d", 0x1a000053, 0xfe00007f, f_ddd_rm, float_divide)         \
    X(fsqrt_d, "fsqrt.d", 0x5a000053, 0xfff0007f, f_dd_rm, float_divide)        \
    X(fsgnj_d, "fsgnj.d", 0x22000053, 0xfe00707f, f_ddd, floating)              \
    X(fsgnjn_d, "fsgnjn.d", 0x22001053, 0xfe00707f, f_ddd, floating)            \
    X(fsgnjx_d, "fsgnjx.d", 0x22002053, 0xfe00707f, f_ddd, floating)            \
    X(fmin_d, "fmin.d", 0x2a000053, 0xfe00707f, f_ddd, floating)                \
    X(fmax_d, "fmax.d", 0x2a001053, 0xfe00707f, f_ddd, floating)                \
    X(fcvt_s_d, "fcvt.s.d", 0x40100053, 0xfff0007f, f_sd_rm, floating)          \
    X(fcvt_d_s, "fcvt.d.s", 0x42000053, 0xfff0007f, f_ds_rm, floating)          \
    X(feq_d, "feq.d", 0xa2002053, 0xfe00707f, f_xdd, floating)                  \
    X(flt_d, "flt.d", 0xa2001053, 0xfe00707f, f_xdd, floating)                  \
    X(fle_d, "fle.d", 0xa2000053, 0xfe00707f, f_xdd, floating)                  \
    X(fclass_d, "fclass.d", 0xe2001053, 0xfff0707f, f_xd, floating)             \
    X(fcvt_w_d, "fcvt.w.d", 0xc2000053, 0xfff0007f, f_xd_rm, floating)          \
    X(fcvt_wu_d, "fcvt.wu.d", 0xc2100053, 0xfff0007f, f_xd_rm, floating)        \
    X(fcvt_l_d, "fcvt.l.d", 0xc2200053, 0xfff0007f, f_xd_rm, floating)          \
    X(fcvt_lu_d, "fcvt.lu.d", 0xc2300053, 0xfff0007f, f_xd_rm, floating)        \
    X(fmv_x_d, "fmv.x.d", 0xe2000053, 0xfff0707f, f_xd, floating)               \
    X(fcvt_d_w, "fcvt.d.w", 0xd2000053, 0xfff0007f, f_dx_rm, floating)          \
    X(fcvt_d_wu, "fcvt.d.wu", 0xd2100053, 0xfff0007f, f_dx_rm, floating)        \
    X(fcvt_d_l, "fcvt.d.l", 0xd2200053, 0xfff0007f, f_dx_rm, floating)          \
    X(fcvt_d_lu, "fcvt.d.lu", 0xd2300053, 0xfff0007f, f_dx_rm, floating)        \
    X(fmv_d_x, "fmv.d.x", 0xf2000053, 0xfff0707f, f_dx, floating)

// What GPU lanes know beside (custom-0, abi/gpu_isa.h); harts do not.
#define FABRICVP_RISCV_LANE_INSTRUCTIONS(X)                                     \
    X(lane_end, "gpu.end", 0x0000000b, 0xffffffff, lane, csr)                   \
    X(lane_barrier, "gpu.barrier", 0x0000100b, 0xffffffff, lane, fence)         \
    X(lane_fence, "gpu.fence", 0x0000200b, 0x000fffff, lane, fence)             \
    X(lane_load_w, "gpu.lw", 0x0000300b, 0x0000707f, lane, load)                \
    X(lane_load_d, "gpu.ld", 0x0000400b, 0x0000707f, lane, load)                \
    X(lane_ballot, "gpu.ballot", 0x0000500b, 0xfff0707f, lane, alu)             \
    X(lane_active, "gpu.active", 0x0200500b, 0xfffff07f, lane, alu)             \
    X(lane_shuffle_w, "gpu.shuffle.w", 0x0400500b, 0xfe00707f, lane, load)      \
    X(lane_shuffle_d, "gpu.shuffle.d", 0x0600500b, 0xfe00707f, lane, load)      \
    X(lane_sync, "gpu.sync", 0x0800500b, 0xfff07fff, lane, fence)               \
    X(lane_sync_any, "gpu.sync.any", 0x0a00500b, 0xfff07fff, lane, fence)       \
    X(lane_exchange, "gpu.exchange", 0x0c00500b, 0xfe00707f, lane, fence)       \
    X(lane_ballot_of, "gpu.ballot.of", 0x1000500b, 0xfff0707f, lane, alu)       \
    X(lane_shuffle_w_of, "gpu.shuffle.w.of", 0x1400500b, 0xfe00707f, lane, load) \
    X(lane_shuffle_d_of, "gpu.shuffle.d.of", 0x1600500b, 0xfe00707f, lane, load) \
    X(lane_add_s, "gpu.amofadd.s", 0x0000600b, 0xfe00707f, lane, atomic)        \
    X(lane_add_d, "gpu.amofadd.d", 0x0200600b, 0xfe00707f, lane, atomic)

#define FABRICVP_RISCV_INTEGER_INSTRUCTIONS(X)  \
    FABRICVP_RISCV_BASE_INSTRUCTIONS(X)         \
    FABRICVP_RISCV_MULTIPLY_INSTRUCTIONS(X)     \
    FABRICVP_RISCV_ATOMIC_INSTRUCTIONS(X)       \
    FABRICVP_RISCV_BIT_INSTRUCTIONS(X)

#define FABRICVP_RISCV_INSTRUCTIONS(X)          \
    FABRICVP_RISCV_INTEGER_INSTRUCTIONS(X)      \
    FABRICVP_RISCV_FLOAT_INSTRUCTIONS(X)        \
    FABRICVP_RISCV_LANE_INSTRUCTIONS(X)
