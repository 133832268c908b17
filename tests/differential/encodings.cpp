// SPDX-License-Identifier: Apache-2.0
#include "encodings.h"

namespace differential {

namespace {
constexpr std::uint32_t word(unsigned opcode, unsigned funct3, unsigned funct7 = 0, unsigned rs2 = 0) {
    return opcode | funct3 << 12 | rs2 << 20 | funct7 << 25;
}
constexpr unsigned op = 0x33, op32 = 0x3b, op_imm = 0x13, op_imm32 = 0x1b, op_fp = 0x53;
}  // namespace

encodings::encodings() {
    for (unsigned f3 = 0; f3 < 8; ++f3) {
        arithmetic.push_back({word(op, f3), shape::r});
        if (f3 != 1 && f3 != 5) arithmetic.push_back({word(op_imm, f3), shape::i});
        multiply.push_back({word(op, f3, 1), shape::r});
    }
    arithmetic.push_back({word(op, 0, 0x20), shape::r});
    arithmetic.push_back({word(op, 5, 0x20), shape::r});
    for (const unsigned f3 : {0u, 1u, 5u}) arithmetic.push_back({word(op32, f3), shape::r});
    arithmetic.push_back({word(op32, 0, 0x20), shape::r});
    arithmetic.push_back({word(op32, 5, 0x20), shape::r});
    arithmetic.push_back({word(op_imm32, 0), shape::i});
    for (const unsigned f7 : {0u, 0x20u}) {
        arithmetic.push_back({word(op_imm, 5, f7), shape::shift6});
        arithmetic.push_back({word(op_imm32, 5, f7), shape::shift5});
    }
    arithmetic.push_back({word(op_imm, 1), shape::shift6});
    arithmetic.push_back({word(op_imm32, 1), shape::shift5});
    arithmetic.push_back({0x37, shape::u});
    arithmetic.push_back({0x17, shape::u});
    for (const unsigned f3 : {0u, 4u, 5u, 6u, 7u}) multiply.push_back({word(op32, f3, 1), shape::r});

    for (const unsigned f3 : {2u, 4u, 6u}) {
        bits.push_back({word(op, f3, 0x10), shape::r});    // shNadd
        bits.push_back({word(op32, f3, 0x10), shape::r});  // shNadd.uw
    }
    bits.push_back({word(op32, 0, 0x04), shape::r});                                            // add.uw
    bits.push_back({word(op_imm32, 1, 0x04), shape::shift6});                                   // slli.uw
    for (const unsigned f3 : {4u, 6u, 7u}) bits.push_back({word(op, f3, 0x20), shape::r});      // xnor, orn, andn
    for (const unsigned f3 : {4u, 5u, 6u, 7u}) bits.push_back({word(op, f3, 0x05), shape::r});  // min, minu, max, maxu
    for (const unsigned f3 : {1u, 5u}) {
        bits.push_back({word(op, f3, 0x30), shape::r});  // rol, ror
        bits.push_back({word(op32, f3, 0x30), shape::r});
        bits.push_back({word(op, f3, 0x24), shape::r});  // bclr, bext
        bits.push_back({word(op_imm, f3, 0x24), shape::shift6});
    }
    bits.push_back({word(op_imm, 5, 0x30), shape::shift6});  // rori
    bits.push_back({word(op_imm32, 5, 0x30), shape::shift5});
    bits.push_back({word(op, 1, 0x14), shape::r});  // bset
    bits.push_back({word(op_imm, 1, 0x14), shape::shift6});
    bits.push_back({word(op, 1, 0x34), shape::r});  // binv
    bits.push_back({word(op_imm, 1, 0x34), shape::shift6});
    for (const unsigned n : {0u, 1u, 2u, 4u, 5u})
        bits.push_back({word(op_imm, 1, 0x30, n), shape::unary});                                  // clz ctz cpop sext
    for (const unsigned n : {0u, 2u}) bits.push_back({word(op_imm32, 1, 0x30, n), shape::unary});  // clzw cpopw
    // ctzw is left out: QEMU before 8.0 counts the trailing zeros of a zero word on into the upper half.
    bits.push_back({word(op32, 4, 0x04, 0), shape::unary});       // zext.h
    bits.push_back({word(op_imm, 5, 0x35, 0x18), shape::unary});  // rev8
    bits.push_back({word(op_imm, 5, 0x14, 7), shape::unary});     // orc.b

    for (unsigned f3 = 0; f3 < 7; ++f3) memory.push_back({word(0x03, f3), shape::load});
    for (unsigned f3 = 0; f3 < 4; ++f3) memory.push_back({word(0x23, f3), shape::store});
    for (const unsigned f3 : {2u, 3u}) {
        memory.push_back({word(0x07, f3), shape::float_load});
        memory.push_back({word(0x27, f3), shape::float_store});
        for (const unsigned f5 : {0u, 1u, 4u, 8u, 12u, 16u, 20u, 24u, 28u})
            atomic.push_back({word(0x2f, f3, f5 << 2), shape::amo});
    }

    for (const unsigned fmt : {0u, 1u}) {
        for (const unsigned f5 : {0u, 1u, 2u, 3u})
            for (int often = 0; often < 3; ++often) floating.push_back({word(op_fp, 0, f5 << 2 | fmt), shape::f_r_rm});
        floating.push_back({word(op_fp, 0, 0x0b << 2 | fmt), shape::f_unary_rm});  // fsqrt
        for (const unsigned f3 : {0u, 1u, 2u}) {
            floating.push_back({word(op_fp, f3, 0x04 << 2 | fmt), shape::f_r});        // fsgnj
            floating.push_back({word(op_fp, f3, 0x14 << 2 | fmt), shape::f_compare});  // fle, flt, feq
        }
        for (const unsigned f3 : {0u, 1u})
            floating.push_back({word(op_fp, f3, 0x05 << 2 | fmt), shape::f_r});  // fmin, fmax
        for (unsigned to = 0; to < 4; ++to) {
            floating.push_back({word(op_fp, 0, 0x18 << 2 | fmt, to), shape::f_to_x_rm});
            floating.push_back({word(op_fp, 0, 0x1a << 2 | fmt, to), shape::x_to_f_rm});
        }
        floating.push_back({word(op_fp, 0, 0x08 << 2 | fmt, !fmt), shape::f_unary_rm});  // fcvt.s.d, fcvt.d.s
        floating.push_back({word(op_fp, 1, 0x1c << 2 | fmt), shape::f_to_x});            // fclass
        floating.push_back({word(op_fp, 0, 0x1c << 2 | fmt), shape::f_to_x});            // fmv.x
        floating.push_back({word(op_fp, 0, 0x1e << 2 | fmt), shape::x_to_f});            // fmv to f
        for (const unsigned opcode : {0x43u, 0x47u, 0x4bu, 0x4fu})
            for (int often = 0; often < 2; ++often) floating.push_back({opcode | fmt << 25, shape::f_fused});
    }
}

}  // namespace differential
