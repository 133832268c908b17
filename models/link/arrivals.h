// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/calendar.h"

namespace fabricvp::link {

/// Packets that arrive at one time are handed over in the order of their links' paths, whoever was announced first. So what
/// happens does not depend on who told the receiver when, which would be otherwise if the ends of a link stood in different
/// simulations. (Of one link they come in the order in which they were sent.)
/// \tparam Port has a member deliver(const Packet&) \tparam Packet a pointer
template <class Port, class Packet>
class arrival_order {
public:
    /// \param rank of the receiving port among all, by path
    void due(Port& at, std::uint32_t rank, const Packet& p) {
        m_due.push_back({rank, &at, p});
        if (!m_all_here.scheduled()) calendar::current().schedule(m_all_here, calendar::current().now());
    }
    void clear() {
        m_due.clear();
        calendar::current().cancel(m_all_here);
    }

private:
    struct arrival {
        std::uint32_t rank;
        Port* at;
        Packet packet;
    };
    /// Whatever arrives now was announced before now, so all of it has been noted.
    void hand_over() {
        m_now.swap(m_due);
        if (m_now.size() > 1) std::stable_sort(m_now.begin(), m_now.end(), [](const arrival& a, const arrival& b) { return a.rank < b.rank; });
        for (auto& a : m_now) a.at->deliver(a.packet);
        m_now.clear();
    }

    std::vector<arrival> m_due, m_now;
    calendar_event m_all_here{method<&arrival_order::hand_over>, this};
};

}  // namespace fabricvp::link
