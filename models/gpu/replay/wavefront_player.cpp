// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/wavefront_player.h"

#include <algorithm>

namespace fabricvp::gpu::replay {

void wavefront_player::start(const stream& s, ticks now) {
    m_items = item_reader(s.items);
    m_accesses = 0;
    m_at = now;
    advance();
}

/// Reads the next item, and comes to it when its cycles have passed.
void wavefront_player::advance() {
    constexpr ticks ahead = 32;  // cycles that it may run ahead, so that waits for what has come cost no event
    const ticks now = calendar::current().now();
    for (;;) {
        m_items.read(m_item);
        if (m_item.busy) {
            auto& free = group->unit->simd_free[simd];
            free = std::max(free, m_at) + span(m_item.busy);
            m_at = free;
        }
        m_at += span(m_item.idle);
        const bool asks =
            m_item.kind == item_kind::wait || m_item.kind == item_kind::loads || m_item.kind == item_kind::everything;
        if (!asks) break;
        m_state = state::waits;
        if (!satisfied()) return;
        if (m_at > now + span(ahead)) break;
    }
    m_state = state::runs;
    calendar::current().schedule(m_next, std::max(m_at, now));
}

void wavefront_player::act() {
    m_at = std::max(m_at, calendar::current().now());
    switch (m_item.kind) {
        case item_kind::access: {
            auto& unit = *group->unit;
            if ((unit.accesses >= m_gpu.params.memory.unit.queue || !unit.held.empty()) &&
                !m_gpu.fetches_code(m_item.dependencies)) {
                m_state = state::held;
                unit.held.push_back(this);
                return;
            }
            return issue();
        }
        case item_kind::barrier: {
            m_state = state::barrier;
            auto& g = *group;
            if (++g.arrived != g.live) return;
            g.arrived = 0;
            for (auto* w : g.members)
                if (w->m_state == state::barrier) w->release();
            return;
        }
        case item_kind::end:
            m_state = state::ended;
            if (m_in_flight.empty()) m_gpu.ended(*this);
            return;
        default: return advance();  // a wait that was over before it began
    }
}

void wavefront_player::issue() {
    auto& unit = *group->unit;
    auto& a = m_gpu.take_access();
    a.wavefront = this;
    a.ordinal = m_accesses++;
    a.loads = m_item.loads;
    a.earliest = m_at + span(m_item.floor);
    a.open = static_cast<unsigned>(m_item.dependencies.size());
    a.code = m_gpu.fetches_code(m_item.dependencies);
    m_in_flight.push_back(&a);
    unit.accesses += !a.code;
    m_state = state::runs;
    m_gpu.issue(unit, a, m_item.dependencies);
    advance();
}

void wavefront_player::resume() {
    m_at = std::max(m_at, calendar::current().now());
    issue();
}

void wavefront_player::release() {
    m_at = std::max(m_at, calendar::current().now());
    advance();
}

bool wavefront_player::satisfied() const {
    switch (m_item.kind) {
        case item_kind::wait:
            return std::none_of(m_in_flight.begin(), m_in_flight.end(), [&](const access_player* a) {
                return std::find(m_item.accesses.begin(), m_item.accesses.end(), m_accesses - a->ordinal) !=
                       m_item.accesses.end();
            });
        case item_kind::loads:
            return std::none_of(m_in_flight.begin(), m_in_flight.end(),
                                [](const access_player* a) { return a->loads; });
        default: return m_in_flight.empty();
    }
}

void wavefront_player::done(access_player& a, ticks ready) {
    m_in_flight.erase(std::find(m_in_flight.begin(), m_in_flight.end(), &a));
    m_gpu.done(a);
    if (m_state == state::waits && satisfied()) {
        m_at = std::max(m_at, ready);
        advance();
    } else if (m_state == state::ended && m_in_flight.empty()) {
        m_gpu.ended(*this);
    }
}

}  // namespace fabricvp::gpu::replay
