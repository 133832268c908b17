// SPDX-License-Identifier: Apache-2.0
// Loads and stores of timed memory that hit: where their bytes lie is known from the access before. Each case makes it
// known, and then changes what would make it wrong.
#include "address_space.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000, user_code = memory_base + 0x3000,
                        data = memory_base + 0x200000, other = memory_base + 0x300000, mapped = 0x40000000;
constexpr std::uint64_t all_bits = V | R | W | A | D;
constexpr std::uint64_t sum = 1 << 18, mxr = 1 << 19, mprv = 1 << 17, mpp_supervisor = 1 << 11;

/// Timed memory, different words in two pages, and an M mode that ends a run with its first trap.
hart_bench& fresh() {
    auto& b = hart_bench::restart();
    b.hart0.attach_memory_timing(&b.timing);
    b.timing.hits = b.timing.accesses = 0;
    b.load(program(handler) << j(0));
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::pmpaddr0, ~0ull);
    b.set_csr(csr::pmpcfg0, 0x1f);
    b.set_csr(csr::mcause, 99);
    b.write(data, 1);
    b.write(other, 2);
    return b;
}

void finish(hart_bench& b) {
    b.run(20 * microsecond);
    b.hart0.halt();
}

/// Runs in S mode with `mapped` at `data`.
struct supervisor_bench {
    hart_bench& b = fresh();
    address_space space{b, 3};
    supervisor_bench() {
        for (const auto first : {code, tables})  // no superpages, with which each fence is one of all
            for (auto page = first; page < first + 0x8000; page += 0x1000) space.map(page, page, all_bits | X);
        space.map(mapped, data, all_bits);
        space.activate();
        b.hart0.set_x(a0, mapped);
        b.hart0.set_x(s5, space.entry_address(mapped, 0));
        b.hart0.set_x(s6, leaf(other, all_bits));
    }
    void run(const program& p) {
        b.load(p);
        b.set_privilege(1);
        b.start(b.hart0, p.base());
        finish(b);
    }
};

program supervisor_program() { return program(memory_base + 0x2000); }

}  // namespace

TEST_CASE("an access is a hit of the timing once its page is known") {
    auto& b = fresh();
    b.hart0.set_x(a0, data);
    b.run_program(program(code) << ld(s2, a0, 0) << sd(s2, a0, 8) << li(s3, -1) << sb(s3, a0, 17) << lb(s4, a0, 17)
                                << lbu(s7, a0, 17) << sh(s3, a0, 20) << lw(s8, a0, 20) << ld(s9, a0, 8) << j(0));
    CHECK(b.timing.accesses == 2);  // the first load and the first store
    CHECK(b.timing.hits == 6);
    CHECK(b.hart0.x(s4) == ~0ull);
    CHECK(b.hart0.x(s7) == 0xff);
    CHECK(b.hart0.x(s8) == 0xffff);
    CHECK(b.hart0.x(s9) == 1);
}

TEST_CASE("sfence.vma, of an address and of all, and satp end what is known") {
    const std::vector<std::vector<word>> fences = {
        {sfence_vma(a0)}, {sfence_vma()}, {csrw(csr::satp, zero), csrw(csr::satp, s7)}};
    for (std::size_t i = 0; i < fences.size(); ++i) {
        CAPTURE(i);
        supervisor_bench s;
        s.b.hart0.set_x(s7, s.b.csr(csr::satp));
        s.run(supervisor_program() << ld(s2, a0, 0) << ld(s3, a0, 0) << sd(s2, a0, 8) << sd(s2, a0, 16) << sd(s6, s5, 0)
                                   << fences[i] << ld(s4, a0, 0) << sd(s4, a0, 8) << j(0));
        CHECK(s.b.hart0.x(s2) == 1);
        CHECK(s.b.hart0.x(s3) == 1);
        CHECK(s.b.hart0.x(s4) == 2);
        CHECK(s.b.read(data + 8) == 1);
        CHECK(s.b.read(other + 8) == 2);
    }
}

TEST_CASE("SUM and MXR hold for accesses of known pages") {
    for (const auto& [bit, bits] : {std::pair{sum, all_bits | U}, std::pair{mxr, std::uint64_t{V | X | A}}}) {
        CAPTURE(bit);
        supervisor_bench s;
        s.space.map(mapped, data, bits);
        s.b.set_csr(csr::mstatus, bit);
        s.b.hart0.set_x(t0, bit);
        s.run(supervisor_program() << ld(s2, a0, 0) << ld(s3, a0, 0) << csrrc(zero, csr::sstatus, t0) << ld(s4, a0, 0)
                                   << j(0));
        CHECK(s.b.hart0.x(s2) == 1);
        CHECK(s.b.hart0.x(s3) == 1);
        CHECK(s.b.hart0.x(s4) == 0);
        CHECK(s.b.csr(csr::mcause) == 13);
    }
}

TEST_CASE("a page known to one mode is another to others: MPRV, and U behind S") {
    supervisor_bench s;
    auto& b = s.b;
    // The virtual address is one of memory as well, so that both modes can reach it.
    s.space.map(memory_base + 0x400000, data, all_bits);
    b.write(memory_base + 0x400000, 7);
    b.hart0.set_x(a0, memory_base + 0x400000);
    b.set_csr(csr::mstatus, mpp_supervisor);
    b.hart0.set_x(t0, mprv);
    b.run_program(program(code) << ld(s2, a0, 0) << ld(s2, a0, 0) << csrrs(zero, csr::mstatus, t0) << ld(s3, a0, 0)
                                << ld(s3, a0, 0) << csrrc(zero, csr::mstatus, t0) << ld(s4, a0, 0) << j(0));
    CHECK(b.hart0.x(s2) == 7);
    CHECK(b.hart0.x(s3) == 1);
    CHECK(b.hart0.x(s4) == 7);

    supervisor_bench u;
    u.space.map(0x5000, user_code, V | X | R | U | A);
    u.b.load(program(user_code) << ld(s4, a0, 0) << j(0));
    u.b.hart0.set_x(t0, 0x5000);
    u.run(supervisor_program() << ld(s2, a0, 0) << ld(s3, a0, 0) << csrw(csr::sepc, t0) << sret);
    CHECK(u.b.hart0.x(s3) == 1);
    CHECK(u.b.hart0.x(s4) == 0);
    CHECK(u.b.csr(csr::mcause) == 13);
}

TEST_CASE("PMP: an entry that is set later, and borders inside a page") {
    constexpr std::uint64_t locked_none = 0x98, locked_read = 0x99;
    for (const auto config : {locked_none, locked_read}) {
        CAPTURE(config);
        auto& b = fresh();
        b.hart0.reset();
        b.set_csr(csr::mtvec, handler);
        b.hart0.set_x(a0, data);
        b.hart0.set_x(t0, data >> 2 | 511);  // 4 KiB
        b.hart0.set_x(t1, config);
        b.load(program(code) << ld(s2, a0, 0) << sd(s2, a0, 8) << sd(s2, a0, 8) << csrw(csr::pmpaddr0, t0)
                             << csrw(csr::pmpcfg0, t1) << ld(s3, a0, 0) << li(s4, 5) << sd(s4, a0, 8) << j(0));
        b.start(b.hart0, code);
        finish(b);
        CHECK(b.hart0.x(s2) == 1);
        CHECK(b.hart0.x(s3) == (config == locked_none ? 0 : 1));
        CHECK(b.read(data + 8) == 1);
        CHECK(b.csr(csr::mcause) == (config == locked_none ? 5 : 7));
        b.hart0.reset();
    }
    auto& b = fresh();
    b.hart0.reset();
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::pmpaddr0, (data + 0x800) >> 2 | 3);  // 32 bytes
    b.set_csr(csr::pmpcfg0, 0x98);
    b.hart0.set_x(a0, data);
    b.load(program(code) << ld(s2, a0, 0) << ld(s3, a0, 0) << addi(a0, a0, 1024) << ld(s4, a0, 1024) << j(0));
    b.start(b.hart0, code);
    finish(b);
    CHECK(b.hart0.x(s3) == 1);
    CHECK(b.csr(csr::mcause) == 5);
    b.hart0.reset();
}

TEST_CASE("a page that a device touches is read at its place in the calendar") {
    auto& b = fresh();
    b.hart0.set_x(a0, data);
    b.load(program(code) << ld(s2, a0, 0) << sd(s2, a0, 8) << j(-8));
    b.start(b.hart0, code);
    b.run(3 * microsecond);
    CHECK(b.timing.hits > 100);
    b.memory.touch_by_device(data - memory_base, 8);
    b.run(2 * microsecond);  // the rest of the slice that was under way
    const auto hits = b.timing.hits, accesses = b.timing.accesses;
    b.run(2 * microsecond);
    CHECK(b.timing.hits == hits);
    CHECK(b.timing.accesses > accesses + 100);
    b.hart0.halt();
}

TEST_CASE("stores to code whose page was known before it was executed are seen") {
    constexpr std::uint64_t function = memory_base + 0x6000;
    auto& b = fresh();
    b.load(program(function) << li(a1, 1) << ret());
    b.hart0.set_x(a0, function);
    b.hart0.set_x(t0, li(a1, 2));
    b.run_program(program(code) << sd(zero, a0, 64) << sd(zero, a0, 72) << jalr(ra, a0, 0) << add(s2, a1, zero)
                                << sw(t0, a0, 0) << jalr(ra, a0, 0) << add(s3, a1, zero) << j(0));
    CHECK(b.hart0.x(s2) == 1);
    CHECK(b.hart0.x(s3) == 2);
}

TEST_CASE("watchpoints see accesses of known pages") {
    auto& b = fresh();
    b.hart0.set_debug_listener(&b.listener);
    b.hart0.set_x(a0, data);
    b.load(program(code) << ld(s2, a0, 0) << ld(s2, a0, 16) << sd(s2, a0, 0) << sd(s2, a0, 8) << j(-16));
    for (const auto& [kind, address, reason] : {std::tuple{watch_kind::read, data + 16, stop_reason::watch_read},
                                                std::tuple{watch_kind::write, data + 8, stop_reason::watch_write}}) {
        b.start(b.hart0, code);
        b.run(2 * microsecond);
        b.hart0.insert_watchpoint(address, 8, kind);
        b.run(2 * microsecond);
        CHECK(b.listener.reason == reason);
        CHECK(b.listener.address == address);
        b.hart0.remove_watchpoint(address, 8, kind);
        b.listener = {};
    }
    b.hart0.halt();
}

TEST_CASE("what is known while memory is timed does not outlive the timing") {
    auto& b = fresh();
    b.hart0.set_x(a0, data);
    b.load(program(code) << ld(s2, a0, 0) << j(-4));
    b.start(b.hart0, code);
    b.run(3 * microsecond);
    b.hart0.attach_memory_timing(nullptr);
    const auto hits = b.timing.hits;
    b.run(3 * microsecond);
    CHECK(b.timing.hits == hits);
    CHECK(hits > 100);
    b.hart0.halt();
}
