// SPDX-License-Identifier: Apache-2.0
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {
constexpr std::uint64_t code = memory_base, data = memory_base + 0x8000;

/// A loop that counts in s0 and stores it.
hart_bench& counting() {
    auto& b = hart_bench::restart();
    b.load(program(code) << addi(s0, s0, 1) << sd(s0, a0, 0) << ld(t0, a0, 8) << lw(t1, a0, 16) << j(-16));
    b.hart0.set_x(a0, data);
    b.hart0.set_x(s0, 0);
    b.hart0.set_debug_listener(&b.listener);
    return b;
}
}  // namespace

TEST_CASE("breakpoints stop before the instruction, every time round") {
    for (const bool hardware : {false, true}) {
        auto& b = counting();
        b.hart0.insert_breakpoint(code + 8, hardware);
        b.start(b.hart0, code);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            b.run(10 * microsecond);
            CHECK(b.listener.stops == round);
            CHECK(b.listener.reason == (hardware ? stop_reason::hardware_breakpoint : stop_reason::breakpoint));
            CHECK(b.listener.target == &b.hart0);
            CHECK(b.hart0.pc() == code + 8);
            CHECK(b.hart0.x(s0) == round);
            CHECK(b.hart0.halted());
            b.hart0.resume();
        }
        b.hart0.remove_breakpoint(code + 8, hardware);
        b.run(10 * microsecond);
        CHECK(b.listener.stops == 3);
        CHECK(b.hart0.x(s0) > 1000);
    }
}

TEST_CASE("a breakpoint inside code that was already decoded and linked") {
    auto& b = counting();
    b.start(b.hart0, code);
    b.run(5 * microsecond);
    b.hart0.insert_breakpoint(code + 4, false);
    b.run(5 * microsecond);
    CHECK(b.listener.stops == 1);
    CHECK(b.hart0.pc() == code + 4);
    b.hart0.remove_breakpoint(code + 4, false);
}

TEST_CASE("single steps execute exactly one instruction, over branches, traps, devices and wfi") {
    auto& b = hart_bench::restart();
    b.hart0.set_debug_listener(&b.listener);
    b.load(program(code) << addi(s0, s0, 1) << ecall);
    b.load(program(code + 0x1000) << lw(s1, a0, 0) << wfi << j(-8));
    b.set_csr(csr::mtvec, code + 0x1000);
    b.device0.registers[device_base] = 5;
    b.device0.responds_after = 3 * microsecond;
    b.hart0.set_x(a0, device_base);
    b.hart0.set_x(s0, 0);
    b.hart0.set_x(s1, 0);
    REQUIRE(b.hart0.write_register(32, code));
    b.hart0.halt();
    b.hart0.start();
    const std::uint64_t expected[] = {code + 4, code + 0x1000, code + 0x1004, code + 0x1008, code + 0x1000};
    for (const auto pc : expected) {
        const auto stops = b.listener.stops;
        b.hart0.step();
        b.run(10 * microsecond);
        CHECK(b.listener.stops == stops + 1);
        CHECK(b.listener.reason == stop_reason::step);
        CHECK(b.hart0.pc() == pc);
    }
    CHECK(b.hart0.x(s0) == 1);
    CHECK(b.hart0.x(s1) == 5);
    CHECK(b.csr(csr::mepc) == code + 4);
}

TEST_CASE("watchpoints stop after the access and tell what was touched") {
    struct row {
        watch_kind kind;
        std::uint64_t address;
        stop_reason reason;
        std::uint64_t pc;
    };
    const row rows[] = {
        {watch_kind::write, data, stop_reason::watch_write, code + 8},
        {watch_kind::write, data + 8, stop_reason::none, 0},
        {watch_kind::read, data + 8, stop_reason::watch_read, code + 12},
        {watch_kind::read, data, stop_reason::none, 0},
        {watch_kind::access, data + 2, stop_reason::watch_access, code + 8},
        {watch_kind::access, data + 18, stop_reason::watch_access, code + 16},
    };
    for (const auto& r : rows) {
        auto& b = counting();
        b.start(b.hart0, code);
        b.run(2 * microsecond);  // with translations in place
        b.hart0.insert_watchpoint(r.address, 2, r.kind);
        b.run(5 * microsecond);
        CAPTURE(r.address);
        CHECK(b.listener.reason == r.reason);
        if (r.reason != stop_reason::none) {
            CHECK(b.listener.address == r.address);
            CHECK(b.hart0.pc() == r.pc);
        }
        b.hart0.remove_watchpoint(r.address, 2, r.kind);
        b.hart0.resume();
        const auto before = b.hart0.x(s0);
        b.run(5 * microsecond);
        CHECK(b.hart0.x(s0) > before + 100);
    }
}

TEST_CASE("halt and resume; time goes on for others") {
    auto& b = counting();
    b.start(b.hart0, code);
    b.run(5 * microsecond);
    b.hart0.halt();
    const auto s = b.hart0.x(s0);
    b.run(5 * microsecond);
    CHECK(b.hart0.x(s0) == s);
    CHECK(b.hart0.debug_state() == "halted, M-mode");
    b.hart0.resume();
    b.run(5 * microsecond);
    CHECK(b.hart0.x(s0) > s);
}

TEST_CASE("in lockstep harts are never more than an instruction apart") {
    auto& b = hart_bench::restart();
    for (auto* h : {&b.hart0, &b.hart1}) {
        b.load(program(h == &b.hart0 ? code : code + 0x1000)
               << addi(s0, s0, 1) << addi(s0, s0, 1) << addi(s0, s0, 1) << j(-12));
        h->set_x(s0, 0);
        h->set_debug_listener(&b.listener);
        h->set_lockstep(true);
    }
    b.start(b.hart0, code);
    b.start(b.hart1, code + 0x1000);
    for (int i = 0; i < 50; ++i) {
        b.run(7 * nanosecond);
        const auto apart = static_cast<std::int64_t>(b.hart0.x(s0) - b.hart1.x(s0));
        CHECK((apart >= -1 && apart <= 1));
    }
    CHECK(b.hart0.x(s0) > 200);
}

TEST_CASE("registers in GDB's numbering") {
    auto& b = hart_bench::restart();
    std::uint64_t value = 0;
    for (unsigned n = 0; n < 65; ++n) {
        CHECK(b.hart0.write_register(n, 0x100 + 2 * n));
        CHECK(b.hart0.read_register(n, value));
        CHECK(value == (n == 0 ? 0 : 0x100 + 2 * n));
    }
    CHECK(b.hart0.write_register(65 + csr::mscratch, 99));
    CHECK(b.csr(csr::mscratch) == 99);
    CHECK_FALSE(b.hart0.write_register(65 + csr::mhartid, 1));
    CHECK_FALSE(b.hart0.read_register(65 + 0x7c0, value));
    CHECK(b.hart0.has_csr(csr::stimecmp));
    CHECK_FALSE(b.hart0.has_csr(csr::mireg));
    CHECK(b.hart0.write_register(4161, 1));
    CHECK(b.hart0.mode() == privilege::supervisor);
    CHECK_FALSE(b.hart0.write_register(4161, 2));
    CHECK_FALSE(b.hart0.read_register(4162, value));
}

TEST_CASE("memory as the hart sees it, without side effects") {
    auto& b = hart_bench::restart();
    // One page at 0x1000 in Sv39; S mode.
    const std::uint64_t tables = memory_base + 0x100000;
    b.write(tables, (tables + 0x1000) >> 12 << 10 | 1);
    b.write(tables + 0x1000, (tables + 0x2000) >> 12 << 10 | 1);
    b.write(tables + 0x2008, data >> 12 << 10 | 7);
    b.set_csr(csr::satp, 8ull << 60 | tables >> 12);
    b.set_privilege(1);
    std::uint64_t value = 0x1234;
    CHECK(b.hart0.write_memory(0x1ffc, &value, 8) == 4);
    CHECK(b.read(data + 0xffc, 4) == 0x1234);
    CHECK(b.hart0.read_memory(0x3000, &value, 8) == 0);
    CHECK(b.read(tables + 0x2008) == (data >> 12 << 10 | 7));  // A and D are as they were
    b.set_privilege(3);
    b.device0.registers[device_base] = 0x55;
    CHECK(b.hart0.read_memory(device_base, &value, 8) == 8);
    CHECK(value == 0x55);
    CHECK(b.device0.log.empty());
    CHECK(b.hart0.read_memory(0x5000, &value, 8) == 0);
}
