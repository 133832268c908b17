// SPDX-License-Identifier: Apache-2.0
// A small assembler for tests: functions give instruction words, a program collects them at an address.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace assembler {

using word = std::uint32_t;

enum reg : unsigned {
    zero,
    ra,
    sp,
    gp,
    tp,
    t0,
    t1,
    t2,
    s0,
    s1,
    a0,
    a1,
    a2,
    a3,
    a4,
    a5,
    a6,
    a7,
    s2,
    s3,
    s4,
    s5,
    s6,
    s7,
    s8,
    s9,
    s10,
    s11,
    t3,
    t4,
    t5,
    t6
};

constexpr word r_type(word base, unsigned rd, unsigned rs1, unsigned rs2) {
    return base | rd << 7 | rs1 << 15 | rs2 << 20;
}
constexpr word i_type(word base, unsigned rd, unsigned rs1, int immediate) {
    return base | rd << 7 | rs1 << 15 | static_cast<word>(immediate) << 20;
}
constexpr word s_type(word base, unsigned rs1, unsigned rs2, int immediate) {
    const auto i = static_cast<word>(immediate);
    return base | rs1 << 15 | rs2 << 20 | (i & 31) << 7 | (i >> 5 & 127) << 25;
}
constexpr word b_type(word base, unsigned rs1, unsigned rs2, int offset) {
    const auto o = static_cast<word>(offset);
    return base | rs1 << 15 | rs2 << 20 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | (o >> 5 & 63) << 25 |
           (o >> 12 & 1) << 31;
}

constexpr word lui(reg d, word upper) { return 0x37 | d << 7 | upper << 12; }
constexpr word auipc(reg d, word upper) { return 0x17 | d << 7 | upper << 12; }
constexpr word addi(reg d, reg s, int i) { return i_type(0x13, d, s, i); }
constexpr word addiw(reg d, reg s, int i) { return i_type(0x1b, d, s, i); }
constexpr word li(reg d, int i) { return addi(d, zero, i); }
constexpr word slli(reg d, reg s, int i) { return i_type(0x1013, d, s, i); }
constexpr word srli(reg d, reg s, int i) { return i_type(0x5013, d, s, i); }
constexpr word add(reg d, reg a, reg b) { return r_type(0x33, d, a, b); }
constexpr word sub(reg d, reg a, reg b) { return r_type(0x40000033, d, a, b); }
constexpr word lb(reg d, reg s, int i) { return i_type(0x0003, d, s, i); }
constexpr word lw(reg d, reg s, int i) { return i_type(0x2003, d, s, i); }
constexpr word ld(reg d, reg s, int i) { return i_type(0x3003, d, s, i); }
constexpr word lbu(reg d, reg s, int i) { return i_type(0x4003, d, s, i); }
constexpr word sb(reg v, reg s, int i) { return s_type(0x0023, s, v, i); }
constexpr word sh(reg v, reg s, int i) { return s_type(0x1023, s, v, i); }
constexpr word sw(reg v, reg s, int i) { return s_type(0x2023, s, v, i); }
constexpr word sd(reg v, reg s, int i) { return s_type(0x3023, s, v, i); }
constexpr word beq(reg a, reg b, int o) { return b_type(0x0063, a, b, o); }
constexpr word bne(reg a, reg b, int o) { return b_type(0x1063, a, b, o); }
constexpr word jal(reg d, int offset) {
    const auto o = static_cast<word>(offset);
    return 0x6f | d << 7 | (o & 0xff000) | (o >> 11 & 1) << 20 | (o >> 1 & 0x3ff) << 21 | (o >> 20 & 1) << 31;
}
constexpr word j(int offset) { return jal(zero, offset); }
constexpr word jalr(reg d, reg s, int i) { return i_type(0x67, d, s, i); }
constexpr word ret() { return jalr(zero, ra, 0); }
constexpr word csrrw(reg d, unsigned csr, reg s) { return i_type(0x1073, d, s, static_cast<int>(csr)); }
constexpr word csrrs(reg d, unsigned csr, reg s) { return i_type(0x2073, d, s, static_cast<int>(csr)); }
constexpr word csrrc(reg d, unsigned csr, reg s) { return i_type(0x3073, d, s, static_cast<int>(csr)); }
constexpr word csrw(unsigned csr, reg s) { return csrrw(zero, csr, s); }
constexpr word csrr(reg d, unsigned csr) { return csrrs(d, csr, zero); }
constexpr word lr_w(reg d, reg s) { return r_type(0x1000202f, d, s, 0); }
constexpr word lr_d(reg d, reg s) { return r_type(0x1000302f, d, s, 0); }
constexpr word sc_w(reg d, reg v, reg s) { return r_type(0x1800202f, d, s, v); }
constexpr word sc_d(reg d, reg v, reg s) { return r_type(0x1800302f, d, s, v); }
constexpr word amoadd_w(reg d, reg v, reg s) { return r_type(0x0000202f, d, s, v); }
constexpr word amoadd_d(reg d, reg v, reg s) { return r_type(0x0000302f, d, s, v); }
constexpr word amoswap_d(reg d, reg v, reg s) { return r_type(0x0800302f, d, s, v); }
constexpr word fld(unsigned d, reg s, int i) { return i_type(0x3007, d, s, i); }
constexpr word fadd_d(unsigned d, unsigned a, unsigned b) { return r_type(0x02007053, d, a, b); }
constexpr word sfence_vma(reg a = zero, reg b = zero) { return r_type(0x12000073, 0, a, b); }
inline constexpr word ecall = 0x73, ebreak = 0x00100073, mret = 0x30200073, sret = 0x10200073, wfi = 0x10500073,
                      fence = 0x0ff0000f, fence_i = 0x100f, pause = 0x0100000f, nop = 0x13;

/// Words that load a 64-bit constant into `d`.
inline std::vector<word> constant(reg d, std::uint64_t value) {
    std::vector<word> words{li(d, 0)};
    for (int shift = 55; shift >= 0; shift -= 11) {
        words.push_back(slli(d, d, 11));
        words.push_back(addi(d, d, static_cast<int>(value >> shift & 0x7ff)));
    }
    return words;
}

/// Instructions at consecutive addresses.
class program {
public:
    explicit program(std::uint64_t base) : m_base(base) {}
    program& operator<<(word w) {
        m_words.push_back(w);
        return *this;
    }
    program& operator<<(const std::vector<word>& w) {
        m_words.insert(m_words.end(), w.begin(), w.end());
        return *this;
    }
    std::uint64_t base() const { return m_base; }
    std::uint64_t here() const { return m_base + 4 * m_words.size(); }
    const std::vector<word>& words() const { return m_words; }

private:
    std::uint64_t m_base;
    std::vector<word> m_words;
};

}  // namespace assembler
