// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/time.h"

namespace fabricvp::link {

/// A transmitter's view of its receiver's buffer. Credits that are on their way back are kept as (time, amount) and
/// collected when somebody looks, so that a return costs no event unless the transmitter waits for it.
class credit_account {
public:
    explicit credit_account(std::uint64_t initial = 0) : m_initial(initial), m_available(initial) {}

    std::uint64_t initial() const { return m_initial; }

    bool covers(std::uint64_t amount, ticks now) {
        collect(now);
        return m_available >= amount;
    }
    void take(std::uint64_t amount) { m_available -= amount; }
    /// The receiver frees `amount`; it is known here at `when` (returns come in order of time).
    void give_back(std::uint64_t amount, ticks when) {
        if (!m_returning.empty() && m_returning.back().when == when) m_returning.back().amount += amount;
        else m_returning.push_back({when, amount});
    }
    /// When `amount` will be covered by what is under way, `never` if more must still be freed.
    ticks covered_at(std::uint64_t amount) const {
        auto sum = m_available;
        if (sum >= amount) return 0;
        for (const auto& r : m_returning)
            if ((sum += r.amount) >= amount) return r.when;
        return never;
    }
    /// Takes credits away for good, those that are in use as soon as they come back.
    void lose(std::uint64_t amount, ticks now) {
        collect(now);
        const auto at_once = std::min(amount, m_available);
        m_available -= at_once;
        m_lost = std::min(amount - at_once, m_initial);
    }
    std::uint64_t available(ticks now) {
        collect(now);
        return m_available;
    }
    void reset() {
        m_available = m_initial;
        m_lost = 0;
        m_returning.clear();
    }

private:
    struct returning {
        ticks when;
        std::uint64_t amount;
    };
    void collect(ticks now) {
        while (!m_returning.empty() && m_returning.front().when <= now) {
            const auto lost = std::min(m_lost, m_returning.front().amount);
            m_lost -= lost;
            m_available += m_returning.front().amount - lost;
            m_returning.pop_front();
        }
    }

    std::uint64_t m_initial, m_available;
    std::uint64_t m_lost = 0;  // will not be given back
    std::deque<returning> m_returning;
};

}  // namespace fabricvp::link
