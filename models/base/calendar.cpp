// SPDX-License-Identifier: Apache-2.0
#include "base/calendar.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/event_wheel.h"
#include "base/work_observer.h"

namespace fabricvp {

namespace {

calendar* the_calendar = nullptr;

constexpr ticks longest_slice = 100'000'000;  // 100 us: bounds how far the calendar runs ahead of the kernel

ticks sum(ticks a, ticks b) { return a > never - b ? never : a + b; }

ticks kernel_now() { return sc_core::sc_time_stamp().value(); }
sc_core::sc_time to_sc_time(ticks t) { return sc_core::sc_time::from_value(t); }

[[noreturn]] void reject(const calendar_event& event, const std::string& why) {
    throw std::logic_error((event.owner() ? event.owner()->name() : "calendar") + std::string(": ") + why);
}

}  // namespace

calendar_event::~calendar_event() {
    if (scheduled()) the_calendar->cancel(*this);
}

calendar::calendar(const sc_core::sc_module_name& name) : sc_module(name), m_wheel(std::make_unique<wheel>()) {
    if (the_calendar) throw std::logic_error("a simulation has one calendar");
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
        throw std::logic_error("SystemC's time resolution must be 1 ps");
    the_calendar = this;
    SC_METHOD(drain);
    sensitive << m_wake;
}

calendar::~calendar() {
    m_wheel->for_each([](calendar_event& e) { e.m_when = never; });
    the_calendar = nullptr;
}

calendar& calendar::current() {
    if (!the_calendar) throw std::logic_error("construct the calendar before the first model");
    return *the_calendar;
}

calendar* calendar::find() { return the_calendar; }

void calendar::schedule(calendar_event& event, ticks when) {
    if (when == never) reject(event, "scheduled at the end of time");
    if (event.scheduled()) {
        m_wheel->remove(event);
        event.m_when = never;
    }
    if (when < last_time()) {
        if (m_in_callback) reject(event, "scheduled in the past");
        when = last_time();
    }
    event.m_when = when;
    m_wheel->insert(event);
    if (work_observer::current && !event.m_owner) work_observer::current->scheduled(event);
    if (!m_in_callback) wake_at_once();
}

void calendar::cancel(calendar_event& event) {
    if (!event.scheduled()) return;
    m_wheel->remove(event);
    event.m_when = never;
}

ticks calendar::next_event_time() const { return m_wheel->next(); }

/// A callback that went on stands behind the last event that was taken.
ticks calendar::last_time() const { return std::max(m_wheel->base(), m_now); }

bool calendar::may_go_on_at(ticks when) const {
    return when < m_horizon && !m_stop_requested && m_now < m_interrupt_at.load(std::memory_order_relaxed) &&
           !m_wheel->is_due(when) && !sc_core::sc_pending_activity();
}

void calendar::go_on_at(const calendar_event& event, ticks when) {
    m_now = when;
    ++m_went_on;
    if (work_observer::current) work_observer::current->begins(event, when);
}

void calendar::stop() {
    m_stop_requested = true;
    if (m_running && !m_in_callback) sc_core::sc_pause();
}

void calendar::wake_at_once() {
    if (m_woken || !m_running) return;  // run_until() wakes it anyhow
    m_woken = true;
    m_wake.cancel();
    m_wake.notify(sc_core::SC_ZERO_TIME);
}

ticks calendar::kernel_horizon(ticks kernel_time) const {
    const ticks pending = sum(kernel_time, sc_core::sc_time_to_pending_activity().value());
    return std::min({pending, m_limit, sum(std::max(kernel_time, m_wheel->next()), longest_slice)});
}

void calendar::drain() {
    m_wake.cancel();
    m_woken = false;
    if (m_frozen || m_stop_requested || m_wheel->empty()) return;
    const ticks kernel_time = kernel_now();
    m_horizon = kernel_horizon(kernel_time);
    // Foreign processes that are still to run at this time may insert events: let them, whatever their order is.
    const bool others_first = m_horizon == kernel_time && sc_core::sc_pending_activity_at_current_time();
    if (!others_first) execute(kernel_time);
    if (m_stop_requested) {
        sc_core::sc_pause();
        return;
    }
    // The kernel follows: to the horizon, or to the last event if there are no more.
    const ticks horizon = m_wheel->empty() ? last_time() : m_horizon;
    if (horizon > kernel_time) {
        // At the limit nothing is left to do. A wake-up there would not be executed, and look like others' activity to
        // who asks the kernel what is pending; run_until() brings the kernel there without.
        if (horizon < m_limit || m_wheel->next() <= m_limit) m_wake.notify(to_sc_time(horizon - kernel_time));
    } else if (!m_wheel->empty() && (kernel_time < m_limit || sc_core::sc_pending_activity_at_current_time())) {
        m_woken = true;
        m_wake.notify(sc_core::SC_ZERO_TIME);
    }
}

void calendar::execute(ticks kernel_time) {
    m_horizon_stale = false;
    m_in_callback = true;
    auto* const observer = work_observer::current;
    try {
        while (!m_wheel->empty()) {
            calendar_event* event = m_wheel->take(m_horizon);
            if (!event) break;
            m_now = event->m_when;
            m_wheel->rank = event->m_rank;
            event->m_when = never;
            ++m_executed;
            if (observer) observer->begins(*event, m_now);
            event->m_call(event->m_object);
            if (m_stop_requested) break;
            if (m_horizon_stale) {
                m_horizon_stale = false;
                m_horizon = kernel_horizon(kernel_time);
            }
            // Where all of this time has happened, foreign code included: its order must not change.
            if (m_now >= m_interrupt_at.load(std::memory_order_relaxed) && m_now < m_horizon &&
                m_wheel->next() > m_now) {
                m_stop_requested = m_interrupted = true;
                break;
            }
        }
    } catch (...) {
        m_error = std::current_exception();
        m_stop_requested = true;
    }
    m_in_callback = false;
    if (observer) observer->ends();
    if (m_stop_requested)
        m_wheel->reached = {m_now, m_wheel->rank + 1};
    else
        m_wheel->reached = {(m_wheel->empty() ? last_time() : m_horizon) + 1, 0};
}

std::uint32_t calendar::next_rank() { return ++m_wheel->last_rank; }

calendar::position calendar::reached() const {
    return m_in_callback ? position{m_now, m_wheel->rank} : m_wheel->reached;
}

void calendar::attach(lagging& l) { m_wheel->all_lagging.push_back(&l); }

void calendar::detach(lagging& l) {
    auto& all = m_wheel->all_lagging;
    all.erase(std::remove(all.begin(), all.end(), &l), all.end());
}

void calendar::catch_up() {
    for (auto* l : m_wheel->all_lagging) l->catch_up();
}

void calendar::advance_kernel(ticks to, sc_core::sc_starvation_policy policy) {
    const ticks latest = sc_core::sc_max_time().value() - 1;
    sc_core::sc_start(to_sc_time(std::min(to, latest) - kernel_now()), policy);
}

ticks calendar::run_until(ticks limit) {
    if (m_running) throw std::logic_error("run_until() was called while the simulation runs");
    const auto ended = [] { return sc_core::sc_get_status() == sc_core::SC_STOPPED; };
    m_interrupted = false;
    if (limit < kernel_now() || ended()) return kernel_now();
    m_stop_requested = m_frozen = false;
    m_limit = limit;
    m_running = true;
    try {
        wake_at_once();
        do advance_kernel(limit, sc_core::SC_EXIT_ON_STARVATION);
        while (limit == kernel_now() && sc_core::sc_pending_activity_at_current_time() && !m_stop_requested &&
               !ended() && m_woken);
        // The kernel is behind after a stop (or sc_pause()), or where it has nothing to do before the limit.
        const bool idle = m_wheel->empty() && !sc_core::sc_pending_activity();
        const bool halted = m_stop_requested || m_wheel->next() <= limit ||
                            sum(kernel_now(), sc_core::sc_time_to_pending_activity().value()) <= limit;
        const ticks to = idle || halted ? std::max(last_time(), kernel_now()) : limit;
        if (!ended() && kernel_now() < to && to != never) {
            m_frozen = true;
            advance_kernel(to, sc_core::SC_RUN_TO_TIME);
        }
    } catch (...) {
        m_running = false;
        throw;
    }
    m_running = false;
    m_limit = never;
    catch_up();
    if (m_error) std::rethrow_exception(std::exchange(m_error, nullptr));
    return kernel_now();
}

}  // namespace fabricvp

#if defined(__SANITIZE_ADDRESS__)
// SystemC tells AddressSanitizer about its coroutines, but gives no bounds when it switches back to the main stack,
// after which exceptions that are thrown there are reported as errors. Told nothing, the sanitizer keeps to the main
// stack.
extern "C" {
void __sanitizer_start_switch_fiber(void**, const void*, std::size_t);
void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*);
void __sanitizer_start_switch_fiber(void**, const void*, std::size_t) {}
void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*) {}
}
#endif
