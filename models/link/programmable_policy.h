// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/calendar.h"
#include "link/lane_policy.h"

namespace fabricvp::link {

/// A policy that software may exchange for another one while lanes reverse by it.
class programmable_policy final : public lane_policy {
public:
    /// \param lanes of both directions, whose channels are `a` and `b`
    programmable_policy(lane_policy_kind kind, double threshold, duplex_link& lanes, channel& a, channel& b);

    /// Another policy from when neither direction carries anything; until then the old one goes on. With `none` lanes
    /// turn back to what was configured, and stay.
    void set(lane_policy_kind kind);
    /// The one that was set last.
    lane_policy_kind kind() const { return m_requested.value_or(m_kind); }
    /// It has not begun yet.
    bool pending() const { return m_requested.has_value(); }

    decision decide(const lane_sample& s) override { return m_policy ? m_policy->decide(s) : decision{}; }
    void restart() override {
        if (m_policy) m_policy->restart();
    }
    /// The configured one again.
    void reset();

private:
    void change();
    void activate(lane_policy_kind kind);

    const lane_policy_kind m_configured;
    const double m_threshold;
    duplex_link& m_lanes;
    channel &m_a, &m_b;
    lane_policy_kind m_kind = m_configured;
    std::optional<lane_policy_kind> m_requested;
    std::unique_ptr<lane_policy> m_policy;  // null: none
    calendar_event m_change{method<&programmable_policy::change>, this};
};

}  // namespace fabricvp::link
