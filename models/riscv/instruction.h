// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "riscv/instruction_table.h"

namespace fabricvp::riscv {

enum class opcode : std::uint16_t {
    illegal,
#define FABRICVP_ROW(name, text, match, mask, format, timing) name,
    FABRICVP_RISCV_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
        count
};

/// Where operands come from; see instruction_table.h.
enum class operand_format : std::uint8_t {
    none,
    nothing,
    upper,
    upper_pc,
    jump,
    jump_register,
    branch,
    load,
    store,
    register_immediate,
    register_shift,
    register_register,
    register_only,
    system,
    csr,
    load_reserved,
    store_conditional,
    atomic,
    float_load,
    float_store,
    f_ssss_rm,
    f_dddd_rm,
    f_sss_rm,
    f_ddd_rm,
    f_ss_rm,
    f_dd_rm,
    f_sss,
    f_ddd,
    f_xs_rm,
    f_xd_rm,
    f_xs,
    f_xd,
    f_xss,
    f_xdd,
    f_sx_rm,
    f_dx_rm,
    f_sx,
    f_dx,
    f_sd_rm,
    f_ds_rm,
    lane
};

/// Timing classes, the fields of cpi_params.
enum class timing_class : std::uint8_t {
    alu,
    multiply,
    divide,
    load,
    store,
    branch,
    jump,
    atomic,
    floating,
    float_divide,
    csr,
    fence,
    count
};

enum class extension : std::uint8_t { base, multiply, atomic, bit, floating, lane };

/// What is known about an opcode before any instance of it.
struct instruction_info {
    const char* mnemonic;
    std::uint32_t match;
    std::uint32_t mask;
    operand_format format;
    timing_class timing;
    extension belongs_to;
};

const instruction_info& info(opcode op);

/// One decoded instruction. Immediates are sign-extended; for `csr` the immediate is the CSR number, for formats with a
/// rounding mode the rounding mode.
struct instruction {
    opcode op = opcode::illegal;
    std::uint8_t rd = 0, rs1 = 0, rs2 = 0, rs3 = 0;
    std::uint8_t length = 4;  ///< bytes: 2 or 4
    std::int32_t immediate = 0;
    std::uint32_t bits = 0;  ///< as fetched (16 bits if compressed)
};

/// True if the instruction may change the flow of control or what later instructions mean; a block ends with it.
bool ends_block(opcode op);

}  // namespace fabricvp::riscv
