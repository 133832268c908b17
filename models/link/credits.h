// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/growing_ring.h"
#include "base/time.h"

namespace fabricvp::link {

/// A transmitter's view of its receiver's buffer. Credits that are on their way back are kept as (time, amount) and
/// collected when they are read, so that a return costs no event unless the transmitter waits for it.
class credit_account {
public:
    explicit credit_account(std::uint64_t initial = 0) : m_initial(initial), m_available(initial) {}

    std::uint64_t initial() const { return m_initial; }

    bool covers(std::uint64_t amount, ticks now) {
        collect(now);
        return m_available >= amount;
    }
    void consume(std::uint64_t amount) { m_available -= amount; }
    /// The receiver frees `amount`; it is known here at `when` (returns come in order of time).
    void replenish(std::uint64_t amount, ticks when) {
        if (!m_returning.empty() && m_returning.back().when == when)
            m_returning.back().amount += amount;
        else
            m_returning.push_back({when, amount});
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
    void drop(std::uint64_t amount, ticks now) {
        collect(now);
        const auto at_once = std::min(amount, m_available);
        m_available -= at_once;
        m_dropped = std::min(amount - at_once, m_initial);
    }
    /// What packets hold that are under way or in the buffer.
    std::uint64_t in_use(ticks now) const {
        auto sum = m_available;
        for (const auto& r : m_returning)
            if (r.when <= now) sum += r.amount;
        return m_initial - std::min(m_initial, sum);
    }
    std::uint64_t available(ticks now) {
        collect(now);
        return m_available;
    }
    void reset() {
        m_available = m_initial;
        m_dropped = 0;
        m_returning.clear();
    }

private:
    struct returning {
        ticks when;
        std::uint64_t amount;
    };
    void collect(ticks now) {
        while (!m_returning.empty() && m_returning.front().when <= now) {
            const auto amount = m_returning.front().amount;
            const auto dropped = std::min(m_dropped, amount);
            m_dropped -= dropped;
            m_available += amount - dropped;
            m_returning.pop_front();
        }
    }

    std::uint64_t m_initial, m_available;
    std::uint64_t m_dropped = 0;  // will not be given back
    growing_ring<returning> m_returning;
};

}  // namespace fabricvp::link
