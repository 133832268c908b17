// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "base/calendar.h"
#include "base/parameters.h"

namespace fabricvp {

/// Of a fault that ends by itself, or never.
struct fault_duration_arguments {
    duration lasting{0};
    const char* help = "for how long; 0 ps: for good";
    void describe(parameter_visitor& v) { v.field("lasting", lasting, between{0, 1e18}, help); }
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

}  // namespace fabricvp
