// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/window_synchronizer.h"

#include <algorithm>
#include <utility>

#include "platform/ranks/all_to_all_windows.h"

namespace fabricvp::ranks {

window_synchronizer::window_synchronizer(communicator& comm, calendar& timeline, ticks lookahead, hooks h)
    : m_comm(comm),
      m_timeline(timeline),
      m_lookahead(std::max<ticks>(lookahead, 1)),
      m_hooks(std::move(h)),
      m_windows(windows_of(comm, m_lookahead)),
      m_posted(comm.count()),
      m_posted_due(comm.count(), never),
      m_to(comm.count()),
      m_from(comm.count()),
      m_waited_for(comm.count()) {}

void window_synchronizer::post(unsigned rank, const network::link_message& m) {
    network::append(m_posted[rank], m);
    m_posted_due[rank] = std::min(m_posted_due[rank], m.when);
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

/// A message has the size of what is to be known of the last window, that, and what links say.
window_bounds window_synchronizer::next_window() {
    const auto control_messages = m_hooks.control_messages();
    for (unsigned r = 0; r < m_comm.count(); ++r) {
        m_to[r].clear();
        if (r == m_comm.rank() || (control_messages.empty() && m_posted[r].empty())) continue;
        network::message_bytes& to = m_to[r];
        link::append_value(to, control_messages.size());
        link::append_bytes(to, control_messages.data(), control_messages.size());
        to.insert(to.end(), m_posted[r].begin(), m_posted[r].end());
        m_posted[r].clear();
    }
    const window_report own{next_here(), m_timeline.now(), m_hooks.limit(),
                            m_window_s,  m_window_events,  !control_messages.empty()};
    const auto waited = m_comm.waited();
    const auto bounds = m_windows->next(own, m_to, m_posted_due, [this](const auto& m, auto at) { receive(m, at); });
    m_waited_for[m_comm.last_sender()] += m_comm.waited() - waited;
    std::fill(m_posted_due.begin(), m_posted_due.end(), never);
    m_window_s = 0;
    m_window_events = 0;
    return bounds;
}

void window_synchronizer::receive(const bytes& from, std::size_t at) {
    std::size_t size = 0;
    link::take_value(from, at, size);
    if (size) {
        std::string control_messages(size, '\0');
        link::take_bytes(from, at, control_messages.data(), size);
        m_hooks.apply_control_messages(control_messages);
    }
    while (at < from.size()) m_hooks.deliver(network::take_message(from, at));
}

bool window_synchronizer::run() {
    for (;;) {
        const auto bounds = next_window();
        const auto limit = m_hooks.limit();
        if (const auto first = bounds.first(); first == never || first > limit) {
            advance_to(first == never ? bounds.latest : limit);
            return first != never;
        }
        ++m_count;
        execute(bounds.end(m_lookahead));
    }
}

/// One window.
void window_synchronizer::execute(ticks end) {
    m_timer.lap();
    const auto before = m_timeline.steps();
    do {
        const auto until = std::min(end, m_hooks.limit());
        m_timeline.schedule(m_wake, until + 1);  // no hart runs ahead over it
        m_timeline.run_until(until);
        if (m_timeline.stop_requested()) m_hooks.stopped();
    } while (m_timeline.stop_requested() && m_timeline.now() < std::min(end, m_hooks.limit()));
    m_timeline.cancel(m_wake);
    m_window_s = m_timer.lap();
    m_window_events = m_timeline.steps() - before;
    m_own_seconds += m_window_s;
    m_own_events += m_window_events;
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
