// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/all_to_all_windows.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::ranks {

/// What stands before a message.
struct all_to_all_windows::header {
    ticks next, now;  ///< the earliest event, and what others are about to hear
    double seconds;
    std::uint64_t events;
};

window_bounds all_to_all_windows::next(const window_report& own, const std::vector<bytes>& to,
                                       const std::vector<ticks>& due, const receiver& receive) {
    const auto heard = *std::min_element(due.begin(), due.end());
    const header head{std::min(own.next, heard), own.now, own.seconds, own.events};
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&head);
    for (unsigned r = 0; r < m_comm.count(); ++r) {
        if (r == m_comm.rank()) continue;
        m_to[r].assign(begin, begin + sizeof head);
        m_to[r].insert(m_to[r].end(), to[r].begin(), to[r].end());
    }
    m_comm.all_to_all(m_to, m_from);
    m_work.add(own.seconds, own.events);
    window_bounds bounds{own.next, heard, own.now};
    for (unsigned r = 0; r < m_comm.count(); ++r) {
        if (r == m_comm.rank()) continue;
        header its;
        std::memcpy(&its, m_from[r].data(), sizeof its);
        m_work.add(its.seconds, its.events);
        bounds.others = std::min(bounds.others, its.next);
        bounds.latest = std::max(bounds.latest, its.now);
        if (m_from[r].size() > sizeof its) receive(m_from[r], sizeof its);
    }
    m_work.end_window();
    return bounds;
}

}  // namespace fabricvp::ranks
