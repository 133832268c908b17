// SPDX-License-Identifier: Apache-2.0
#include "link/duplex_link.h"

#include <algorithm>

namespace fabricvp::link {

duplex_link::duplex_link(channel& a, channel* b) {
    m_directions[0].lanes = &a;
    m_directions[1].lanes = b;
    for (auto& w : m_directions)
        if (w.lanes) w.configured = w.lanes->lanes();
}

/// Lanes that serve a direction or are turning to it.
std::uint64_t duplex_link::working_lanes(side s) const {
    const auto& w = of(s);
    const auto assigned = static_cast<std::uint64_t>(static_cast<std::int64_t>(w.configured) + w.reversed);
    return assigned - std::min(assigned, w.failed);
}

std::uint64_t duplex_link::lanes(side s) const {
    const auto all = working_lanes(s);
    return all - std::min(all, of(s).reversing);
}

void duplex_link::set_lanes(std::uint64_t a, std::uint64_t b) {
    of(side::a).configured = a;
    of(side::b).configured = b;
    m_reversals.clear();
    calendar::current().cancel(m_arrive);
    for (auto& w : m_directions) {
        w.reversed = 0;
        w.reversing = 0;
    }
    ensure_one_lane();
    apply();
}

void duplex_link::make_reversible(duration switch_time) {
    m_reversible = of(side::b).lanes != nullptr;
    m_switch_time = switch_time;
}

std::uint64_t duplex_link::reverse(side to, std::uint64_t count) {
    const auto from = other(to);
    const auto serving = lanes(from);
    if (!m_reversible || serving < 2 || count == 0) return 0;
    count = std::min(count, serving - 1);
    of(from).reversed -= static_cast<std::int64_t>(count);
    of(to).reversed += static_cast<std::int64_t>(count);
    of(to).reversing += count;
    // A packet that is being sent uses all lanes until it ends.
    const auto now = calendar::current().now();
    const auto when = std::max(now + m_switch_time, of(from).lanes->ends_at());
    const auto after = std::upper_bound(m_reversals.begin(), m_reversals.end(), when,
                                        [](ticks t, const reversal_end& e) { return t < e.when; });
    m_reversals.insert(after, {when, to, count});
    calendar::current().schedule(m_arrive, m_reversals.front().when);
    if (m_on_reversal) m_on_reversal(to, count, when);
    apply();
    return count;
}

std::uint64_t duplex_link::restore() {
    const auto reversed = of(side::a).reversed;
    if (reversed == 0) return 0;
    return reversed > 0 ? reverse(side::b, static_cast<std::uint64_t>(reversed))
                        : reverse(side::a, static_cast<std::uint64_t>(-reversed));
}

std::uint64_t duplex_link::fail_lanes(side s, std::uint64_t count) {
    count = std::min(count, working_lanes(s));
    of(s).failed += count;
    ensure_one_lane();
    apply();
    return count;
}

void duplex_link::repair(side s, std::uint64_t count) {
    of(s).failed -= std::min(count, of(s).failed);
    ensure_one_lane();
    apply();
}

/// A direction without lanes gets one, if the other has more than one.
void duplex_link::ensure_one_lane() {
    for (const auto s : {side::a, side::b})
        if (working_lanes(s) == 0) reverse(s, 1);
}

void duplex_link::arrive() {
    auto& c = calendar::current();
    while (!m_reversals.empty() && m_reversals.front().when <= c.now()) {
        of(m_reversals.front().to).reversing -= m_reversals.front().count;
        m_reversals.erase(m_reversals.begin());
    }
    if (!m_reversals.empty()) c.schedule(m_arrive, m_reversals.front().when);
    ensure_one_lane();
    apply();
}

void duplex_link::apply() {
    for (const auto s : {side::a, side::b})
        if (auto* c = of(s).lanes; c && c->lanes() != lanes(s)) c->set_lanes(lanes(s));
    if (m_changed) m_changed();
}

void duplex_link::reset() { set_lanes(of(side::a).configured, of(side::b).configured); }

}  // namespace fabricvp::link
