// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include <time.h>

namespace fabricvp::ranks {

/// Measures short stretches of this thread's processor time at the price of a look at the wall clock. Only where that
/// has gone on for longer than it takes to switch processes, the system is asked how much of it the thread has had.
class processor_timer {
public:
    /// Seconds of processor time since the lap before, or since construction.
    double lap() {
        const auto now = wall_clock::now();
        auto passed = std::chrono::duration<double>(now - m_last).count();
        m_last = now;
        if (passed < min_switch) return passed;
        const auto used = thread_time();
        const auto lost = std::chrono::duration<double>(now - m_checked).count() - (used - m_used);
        m_checked = now;
        m_used = used;
        return std::max(passed - std::max(lost, 0.0), 0.0);
    }

private:
    using wall_clock = std::chrono::steady_clock;
    static constexpr double min_switch = 20e-6;

    static double thread_time() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }

    wall_clock::time_point m_last = wall_clock::now(), m_checked = m_last;
    double m_used = thread_time();
};

}  // namespace fabricvp::ranks
