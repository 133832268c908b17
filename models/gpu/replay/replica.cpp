// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/replica.h"

#include <algorithm>

#include "gpu/replay/player.h"

namespace fabricvp::gpu::replay {

const recording& replica::what() const { return m_owner.what(); }
std::uint32_t replica::first_stream(std::uint32_t launch) const { return m_owner.first_stream(launch); }

transaction_id replica::transaction_with_tag(unsigned terminal, std::uint32_t tag) const {
    const auto mine = std::find(m_terminals.begin(), m_terminals.end(), terminal) != m_terminals.end();
    return mine ? m_owner.gpu(terminal).transaction_with_tag(tag) : 0;
}

void replica::start() {
    m_since = calendar::current().now();
    next();
}

/// Waits for the launches that the host waits for, then for the host.
void replica::next() {
    if (m_at == what().host.size() || m_act.scheduled()) return;
    const auto& e = what().host[m_at];
    if (!std::all_of(e.after.begin(), e.after.end(), [&](auto l) { return m_finished[l]; })) return;
    auto& timeline = calendar::current();
    timeline.schedule(m_act, std::max(timeline.now(), m_since) + e.delay);
}

void replica::launch_ended(std::uint32_t launch) {
    m_finished[launch] = true;
    m_since = calendar::current().now();
    next();
}

void replica::act() {
    const auto& e = what().host[m_at++];
    m_since = calendar::current().now();
    if (e.what == host_event::action::launch) {
        ++m_owner.launches;
        m_owner.gpu(m_terminals[what().launches[e.number].gpu]).launch_kernel(e.number);
        return next();
    }
    m_ended = true;
    m_owner.replica_ended();
}

std::optional<ticks> replica::waits_since() const {
    if (m_ended || m_act.scheduled()) return std::nullopt;
    return m_since;
}

void replica::reset() {
    calendar::current().cancel(m_act);
    m_at = 0;
    m_since = 0;
    m_ended = false;
    m_finished.assign(what().launches.size(), false);
    state.transactions.assign(what().transactions.size(), 0);
    state.walks.assign(what().walks.size(), false);
}

}  // namespace fabricvp::gpu::replay
