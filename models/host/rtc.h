// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.h"
#include "host/host_device.h"

namespace fabricvp::host {

struct rtc_params {
    std::uint64_t epoch = 1'767'225'600;  ///< 2026-01-01 00:00:00 UTC
    void describe(parameter_visitor& v);
};

/// Goldfish real-time clock: nanoseconds since 1970, started from a parameter (runs must not depend on the wall clock).
class rtc final : public host_device {
public:
    const rtc_params params;

    device_register time_low;
    device_register time_high;
    device_register alarm_low;
    device_register alarm_high;
    device_register irq_enabled;
    device_register clear_alarm;
    device_register alarm_status;
    device_register clear_interrupt;

    rtc(const sc_core::sc_module_name& name, const rtc_params& params);

    static device_tree_node rtc_node() { return {"rtc", {"google,goldfish-rtc"}, {}}; }
    device_tree_node tree_node() const override { return rtc_node(); }

    void reset() override;

private:
    std::uint64_t nanoseconds() const;
    void set_nanoseconds(std::uint64_t value);
    void arm();
    void alarm();
    void update();

    std::uint64_t m_offset;  // nanoseconds at simulated time zero, modulo 2^64
    bool m_pending = false;
    calendar_event m_alarm{method<&rtc::alarm>, this};
};

}  // namespace fabricvp::host
