// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/rank_plan.h"

#include "platform/common/input_error.h"

namespace fabricvp::ranks {

rank_plan::rank_plan(const partition& parts, ticks lookahead, ticks slice)
    : m_parts(parts), m_windows(parts.ranks(), lookahead ? lookahead : never, slice) {
    current = this;
}

rank_plan::~rank_plan() { current = nullptr; }

unsigned rank_plan::rank_of(const sc_core::sc_object& block) {
    const auto [at, added] = m_rank_of_block.emplace(&block, 0);
    if (added) try {
            at->second = m_parts.of_block(block.name());
        } catch (const input_error&) {  // no rank's own
        }
    return at->second;
}

void rank_plan::begins(const calendar_event& event, ticks when) {
    if (const auto* block = event.owner()) return go_on(rank_of(*block), when);
    const auto found = m_rank_of_event.find(&event);
    go_on(found == m_rank_of_event.end() ? 0 : found->second, when);
}

void rank_plan::goes_on_in(const sc_core::sc_object& block, ticks when) {
    if (const auto rank = rank_of(block); rank != m_rank) go_on(rank, when);
}

/// The clock is read where the rank or the time is another one only.
void rank_plan::go_on(unsigned rank, ticks when) {
    if (m_events && rank == m_rank && when == m_when) {
        ++m_events;
        return;
    }
    const auto seconds = m_timer.lap();
    if (m_events) m_windows.add(m_rank, m_when, seconds, m_events);
    m_rank = rank;
    m_when = when;
    m_events = 1;
}

void rank_plan::ends() {
    if (!m_events) return;
    m_windows.add(m_rank, m_when, m_timer.lap(), m_events);
    m_events = 0;
    m_rank = 0;
}

window_plan rank_plan::measured() const {
    auto all = m_windows;
    all.finish();
    return all;
}

}  // namespace fabricvp::ranks
