// SPDX-License-Identifier: Apache-2.0
#include "host/rtc.h"

#include "abi/goldfish_rtc.h"
#include "abi/memory_map.h"

namespace fabricvp::host {

namespace {
constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;
constexpr ticks ticks_a_nanosecond = 1'000;
constexpr std::uint64_t low_half = 0xffff'ffff;
}  // namespace

void rtc_params::describe(parameter_visitor& v) {
    v.field("epoch", epoch, between{0, 9e9}, "time of day at simulated time zero, in seconds since 1970");
}

rtc::rtc(const sc_core::sc_module_name& name, const rtc_params& p)
    : host_device(name, VIRT_RTC_SIZE),
      params(p),
      time_low(registers, "time_low", RTC_TIME_LOW, 4, 0),
      time_high(registers, "time_high", RTC_TIME_HIGH, 4, 0),
      alarm_low(registers, "alarm_low", RTC_ALARM_LOW, 4, 0),
      alarm_high(registers, "alarm_high", RTC_ALARM_HIGH, 4, 0),
      irq_enabled(registers, "irq_enabled", RTC_IRQ_ENABLED, 4, 0,
                  {{"ENABLED", 0, 1, field_access::read_write, "the alarm interrupts"},
                   {"reserved", 1, 31, field_access::reserved, ""}}),
      clear_alarm(registers, "clear_alarm", RTC_CLEAR_ALARM, 4, 0,
                  {{"clear", 0, 32, field_access::write_only, "any value disarms the alarm"}}),
      alarm_status(registers, "alarm_status", RTC_ALARM_STATUS, 4, 0,
                   {{"RUNNING", 0, 1, field_access::read_only, "the alarm is armed"},
                    {"reserved", 1, 31, field_access::reserved, ""}}),
      clear_interrupt(registers, "clear_interrupt", RTC_CLEAR_INTERRUPT, 4, 0,
                      {{"clear", 0, 32, field_access::write_only, "any value clears the interrupt"}}),
      m_offset(p.epoch * nanoseconds_a_second) {
    time_low.on_read([this](std::size_t) {
        const auto t = nanoseconds();
        time_high.set(t >> 32);
        return t & low_half;
    });
    time_low.on_debug_read([this](std::size_t) { return nanoseconds() & low_half; });
    time_high.on_debug_read([this](std::size_t) { return nanoseconds() >> 32; });
    // Each half takes effect at once, so that drivers may write them in either order.
    time_low.on_write(
        [this](std::size_t, std::uint64_t) { set_nanoseconds((nanoseconds() & ~low_half) | time_low()); });
    time_high.on_write(
        [this](std::size_t, std::uint64_t) { set_nanoseconds(time_high() << 32 | (nanoseconds() & low_half)); });
    alarm_low.on_write([this](std::size_t, std::uint64_t) { arm(); });
    irq_enabled.on_write([this](std::size_t, std::uint64_t) { update(); });
    clear_alarm.on_write([this](std::size_t, std::uint64_t) {
        cancel(m_alarm);
        alarm_status.set(0);
    });
    clear_interrupt.on_write([this](std::size_t, std::uint64_t) {
        m_pending = false;
        update();
    });
}

void rtc::reset() {
    cancel(m_alarm);
    m_pending = false;
    m_offset = params.epoch * nanoseconds_a_second;
    register_target::reset();
    update();
}

std::uint64_t rtc::nanoseconds() const { return m_offset + now() / ticks_a_nanosecond; }

void rtc::set_nanoseconds(std::uint64_t value) {
    m_offset = value - now() / ticks_a_nanosecond;
    if (alarm_status()) arm();
}

void rtc::arm() {
    const auto target = alarm_high() << 32 | alarm_low();
    const auto present = nanoseconds();
    cancel(m_alarm);
    alarm_status.set(1);
    if (target <= present) {
        alarm();
        return;
    }
    const auto ahead = target - present;
    const auto base =
        now() / ticks_a_nanosecond;  // in whole nanoseconds, so that the clock reads `target` at the alarm
    if (ahead < never / ticks_a_nanosecond - base) schedule(m_alarm, (base + ahead) * ticks_a_nanosecond);
}

void rtc::alarm() {
    alarm_status.set(0);
    m_pending = true;
    update();
}

void rtc::update() { interrupt.drive(m_pending && irq_enabled()); }

}  // namespace fabricvp::host
