// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
        if (m_count && returning_at(m_count - 1).when == when) {
            returning_at(m_count - 1).amount += amount;
            return;
        }
        if (m_count == m_returning.size()) grow();
        returning_at(m_count++) = {when, amount};
    }
    /// When `amount` will be covered by what is under way, `never` if more must still be freed.
    ticks covered_at(std::uint64_t amount) const {
        auto sum = m_available;
        if (sum >= amount) return 0;
        for (std::size_t n = 0; n < m_count; ++n)
            if ((sum += returning_at(n).amount) >= amount) return returning_at(n).when;
        return never;
    }
    /// Takes credits away for good, those that are in use as soon as they come back.
    void drop(std::uint64_t amount, ticks now) {
        collect(now);
        const auto at_once = std::min(amount, m_available);
        m_available -= at_once;
        m_dropped = std::min(amount - at_once, m_initial);
    }
    std::uint64_t available(ticks now) {
        collect(now);
        return m_available;
    }
    void reset() {
        m_available = m_initial;
        m_dropped = 0;
        m_first = m_count = 0;
    }

private:
    struct returning {
        ticks when;
        std::uint64_t amount;
    };
    void collect(ticks now) {
        while (m_count && m_returning[m_first].when <= now) {
            const auto amount = m_returning[m_first].amount;
            const auto dropped = std::min(m_dropped, amount);
            m_dropped -= dropped;
            m_available += amount - dropped;
            m_first = (m_first + 1) & (m_returning.size() - 1);
            --m_count;
        }
    }
    returning& returning_at(std::size_t n) { return m_returning[(m_first + n) & (m_returning.size() - 1)]; }
    const returning& returning_at(std::size_t n) const { return m_returning[(m_first + n) & (m_returning.size() - 1)]; }
    void grow() {
        std::vector<returning> larger(m_returning.empty() ? 16 : 2 * m_returning.size());
        for (std::size_t n = 0; n < m_count; ++n) larger[n] = returning_at(n);
        m_returning = std::move(larger);
        m_first = 0;
    }

    std::uint64_t m_initial, m_available;
    std::uint64_t m_dropped = 0;         // will not be given back
    std::vector<returning> m_returning;  // a ring whose size is a power of two
    std::size_t m_first = 0, m_count = 0;
};

}  // namespace fabricvp::link
