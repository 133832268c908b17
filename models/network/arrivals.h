// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/calendar.h"
#include "network/packet.h"

namespace fabricvp::network {

class port;

/// Packets that arrive at one time are handed over in the order of their links' paths, whoever was announced first. So what
/// happens does not depend on who told the receiver when, which would be otherwise if the ends of a link stood in different
/// simulations. (Of one link they come in the order in which they were sent.)
class arrival_order {
public:
    using deliver = void (*)(port&, const packet_ptr&);
    explicit arrival_order(deliver d) : m_deliver(d) {}

    /// \param rank of the receiving port among all, by path
    void due(port& at, std::uint32_t rank, const packet_ptr& p) {
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
        port* at;
        packet_ptr packet;
    };
    /// Whatever arrives now was announced before now, so all of it has been noted.
    void hand_over() {
        m_now.swap(m_due);
        if (m_now.size() > 1) std::stable_sort(m_now.begin(), m_now.end(), [](const arrival& a, const arrival& b) { return a.rank < b.rank; });
        for (auto& a : m_now) m_deliver(*a.at, a.packet);
        m_now.clear();
    }

    const deliver m_deliver;
    std::vector<arrival> m_due, m_now;
    calendar_event m_all_here{method<&arrival_order::hand_over>, this};
};

}  // namespace fabricvp::network
