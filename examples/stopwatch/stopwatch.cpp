// SPDX-License-Identifier: Apache-2.0
#include "stopwatch.h"

using fabricvp::ticks;

void stopwatch_params::describe(fabricvp::parameter_visitor& v) {
    v.field("resolution", resolution, fabricvp::between{1e3, 1e9}, "steps in which it counts");
}

stopwatch::stopwatch(const sc_core::sc_module_name& name, const stopwatch_params& p)
    : host_device(name, STOPWATCH_SIZE), params(p) {
    control.on_write([this](std::size_t, std::uint64_t) { start_or_stop(); });
    elapsed.on_read([this](std::size_t) { return elapsed_ns(); });
    alarm.on_write([this](std::size_t, std::uint64_t) { set_alarm(); });
    status.on_write([this](std::size_t, std::uint64_t) { update(); });
}

std::uint64_t stopwatch::elapsed_ns() const {
    const ticks counted = m_counted + (m_running ? now() - m_since : 0);
    return (counted - counted % params.resolution) / 1000;
}

void stopwatch::start_or_stop() {
    const bool running = control() & 1;
    if (running == m_running) return;
    if (m_running) m_counted += now() - m_since;
    m_running = running;
    m_since = now();
    set_alarm();
}

void stopwatch::set_alarm() {
    cancel(m_ring);
    const auto at = alarm();
    // Beyond a thousand hours it will not ring in any simulation; the product would overflow.
    if (m_running && at > elapsed_ns() && at < 3'600'000'000'000'000) schedule_in(m_ring, (at - elapsed_ns()) * 1000);
}

void stopwatch::ring() {
    ++alarms;
    status.set(1);
    update();
}

void stopwatch::reset() {
    m_running = false;
    m_counted = 0;
    cancel(m_ring);
    host_device::reset();
    update();
}
