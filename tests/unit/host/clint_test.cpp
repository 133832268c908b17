// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "abi/clint.h"
#include "host/clint.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

constexpr ticks tick = 100_ns;  // of mtime at 10 MHz

test::device_bench<host::clint>& fresh() {
    static test::device_bench<host::clint> b{host::clint_params{}, std::size_t{2}};
    b.device.reset();
    return b;
}

}  // namespace

TEST_CASE("reset values") {
    auto& b = fresh();
    CHECK(b.master.read32(CLINT_MSIP) == 0);
    CHECK(b.master.read64(CLINT_MTIME) == 0);
    CHECK(b.master.read64(CLINT_MTIMECMP) == ~0ull);
    CHECK_FALSE(b.device.timer_interrupt[0].level());
    CHECK_FALSE(b.device.software_interrupt[1].level());
}

TEST_CASE("MSIP drives the hart's software interrupt, and only bit 0 exists") {
    auto& b = fresh();
    b.master.write32(CLINT_MSIP + 4, 0xffff'ffff);
    CHECK(b.master.read32(CLINT_MSIP + 4) == 1);
    CHECK(b.device.software_interrupt[1].level());
    CHECK_FALSE(b.device.software_interrupt[0].level());
    b.master.write32(CLINT_MSIP + 4, 0xffff'fffe);
    CHECK_FALSE(b.device.software_interrupt[1].level());
    b.master.write32(CLINT_MSIP + 4, 1);
    b.device.reset();
    CHECK_FALSE(b.device.software_interrupt[1].level());
}

TEST_CASE("mtime counts at the timebase and can be written, in halves too") {
    auto& b = fresh();
    b.run_for(1_ms);
    const auto t = b.master.read64(CLINT_MTIME);
    CHECK(t == 10'000);
    CHECK(b.device.time_at(b.cal.now()) == t);
    b.master.write32(CLINT_MTIME + 4, 7);
    CHECK(b.master.read64(CLINT_MTIME) == (7ull << 32 | 10'000));
    b.master.write32(CLINT_MTIME, 5);
    CHECK(b.master.read64(CLINT_MTIME) == (7ull << 32 | 5));
    b.run_for(10 * tick);
    CHECK(b.master.read32(CLINT_MTIME) == 15);
    std::uint64_t seen = 0;
    CHECK(b.master.debug(tlm::TLM_READ_COMMAND, CLINT_MTIME, &seen, 8) == 8);
    CHECK(seen == (7ull << 32 | 15));
}

TEST_CASE("the timer interrupt comes at the exact time") {
    auto& b = fresh();
    const auto start = b.cal.now();
    ticks fired = never;
    b.device.timer_interrupt[1].connect([&](bool level) {
        if (level) fired = b.cal.now();
    });
    b.master.write64(CLINT_MTIMECMP + 8, 25);
    CHECK_FALSE(b.device.timer_interrupt[1].level());
    b.run_for(10_us);
    CHECK(fired == start + 25 * tick);
    CHECK(b.device.timer_interrupt[1].level());
    CHECK_FALSE(b.device.timer_interrupt[0].level());

    SECTION("and falls when the comparator moves on") {
        b.master.write64(CLINT_MTIMECMP + 8, 1'000'000);
        CHECK_FALSE(b.device.timer_interrupt[1].level());
    }
    SECTION("and falls when time is set back, to come again") {
        b.master.write64(CLINT_MTIME, 0);
        CHECK_FALSE(b.device.timer_interrupt[1].level());
        b.run_for(24 * tick);
        CHECK_FALSE(b.device.timer_interrupt[1].level());
        b.run_for(1 * tick);
        CHECK(b.device.timer_interrupt[1].level());
    }
    SECTION("and goes with reset") {
        b.device.reset();
        CHECK_FALSE(b.device.timer_interrupt[1].level());
    }
}

TEST_CASE("a comparator beyond the end of time never fires") {
    auto& b = fresh();
    b.master.write64(CLINT_MTIMECMP, ~0ull - 1);
    b.run_for(1_ms);
    CHECK_FALSE(b.device.timer_interrupt[0].level());
    CHECK(b.device.when(~0ull) == never);
    CHECK(b.device.when(b.device.time_at(b.cal.now()) + 3) <= b.cal.now() + 3 * tick);
    CHECK(b.device.time_at(b.device.when(123'456)) == 123'456);
    CHECK(b.device.time_at(b.device.when(123'456) - 1) == 123'455);
}

TEST_CASE("a timebase whose period is no whole number of picoseconds does not drift") {
    // Not on the bench: clocks are arithmetic.
    clock_domain odd{frequency{32'768}};
    CHECK(odd.cycle_at(1'000 * ticks_per_second) == 32'768'000);
    CHECK(odd.cycle_at(odd.span(12'345)) == 12'345);
    CHECK(odd.cycle_at(odd.span(12'345) - 1) == 12'344);
}
