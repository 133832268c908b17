// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "abi/goldfish_rtc.h"
#include "host/rtc.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

constexpr std::uint64_t epoch = 1'000'000'000;

struct rtc_bench : test::device_bench<host::rtc> {
    rtc_bench() : device_bench(host::rtc_params{epoch}) {}
    std::uint64_t time() {
        const std::uint64_t low = master.read32(RTC_TIME_LOW);
        return std::uint64_t{master.read32(RTC_TIME_HIGH)} << 32 | low;
    }
    void set_alarm(std::uint64_t t) {
        master.write32(RTC_ALARM_HIGH, static_cast<std::uint32_t>(t >> 32));
        master.write32(RTC_ALARM_LOW, static_cast<std::uint32_t>(t));
    }
};

rtc_bench& fresh() {
    static rtc_bench b;
    b.device.reset();
    return b;
}

}  // namespace

TEST_CASE("reset values") {
    auto& b = fresh();
    CHECK(b.time() == epoch * 1'000'000'000 + b.cal.now() / 1000);
    CHECK(b.master.read32(RTC_IRQ_ENABLED) == 0);
    CHECK(b.master.read32(RTC_ALARM_STATUS) == 0);
    CHECK_FALSE(b.device.interrupt.level());
}

TEST_CASE("time passes, and reading the low half latches the high one") {
    auto& b = fresh();
    const auto before = b.time();
    b.run_for(5_ms);
    CHECK(b.time() == before + 5'000'000);
    b.master.write32(RTC_TIME_HIGH, 9);
    b.master.write32(RTC_TIME_LOW, 0xffff'fff0);
    CHECK(b.master.read32(RTC_TIME_LOW) == 0xffff'fff0);
    b.run_for(1_us);
    CHECK(b.master.read32(RTC_TIME_HIGH) == 9);
    CHECK(b.time() == (std::uint64_t{10} << 32) + 1000 - 16);
}

TEST_CASE("the alarm interrupts at its time, if enabled") {
    auto& b = fresh();
    b.master.write32(RTC_IRQ_ENABLED, 1);
    b.set_alarm(b.time() + 1'000'000);
    CHECK(b.master.read32(RTC_ALARM_STATUS) == 1);
    b.run_for(1_ms - 1_ns);
    CHECK_FALSE(b.device.interrupt.level());
    b.run_for(1_ns);
    CHECK(b.device.interrupt.level());
    CHECK(b.master.read32(RTC_ALARM_STATUS) == 0);
    SECTION("until cleared") {
        b.master.write32(RTC_CLEAR_INTERRUPT, 1);
        CHECK_FALSE(b.device.interrupt.level());
    }
    SECTION("or masked") {
        b.master.write32(RTC_IRQ_ENABLED, 0);
        CHECK_FALSE(b.device.interrupt.level());
        b.master.write32(RTC_IRQ_ENABLED, 1);
        CHECK(b.device.interrupt.level());
    }
    SECTION("or reset") {
        b.device.reset();
        CHECK_FALSE(b.device.interrupt.level());
    }
}

TEST_CASE("alarms of the past go off at once, cleared ones never") {
    auto& b = fresh();
    b.master.write32(RTC_IRQ_ENABLED, 1);
    b.set_alarm(b.time() - 1);
    CHECK(b.device.interrupt.level());
    b.master.write32(RTC_CLEAR_INTERRUPT, 1);
    b.set_alarm(b.time() + 1'000);
    b.master.write32(RTC_CLEAR_ALARM, 1);
    CHECK(b.master.read32(RTC_ALARM_STATUS) == 0);
    b.run_for(1_ms);
    CHECK_FALSE(b.device.interrupt.level());
}

TEST_CASE("setting the clock moves the alarm") {
    auto& b = fresh();
    b.master.write32(RTC_IRQ_ENABLED, 1);
    const auto t = b.time();
    b.set_alarm(t + 10'000'000'000);
    b.master.write32(RTC_TIME_HIGH, static_cast<std::uint32_t>((t + 10'000'000'000) >> 32));
    b.master.write32(RTC_TIME_LOW, static_cast<std::uint32_t>(t + 10'000'000'000));
    b.run_for(1_ns);
    CHECK(b.device.interrupt.level());
}
