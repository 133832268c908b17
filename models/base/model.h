// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <systemc>

#include "base/calendar.h"

namespace fabricvp {

/// Base of every hardware block: a SystemC module without processes that works on the calendar and can be reset.
class model : public sc_core::sc_module {
public:
    explicit model(const sc_core::sc_module_name& name);
    ~model() override;

    /// Power-on reset. Restores the architectural state of this block and of all blocks inside it, cancels what is
    /// under way, keeps parameters and statistics. A model with state overrides this and calls model::reset() last.
    virtual void reset();

    /// What a block cannot get on without: since when, and what it is (a partner's credit, a grant).
    struct wait {
        ticks since;
        std::string what;
    };
    /// Its longest wait of the present, for the watchdog.
    virtual std::optional<wait> waits() const { return std::nullopt; }

protected:
    calendar& timeline() const { return m_calendar; }
    ticks now() const { return m_calendar.now(); }
    void schedule(calendar_event& e, ticks when) { m_calendar.schedule(e, when); }
    void schedule_in(calendar_event& e, ticks delay) { m_calendar.schedule_in(e, delay); }
    void cancel(calendar_event& e) { m_calendar.cancel(e); }

private:
    calendar& m_calendar;
    model* m_outer = nullptr;     // the nearest model around this one; plain modules may lie between
    std::vector<model*> m_inner;  // in order of construction
};

}  // namespace fabricvp
