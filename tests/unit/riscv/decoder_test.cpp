// SPDX-License-Identifier: Apache-2.0
#include "riscv/decoder.h"

#include <string>

#include <catch2/catch.hpp>

#include "assembler.h"
#include "riscv/semantics.h"

using namespace fabricvp::riscv;

namespace {
std::string mnemonic(std::uint32_t bits, const decoder_options& options = {}) {
    return info(decode(bits, options).op).mnemonic;
}
}  // namespace

TEST_CASE("every row of the table decodes to itself") {
    for (unsigned n = 1; n < static_cast<unsigned>(opcode::count); ++n) {
        const auto op = static_cast<opcode>(n);
        CAPTURE(info(op).mnemonic);
        decoder_options who;
        who.lane = info(op).belongs_to == extension::lane;
        CHECK(decode(info(op).match, who).op == op);
        // Bits outside of the mask are operands; a rounding mode may be reserved, so leave bits 14:12.
        const auto operands = ~info(op).mask & ~0x7000u;
        const auto other = decode(info(op).match | operands, who).op;
        // `zext.h` and others are special cases of nothing: the same row must come out.
        CHECK(other == op);
    }
}

TEST_CASE("immediates") {
    using namespace assembler;
    CHECK(decode(addi(a0, a1, -2048), {}).immediate == -2048);
    CHECK(decode(lui(a0, 0xfffff), {}).immediate == -4096);
    CHECK(decode(sd(a0, sp, -8), {}).immediate == -8);
    CHECK(decode(sd(a0, sp, 2047), {}).immediate == 2047);
    for (const int offset : {-4096, -2, 2, 30, 2048, 4094}) CHECK(decode(beq(a0, a1, offset), {}).immediate == offset);
    for (const int offset : {-1048576, -2, 2, 2048, 4096, 1048574})
        CHECK(decode(jal(ra, offset), {}).immediate == offset);
    CHECK(decode(slli(a0, a0, 63), {}).immediate == 63);
    const auto i = decode(csrrw(a0, 0xc01, a1), {});
    CHECK(i.immediate == 0xc01);
    CHECK((i.rd == 10 && i.rs1 == 11));
}

TEST_CASE("compressed instructions expand to what the specification names") {
    struct row {
        std::uint16_t bits;
        std::uint32_t wide;
    };
    using namespace assembler;
    // As GNU as encodes them.
    const row rows[] = {
        {0x0808, addi(a0, sp, 16)},   // c.addi4spn
        {0x4108, lw(a0, a0, 0)},      // c.lw
        {0x6588, ld(a0, a1, 8)},      // c.ld
        {0xc188, sw(a0, a1, 0)},      // c.sw
        {0xe588, sd(a0, a1, 8)},      // c.sd
        {0x157d, addi(a0, a0, -1)},   // c.addi
        {0x357d, addiw(a0, a0, -1)},  // c.addiw
        {0x5551, li(a0, -12)},        // c.li
        {0x6505, lui(a0, 1)},         // c.lui
        {0x7139, addi(sp, sp, -64)},  // c.addi16sp
        {0x810d, srli(a0, a0, 3)},    // c.srli
        {0x8d0d, sub(a0, a0, a1)},    // c.sub
        {0xa001, j(0)},               // c.j
        {0xc119, beq(a0, zero, 6)},   // c.beqz
        {0xfd75, bne(a0, zero, -4)},  // c.bnez
        {0x0506, slli(a0, a0, 1)},    // c.slli
        {0x4502, lw(a0, sp, 0)},      // c.lwsp
        {0x60a2, ld(ra, sp, 8)},      // c.ldsp
        {0x8082, ret()},              // c.jr ra
        {0x852e, add(a0, zero, a1)},  // c.mv
        {0x9002, ebreak},             // c.ebreak
        {0x9502, jalr(ra, a0, 0)},    // c.jalr
        {0x952e, add(a0, a0, a1)},    // c.add
        {0xe406, sd(ra, sp, 8)},      // c.sdsp
    };
    for (const auto& r : rows) {
        CAPTURE(r.bits);
        CHECK(expand_compressed(r.bits) == r.wide);
        CHECK(decode(r.bits, {}).length == 2);
    }
    for (const std::uint16_t reserved :
         {0x0000, 0x0004, 0x8000, 0x2001, 0x6001, 0x4002, 0x6002, 0x8002, 0x9c41, 0x9c61}) {
        CAPTURE(reserved);
        CHECK(decode(reserved, {}).op == opcode::illegal);
    }
}

TEST_CASE("reserved and absent encodings are illegal") {
    CHECK(mnemonic(0xffffffff) == "illegal");
    CHECK(mnemonic(0x0000001f) == "illegal");  // 48 bits or longer
    CHECK(mnemonic(0x02c5d553) == "illegal");  // fadd.d with rounding mode 5
    CHECK(mnemonic(0x02c58553) == "fadd.d");
    CHECK(mnemonic(0x02c58553, {false, true, true}) == "illegal");
    CHECK(mnemonic(0x20b52533, {true, false, true}) == "illegal");
    CHECK(mnemonic(0x20b52533) == "sh1add");
    CHECK(mnemonic(0x10200073, {true, true, false}) == "illegal");
    CHECK(mnemonic(0x4005151b) == "illegal");  // slliw with bits of sraiw
}

TEST_CASE("corners of integer semantics") {
    using namespace semantics;
    constexpr u64 min_value = u64{1} << 63, all = ~u64{0};
    CHECK(semantics::div(min_value, all) == min_value);
    CHECK(rem(min_value, all) == 0);
    CHECK(semantics::div(7, 0) == all);
    CHECK(rem(7, 0) == 7);
    CHECK(divw(0x80000000, all) == sext32(0x80000000));
    CHECK(remw(5, 0x100000000) == 5);
    CHECK(divuw(0xffffffff00000008, 2) == 4);
    CHECK(mulh(all, all) == 0);
    CHECK(mulhsu(all, all) == all);
    CHECK(mulhu(all, all) == all - 1);
    CHECK(clz(0) == 64);
    CHECK(ctzw(0xffffffff00000000) == 32);
    CHECK(orc_b(0x0100800000ff0010) == 0xff00ff0000ff00ff);
    CHECK(ror(1, 1) == min_value);
    CHECK(rol(1, 0) == 1);
    CHECK(rorw(1, 1) == sext32(0x80000000));
    CHECK(bext(4, 66) == 1);
    CHECK(add_uw(all, 1) == 0x100000000);
    CHECK(amomin_w(0x80000000, 1) == 0x80000000);
    CHECK(amominu_w(0x80000000, 1) == 1);
}
