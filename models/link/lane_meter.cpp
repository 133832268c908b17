// SPDX-License-Identifier: Apache-2.0
#include "link/lane_meter.h"

#include <algorithm>

#include "base/calendar.h"

namespace fabricvp::link {

lane_meter::lane_meter(const sc_core::sc_object& owner, const std::string& name)
    : statistic(owner, name, "1", "lanes that serve this direction"),
      m_over_time(owner, name + "_over_time", "ps",
                  "lane-time in each window; divided by its length, the lanes that served this direction"),
      m_integrated_until(calendar::current().now()),
      m_since(m_integrated_until) {}

void lane_meter::set(double lanes) {
    integrate();
    m_lanes = lanes;
}

void lane_meter::integrate() const {
    const auto now = calendar::current().now();
    m_sum += m_lanes * static_cast<double>(now - m_integrated_until);
    while (m_integrated_until < now) {
        const auto window = m_over_time.window();
        const auto next = std::min(now, m_since + ((m_integrated_until - m_since) / window + 1) * window);
        m_over_time.add(m_integrated_until, m_lanes * static_cast<double>(next - m_integrated_until));
        m_integrated_until = next;
    }
}

double lane_meter::mean() const {
    integrate();
    return m_integrated_until > m_since ? m_sum / static_cast<double>(m_integrated_until - m_since) : m_lanes;
}

/// Reported before its series, whose name is longer: that is up to date then.
void lane_meter::report(statistics_snapshot& to) const { to[path() + ".mean"] = mean(); }

void lane_meter::restart() {
    m_over_time.restart();
    m_since = m_integrated_until = calendar::current().now();
    m_sum = 0;
}

}  // namespace fabricvp::link
