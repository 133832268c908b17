// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fabricvp::fabric::netcrafter {

/// IDs for the packets on a link, in turns. Units arrive in the order in which they are sent, so an ID may be used
/// again as soon as its packet has left; only that of a packet whose end has ridden ahead is held until the rest
/// follows.
class id_sequence {
public:
    /// \param most IDs that headers and sub-headers can name
    explicit id_sequence(unsigned max_ids) : m_max_ids(max_ids) {}

    std::uint16_t take() {
        do m_last = (m_last + 1) % m_max_ids;
        while (std::find(m_held.begin(), m_held.end(), m_last) != m_held.end());
        return static_cast<std::uint16_t>(m_last);
    }
    void hold(std::uint16_t id) { m_held.push_back(id); }
    void release(std::uint16_t id) { m_held.erase(std::find(m_held.begin(), m_held.end(), id)); }
    std::size_t held() const { return m_held.size(); }
    void reset() {
        m_held.clear();
        m_last = m_max_ids - 1;
    }

private:
    unsigned m_max_ids, m_last = m_max_ids - 1;
    std::vector<unsigned> m_held;
};

}  // namespace fabricvp::fabric::netcrafter
