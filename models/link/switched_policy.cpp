// SPDX-License-Identifier: Apache-2.0
#include "link/switched_policy.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fabricvp::link {

namespace {

std::map<const pair*, switched_policy*>& known() {
    static std::map<const pair*, switched_policy*> all;
    return all;
}

}  // namespace

switched_policy::switched_policy(lane_policy_kind kind, double threshold, pair& lanes, channel& a, channel& b)
    : m_configured(kind),
      m_threshold(threshold),
      m_lanes(lanes),
      m_a(a),
      m_b(b),
      m_policy(make_lane_policy(kind, threshold)) {
    known()[&lanes] = this;
}

switched_policy::~switched_policy() { known().erase(&m_lanes); }

switched_policy* switched_policy::of(const pair& lanes) {
    const auto at = known().find(&lanes);
    return at == known().end() ? nullptr : at->second;
}

void switched_policy::set(lane_policy_kind kind) {
    m_wanted = kind;
    change();
}

void switched_policy::change() {
    auto& c = calendar::current();
    const auto free = std::max(m_a.ends_at(), m_b.ends_at());
    c.cancel(m_change);
    if (free > c.now()) return c.schedule(m_change, free);
    follow(*std::exchange(m_wanted, std::nullopt));
    if (!m_policy) m_lanes.restore();
}

void switched_policy::follow(lane_policy_kind kind) {
    m_kind = kind;
    m_policy = make_lane_policy(kind, m_threshold);
}

void switched_policy::reset() {
    m_wanted.reset();
    calendar::current().cancel(m_change);
    follow(m_configured);
}

}  // namespace fabricvp::link
