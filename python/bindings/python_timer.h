// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "base/calendar.h"

namespace fabricvp::python {

class session;

/// One call of a Python function at a simulated time. The session keeps it alive until it has been called or cancelled.
class python_timer {
public:
    python_timer(session& owner, pybind11::function function) : m_session(owner), m_function(std::move(function)) {}

    /// \throws std::invalid_argument if `when` has passed
    void schedule(ticks when);
    void cancel();
    bool active() const { return m_event.scheduled(); }

private:
    void fire();

    session& m_session;
    pybind11::function m_function;
    calendar_event m_event{method<&python_timer::fire>, this};
};

}  // namespace fabricvp::python
