// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/calendar.h"
#include "base/statistics.h"

namespace fabricvp {

/// A number over time, such as of wavefronts that live: in wavefronts × ticks. What lives when a region begins or ends
/// counts for its part of the region.
class time_integral final : public statistic {
public:
    /// \param max that the number can be
    time_integral(const sc_core::sc_object& owner, std::string name, std::string help, std::uint64_t max)
        : statistic(owner, std::move(name), "ps", std::move(help)), m_max(max) {}

    void set(std::uint64_t number) {
        const ticks now = calendar::current().now();
        m_sum += m_number * (now - m_since);
        m_since = now;
        m_number = number;
    }
    time_integral& operator++() {
        set(m_number + 1);
        return *this;
    }
    time_integral& operator--() {
        set(m_number - 1);
        return *this;
    }

    /// In the region of interest, until now.
    ticks value() const { return until_now() - m_base; }
    void report(statistics_snapshot& to) const override { to[path()] = static_cast<double>(value()); }
    void restart() override { m_base = until_now(); }
    double limit(ticks passed) const override { return static_cast<double>(passed) * static_cast<double>(m_max); }

private:
    ticks until_now() const { return m_sum + m_number * (calendar::current().now() - m_since); }

    const std::uint64_t m_max;
    std::uint64_t m_number = 0;
    ticks m_since = 0, m_sum = 0, m_base = 0;
};

}  // namespace fabricvp
