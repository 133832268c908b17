// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/windows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::ranks {

/// What stands before news and messages.
struct windows::report {
    ticks next, now;
    std::uint64_t news;  ///< bytes
};

windows::windows(exchange& others, calendar& timeline, ticks lookahead, hooks h)
    : m_others(others),
      m_timeline(timeline),
      m_lookahead(std::max<ticks>(lookahead, 1)),
      m_hooks(std::move(h)),
      m_posted(others.count()),
      m_to(others.count()),
      m_from(others.count()) {}

void windows::post(unsigned rank, const network::link_message& m) {
    network::append(m_posted[rank], m);
    m_posted_due = std::min(m_posted_due, m.when);
}

void windows::post(const network::link_message& m) {
    for (unsigned r = 0; r < m_others.count(); ++r)
        if (r != m_others.rank()) post(r, m);
}

ticks windows::next_here() const {
    const auto foreign = sc_core::sc_time_to_pending_activity();
    const ticks pending = sc_core::sc_pending_activity() ? sc_core::sc_time_stamp().value() + foreign.value() : never;
    return std::min(m_timeline.next_event_time(), pending);
}

void windows::send(const std::string& news) {
    const report own{std::min(next_here(), m_posted_due), m_timeline.now(), news.size()};
    const auto* head = reinterpret_cast<const std::uint8_t*>(&own);
    for (unsigned r = 0; r < m_others.count(); ++r) {
        if (r == m_others.rank()) continue;
        auto& to = m_to[r];
        to.assign(head, head + sizeof own);
        to.insert(to.end(), news.begin(), news.end());
        to.insert(to.end(), m_posted[r].begin(), m_posted[r].end());
        m_posted[r].clear();
    }
    m_posted_due = never;
}

bool windows::run() {
    for (;;) {
        const ticks own = next_here();
        ticks next = m_posted_due,
              latest = m_timeline.now();  // of all others, what they are about to hear included; of all
        send(m_hooks.tell());
        m_others.trade(m_to, m_from);
        for (unsigned r = 0; r < m_others.count(); ++r) {
            if (r == m_others.rank()) continue;
            const auto& said = m_from[r];
            report its;
            std::memcpy(&its, said.data(), sizeof its);
            next = std::min(next, its.next);
            latest = std::max(latest, its.now);
            auto at = sizeof its + its.news;
            if (its.news) m_hooks.learn({said.begin() + sizeof its, said.begin() + static_cast<std::ptrdiff_t>(at)});
            while (at < said.size()) m_hooks.deliver(network::take_message(said, at));
        }
        const auto limit = m_hooks.limit();
        if (const auto first = std::min(own, next); first == never || first > limit) {
            pass(first == never ? latest : limit);
            return first != never;
        }
        ++m_count;
        const auto after = [&](ticks t, ticks time) { return t > never - time ? never : t + time - 1; };
        const auto end = std::min(after(next, m_lookahead), after(own, 2 * m_lookahead));
        do {
            const auto until = std::min(end, m_hooks.limit());
            m_timeline.schedule(m_wake, until + 1);  // no hart runs ahead over it
            m_timeline.run_until(until);
            if (m_timeline.stop_requested()) m_hooks.stopped();
        } while (m_timeline.stop_requested() && m_timeline.now() < std::min(end, m_hooks.limit()));
        m_timeline.cancel(m_wake);
    }
}

void windows::pass(ticks when) {
    if (when == never || m_timeline.now() >= when) return;
    if (m_timeline.next_event_time() == never) m_timeline.schedule(m_wake, when);
    m_timeline.run_until(when);
}

std::vector<std::string> windows::all(const std::string& own) {
    for (auto& to : m_to) to.assign(own.begin(), own.end());
    m_others.trade(m_to, m_from);
    std::vector<std::string> said;
    for (unsigned r = 0; r < m_others.count(); ++r)
        said.push_back(r == m_others.rank() ? own : std::string(m_from[r].begin(), m_from[r].end()));
    return said;
}

}  // namespace fabricvp::ranks
