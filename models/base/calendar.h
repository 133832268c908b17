// SPDX-License-Identifier: Apache-2.0
// The event calendar: one queue of (time, callback) for the whole simulation.
//
// Models own no SystemC process. They embed calendar_event members and schedule them here. A single SC_METHOD drains
// the queue and *runs ahead*: one activation executes events up to a horizon and keeps its own time, because returning
// to the SystemC kernel for every distinct time stamp costs more than the events themselves. The contract:
//
//  - horizon = the earliest of the kernel's next pending activity, the run limit, and a slice (100 us). It is read
//    again after every call into foreign code (note_foreign_call()). Where it is zero the calendar yields a delta
//    cycle.
//  - Inside a callback now() is the event's time. Outside it is the kernel's time.
//  - At equal times insertion order decides, and events with a rank come after those without, by rank (slices of harts,
//    by path): when such an event was scheduled does not matter. All calendar events of a time are executed before
//    foreign processes that wake at that time; what those insert comes after.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include <systemc>

#include "base/time.h"

namespace fabricvp {

class calendar;

template <auto Method>
struct method_tag {};
/// Names the member function that an event calls: `calendar_event m_tick{method<&uart::tick>, this};`
template <auto Method>
inline constexpr method_tag<Method> method{};

/// An event owned by its model, by value. Scheduling it costs no allocation; destroying it cancels it.
class calendar_event {
public:
    template <auto Method, class T>
    calendar_event(method_tag<Method>, T* object)
        : m_call([](void* o) { (static_cast<T*>(o)->*Method)(); }), m_object(object) {
        if constexpr (std::is_base_of_v<sc_core::sc_object, T>) m_owner = object;
    }
    ~calendar_event();
    calendar_event(const calendar_event&) = delete;
    calendar_event& operator=(const calendar_event&) = delete;

    bool scheduled() const { return m_when != never; }
    /// Time of the next call, `never` if not scheduled.
    ticks when() const { return m_when; }
    /// The model that owns the event, for diagnostics; may be null.
    const sc_core::sc_object* owner() const { return m_owner; }
    /// At equal times it comes after events of lower rank, whenever they were scheduled; 0 at first. Not while it is
    /// scheduled.
    void set_rank(std::uint32_t rank) { m_rank = rank; }
    std::uint32_t rank() const { return m_rank; }
    /// From now on it calls another member function of its object, which is a T. Not while it is scheduled.
    template <class T, auto Method>
    void set_method(method_tag<Method>) {
        m_call = [](void* o) { (static_cast<T*>(o)->*Method)(); };
    }

private:
    friend class calendar;
    calendar_event* m_previous = nullptr;
    calendar_event* m_next = nullptr;
    ticks m_when = never;
    void (*m_call)(void*);
    void* m_object;
    std::uint32_t m_rank = 0;
    const sc_core::sc_object* m_owner = nullptr;  // last: the queue never looks at it
};

/// What works for a stretch of time without events and owes what would have happened meanwhile.
class lagging {
public:
    /// Does all that calendar::reached() has passed.
    virtual void catch_up() = 0;

protected:
    ~lagging() = default;
};

class calendar final : public sc_core::sc_module {
public:
    /// Of what arrives over a network whose ends may stand in several simulations (link/arrivals.h): before harts.
    static constexpr std::uint32_t arrival_rank = 1;

    SC_HAS_PROCESS(calendar);

    /// \throws std::logic_error if there is a calendar already, or if SystemC's time resolution is not 1 ps.
    explicit calendar(const sc_core::sc_module_name& name = "calendar");
    ~calendar() override;

    /// The calendar of this simulation; it must have been constructed before any model.
    /// \throws std::logic_error if it was not.
    static calendar& current();
    /// The same, or null where there is none.
    static calendar* find();

    /// Simulated time: the running event's time inside a callback, the kernel's time outside.
    ticks now() const { return m_in_callback ? m_now : sc_core::sc_time_stamp().value(); }

    /// Calls the event at `when`. An event that is scheduled already is moved. From foreign code whose time lies behind
    /// the calendar's (it was woken by a call out of a callback), the event is called as soon as the calendar can.
    /// \throws std::logic_error inside a callback if `when` is before now(), and for `never`.
    void schedule(calendar_event& event, ticks when);
    void schedule_in(calendar_event& event, ticks delay) { schedule(event, now() + delay); }
    void cancel(calendar_event& event);

    /// Whether the running callback may do what it would schedule for `when` at once: nothing else is due until then,
    /// nor does anything end or look at the simulation before.
    bool may_go_on_at(ticks when) const;
    /// It goes on as if `event`, which is its own, had been called at `when`.
    void go_on_at(const calendar_event& event, ticks when);

    /// To be called after a callback has called into code that may have notified SystemC events.
    void note_foreign_call() { m_horizon_stale = true; }

    /// Runs the simulation until `limit` (events at the limit included), or until stop(), or until nothing is left to
    /// do. Not from within a callback. On return the kernel's time equals the calendar's. Returns the time reached.
    /// \throws whatever a callback threw; the simulation can be run on.
    ticks run_until(ticks limit);

    /// Ends run_until() after the running callback.
    void stop();
    bool stop_requested() const { return m_stop_requested; }

    /// Ends run_until() behind all that happens at a time, `when` or a later one (0: the next one; `never`: none),
    /// without an event of its own: when run_until() is called again, all goes on as if it had not ended. It holds
    /// until it is set anew. May be called from any thread.
    void interrupt_at(ticks when) { m_interrupt_at.store(when); }
    /// Whether that ended the last run_until(), and no stop() did.
    bool interrupted() const { return m_interrupted; }

    /// True while a calendar callback executes.
    bool in_callback() const { return m_in_callback; }

    /// Time of the earliest scheduled event, `never` if there is none.
    ticks next_event_time() const;

    /// A rank behind all that were given before, for harts in the order of their construction, which is that of paths.
    std::uint32_t next_rank();

    /// How far the calendar has come: events of an earlier time, and of this time and a lower rank, have been called or
    /// would have been if they had been there.
    struct position {
        ticks when;
        std::uint32_t rank;
    };
    position reached() const;
    void attach(lagging& l);
    void detach(lagging& l);
    /// Lets all that lags catch up: at the end of run_until(), and before statistics are read or restarted.
    void catch_up();

    /// Number of callbacks executed since construction.
    std::uint64_t executed() const { return m_executed; }
    /// That, and how often one went on without an event. Callbacks may go on where nothing else is due, so what else is
    /// simulated and where runs end change executed(); steps stay the same.
    std::uint64_t steps() const { return m_executed + m_went_on; }

private:
    void drain();
    void execute(ticks kernel_time);
    ticks kernel_horizon(ticks kernel_time) const;
    ticks last_time() const;
    void wake_at_once();
    void advance_kernel(ticks to, sc_core::sc_starvation_policy policy);

    struct wheel;
    std::unique_ptr<wheel> m_wheel;
    sc_core::sc_event m_wake{"wake"};
    ticks m_now = 0;
    ticks m_horizon = 0;
    ticks m_limit = never;
    std::uint64_t m_executed = 0;
    std::uint64_t m_went_on = 0;
    std::exception_ptr m_error;
    bool m_in_callback = false;
    bool m_horizon_stale = false;
    bool m_stop_requested = false;
    bool m_interrupted = false;
    std::atomic<ticks> m_interrupt_at{never};
    bool m_running = false;
    bool m_frozen = false;  // no callbacks while the kernel catches up
    bool m_woken = false;   // m_wake will fire at the kernel's present time
};

}  // namespace fabricvp
