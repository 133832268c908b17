// SPDX-License-Identifier: Apache-2.0
// Assembles single instructions.
#pragma once

#include <cstdint>

namespace differential::insn {

using word = std::uint32_t;

constexpr word i(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, int imm) {
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<word>(imm) << 20;
}
constexpr word s(unsigned f3, unsigned rs2, unsigned rs1, int imm, unsigned opcode = 0x23) {
    const auto u = static_cast<word>(imm);
    return opcode | (u & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (u >> 5) << 25;
}
constexpr word addi(unsigned rd, unsigned rs1, int imm) { return i(0x13, 0, rd, rs1, imm); }
constexpr word ori(unsigned rd, unsigned rs1, int imm) { return i(0x13, 6, rd, rs1, imm); }
constexpr word andi(unsigned rd, unsigned rs1, int imm) { return i(0x13, 7, rd, rs1, imm); }
constexpr word slli(unsigned rd, unsigned rs1, unsigned n) { return i(0x13, 1, rd, rs1, static_cast<int>(n)); }
constexpr word addiw(unsigned rd, unsigned rs1, int imm) { return i(0x1b, 0, rd, rs1, imm); }
constexpr word lui(unsigned rd, unsigned upper) { return 0x37 | rd << 7 | upper << 12; }
constexpr word auipc(unsigned rd, unsigned upper) { return 0x17 | rd << 7 | upper << 12; }
constexpr word jalr(unsigned rd, unsigned rs1, int imm) { return i(0x67, 0, rd, rs1, imm); }
constexpr word csr(unsigned f3, unsigned rd, unsigned number, unsigned rs1) {
    return 0x73 | rd << 7 | f3 << 12 | rs1 << 15 | number << 20;
}
constexpr word csrrw(unsigned rd, unsigned number, unsigned rs1) { return csr(1, rd, number, rs1); }
constexpr word csrrs(unsigned rd, unsigned number, unsigned rs1) { return csr(2, rd, number, rs1); }
constexpr word csrrc(unsigned rd, unsigned number, unsigned rs1) { return csr(3, rd, number, rs1); }
constexpr word lr(unsigned f3, unsigned rd, unsigned rs1, unsigned order) {
    return 0x2f | rd << 7 | f3 << 12 | rs1 << 15 | order << 25 | 2u << 27;
}
constexpr word sc(unsigned f3, unsigned rd, unsigned rs1, unsigned rs2, unsigned order) {
    return 0x2f | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | order << 25 | 3u << 27;
}
constexpr word ecall = 0x00000073, ebreak = 0x00100073, mret = 0x30200073, sret = 0x10200073, fence_i = 0x0000100f;

constexpr word branch_offset(int o) {
    const auto u = static_cast<word>(o);
    return (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | (u >> 5 & 63) << 25 | (u >> 12 & 1) << 31;
}
constexpr word jump_offset(int o) {
    const auto u = static_cast<word>(o);
    return (u >> 12 & 255) << 12 | (u >> 11 & 1) << 20 | (u >> 1 & 1023) << 21 | (u >> 20 & 1) << 31;
}
constexpr std::uint16_t compressed_branch_offset(int o) {
    const auto u = static_cast<word>(o);
    return static_cast<std::uint16_t>((u >> 5 & 1) << 2 | (u >> 1 & 3) << 3 | (u >> 6 & 3) << 5 | (u >> 3 & 3) << 10 |
                                      (u >> 8 & 1) << 12);
}
constexpr std::uint16_t compressed_jump_offset(int o) {
    const auto u = static_cast<word>(o);
    return static_cast<std::uint16_t>((u >> 5 & 1) << 2 | (u >> 1 & 7) << 3 | (u >> 7 & 1) << 6 | (u >> 6 & 1) << 7 |
                                      (u >> 10 & 1) << 8 | (u >> 8 & 3) << 9 | (u >> 4 & 1) << 11 |
                                      (u >> 11 & 1) << 12);
}

}  // namespace differential::insn
