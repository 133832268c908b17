// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <systemc>

#include "base/calendar.h"

namespace fabricvp {

/// Base of every hardware block: a SystemC module without processes that works on the calendar and can be reset.
class model : public sc_core::sc_module {
public:
    explicit model(const sc_core::sc_module_name& name) : sc_module(name), m_calendar(calendar::current()) {}

    /// Power-on reset. Restores the architectural state of this block and of all blocks inside it, cancels what is under
    /// way, keeps parameters and statistics. A model with state overrides this and calls model::reset() last.
    virtual void reset() {
        for (auto* child : get_child_objects())
            if (auto* m = dynamic_cast<model*>(child)) m->reset();
    }

protected:
    calendar& timeline() const { return m_calendar; }
    ticks now() const { return m_calendar.now(); }
    void schedule(calendar_event& e, ticks when) { m_calendar.schedule(e, when); }
    void schedule_in(calendar_event& e, ticks delay) { m_calendar.schedule_in(e, delay); }
    void cancel(calendar_event& e) { m_calendar.cancel(e); }

private:
    calendar& m_calendar;
};

}  // namespace fabricvp
