// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "base/log.h"
#include "hart_bench.h"
#include "riscv/hart_probe.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000;

/// Runs `body` in M mode with a handler that stops at once; the trap's CSRs can be read after.
hart_bench& run_to_trap(const std::vector<word>& body) {
    auto& b = hart_bench::restart();
    b.load(program(handler) << j(0));
    b.set_csr(csr::mtvec, handler);
    b.load(program(code) << body << j(0));
    b.start(b.hart0, code);
    b.run(20 * microsecond);
    return b;
}

}  // namespace

TEST_CASE("reset state") {
    auto& b = hart_bench::restart();
    CHECK(b.hart0.mode() == privilege::machine);
    CHECK(b.csr(csr::mstatus) == 0xa00000000);
    CHECK(b.csr(csr::misa) == 0x800000000014112d);
    CHECK(b.csr(csr::mhartid, &b.hart1) == 1);
    CHECK(b.csr(csr::satp) == 0);
    CHECK(b.hart0.isa_string() == "rv64imafdc_zicntr_zicsr_zifencei_zihintpause_zba_zbb_zbs_sstc");
}

TEST_CASE("exceptions report cause, pc and value") {
    struct row {
        std::vector<word> body;
        std::uint64_t cause, pc, value;
    };
    const row rows[] = {
        {{nop, ecall}, 11, code + 4, 0},
        {{ebreak}, 3, code, 0},
        {{nop, 0xffffffff}, 2, code + 4, 0xffffffff},
        {{0x00010000}, 2, code, 0},  // two compressed instructions, the first illegal
        {{csrw(csr::mhartid, a0)}, 2, code, csrw(csr::mhartid, a0)},
        {{csrr(a0, 0x7c0)}, 2, code, csrr(a0, 0x7c0)},
        {{lui(a0, 1), lw(a1, a0, 4)}, 5, code + 4, 0x1004},  // nothing there: the bus says so
        {{lui(a0, 1), sd(a1, a0, 8)}, 7, code + 4, 0x1008},
        {{lui(a0, 1), jalr(ra, a0, 0)}, 1, 0x1000, 0x1000},
        {{lui(a0, 16), sd(a1, a0, 0)}, 7, code + 4, 0x10000},  // read-only memory
        {{auipc(a0, 1), addi(a0, a0, 2), lr_d(a1, a0)}, 4, code + 8, code + 0x1002},
        {{auipc(a0, 1), addi(a0, a0, 2), sc_d(a1, a1, a0)}, 6, code + 8, code + 0x1002},
        {{auipc(a0, 1), addi(a0, a0, 2), amoadd_w(a1, a1, a0)}, 6, code + 8, code + 0x1002},
        {{fadd_d(1, 2, 3)}, 2, code, fadd_d(1, 2, 3)},  // FS is off
    };
    for (const auto& r : rows) {
        auto& b = run_to_trap(r.body);
        CAPTURE(r.cause, r.value);
        REQUIRE(b.hart0.pc() == handler);
        CHECK(b.csr(csr::mcause) == r.cause);
        CHECK(b.csr(csr::mepc) == r.pc);
        CHECK(b.csr(csr::mtval) == r.value);
        CHECK((b.csr(csr::mstatus) >> 11 & 3) == 3);
    }
}

TEST_CASE("misaligned loads and stores work in memory, over page borders too") {
    auto& b = hart_bench::restart();
    b.write(code + 0x2ffb, 0x1122334455667788);
    program p(code);
    p << lui(a0, 0x80003) << slli(a0, a0, 32) << srli(a0, a0, 32) << ld(a1, a0, -5) << lw(a2, a0, -3) << sd(a1, a0, -3)
      << j(0);
    b.run_program(p);
    CHECK(b.hart0.x(a1) == 0x1122334455667788);
    CHECK(b.hart0.x(a2) == 0x33445566);
    CHECK(b.read(code + 0x2ffd) == 0x1122334455667788);
}

TEST_CASE("delegation, returns and privileged instructions") {
    auto& b = hart_bench::restart();
    const std::uint64_t user = memory_base + 0x2000, supervisor_handler = memory_base + 0x3000;
    b.load(program(handler) << j(0));
    b.load(program(supervisor_handler) << csrr(s2, csr::scause) << csrr(s3, csr::sepc)
                                       << mret);  // mret is illegal here
    b.load(program(user) << ecall);
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::stvec, supervisor_handler);
    b.set_csr(csr::medeleg, 1 << 8);
    b.set_csr(csr::mepc, user);
    b.set_csr(csr::mstatus, 1 << 7);
    b.set_csr(csr::pmpaddr0, ~0ull);
    b.set_csr(csr::pmpcfg0, 0x1f);
    b.load(program(code) << mret);
    b.start(b.hart0, code);
    b.run(5 * microsecond);
    REQUIRE(b.hart0.pc() == handler);
    CHECK(b.hart0.x(s2) == 8);
    CHECK(b.hart0.x(s3) == user);
    CHECK(b.csr(csr::mcause) == 2);
    CHECK(b.csr(csr::mtval) == mret);
    CHECK((b.csr(csr::mstatus) & 0x1888) == (1 << 11 | 1 << 7));  // MPP = S, MPIE as it was, MIE off
}

TEST_CASE("counters, and TVM, TW, TSR and counter enables") {
    auto& b = hart_bench::restart();
    const std::uint64_t below = memory_base + 0x2000;
    b.load(program(handler) << csrr(s2, csr::mcause) << j(0));
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::pmpaddr0, ~0ull);
    b.set_csr(csr::pmpcfg0, 0x1f);
    const auto traps_in_supervisor = [&](word instruction, std::uint64_t status, std::uint64_t counters) {
        b.hart0.halt();
        b.set_csr(csr::mcause, 99);
        b.set_csr(csr::mepc, below);
        b.set_csr(csr::mcounteren, counters);
        b.set_csr(csr::mstatus, status | 1 << 11);
        b.load(program(below) << instruction << j(0));
        b.load(program(code) << mret);
        b.start(b.hart0, code);
        b.run(5 * microsecond);
        const bool trapped = b.hart0.pc() != below + 4 && b.csr(csr::mcause) == 2;
        b.set_privilege(3);
        return trapped;
    };
    CHECK_FALSE(traps_in_supervisor(csrr(a0, csr::satp), 0, 0));
    CHECK(traps_in_supervisor(csrr(a0, csr::satp), 1 << 20, 0));
    CHECK_FALSE(traps_in_supervisor(sfence_vma(), 0, 0));
    CHECK(traps_in_supervisor(sfence_vma(), 1 << 20, 0));
    CHECK(traps_in_supervisor(wfi, 1 << 21, 0));
    CHECK(traps_in_supervisor(sret, 1 << 22, 0));
    CHECK(traps_in_supervisor(csrr(a0, csr::cycle), 0, 6));
    CHECK_FALSE(traps_in_supervisor(csrr(a0, csr::cycle), 0, 1));
    CHECK(traps_in_supervisor(csrr(a0, csr::time), 0, 5));
    CHECK_FALSE(traps_in_supervisor(csrr(a0, csr::time), 0, 2));
    CHECK(traps_in_supervisor(csrr(a0, csr::stimecmp), 0, 2));  // menvcfg.STCE is off
    CHECK(traps_in_supervisor(csrr(a0, csr::mscratch), 0, 7));
}

TEST_CASE("instret counts instructions, cycle counts time at the clock's rate") {
    auto& b = hart_bench::restart();
    program p(code);
    p << csrr(s2, csr::minstret) << csrr(s4, csr::mcycle) << nop << nop << ld(a0, sp, 0) << csrr(s5, csr::mcycle)
      << csrr(s3, csr::minstret) << li(t0, 100) << csrw(csr::minstret, t0) << csrr(s6, csr::minstret)
      << csrr(s7, csr::minstret) << j(0);
    b.hart0.set_x(sp, code);
    b.run_program(p);
    CHECK(b.hart0.x(s3) - b.hart0.x(s2) == 6);
    CHECK(b.hart0.x(s5) - b.hart0.x(s4) == 8);  // csr 4, nop 1 + 1, load 2
    CHECK(b.hart0.x(s6) == 100);
    CHECK(b.hart0.x(s7) == 101);
}

TEST_CASE("fields that are not writable keep legal values") {
    auto& b = hart_bench::restart();
    const auto write_read = [&](unsigned n, std::uint64_t v) {
        b.set_csr(n, v);
        return b.csr(n);
    };
    CHECK(write_read(csr::mstatus, ~0ull) == 0x8000000a007e79aa);
    CHECK(write_read(csr::mstatus, 2 << 11) == (0xa00000000 | 3 << 11));  // MPP = 2 does not exist
    CHECK(write_read(csr::medeleg, ~0ull) == 0xb3ff);
    CHECK(write_read(csr::mideleg, ~0ull) == 0x222);
    CHECK(write_read(csr::mie, ~0ull) == 0xaaa);
    CHECK(write_read(csr::mip, ~0ull) == 0x222);
    CHECK(write_read(csr::mtvec, 0x80001001) == 0x80001001);
    CHECK(write_read(csr::mtvec, 0x80002002) == 0x80001001);
    CHECK(write_read(csr::mepc, 0x80000003) == 0x80000002);
    CHECK(write_read(csr::satp, 7ull << 60 | 5) == 0);
    CHECK(write_read(csr::satp, 8ull << 60 | 5) == (8ull << 60 | 5));
    CHECK(write_read(csr::satp, 0) == 0);
    CHECK(write_read(csr::fcsr, ~0ull) == 0xff);
    CHECK(write_read(csr::menvcfg, ~0ull) == (1ull << 63 | 1));
    CHECK(write_read(csr::misa, 0) == 0x800000000014112d);
    CHECK(write_read(csr::mhpmcounter3, 5) == 0);
    CHECK(write_read(csr::pmpaddr0, ~0ull) == (1ull << 54) - 1);
    CHECK(write_read(csr::pmpcfg0, 0x02) == 0);  // W without R is reserved
}

namespace {
/// Listens to nothing; a hart with a probe executes each exception.
struct deaf_probe final : hart_probe {
    std::uint32_t decoded(std::uint64_t, const block&) override { return 0; }
    void entered(const hart&, std::uint32_t, const block&, std::uint64_t, ticks, ticks) override {}
    void left(std::uint32_t, unsigned) override {}
    void rests(const hart&, hart_rest, ticks) override {}
};

/// What one sees of a hart: pc, CSRs of the trap, and how much the counts have grown.
using seen = std::array<std::uint64_t, 7>;

/// Jumps to where nothing is, with a handler at `vector` that begins with `first`.
seen jump_to_nothing(std::uint64_t vector, const std::vector<word>& first, ticks span, bool executed) {
    auto& b = hart_bench::restart();
    if (!first.empty()) b.load(program(vector) << first);
    b.load(program(code) << csrw(csr::mtvec, a1) << jalr(ra, a0, 0));
    b.hart0.set_x(a0, 0x2000);
    b.hart0.set_x(a1, vector);
    b.hart0.set_x(a2, code + 2);  // misaligned
    deaf_probe probe;
    b.hart0.attach_probe(executed ? &probe : nullptr);
    const counter* const counts[] = {&b.hart0.traps, &b.hart0.instructions, &b.hart0.active_cycles};
    std::array<std::uint64_t, 3> before{};
    for (std::size_t i = 0; i < 3; ++i) before[i] = counts[i]->total();
    b.start(b.hart0, code);
    b.run(span);
    b.hart0.attach_probe(nullptr);
    seen found{b.hart0.pc(), b.csr(csr::mcause), b.csr(csr::mtval), b.csr(csr::mstatus)};
    for (std::size_t i = 0; i < 3; ++i) found[4 + i] = counts[i]->total() - before[i];
    return found;
}
}  // namespace

TEST_CASE("an exception at its handler's first instruction comes without end, and is told once") {
    struct row {
        std::uint64_t vector;
        std::vector<word> first;
        std::uint64_t cause;
    };
    const row rows[] = {
        {0x2000, {}, 1},
        {handler, {0}, 2},
        {handler, {ebreak}, 3},
        {handler, {ecall}, 11},
        {handler, {lr_d(a3, a2)}, 4},
        {handler, {sd(a1, zero, 8)}, 7},  // through the bus: each is executed
    };
    auto& b = hart_bench::instance();
    std::vector<std::string> lines;
    const auto sink = set_log_sink([&](log_level, const std::string&, const std::string& m) { lines.push_back(m); });
    for (const auto& r : rows) {
        CAPTURE(r.cause);
        for (const ticks span : {10 * microsecond, 100 * microsecond + 300, 333 * microsecond}) {
            const auto before = b.hart0.counted_exceptions;
            const auto found = jump_to_nothing(r.vector, r.first, span, false);
            const auto counted = b.hart0.counted_exceptions - before;
            CHECK(found == jump_to_nothing(r.vector, r.first, span, true));
            CHECK(b.hart0.counted_exceptions - before == counted);  // a probe is told of each
            // Three a slice are executed, and those that are accesses of the bus all.
            if (r.cause == 7)
                CHECK(counted == 0);
            else
                CHECK(counted + 4 * (span / microsecond + 1) >= found[4]);
            CHECK(found[0] == r.vector);
            CHECK(found[1] == r.cause);
            CHECK(found[4] > span / microsecond);
            CHECK(found[5] == 2);
        }
    }
    set_log_sink(sink);
    CHECK(lines == std::vector<std::string>{"instruction access fault at pc 0x2000, where the handler of exceptions"
                                            " begins (mtvec): it comes again without end"});
}

TEST_CASE("a handler that has executed something does not come without end") {
    auto& b = hart_bench::restart();
    b.load(program(handler) << addi(a0, a0, 1) << ecall);  // counts how often it comes
    b.set_csr(csr::mtvec, handler);
    b.load(program(code) << ecall);
    unsigned lines = 0;
    const auto sink = set_log_sink([&](log_level, const std::string&, const std::string&) { ++lines; });
    b.start(b.hart0, code);
    b.run(20 * microsecond);
    set_log_sink(sink);
    CHECK(b.hart0.x(a0) > 1000);
    CHECK(lines == 0);
}

TEST_CASE("a handler whose first instruction faults once, by MPRV, goes on") {
    auto& b = hart_bench::restart();
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::mstatus, 0xa00000000 | 1 << 17);  // MPRV, MPP is U: no PMP entry lets a load pass
    b.load(program(handler) << ld(a0, a1, 0) << addi(a2, a2, 1) << j(0));
    b.hart0.set_x(a1, code);
    unsigned lines = 0;
    const auto sink = set_log_sink([&](log_level, const std::string&, const std::string&) { ++lines; });
    const auto traps = b.hart0.traps.total();
    b.start(b.hart0, handler);
    b.run(20 * microsecond);
    set_log_sink(sink);
    CHECK(b.hart0.traps.total() - traps == 1);
    CHECK(b.hart0.x(a2) == 1);
    CHECK(lines == 0);
}
