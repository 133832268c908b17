// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "platform/ranks/parallel_work.h"

namespace fabricvp::ranks {

/// Windows that ranks would have (window_synchronizer.h), of what one process has executed for each of them. As those
/// of ranks, they end with each slice of the run at the latest, so that both begin anew at the same times. What lies
/// further back than the ranks' present windows is summed up and forgotten.
class window_plan {
public:
    /// \param lookahead at least 1
    /// \param slice of the run: all of them end at multiples of it, these included; never: it has one
    window_plan(unsigned ranks, ticks lookahead, ticks slice);

    /// Something was executed for a rank at a time, which never falls.
    void add(unsigned rank, ticks when, double seconds, std::uint64_t events);
    /// Nothing follows.
    void finish() { close_windows(never); }

    struct rank_work {
        double seconds = 0;
        std::uint64_t events = 0;
    };
    unsigned ranks() const { return static_cast<unsigned>(m_ranks.size()); }
    const parallel_work& work() const { return m_work; }
    const rank_work& work_of(unsigned rank) const { return m_ranks[rank].all; }
    /// Seconds that a rank had less to do in a window than `busiest`, which had most, in all windows.
    double waited(unsigned rank, unsigned busiest) const { return m_waited[rank * m_ranks.size() + busiest]; }

private:
    struct entry : rank_work {
        ticks when = 0;
    };
    struct rank_state {
        std::deque<entry> pending;  ///< of windows that have not ended, by time
        rank_work all, window;
    };

    /// Ends windows that nothing at `now` or later can change.
    void close_windows(ticks now);
    void close_window(ticks first, ticks second, ticks now);
    ticks end_of(const rank_state& r, ticks first, ticks second, ticks now) const;
    ticks end_of_slice(ticks when) const;

    const ticks m_lookahead, m_slice;
    std::vector<rank_state> m_ranks;
    std::vector<double> m_waited;  ///< by rank and busiest one
    ticks m_next_check = never;    ///< no window ends before
    parallel_work m_work;
};

}  // namespace fabricvp::ranks
