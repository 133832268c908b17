// SPDX-License-Identifier: Apache-2.0
#include "link/pair.h"

#include <algorithm>

namespace fabricvp::link {

pair::pair(channel& a, channel* b) {
    m_ways[0].lanes = &a;
    m_ways[1].lanes = b;
    for (auto& w : m_ways)
        if (w.lanes) w.configured = w.lanes->lanes();
}

/// Lanes that serve a direction or are turning to it.
std::uint64_t pair::have(side s) const {
    const auto& w = of(s);
    const auto assigned = static_cast<std::uint64_t>(static_cast<std::int64_t>(w.configured) + w.turned);
    return assigned - std::min(assigned, w.lost);
}

std::uint64_t pair::lanes(side s) const {
    const auto all = have(s);
    return all - std::min(all, of(s).turning);
}

void pair::set_lanes(std::uint64_t a, std::uint64_t b) {
    of(side::a).configured = a;
    of(side::b).configured = b;
    m_turns.clear();
    calendar::current().cancel(m_arrive);
    for (auto& w : m_ways) {
        w.turned = 0;
        w.turning = 0;
    }
    feed();
    apply();
}

void pair::make_reversible(duration switch_time) {
    m_reversible = of(side::b).lanes != nullptr;
    m_switch_time = switch_time;
}

std::uint64_t pair::turn(side to, std::uint64_t count) {
    const auto from = other(to);
    const auto serving = lanes(from);
    if (!m_reversible || serving < 2 || count == 0) return 0;
    count = std::min(count, serving - 1);
    of(from).turned -= static_cast<std::int64_t>(count);
    of(to).turned += static_cast<std::int64_t>(count);
    of(to).turning += count;
    // A packet that is being sent uses all lanes until it ends.
    const auto now = calendar::current().now();
    const auto when = std::max(now + m_switch_time, of(from).lanes->ends_at());
    const auto after =
        std::upper_bound(m_turns.begin(), m_turns.end(), when, [](ticks t, const turn_end& e) { return t < e.when; });
    m_turns.insert(after, {when, to, count});
    calendar::current().schedule(m_arrive, m_turns.front().when);
    if (m_turned) m_turned(to, count, when);
    apply();
    return count;
}

std::uint64_t pair::restore() {
    const auto turned = of(side::a).turned;
    if (turned == 0) return 0;
    return turned > 0 ? turn(side::b, static_cast<std::uint64_t>(turned))
                      : turn(side::a, static_cast<std::uint64_t>(-turned));
}

std::uint64_t pair::lose(side s, std::uint64_t count) {
    count = std::min(count, have(s));
    of(s).lost += count;
    feed();
    apply();
    return count;
}

void pair::repair(side s, std::uint64_t count) {
    of(s).lost -= std::min(count, of(s).lost);
    feed();
    apply();
}

/// A direction without lanes gets one, if the other has more than one.
void pair::feed() {
    for (const auto s : {side::a, side::b})
        if (have(s) == 0) turn(s, 1);
}

void pair::arrive() {
    auto& c = calendar::current();
    while (!m_turns.empty() && m_turns.front().when <= c.now()) {
        of(m_turns.front().to).turning -= m_turns.front().count;
        m_turns.erase(m_turns.begin());
    }
    if (!m_turns.empty()) c.schedule(m_arrive, m_turns.front().when);
    feed();
    apply();
}

void pair::apply() {
    for (const auto s : {side::a, side::b})
        if (auto* c = of(s).lanes; c && c->lanes() != lanes(s)) c->set_lanes(lanes(s));
    if (m_changed) m_changed();
}

void pair::reset() {
    for (auto& w : m_ways) w.lost = 0;
    set_lanes(of(side::a).configured, of(side::b).configured);
}

}  // namespace fabricvp::link
