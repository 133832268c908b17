// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "base/calendar.h"
#include "base/growing_ring.h"
#include "base/statistics.h"

namespace fabricvp {

/// Time in which units work, summed over them. They book their work when they accept it, in closed form; what lies
/// ahead of the present counts once it has passed. So in no region is a unit busy for longer than the region lasts.
class busy_time final : public statistic {
public:
    /// \param units that work side by side
    /// \param unit_time length of one `unit` in ticks, such as a clock period; may be a fraction
    busy_time(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help,
              std::size_t units = 1, double unit_time = 1)
        : statistic(owner, std::move(name), std::move(unit), std::move(help)), m_units(units), m_unit_time(unit_time) {}

    /// A unit works from `begin` to `end`; none of its later intervals may begin before `end`.
    void book(std::size_t unit, ticks begin, ticks end) {
        auto& u = m_units[unit];
        if (begin == u.last.end) {
            u.last.end = end;
            return;
        }
        if (u.last.end <= calendar::current().now() && u.earlier.empty())
            m_past += u.last.end - u.last.begin;
        else
            u.earlier.push_back(u.last);
        settle(u);
        u.last = {begin, end};
    }
    /// Nothing of what lies ahead will happen (a reset).
    void drop() {
        m_past = passed();
        for (auto& u : m_units) {
            u.earlier.clear();
            u.last = {};
        }
    }

    /// In the region of interest, until now, in ticks.
    ticks value() const { return passed() - m_base; }
    /// Since construction, until `when`, which must not lie in the past.
    ticks until(ticks when) const {
        ticks sum = m_past;
        const auto add = [&](const interval& i) {
            if (i.begin < when) sum += std::min(i.end, when) - i.begin;
        };
        for (const auto& u : m_units) {
            add(u.last);
            for (const auto& i : u.earlier) add(i);
        }
        return sum;
    }
    /// All that has been booked since construction, what lies ahead included.
    ticks booked() const { return until(never); }
    void report(statistics_snapshot& to) const override {
        const auto n = static_cast<double>(value());
        to[path()] = m_unit_time == 1 ? n : std::round(n / m_unit_time);
    }
    void restart() override { m_base = passed(); }
    double limit(ticks passed) const override {
        return std::ceil(static_cast<double>(passed) * static_cast<double>(m_units.size()) / m_unit_time);
    }

private:
    struct interval {
        ticks begin = 0, end = 0;
    };
    struct bookings {
        interval last;
        growing_ring<interval> earlier;  // before it, in order, that had not passed when it was booked
    };
    void settle(bookings& u) {
        const ticks now = calendar::current().now();
        while (!u.earlier.empty() && u.earlier.front().end <= now) {
            const interval i = u.earlier.take_front();
            m_past += i.end - i.begin;
        }
    }
    ticks passed() const { return until(calendar::current().now()); }

    ticks m_past = 0;  // of intervals that are not kept
    boost::container::small_vector<bookings, 1> m_units;
    const double m_unit_time;
    ticks m_base = 0;  // when the region began
};

}  // namespace fabricvp
