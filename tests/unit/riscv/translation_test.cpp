// SPDX-License-Identifier: Apache-2.0
// Blocks become code of the host after as many entries as was said, and hand over where they must.
#include "hart_bench.h"
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

}  // namespace

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
