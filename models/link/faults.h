// SPDX-License-Identifier: Apache-2.0
// What faults of links of all kinds have in common: arguments, and that they may end by themselves.
#pragma once

#include <functional>

#include "base/calendar.h"
#include "base/parameters.h"

namespace fabricvp::link {

/// Of a fault that ends by itself, or never.
struct fault_duration_arguments {
    duration lasting{0};
    const char* help = "for how long; 0 ps: for good";
    void describe(parameter_visitor& v) { v.field("lasting", lasting, between{0, 1e18}, help); }
};

struct bit_error_arguments : fault_duration_arguments {
    double rate = 1e-6;
    void describe(parameter_visitor& v) {
        v.field("rate", rate, between{0, 1e-3}, "chance that a bit arrives wrong");
        fault_duration_arguments::describe(v);
    }
};

/// The end of a fault.
class fault_end {
public:
    explicit fault_end(std::function<void()> end) : m_end(std::move(end)) {}

    /// The fault happens now and lasts so long; 0: for good. The end of one before it no longer counts.
    void after(duration lasting) {
        cancel();
        if (lasting) calendar::current().schedule_in(m_event, lasting);
    }
    void cancel() { calendar::current().cancel(m_event); }

private:
    void happen() { m_end(); }

    std::function<void()> m_end;
    calendar_event m_event{method<&fault_end::happen>, this};
};

}  // namespace fabricvp::link
