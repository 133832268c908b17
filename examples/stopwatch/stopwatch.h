// SPDX-License-Identifier: Apache-2.0
// A device in the style of this project: declared registers, one calendar event, and the interrupt wire of all host
// devices.
#pragma once

#include "base/parameters.h"
#include "base/statistics.h"
#include "host/host_device.h"
#include "registers.h"

struct stopwatch_params {
    fabricvp::duration resolution{1'000};
    void describe(fabricvp::parameter_visitor& v);
};

class stopwatch final : public fabricvp::host::host_device {
public:
    using access = fabricvp::field_access;

    const stopwatch_params params;

    fabricvp::counter alarms{*this, "alarms", "1", "times the alarm rang"};

    fabricvp::device_register control{
        registers, "control", STOPWATCH_CONTROL,
        4,         0,         {{"running", 0, 1, access::read_write, "time is being counted"}}};
    fabricvp::device_register elapsed{
        registers, "elapsed", STOPWATCH_ELAPSED, 8, 0, {{"ns", 0, 64, access::read_only, "nanoseconds it has run"}}};
    fabricvp::device_register alarm{registers, "alarm", STOPWATCH_ALARM, 8, 0};
    fabricvp::device_register status{
        registers, "status", STOPWATCH_STATUS, 4, 0, {{"rang", 0, 1, access::write_one_to_clear, "the alarm rang"}}};

    stopwatch(const sc_core::sc_module_name& name, const stopwatch_params& params);

    /// What firmware finds in the device tree.
    fabricvp::host::device_tree_node tree_node() const override { return {"stopwatch", {"example,stopwatch"}, {}}; }

    void reset() override;

private:
    std::uint64_t elapsed_ns() const;
    void start_or_stop();
    void set_alarm();
    void ring();
    void update() { interrupt.drive(status() & 1); }

    bool m_running = false;
    fabricvp::ticks m_since = 0;    // start of the present run
    fabricvp::ticks m_counted = 0;  // in earlier runs
    fabricvp::calendar_event m_ring{fabricvp::method<&stopwatch::ring>, this};
};
