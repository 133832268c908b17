// SPDX-License-Identifier: Apache-2.0
#include "host/clint.h"

#include "abi/clint.h"
#include "abi/memory_map.h"

namespace fabricvp::host {

void clint_params::describe(parameter_visitor& v) {
    v.field("timebase", timebase, between{1e3, 1e9}, "rate of mtime (timebase-frequency of the device tree)");
}

clint::clint(const sc_core::sc_module_name& name, const clint_params& p, std::size_t harts)
    : register_target(name, VIRT_CLINT_SIZE),
      params(p),
      msip(registers, "msip", CLINT_MSIP, 4, 0,
           {{"MSIP", 0, 1, field_access::read_write, "machine software interrupt pending"},
            {"reserved", 1, 31, field_access::reserved, ""}},
           {harts}),
      // The reset value is of our choice: the specification leaves it open, and all ones cannot fire by accident.
      mtimecmp(registers, "mtimecmp", CLINT_MTIMECMP, 8, ~std::uint64_t{0}, {}, {harts}),
      mtime(registers, "mtime", CLINT_MTIME, 8, 0),
      software_interrupt(harts),
      timer_interrupt(harts),
      m_clock(p.timebase) {
    for (std::size_t i = 0; i < harts; ++i) m_comparators.emplace_back(*this, i);
    msip.on_write([this](std::size_t hart, std::uint64_t) { software_interrupt[hart].drive(msip.get(hart) & 1); });
    mtimecmp.on_write([this](std::size_t hart, std::uint64_t) { update(hart); });
    mtime.on_debug_read([this](std::size_t) { return time_at(now()); });
    mtime.on_write([this](std::size_t, std::uint64_t) { set_time(mtime()); });
}

void clint::reset() {
    m_offset = 0 - m_clock.cycle_at(now());
    register_target::reset();
    for (auto& line : software_interrupt) line.drive(false);
    for (std::size_t i = 0; i < m_comparators.size(); ++i) update(i);
}

bus_target::outcome clint::access(bus_payload& payload, ticks& latency) {
    mtime.set(time_at(now()));  // the stored value, so that reads show it and half-word writes merge with it
    return register_target::access(payload, latency);
}

std::uint64_t clint::time_at(ticks at) const { return m_clock.cycle_at(at) + m_offset; }

ticks clint::when(std::uint64_t value) const {
    const auto present = time_at(now());
    if (value <= present) {
        // In the past; how far back does not matter, but it must not wrap below time zero.
        const auto back = present - value, cycle = m_clock.cycle_at(now());
        return back >= cycle ? 0 : m_clock.span(cycle - back);
    }
    const auto cycle = m_clock.cycle_at(now());
    const auto ahead = value - present;
    const auto last = m_clock.cycle_at(never - 1);
    return ahead >= last - cycle ? never : m_clock.span(cycle + ahead);
}

void clint::set_time(std::uint64_t value) {
    m_offset = value - m_clock.cycle_at(now());
    for (std::size_t i = 0; i < m_comparators.size(); ++i) update(i);
    if (on_time_set) on_time_set();
}

void clint::update(std::size_t hart) {
    const auto compare = mtimecmp.get(hart);
    const bool due = time_at(now()) >= compare;
    auto& event = m_comparators[hart].event;
    cancel(event);
    if (!due) {
        const auto at = when(compare);
        if (at != never) schedule(event, at);
    }
    timer_interrupt[hart].drive(due);
}

}  // namespace fabricvp::host
