// SPDX-License-Identifier: Apache-2.0
#include "address_space.h"
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000, data = memory_base + 0x200000;

/// Supervisor code mapped where it lies, traps in M mode.
hart_bench& fresh(std::uint64_t mode_bits = 1 << 11) {
    auto& b = hart_bench::restart();
    b.load(program(handler) << j(0));
    b.load(program(code) << mret);
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::pmpaddr0, ~0ull);
    b.set_csr(csr::pmpcfg0, 0x1f);
    b.set_csr(csr::mstatus, mode_bits);
    return b;
}

/// Runs one load or store (or jump) of `address` in a0 below M mode; returns the trap's cause, or 0 if there was none.
std::uint64_t attempt(hart_bench& b, word instruction, std::uint64_t address,
                      std::uint64_t below = memory_base + 0x2000, std::uint64_t mode = 1) {
    b.load(program(memory_base + 0x2000) << sfence_vma() << instruction << j(0));
    b.set_csr(csr::mcause, 99);
    b.set_csr(csr::mepc, below);
    b.set_csr(csr::mstatus, (b.csr(csr::mstatus) & ~0x1800ull) | mode << 11);
    b.hart0.set_x(a0, address);
    b.set_privilege(3);
    b.start(b.hart0, code);
    b.run(5 * microsecond);
    const auto cause = b.csr(csr::mcause);
    b.hart0.halt();
    return cause == 99 ? 0 : cause;
}

}  // namespace

TEST_CASE("walks of all levels in Sv39 and Sv48, with superpages") {
    for (const unsigned levels : {3u, 4u}) {
        auto& b = fresh();
        address_space space{b, levels};
        space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
        space.map(0x12345000, data, V | R | W | A | D);
        space.map(0x40200000, memory_base + 0x200000, V | R | W | A | D, 1);
        space.map(0xc0000000, memory_base & ~0x3fffffffull, V | R | W | A | D, 2);
        const std::uint64_t high = levels == 3 ? 0xffffffc000000000 : 0xffff800000000000;
        space.map(high, data, V | R | A);
        space.activate();
        b.write(data + 8, 0x1122);
        b.write(data + 0x10010, 0x3344);
        for (const auto& [address, value] : {std::pair<std::uint64_t, std::uint64_t>{0x12345008, 0x1122},
                                             {0x40210010, 0x3344},
                                             {0xc0210010, 0x3344},
                                             {high + 8, 0x1122}}) {
            CAPTURE(levels, address);
            CHECK(attempt(b, ld(a1, a0, 0), address) == 0);
            CHECK(b.hart0.x(a1) == value);
        }
        // Not canonical, and not mapped.
        CHECK(attempt(b, ld(a1, a0, 0), levels == 3 ? 0x4012345000 : 0x800012345000) == 13);
        CHECK(attempt(b, ld(a1, a0, 0), 0x12346000) == 13);
        CHECK(b.csr(csr::mtval) == 0x12346000);
        CHECK(attempt(b, sd(a1, a0, 0), high + 8) == 15);
        CHECK(attempt(b, jalr(zero, a0, 0), 0x12345000) == 12);
        CHECK(b.csr(csr::mepc) == 0x12345000);
    }
}

TEST_CASE("accessed and dirty bits are set by the hart") {
    auto& b = fresh();
    address_space space{b, 3};
    space.map(memory_base, memory_base, V | R | W | X, 1);
    space.map(0x1000, data, V | R | W);
    space.activate();
    const auto entry = space.entry_address(0x1000, 0);
    CHECK(attempt(b, ld(a1, a0, 0), 0x1000) == 0);
    CHECK(b.read(entry) == leaf(data, V | R | W | A));
    CHECK(attempt(b, sd(a1, a0, 0), 0x1000) == 0);
    CHECK(b.read(entry) == leaf(data, V | R | W | A | D));
    // A store through a translation that is cached from a load sets D too.
    space.map(0x1000, data, V | R | W);
    b.load(program(memory_base + 0x2000) << sfence_vma() << ld(a1, a0, 0) << sd(a1, a0, 0) << j(0));
    b.set_csr(csr::mepc, memory_base + 0x2000);
    b.set_csr(csr::mstatus, 1 << 11);
    b.set_privilege(3);
    b.start(b.hart0, code);
    b.run(5 * microsecond);
    CHECK(b.read(entry) == leaf(data, V | R | W | A | D));
}

TEST_CASE("permissions: U, SUM, MXR, W, X, reserved and malformed entries") {
    auto& b = fresh();
    address_space space{b, 3};
    space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
    space.activate();
    const auto cause_of = [&](std::uint64_t bits, word instruction, std::uint64_t status) {
        space.map(0x1000, data, bits);
        b.set_csr(csr::mstatus, status | 1 << 11);
        return attempt(b, instruction, 0x1000);
    };
    const word load = ld(a1, a0, 0), store = sd(a1, a0, 0), jump = jalr(zero, a0, 0);
    b.write(data, j(0), 4);
    constexpr std::uint64_t sum = 1 << 18, mxr = 1 << 19;
    CHECK(cause_of(V | R | W | A | D | U, load, 0) == 13);
    CHECK(cause_of(V | R | W | A | D | U, load, sum) == 0);
    CHECK(cause_of(V | R | W | X | A | D | U, jump, sum) == 12);
    CHECK(cause_of(V | X | A, load, 0) == 13);
    CHECK(cause_of(V | X | A, load, mxr) == 0);
    CHECK(cause_of(V | X | A, jump, 0) == 0);
    CHECK(cause_of(V | R | A, store, 0) == 15);
    CHECK(cause_of(V | W | A | D, load, 0) == 13);
    CHECK(cause_of(V | A, load, 0) == 13);  // a pointer at the last level
    CHECK(cause_of(1ull << 54 | V | R | A, load, 0) == 13);
    CHECK(cause_of(1ull << 63 | V | R | A, load, 0) == 13);
    // A superpage that is not aligned to its size.
    space.map(0x40000000, data + 0x1000, V | R | A | D, 1);
    CHECK(attempt(b, load, 0x40000000) == 13);
    // A table where there is no memory is an access fault.
    b.write(space.entry_address(0x80000000000 & 0x7fffffffff, 2), leaf(0x40000000, V));
    b.write(tables + 8 * 5, leaf(0x40000000, V));
    CHECK(attempt(b, load, 5ull << 30) == 5);
}

TEST_CASE("U mode reaches only U pages; MPRV uses the privilege in MPP") {
    auto& b = fresh(0);  // MPP = U
    address_space space{b, 3};
    space.map(0x5000, memory_base + 0x3000, V | X | R | U | A);
    space.map(0x1000, data, V | R | W | A | D);
    space.map(0x6000, data, V | R | U | A);
    space.activate();
    b.write(data, 77);
    b.load(program(memory_base + 0x3000) << ld(a1, a0, 0) << j(0));
    CHECK(attempt(b, nop, 0x6000, 0x5000, 0) == 0);
    CHECK(b.hart0.x(a1) == 77);
    b.set_csr(csr::mstatus, 0);
    CHECK(attempt(b, nop, 0x1000, 0x5000, 0) == 13);

    // In M mode with MPRV, data goes through S mode's translation, fetch does not.
    program p(memory_base + 0x4000);
    p << constant(t0, 1 << 17 | 1 << 11) << constant(t1, 0x1000) << li(s2, 0) << csrrc(zero, csr::mstatus, t0)
      << li(t2, 1) << slli(t2, t2, 11) << csrrs(zero, csr::mstatus, t0) << csrrc(zero, csr::mstatus, t2)
      << csrrs(zero, csr::mstatus, t2);
    // MPP = 3 now: no translation. Set MPP = S.
    p << slli(t2, t2, 1) << csrrc(zero, csr::mstatus, t2) << ld(s2, t1, 0) << j(0);
    b.set_privilege(3);
    b.run_program(p);
    CHECK(b.hart0.x(s2) == 77);
}

TEST_CASE("a change of the tables is seen after sfence.vma, by address too") {
    for (const unsigned level : {0u, 1u}) {
        auto& b = fresh();
        address_space space{b, 3};
        space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
        space.map(0x40000000, memory_base + 0x400000, V | R | W | A | D, level);
        space.activate();
        b.write(memory_base + 0x400000 + 8, 1);
        b.write(memory_base + 0x600000 + 8, 2);
        const auto entry = space.entry_address(0x40000000, level);
        program p(memory_base + 0x2000);
        p << ld(s2, a0, 8) << sd(s6, s5, 0) << sfence_vma(a0) << ld(s3, a0, 8) << j(0);
        b.load(p);
        b.set_csr(csr::mepc, p.base());
        b.hart0.set_x(a0, 0x40000000);
        b.hart0.set_x(s5, entry);
        b.hart0.set_x(s6, leaf(memory_base + 0x600000, V | R | W | A | D));
        b.start(b.hart0, code);
        b.run(10 * microsecond);
        CHECK(b.hart0.x(s2) == 1);
        CHECK(b.hart0.x(s3) == 2);
    }
}

TEST_CASE("code runs on when its mapping changes to another page after sfence.vma") {
    auto& b = fresh();
    address_space space{b, 3};
    space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
    space.map(0x40000000, memory_base + 0x400000, V | X | A);
    space.activate();
    b.load(program(memory_base + 0x400000) << li(a1, 1) << ret());
    b.load(program(memory_base + 0x500000) << li(a1, 2) << ret());
    program p(memory_base + 0x2000);
    p << jalr(ra, a0, 0) << add(s2, a1, zero) << sd(s6, s5, 0) << sfence_vma(a0) << jalr(ra, a0, 0) << add(s3, a1, zero)
      << j(0);
    b.load(p);
    b.set_csr(csr::mepc, p.base());
    b.hart0.set_x(a0, 0x40000000);
    b.hart0.set_x(s5, space.entry_address(0x40000000, 0));
    b.hart0.set_x(s6, leaf(memory_base + 0x500000, V | X | A));
    b.start(b.hart0, code);
    b.run(10 * microsecond);
    CHECK(b.hart0.x(s2) == 1);
    CHECK(b.hart0.x(s3) == 2);
}

TEST_CASE("an instruction that straddles pages needs both") {
    auto& b = fresh();
    address_space space{b, 3};
    space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
    space.map(0x40000000, memory_base + 0x400000, V | X | A);
    space.map(0x40001000, memory_base + 0x700000, V | X | A);
    space.activate();
    const word add_five = addi(a1, a1, 5);
    b.write(memory_base + 0x400ffe, add_five & 0xffff, 2);
    b.write(memory_base + 0x700000, add_five >> 16, 2);
    b.write(memory_base + 0x700002, 0x8082, 2);  // c.ret
    b.write(memory_base + 0x600000, addi(a1, a1, 7) >> 16, 2);
    b.write(memory_base + 0x600002, 0x8082, 2);
    program p(memory_base + 0x2000);
    p << li(a1, 0) << jalr(ra, a0, 0) << jalr(ra, a0, 0) << add(s2, a1, zero) << sd(s6, s5, 0) << sfence_vma()
      << jalr(ra, a0, 0) << add(s3, a1, zero) << sd(zero, s5, 0) << sfence_vma() << jalr(ra, a0, 0) << j(0);
    b.load(p);
    b.set_csr(csr::mepc, p.base());
    b.hart0.set_x(a0, 0x40000ffe);
    b.hart0.set_x(s5, space.entry_address(0x40001000, 0));
    b.hart0.set_x(s6, leaf(memory_base + 0x600000, V | X | A));
    b.start(b.hart0, code);
    b.run(10 * microsecond);
    CHECK(b.hart0.x(s2) == 10);
    CHECK(b.hart0.x(s3) == 17);
    CHECK(b.csr(csr::mcause) == 12);
    CHECK(b.csr(csr::mepc) == 0x40000ffe);
    CHECK(b.csr(csr::mtval) == 0x40001000);
}

TEST_CASE("PMP: modes of matching, locks, priority, borders inside a page") {
    auto& b = fresh();
    const auto protect = [&](std::uint64_t address0, std::uint64_t address1, std::uint64_t config) {
        b.hart0.reset();
        b.set_csr(csr::mtvec, handler);
        b.set_csr(csr::pmpaddr0, address0);
        b.set_csr(csr::pmpaddr0 + 1, address1);
        b.set_csr(csr::pmpaddr0 + 2, ~0ull);
        b.set_csr(csr::pmpcfg0, config | 0x1f0000);
        b.set_csr(csr::mstatus, 1 << 11);
    };
    const word load = ld(a1, a0, 0), store = sd(a1, a0, 0);
    // NAPOT, 32 bytes, no permission.
    protect(data >> 2 | 3, 0, 0x18);
    CHECK(attempt(b, load, data) == 5);
    CHECK(attempt(b, load, data + 24) == 5);
    CHECK(attempt(b, load, data + 28) == 5);  // partly
    CHECK(attempt(b, load, data + 32) == 0);
    CHECK(attempt(b, store, data + 8) == 7);
    // TOR from entry 0's address; read only.
    protect(data >> 2, (data + 0x2000) >> 2, 0x0900);
    CHECK(attempt(b, load, data + 0x1ff8) == 0);
    CHECK(attempt(b, store, data + 0x1ff8) == 7);
    CHECK(attempt(b, store, data + 0x2000) == 0);
    CHECK(attempt(b, store, data - 8) == 0);
    // NA4.
    protect((data + 4) >> 2, 0, 0x10);
    CHECK(attempt(b, lw(a1, a0, 0), data) == 0);
    CHECK(attempt(b, lw(a1, a0, 0), data + 4) == 5);
    // No execution in the second half of a page of code: instruction by instruction.
    protect((memory_base + 0x2008) >> 2, 0, 0x13);
    CHECK(attempt(b, nop, 0) == 1);
    CHECK(b.csr(csr::mepc) == memory_base + 0x2008);
    // Without a lock M mode may do all; with it, it may not, and the entry keeps its value.
    protect(data >> 2 | 3, 0, 0x18);
    b.hart0.set_x(a0, data);
    b.run_program(program(memory_base + 0x4000) << ld(a1, a0, 0) << j(0));
    b.hart0.halt();
    b.set_csr(csr::pmpcfg0, 0x98);
    b.set_csr(csr::pmpcfg0, 0x1f);
    CHECK((b.csr(csr::pmpcfg0) & 0xff) == 0x98);
    b.set_csr(csr::pmpaddr0, 0);
    CHECK(b.csr(csr::pmpaddr0) == (data >> 2 | 3));
    b.load(program(memory_base + 0x4000) << ld(a1, a0, 0) << j(0));
    b.hart0.set_x(a0, data);
    b.start(b.hart0, memory_base + 0x4000);
    b.run(5 * microsecond);
    CHECK(b.csr(csr::mcause) == 5);
    b.hart0.halt();
    b.hart0.reset();
}

TEST_CASE("a link inside a page to an instruction that straddles pages is checked anew") {
    auto& b = fresh();
    address_space space{b, 3};
    space.map(memory_base, memory_base, V | R | W | X | A | D, 1);
    space.map(0x40000000, memory_base + 0x400000, V | X | A);
    space.map(0x40001000, memory_base + 0x700000, V | X | A);
    space.activate();
    b.load(program(memory_base + 0x400ff0) << nop << nop << nop);
    b.write(memory_base + 0x400ffc, 0x0001, 2);  // c.nop
    for (const auto& [page, step] : {std::pair<std::uint64_t, int>{0x700000, 5}, {0x600000, 7}}) {
        const word add_step = addi(a1, a1, step);
        b.write(memory_base + 0x400ffe, add_step & 0xffff, 2);
        b.write(memory_base + page, add_step >> 16, 2);
        b.write(memory_base + page + 2, 0x8082, 2);
    }
    program p(memory_base + 0x2000);
    p << li(a1, 0) << jalr(ra, a0, 0) << jalr(ra, a0, 0) << add(s2, a1, zero) << sd(s6, s5, 0) << sfence_vma()
      << jalr(ra, a0, 0) << add(s3, a1, zero) << j(0);
    b.load(p);
    b.set_csr(csr::mepc, p.base());
    b.hart0.set_x(a0, 0x40000ff0);
    b.hart0.set_x(s5, space.entry_address(0x40001000, 0));
    b.hart0.set_x(s6, leaf(memory_base + 0x600000, V | X | A));
    b.start(b.hart0, code);
    b.run(10 * microsecond);
    CHECK(b.hart0.x(s2) == 10);
    CHECK(b.hart0.x(s3) == 17);
}
