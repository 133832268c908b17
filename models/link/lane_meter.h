// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/statistics.h"

namespace fabricvp::link {

/// How many lanes serve a direction: the mean over the region of interest, and lane-time in windows of time.
class lane_meter final : public statistic {
public:
    lane_meter(const sc_core::sc_object& owner, const std::string& name);

    /// So many from now on.
    void set(double lanes);
    double mean() const;

    void report(statistics_snapshot& to) const override;
    void restart() override;

private:
    void integrate() const;

    mutable time_series m_over_time;  // up to m_settled
    mutable ticks m_integrated_until;
    mutable double m_sum = 0;  // of lane-time
    ticks m_since;             // start of the region of interest
    double m_lanes = 0;
};

}  // namespace fabricvp::link
