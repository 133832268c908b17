// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fabricvp::ranks {

/// What windows cost all ranks. A window takes at least as long as the rank that has most to do in it: so much faster
/// than one after the other can ranks be, however many cores there are.
class parallel_work {
public:
    /// What a window took one of the ranks, in seconds of processor time and in events of the calendar; all of them,
    /// then end_window().
    void add(double seconds, std::uint64_t events) {
        m_seconds.add(seconds);
        m_events.add(events);
        m_active += events != 0;
    }
    void end_window() {
        m_seconds.end_window();
        m_events.end_window();
        ++m_windows;
    }

    std::uint64_t windows() const { return m_windows; }
    double seconds() const { return m_seconds.total; }
    double critical_path_seconds() const { return m_seconds.critical_path; }
    std::uint64_t events() const { return m_events.total; }
    std::uint64_t critical_path_events() const { return m_events.critical_path; }
    /// How many times as fast ranks can be as one after the other; 0 before the first window.
    double bound() const { return ratio(m_seconds); }
    /// The same if all events took the same time.
    double bound_by_events() const { return ratio(m_events); }
    /// Ranks that had events in a window, on the mean.
    double active_ranks() const {
        return m_windows ? static_cast<double>(m_active) / static_cast<double>(m_windows) : 0;
    }

private:
    template <class T>
    struct sums {
        T total = 0, critical_path = 0, longest = 0;
        void add(T amount) {
            total += amount;
            longest = std::max(longest, amount);
        }
        void end_window() {
            critical_path += longest;
            longest = 0;
        }
    };
    template <class T>
    static double ratio(const sums<T>& s) {
        return s.critical_path > 0 ? static_cast<double>(s.total) / static_cast<double>(s.critical_path) : 0;
    }

    sums<double> m_seconds;
    sums<std::uint64_t> m_events;
    std::uint64_t m_windows = 0, m_active = 0;
};

}  // namespace fabricvp::ranks
