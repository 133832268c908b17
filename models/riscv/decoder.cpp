// SPDX-License-Identifier: Apache-2.0
#include "riscv/decoder.h"

#include <array>
#include <vector>

namespace fabricvp::riscv {

namespace {

constexpr instruction_info table[] = {{"illegal", 0, 0, operand_format::none, timing_class::alu, extension::base},
#define FABRICVP_ROW_OF(name, text, match, mask, format, timing, ext) \
    {text, match, mask, operand_format::format, timing_class::timing, extension::ext},
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, base)
                                      FABRICVP_RISCV_BASE_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, multiply)
                                          FABRICVP_RISCV_MULTIPLY_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, atomic)
                                              FABRICVP_RISCV_ATOMIC_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, bit)
                                                  FABRICVP_RISCV_BIT_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, floating)
                                                      FABRICVP_RISCV_FLOAT_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(n, t, m, k, f, c) FABRICVP_ROW_OF(n, t, m, k, f, c, lane)
                                                          FABRICVP_RISCV_LANE_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
};

/// Opcodes by bits 6:2, in table order (the more special row of two that match comes first).
const std::array<std::vector<opcode>, 32>& buckets() {
    static const auto all = [] {
        std::array<std::vector<opcode>, 32> b;
        for (unsigned i = 1; i < static_cast<unsigned>(opcode::count); ++i)
            b[table[i].match >> 2 & 31].push_back(static_cast<opcode>(i));
        return b;
    }();
    return all;
}

constexpr std::int32_t field(std::uint32_t bits, unsigned high, unsigned low) {
    return static_cast<std::int32_t>(bits >> low & ((2u << (high - low)) - 1));
}
constexpr std::int32_t sign_bit(std::uint32_t bits, unsigned at) {
    return static_cast<std::int32_t>((0u - (bits >> 31)) << at);
}
constexpr std::int32_t immediate_i(std::uint32_t b) { return static_cast<std::int32_t>(b) >> 20; }
constexpr std::int32_t immediate_s(std::uint32_t b) {
    return static_cast<std::int32_t>(b & 0xfe000000) >> 20 | field(b, 11, 7);
}
constexpr std::int32_t immediate_b(std::uint32_t b) {
    return sign_bit(b, 12) | field(b, 7, 7) << 11 | field(b, 30, 25) << 5 | field(b, 11, 8) << 1;
}
constexpr std::int32_t immediate_u(std::uint32_t b) { return static_cast<std::int32_t>(b & 0xfffff000); }
constexpr std::int32_t immediate_j(std::uint32_t b) {
    return sign_bit(b, 20) | field(b, 19, 12) << 12 | field(b, 20, 20) << 11 | field(b, 30, 21) << 1;
}

bool has_rounding_mode(operand_format f) {
    switch (f) {
        case operand_format::f_ssss_rm:
        case operand_format::f_dddd_rm:
        case operand_format::f_sss_rm:
        case operand_format::f_ddd_rm:
        case operand_format::f_ss_rm:
        case operand_format::f_dd_rm:
        case operand_format::f_xs_rm:
        case operand_format::f_xd_rm:
        case operand_format::f_sx_rm:
        case operand_format::f_dx_rm:
        case operand_format::f_sd_rm:
        case operand_format::f_ds_rm: return true;
        default: return false;
    }
}

std::int32_t immediate_of(std::uint32_t bits, operand_format format) {
    switch (format) {
        case operand_format::upper:
        case operand_format::upper_pc: return immediate_u(bits);
        case operand_format::jump: return immediate_j(bits);
        case operand_format::branch: return immediate_b(bits);
        case operand_format::store:
        case operand_format::float_store: return immediate_s(bits);
        case operand_format::register_shift: return field(bits, 25, 20);
        case operand_format::csr: return field(bits, 31, 20);
        case operand_format::jump_register:
        case operand_format::load:
        case operand_format::float_load:
        case operand_format::register_immediate:
        case operand_format::lane: return immediate_i(bits);
        default: return has_rounding_mode(format) ? field(bits, 14, 12) : 0;
    }
}

opcode find(std::uint32_t bits, const decoder_options& options) {
    for (const opcode op : buckets()[bits >> 2 & 31]) {
        const auto& row = table[static_cast<unsigned>(op)];
        if ((bits & row.mask) != row.match) continue;
        if (row.belongs_to == extension::floating && !options.floating_point) return opcode::illegal;
        if (row.belongs_to == extension::bit && !options.bit_manipulation) continue;
        if (row.belongs_to == extension::lane && !options.lane) return opcode::illegal;
        if (!options.supervisor && (op == opcode::sret || op == opcode::sfence_vma)) return opcode::illegal;
        return op;
    }
    return opcode::illegal;
}

}  // namespace

const instruction_info& info(opcode op) { return table[static_cast<unsigned>(op)]; }

bool ends_block(opcode op) {
    switch (info(op).format) {
        case operand_format::none:
        case operand_format::jump:
        case operand_format::jump_register:
        case operand_format::branch:
        case operand_format::system:
        case operand_format::csr:
        case operand_format::lane: return true;
        default: return false;
    }
}

instruction decode(std::uint32_t bits, const decoder_options& options) {
    instruction i;
    std::uint32_t wide = bits;
    if (instruction_length(static_cast<std::uint16_t>(bits)) == 2) {
        i.length = 2;
        bits &= 0xffff;
        wide = expand_compressed(static_cast<std::uint16_t>(bits));
    }
    i.bits = bits;
    if ((wide & 3) != 3 || (wide & 0x1f) == 0x1f) return i;
    i.op = find(wide, options);
    const auto& row = info(i.op);
    i.immediate = immediate_of(wide, row.format);
    if (has_rounding_mode(row.format) && (i.immediate == 5 || i.immediate == 6)) i.op = opcode::illegal;
    i.rd = static_cast<std::uint8_t>(field(wide, 11, 7));
    i.rs1 = static_cast<std::uint8_t>(field(wide, 19, 15));
    i.rs2 = static_cast<std::uint8_t>(field(wide, 24, 20));
    i.rs3 = static_cast<std::uint8_t>(field(wide, 31, 27));
    return i;
}

}  // namespace fabricvp::riscv
