// SPDX-License-Identifier: Apache-2.0
// Windows by shared memory, in which only those ranks take part that have something to do. A rank that has done what
// its window allowed leaves word of its next event and counts itself out; a rank that puts a message into a ring says
// in shared memory from when on it counts. The last rank of a window finds out what the next one allows and opens it:
// it wakes the ranks whose next event or message lies in that window, and may not be one of them. The others sleep on,
// and need not be looked for but in that table. A window of one rank alone thus costs no more than a look at it.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/ranks/ring_communicator.h"

namespace fabricvp::ranks {

class ring_windows final : public window_exchange {
public:
    /// \param rings must live as long
    ring_windows(ring_communicator& rings, ticks lookahead)
        : m_rings(rings), m_segment(rings.m_segment), m_lookahead(lookahead), m_next(rings.count()) {}

    window_bounds next(const window_report& own, const std::vector<bytes>& to, const std::vector<ticks>& due,
                       const receiver& receive) override;
    const parallel_work& work() const override { return m_segment.all_windows().work; }

private:
    void open(ticks limit);
    void wait(const std::vector<bytes>& to);
    void wait_for_seat(const std::vector<bytes>& to);
    bool its_turn() const;
    bool may_spin() const;

    ring_communicator& m_rings;
    shared_segment& m_segment;
    const ticks m_lookahead;
    std::vector<ticks> m_next;            ///< earliest events by rank, messages included
    std::vector<unsigned> m_taking_part;  ///< in the window that was opened last
};

}  // namespace fabricvp::ranks
