// SPDX-License-Identifier: Apache-2.0
#include "network/lane_arbiter.h"

#include <algorithm>
#include <utility>

namespace fabricvp::network {

void lane_arbiter::configure(std::vector<entry> high, std::vector<entry> low, std::uint8_t limit) {
    m_high.entries = std::move(high);
    m_low.entries = std::move(low);
    m_limit = limit;
    restart();
}

bool lane_arbiter::table::names(std::uint32_t lanes) const {
    return std::any_of(entries.begin(), entries.end(), [&](const entry& e) { return e.weight && lanes >> e.lane & 1; });
}

unsigned lane_arbiter::table::choose(std::uint32_t lanes) {
    if (!names(lanes)) return no_lane;
    for (;;) {
        const auto& e = entries[at];
        if (left > 0 && lanes >> e.lane & 1) return e.lane;
        at = (at + 1) % entries.size();
        left = entries[at].weight;
    }
}

unsigned lane_arbiter::choose(std::uint32_t lanes) {
    const bool others = m_low.names(lanes);
    if (!others) restart_limit();
    if (m_limit == unlimited || m_high_left > 0 || !others) {
        m_chosen = &m_high;
        if (const auto lane = m_high.choose(lanes); lane != no_lane) return lane;
    }
    m_chosen = &m_low;
    restart_limit();
    return m_low.choose(lanes);
}

void lane_arbiter::charge(std::uint32_t blocks) {
    m_chosen->left -= blocks;
    if (m_chosen == &m_high) m_high_left -= blocks;
}

void lane_arbiter::restart_limit() { m_high_left = m_limit ? 64 * std::int64_t{m_limit} : 1; }

void lane_arbiter::restart() {
    for (auto* t : {&m_high, &m_low}) {
        t->at = 0;
        t->left = t->entries.empty() ? 0 : t->entries.front().weight;
    }
    restart_limit();
}

}  // namespace fabricvp::network
