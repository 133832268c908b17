// SPDX-License-Identifier: Apache-2.0
#include "riscv/decoder.h"

namespace fabricvp::riscv {

namespace {

constexpr std::uint32_t bits_of(std::uint16_t c, unsigned high, unsigned low) {
    return c >> low & ((2u << (high - low)) - 1);
}
constexpr std::uint32_t bit(std::uint16_t c, unsigned n) { return c >> n & 1u; }
/// Full register numbers, and the three-bit ones that name x8 to x15.
constexpr std::uint32_t rd(std::uint16_t c) { return bits_of(c, 11, 7); }
constexpr std::uint32_t rs2(std::uint16_t c) { return bits_of(c, 6, 2); }
constexpr std::uint32_t low_prime(std::uint16_t c) { return bits_of(c, 4, 2) + 8; }
constexpr std::uint32_t high_prime(std::uint16_t c) { return bits_of(c, 9, 7) + 8; }

constexpr std::uint32_t encode_i(std::uint32_t base, std::uint32_t d, std::uint32_t s, std::uint32_t immediate) {
    return base | d << 7 | s << 15 | immediate << 20;
}
constexpr std::uint32_t encode_r(std::uint32_t base, std::uint32_t d, std::uint32_t s1, std::uint32_t s2) {
    return base | d << 7 | s1 << 15 | s2 << 20;
}
constexpr std::uint32_t encode_s(std::uint32_t base, std::uint32_t s1, std::uint32_t s2, std::uint32_t immediate) {
    return base | s1 << 15 | s2 << 20 | (immediate & 31) << 7 | (immediate >> 5 & 127) << 25;
}
constexpr std::uint32_t encode_b(std::uint32_t base, std::uint32_t s1, std::uint32_t offset) {
    return base | s1 << 15 | (offset >> 11 & 1) << 7 | (offset >> 1 & 15) << 8 | (offset >> 5 & 63) << 25 |
           (offset >> 12 & 1) << 31;
}
constexpr std::uint32_t encode_j(std::uint32_t d, std::uint32_t offset) {
    return 0x6fu | d << 7 | (offset & 0xff000) | (offset >> 11 & 1) << 20 | (offset >> 1 & 0x3ff) << 21 |
           (offset >> 20 & 1) << 31;
}
constexpr std::uint32_t sign_extend(std::uint32_t value, unsigned width) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << (32 - width)) >> (32 - width));
}

constexpr std::uint32_t offset_w(std::uint16_t c) { return bit(c, 5) << 6 | bits_of(c, 12, 10) << 3 | bit(c, 6) << 2; }
constexpr std::uint32_t offset_d(std::uint16_t c) { return bits_of(c, 6, 5) << 6 | bits_of(c, 12, 10) << 3; }
constexpr std::uint32_t immediate6(std::uint16_t c) { return sign_extend(bit(c, 12) << 5 | bits_of(c, 6, 2), 6); }
constexpr std::uint32_t shift6(std::uint16_t c) { return bit(c, 12) << 5 | bits_of(c, 6, 2); }
constexpr std::uint32_t offset_j(std::uint16_t c) {
    return sign_extend(bit(c, 12) << 11 | bit(c, 11) << 4 | bits_of(c, 10, 9) << 8 | bit(c, 8) << 10 | bit(c, 7) << 6 |
                           bit(c, 6) << 7 | bits_of(c, 5, 3) << 1 | bit(c, 2) << 5,
                       12);
}
constexpr std::uint32_t offset_b(std::uint16_t c) {
    return sign_extend(
        bit(c, 12) << 8 | bits_of(c, 11, 10) << 3 | bits_of(c, 6, 5) << 6 | bits_of(c, 4, 3) << 1 | bit(c, 2) << 5, 9);
}

constexpr std::uint32_t addi = 0x13, addiw = 0x1b, lui = 0x37, slli = 0x1013, srli = 0x5013, srai = 0x40005013,
                        andi = 0x7013, lw = 0x2003, ld = 0x3003, sw = 0x2023, sd = 0x3023, fld = 0x3007, fsd = 0x3027,
                        jalr = 0x67, beq = 0x63, bne = 0x1063, add = 0x33, ebreak = 0x00100073;

std::uint32_t quadrant0(std::uint16_t c) {
    const auto d = low_prime(c), s = high_prime(c);
    switch (c >> 13) {
        case 0: {
            const auto n = bits_of(c, 10, 7) << 6 | bits_of(c, 12, 11) << 4 | bit(c, 5) << 3 | bit(c, 6) << 2;
            return n ? encode_i(addi, d, 2, n) : 0;
        }
        case 1: return encode_i(fld, d, s, offset_d(c));
        case 2: return encode_i(lw, d, s, offset_w(c));
        case 3: return encode_i(ld, d, s, offset_d(c));
        case 5: return encode_s(fsd, s, d, offset_d(c));
        case 6: return encode_s(sw, s, d, offset_w(c));
        case 7: return encode_s(sd, s, d, offset_d(c));
        default: return 0;
    }
}

std::uint32_t arithmetic(std::uint16_t c) {
    const auto d = high_prime(c), s = low_prime(c);
    switch (bits_of(c, 11, 10)) {
        case 0: return encode_i(srli, d, d, shift6(c));
        case 1: return encode_i(srai, d, d, shift6(c));
        case 2: return encode_i(andi, d, d, immediate6(c) & 0xfff);
        default: break;
    }
    constexpr std::uint32_t operations[8] = {0x40000033, 0x4033, 0x6033, 0x7033, 0x4000003b, 0x3b, 0, 0};
    const auto base = operations[bit(c, 12) << 2 | bits_of(c, 6, 5)];
    return base ? encode_r(base, d, d, s) : 0;
}

std::uint32_t quadrant1(std::uint16_t c) {
    const auto d = rd(c);
    switch (c >> 13) {
        case 0: return encode_i(addi, d, d, immediate6(c) & 0xfff);
        case 1: return d ? encode_i(addiw, d, d, immediate6(c) & 0xfff) : 0;
        case 2: return encode_i(addi, d, 0, immediate6(c) & 0xfff);
        case 3:
            if (immediate6(c) == 0) return 0;
            if (d != 2) return lui | d << 7 | immediate6(c) << 12;
            return encode_i(
                addi, 2, 2,
                sign_extend(bit(c, 12) << 9 | bits_of(c, 4, 3) << 7 | bit(c, 5) << 6 | bit(c, 2) << 5 | bit(c, 6) << 4,
                            10) &
                    0xfff);
        case 4: return arithmetic(c);
        case 5: return encode_j(0, offset_j(c));
        case 6: return encode_b(beq, high_prime(c), offset_b(c));
        default: return encode_b(bne, high_prime(c), offset_b(c));
    }
}

std::uint32_t quadrant2(std::uint16_t c) {
    const auto d = rd(c), s = rs2(c);
    const auto load_d = bits_of(c, 4, 2) << 6 | bit(c, 12) << 5 | bits_of(c, 6, 5) << 3;
    const auto store_d = bits_of(c, 9, 7) << 6 | bits_of(c, 12, 10) << 3;
    switch (c >> 13) {
        case 0: return encode_i(slli, d, d, shift6(c));
        case 1: return encode_i(fld, d, 2, load_d);
        case 2: return d ? encode_i(lw, d, 2, bits_of(c, 3, 2) << 6 | bit(c, 12) << 5 | bits_of(c, 6, 4) << 2) : 0;
        case 3: return d ? encode_i(ld, d, 2, load_d) : 0;
        case 4:
            if (!bit(c, 12)) {
                if (s) return encode_r(add, d, 0, s);
                return d ? encode_i(jalr, 0, d, 0) : 0;
            }
            if (s) return encode_r(add, d, d, s);
            return d ? encode_i(jalr, 1, d, 0) : ebreak;
        case 5: return encode_s(fsd, 2, s, store_d);
        case 6: return encode_s(sw, 2, s, bits_of(c, 8, 7) << 6 | bits_of(c, 12, 9) << 2);
        default: return encode_s(sd, 2, s, store_d);
    }
}

}  // namespace

std::uint32_t expand_compressed(std::uint16_t bits) {
    switch (bits & 3) {
        case 0: return quadrant0(bits);
        case 1: return quadrant1(bits);
        case 2: return quadrant2(bits);
        default: return 0;
    }
}

}  // namespace fabricvp::riscv
