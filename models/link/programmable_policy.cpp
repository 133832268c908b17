// SPDX-License-Identifier: Apache-2.0
#include "link/programmable_policy.h"

#include <algorithm>
#include <utility>

namespace fabricvp::link {

programmable_policy::programmable_policy(lane_policy_kind kind, double threshold, duplex_link& lanes, channel& a,
                                         channel& b)
    : m_configured(kind),
      m_threshold(threshold),
      m_lanes(lanes),
      m_a(a),
      m_b(b),
      m_policy(make_lane_policy(kind, threshold)) {}

void programmable_policy::set(lane_policy_kind kind) {
    m_requested = kind;
    change();
}

void programmable_policy::change() {
    auto& c = calendar::current();
    const auto free = std::max(m_a.ends_at(), m_b.ends_at());
    c.cancel(m_change);
    if (free > c.now()) return c.schedule(m_change, free);
    activate(*std::exchange(m_requested, std::nullopt));
    if (!m_policy) m_lanes.restore();
}

void programmable_policy::activate(lane_policy_kind kind) {
    m_kind = kind;
    m_policy = make_lane_policy(kind, m_threshold);
}

void programmable_policy::reset() {
    m_requested.reset();
    calendar::current().cancel(m_change);
    activate(m_configured);
}

}  // namespace fabricvp::link
