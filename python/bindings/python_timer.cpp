// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_timer.h"

#include <stdexcept>

#include "bindings/session.h"

namespace fabricvp::python {

void python_timer::schedule(ticks when) {
    auto& c = calendar::current();
    if (when < c.now()) throw std::invalid_argument("that time has passed");
    c.schedule(m_event, when);
}

void python_timer::cancel() { calendar::current().cancel(m_event); }

void python_timer::fire() {
    pybind11::gil_scoped_acquire gil;
    try {
        m_function();
    } catch (pybind11::error_already_set&) {
        m_session.fail(std::current_exception());
    }
}

}  // namespace fabricvp::python
