// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/window_synchronizer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::ranks {

/// What stands before link state and messages.
struct window_synchronizer::header {
    ticks next, now;
    double window_s;  ///< processor time of its latest window
    std::uint64_t window_events;
    std::uint64_t control_messages;  ///< bytes
};

window_synchronizer::window_synchronizer(communicator& comm, calendar& timeline, ticks lookahead, hooks h)
    : m_comm(comm),
      m_timeline(timeline),
      m_lookahead(std::max<ticks>(lookahead, 1)),
      m_hooks(std::move(h)),
      m_posted(comm.count()),
      m_to(comm.count()),
      m_from(comm.count()),
      m_waited_for(comm.count()) {}

void window_synchronizer::post(unsigned rank, const network::link_message& m) {
    network::append(m_posted[rank], m);
    m_posted_due = std::min(m_posted_due, m.when);
}

void window_synchronizer::post(const network::link_message& m) {
    for (unsigned r = 0; r < m_comm.count(); ++r)
        if (r != m_comm.rank()) post(r, m);
}

ticks window_synchronizer::next_here() const {
    const auto foreign = sc_core::sc_time_to_pending_activity();
    const ticks pending = sc_core::sc_pending_activity() ? sc_core::sc_time_stamp().value() + foreign.value() : never;
    return std::min(m_timeline.next_event_time(), pending);
}

void window_synchronizer::send(const std::string& control_messages) {
    const header own{std::min(next_here(), m_posted_due), m_timeline.now(), m_window_s, m_window_events,
                     control_messages.size()};
    const auto* head = reinterpret_cast<const std::uint8_t*>(&own);
    for (unsigned r = 0; r < m_comm.count(); ++r) {
        if (r == m_comm.rank()) continue;
        auto& to = m_to[r];
        to.assign(head, head + sizeof own);
        to.insert(to.end(), control_messages.begin(), control_messages.end());
        to.insert(to.end(), m_posted[r].begin(), m_posted[r].end());
        m_posted[r].clear();
    }
    m_posted_due = never;
}

bool window_synchronizer::run() {
    for (;;) {
        const ticks own = next_here();
        ticks next = m_posted_due,
              latest = m_timeline.now();  // of all others, what they are about to hear included; of all
        send(m_hooks.control_messages());
        const auto waited = m_comm.waited();
        m_comm.all_to_all(m_to, m_from);
        m_waited_for[m_comm.last_sender()] += m_comm.waited() - waited;
        m_work.add(m_window_s, m_window_events);
        for (unsigned r = 0; r < m_comm.count(); ++r) {
            if (r == m_comm.rank()) continue;
            const auto& received = m_from[r];
            header its;
            std::memcpy(&its, received.data(), sizeof its);
            m_work.add(its.window_s, its.window_events);
            next = std::min(next, its.next);
            latest = std::max(latest, its.now);
            auto at = sizeof its + its.control_messages;
            if (its.control_messages)
                m_hooks.apply_control_messages(
                    {received.begin() + sizeof its, received.begin() + static_cast<std::ptrdiff_t>(at)});
            while (at < received.size()) m_hooks.deliver(network::take_message(received, at));
        }
        m_work.end_window();
        m_window_s = 0;
        m_window_events = 0;
        const auto limit = m_hooks.limit();
        if (const auto first = std::min(own, next); first == never || first > limit) {
            advance_to(first == never ? latest : limit);
            return first != never;
        }
        ++m_count;
        m_timer.lap();
        const auto executed = m_timeline.executed();
        const auto after = [&](ticks t, ticks time) { return t > never - time ? never : t + time - 1; };
        const auto end = std::min(after(next, m_lookahead), after(own, 2 * m_lookahead));
        do {
            const auto until = std::min(end, m_hooks.limit());
            m_timeline.schedule(m_wake, until + 1);  // no hart runs ahead over it
            m_timeline.run_until(until);
            if (m_timeline.stop_requested()) m_hooks.stopped();
        } while (m_timeline.stop_requested() && m_timeline.now() < std::min(end, m_hooks.limit()));
        m_timeline.cancel(m_wake);
        m_window_s = m_timer.lap();
        m_window_events = m_timeline.executed() - executed;
        m_own_seconds += m_window_s;
        m_own_events += m_window_events;
    }
}

void window_synchronizer::advance_to(ticks when) {
    if (when == never || m_timeline.now() >= when) return;
    if (m_timeline.next_event_time() == never) m_timeline.schedule(m_wake, when);
    m_timeline.run_until(when);
}

std::vector<std::string> window_synchronizer::all(const std::string& own) {
    for (auto& to : m_to) to.assign(own.begin(), own.end());
    m_comm.all_to_all(m_to, m_from);
    std::vector<std::string> received;
    for (unsigned r = 0; r < m_comm.count(); ++r)
        received.push_back(r == m_comm.rank() ? own : std::string(m_from[r].begin(), m_from[r].end()));
    return received;
}

}  // namespace fabricvp::ranks
