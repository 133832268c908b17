// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

namespace fabricvp::ranks {

/// What windows cost all ranks, and for whom one of them has waited. A window takes at least as long as the rank that
/// has most to do in it: so much faster than one after the other can ranks be, however many cores there are.
class parallel_work {
public:
    explicit parallel_work(unsigned ranks) : m_waited_for(ranks) {}

    /// Seconds that a window took one of the ranks; all of them, then end_window().
    void add(double seconds) {
        m_total += seconds;
        m_longest = std::max(m_longest, seconds);
    }
    void end_window() {
        m_critical_path += m_longest;
        m_longest = 0;
    }
    void add_wait(unsigned rank, double seconds) { m_waited_for[rank] += seconds; }

    double total() const { return m_total; }
    double critical_path() const { return m_critical_path; }
    /// How many times as fast ranks can be as one after the other; 0 before the first window.
    double bound() const { return m_critical_path > 0 ? m_total / m_critical_path : 0; }
    double waited_for(unsigned rank) const { return m_waited_for[rank]; }

private:
    double m_total = 0, m_critical_path = 0, m_longest = 0;
    std::vector<double> m_waited_for;
};

}  // namespace fabricvp::ranks
