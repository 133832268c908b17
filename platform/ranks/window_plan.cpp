// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/window_plan.h"

#include <algorithm>

namespace fabricvp::ranks {

namespace {

ticks sum(ticks a, ticks b) { return a > never - b ? never : a + b; }

}  // namespace

window_plan::window_plan(unsigned ranks, ticks lookahead, ticks slice)
    : m_lookahead(lookahead), m_slice(slice), m_ranks(ranks), m_waited(std::size_t{ranks} * ranks) {}

void window_plan::add(unsigned rank, ticks when, double seconds, std::uint64_t events) {
    if (when >= m_next_check) close_windows(when);
    auto& pending = m_ranks[rank].pending;
    if (pending.empty() || pending.back().when != when) {
        pending.emplace_back();
        pending.back().when = when;
    }
    pending.back().seconds += seconds;
    pending.back().events += events;
    if (m_next_check == never) m_next_check = std::min(sum(when, m_lookahead), end_of_slice(when));
}

/// Exclusive: what happens at a slice's very end belongs to it.
ticks window_plan::end_of_slice(ticks when) const {
    const ticks begun = when ? (when - 1) / m_slice : 0;
    return begun >= (never - 1) / m_slice ? never : (begun + 1) * m_slice + 1;
}

/// Exclusive. \param first, second the earliest times at which ranks have something, or may have
ticks window_plan::end_of(const rank_state& r, ticks first, ticks second, ticks now) const {
    const auto own = r.pending.empty() ? now : r.pending.front().when;
    const auto by_others = sum(own == first ? second : first, m_lookahead);
    return std::min({by_others, sum(own, sum(m_lookahead, m_lookahead)), end_of_slice(first)});
}

void window_plan::close_windows(ticks now) {
    for (;;) {
        ticks first = never, second = never;
        bool some = false;
        for (const auto& r : m_ranks) {
            const auto own = r.pending.empty() ? now : r.pending.front().when;
            some = some || !r.pending.empty();
            second = std::min(second, std::max(first, own));
            first = std::min(first, own);
        }
        m_next_check = never;
        if (!some) return;
        // Ranks without anything begin at `now` or later: where that decides, it does so too early.
        ticks last = 0;
        for (const auto& r : m_ranks) last = std::max(last, end_of(r, first, second, now));
        if (last > now) {
            m_next_check = last;
            return;
        }
        close_window(first, second, now);
    }
}

void window_plan::close_window(ticks first, ticks second, ticks now) {
    unsigned busiest = 0;
    for (unsigned i = 0; i < ranks(); ++i) {
        auto& r = m_ranks[i];
        const auto end = end_of(r, first, second, now);
        r.window = {};
        for (; !r.pending.empty() && (r.pending.front().when < end || end == never); r.pending.pop_front()) {
            r.window.seconds += r.pending.front().seconds;
            r.window.events += r.pending.front().events;
        }
        r.all.seconds += r.window.seconds;
        r.all.events += r.window.events;
        m_work.add(r.window.seconds, r.window.events);
        if (r.window.seconds > m_ranks[busiest].window.seconds) busiest = i;
    }
    m_work.end_window();
    for (unsigned i = 0; i < ranks(); ++i)
        m_waited[i * m_ranks.size() + busiest] += m_ranks[busiest].window.seconds - m_ranks[i].window.seconds;
}

}  // namespace fabricvp::ranks
