// SPDX-License-Identifier: Apache-2.0
// Blocks become code of the host after as many entries as was said, and hand over where they must.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hart_bench.h"
#include "riscv/hart_state.h"
#include "riscv/instruction.h"
#include "riscv/slicing.h"
#include "riscv/translator.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, data = memory_base + 0x8000, rounds = 40;

struct result {
    std::uint64_t sum, retired, cycles, stored, translated;
};

/// A loop that stores and loads, and calls a function.
result run(unsigned after) {
    auto& b = hart_bench::restart();
    translate_after(after);
    program p(code);
    p << csrr(s2, csr::mcycle);
    const auto loop = p.here();
    p << add(t0, t0, a1) << sd(t0, a0, 0) << ld(t1, a0, 0) << add(t2, t2, t1);
    p << jal(ra, 20) << addi(a1, a1, -1);
    p << bne(a1, zero, static_cast<int>(loop - p.here()));
    p << csrr(s3, csr::mcycle) << j(0);
    p << slli(t2, t2, 1) << jalr(zero, ra, 0);
    b.load(p);
    b.hart0.set_x(a0, data);
    b.hart0.set_x(a1, rounds);
    for (const auto r : {t0, t2}) b.hart0.set_x(r, 0);
    const auto before = b.hart0.translated_blocks;
    const auto retired = b.hart0.instructions.total();
    b.start(b.hart0, code);
    b.run(20 * microsecond);
    b.hart0.halt();
    std::uint64_t stored = 0;
    b.memory.read(data - memory_base, &stored, sizeof stored);
    return {b.hart0.x(t2), b.hart0.instructions.total() - retired, b.hart0.x(s3) - b.hart0.x(s2), stored,
            b.hart0.translated_blocks - before};
}

constexpr unsigned dynamic = 7;
constexpr std::uint64_t numbers = data, sums = data + 0x3000, results = data + 0x4000;
constexpr unsigned kept = 17;  ///< results of a round

word floating(opcode op, unsigned rd, unsigned rs1, unsigned rs2 = 0, unsigned rm = 0, unsigned rs3 = 0) {
    return info(op).match | rd << 7 | rm << 12 | rs1 << 15 | rs2 << 20 | rs3 << 27;
}

/// Three numbers a round, of all kinds.
std::vector<double> numbers_of_all_kinds() {
    const auto inf = std::numeric_limits<double>::infinity();
    const std::array<double, 12> seldom{0.0,    -0.0,  inf,   -inf,          std::nan(""), 5e-324,
                                        2e-308, 1e308, -1e38, 0x1p-1022 * 3, 1e-45,        -1e-310};
    std::vector<double> all;
    for (unsigned i = 0; i < 3 * rounds; ++i)
        all.push_back(i % 5 == 4 ? seldom[i / 5 % seldom.size()] : std::sin(i) * std::exp2(i % 40));
    return all;
}

/// What a loop of floating-point and atomic instructions leaves, round by round, under changing rounding modes; last,
/// mstatus and the number of blocks translated.
std::vector<std::uint64_t> calculate(unsigned after) {
    auto& b = hart_bench::restart();
    translate_after(after);
    program p(code);
    p << csrw(csr::mstatus, a4) << csrr(s2, csr::mstatus) << floating(opcode::fmv_x_w, s3, 0) << csrr(s3, csr::mstatus);
    const auto loop = p.here();
    p << srli(t0, a1, 4) << csrw(csr::frm, t0) << slli(t0, a1, 62) << bne(t0, zero, 8) << csrw(csr::fflags, zero);
    for (unsigned i = 0; i < 3; ++i) p << fld(i, a0, 8 * static_cast<int>(i));
    for (unsigned i = 0; i < 3; ++i) p << floating(opcode::fcvt_s_d, 20 + i, i, 0, dynamic);
    p << floating(opcode::fadd_d, 3, 0, 1, dynamic) << floating(opcode::fsub_d, 4, 0, 1)
      << floating(opcode::fmul_d, 5, 0, 2, dynamic) << floating(opcode::fdiv_d, 6, 1, 2, dynamic)
      << floating(opcode::fmadd_d, 7, 0, 1, dynamic, 2) << floating(opcode::fmsub_d, 8, 0, 1, 0, 2)
      << floating(opcode::fnmadd_d, 9, 0, 1, dynamic, 2) << floating(opcode::fnmsub_d, 10, 0, 1, 0, 2)
      << floating(opcode::fadd_s, 11, 20, 21, dynamic) << floating(opcode::fmul_s, 12, 20, 22)
      << floating(opcode::fdiv_s, 13, 21, 22, dynamic) << floating(opcode::fnmsub_s, 14, 20, 21, 0, 22)
      << floating(opcode::fsqrt_d, 15, 0, 0, dynamic) << floating(opcode::fsgnj_d, 16, 2, 2)
      << floating(opcode::fadd_s, 17, 0, 21);  // the first operand is no single
    for (unsigned i = 0; i < 15; ++i) p << s_type(info(opcode::fsd).match, a2, 3 + i, 8 * static_cast<int>(i));
    p << floating(opcode::flt_d, t1, 0, 1) << floating(opcode::fcvt_w_d, t2, 2, 0, dynamic)
      << floating(opcode::fmv_x_d, t3, 7) << add(t1, t1, t2) << add(t1, t1, t3) << amoadd_d(t3, t1, a3)
      << amoadd_w(t2, t3, a3) << floating(opcode::fcvt_d_l, 18, t3, 0, dynamic)
      << s_type(info(opcode::fsd).match, a2, 18, 8 * 15) << csrr(t1, csr::fflags) << sd(t1, a2, 8 * 16);
    p << addi(a0, a0, 24) << addi(a2, a2, 8 * kept) << addi(a1, a1, -1);
    p << bne(a1, zero, static_cast<int>(loop - p.here())) << j(0);
    b.load(p);
    const auto all = numbers_of_all_kinds();
    for (unsigned i = 0; i < all.size(); ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, &all[i], sizeof bits);
        b.write(numbers + 8 * i, bits);
    }
    b.write(sums, 0);
    b.hart0.set_x(a0, numbers);
    b.hart0.set_x(a1, rounds);
    b.hart0.set_x(a2, results);
    b.hart0.set_x(a3, sums);
    b.hart0.set_x(a4, std::uint64_t{1} << 13);  // FS: initial
    const auto before = b.hart0.translated_blocks;
    b.start(b.hart0, code);
    b.run(50 * microsecond);
    b.hart0.halt();
    std::vector<std::uint64_t> left(kept * rounds);
    b.memory.read(results - memory_base, left.data(), 8 * left.size());
    for (const auto r : {a1, s2, s3}) left.push_back(b.hart0.x(r));
    left.push_back(b.hart0.translated_blocks - before);
    return left;
}

}  // namespace

TEST_CASE("translated floating point and atomics give the same results and flags") {
    if (!translator::available()) return;
    const auto plain = calculate(0);
    const auto translated = calculate(1);
    REQUIRE(plain.size() == translated.size());
    for (std::size_t i = 0; i + 1 < plain.size(); ++i) {
        INFO("round " << i / kept << ", result " << i % kept);
        CHECK(plain[i] == translated[i]);
    }
    CHECK(plain[plain.size() - 4] == 0);  // rounds left
    CHECK(plain.back() == 0);
    CHECK(translated.back() >= 3);
}

TEST_CASE("blocks of floating point and atomics alone are translated, and the longest code has room") {
    if (!translator::available()) return;
    constexpr unsigned repeated = 600;
    const std::array<word, 4> longest{floating(opcode::fnmadd_s, 31, 12, 12, dynamic, 31),
                                      floating(opcode::fdiv_s, 31, 12, 12, dynamic),
                                      s_type(info(opcode::fsw).match, a0, 12, 0), amoadd_d(t1, t1, a0)};
    for (const auto w : longest) {
        INFO("instruction " << std::hex << w);
        auto& b = hart_bench::restart();
        translate_after(1);
        program p(code);
        p << csrw(csr::mstatus, a4);
        for (unsigned i = 0; i < repeated; ++i) p << w;
        b.load(p << addi(t0, t0, 1) << j(0));
        b.hart0.set_x(a0, data);
        b.hart0.set_x(t0, 0);
        b.hart0.set_x(a4, std::uint64_t{1} << 13);
        const auto before = b.hart0.translated_blocks;
        b.start(b.hart0, code);
        b.run(50 * microsecond);
        b.hart0.halt();
        CHECK(b.hart0.x(t0) == 1);
        CHECK(b.hart0.translated_blocks - before >= repeated / 64);  // a block has at most so many
    }
}

TEST_CASE("blocks are translated after some entries, with equal results") {
    if (!translator::available()) return;  // no Xbyak, or another host
    const auto plain = run(0);
    CHECK(plain.translated == 0);
    CHECK(plain.stored == rounds * (rounds + 1) / 2);
    for (const unsigned after : {1u, 2u, 32u}) {
        INFO("after " << after << " entries");
        const auto found = run(after);
        CHECK(found.sum == plain.sum);
        CHECK(found.stored == plain.stored);
        CHECK(found.cycles == plain.cycles);
        CHECK(found.retired == plain.retired);
        CHECK(found.translated >= 3);  // the loop's halves, and the function
    }
    CHECK(run(1000).translated <= 1);  // but for the one that waits at the end
}
