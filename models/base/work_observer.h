// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "base/time.h"

namespace fabricvp {

class calendar_event;

/// Is told what the calendar executes, event by event, to tell whose work that is.
class work_observer {
public:
    /// What runs now has scheduled an event that belongs to no block (calendar_event::owner()).
    virtual void scheduled(const calendar_event& event) = 0;
    /// An event is about to be called at `when`, or the running callback goes on as if it were.
    virtual void begins(const calendar_event& event, ticks when) = 0;
    /// The running callback goes on with work of a block, which another one may have begun.
    virtual void goes_on_in(const sc_core::sc_object& block, ticks when) = 0;
    /// The calendar leaves the processor to others.
    virtual void ends() = 0;

    /// That of this process, which has one calendar; null: there is none. What is set must outlast it.
    static inline work_observer* current = nullptr;

protected:
    ~work_observer() = default;
};

}  // namespace fabricvp
