// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/short_ring.h"
#include "base/time.h"

namespace fabricvp::link {

/// A transmitter's view of its receiver's buffer. Credits that are on their way back are kept as (time, amount) and
/// collected when they are read, so that a return costs no event unless the transmitter waits for it. One cache line
/// holds an account with two returns.
class credit_account {
public:
    explicit credit_account(std::uint64_t initial = 0) { set_initial(initial); }

    std::uint64_t initial() const { return m_initial; }
    /// From now on it is of a buffer of that size, all of which is free.
    void set_initial(std::uint64_t amount) {
        m_initial = amount;
        reset();
    }

    bool covers(std::uint64_t amount, ticks now) {
        collect(now);
        return free() >= amount;
    }
    void consume(std::uint64_t amount) { m_balance -= static_cast<std::int64_t>(amount); }
    /// The receiver frees `amount`; it is known here at `when`.
    void replenish(std::uint64_t amount, ticks when) {
        const auto last = m_returning.empty() ? 0 : m_returning.back().when;
        if (when == last && !m_returning.empty()) {
            m_returning.back().amount += amount;
            return;
        }
        m_returning.push_back({when, amount});
        if (when < last) sort_last();
    }
    /// Adds what is back. Questions do so as well; earlier, there is less to keep.
    void collect(ticks now) {
        while (!m_returning.empty() && m_returning.front().when <= now)
            m_balance += static_cast<std::int64_t>(m_returning.take_front().amount);
    }
    /// When `amount` will be covered by what is under way, `never` if more must be freed, or credits are withheld.
    ticks covered_at(std::uint64_t amount) const {
        if (withheld()) return never;
        auto sum = free();
        if (sum >= amount) return 0;
        for (std::size_t i = 0; i < m_returning.size(); ++i)
            if ((sum += m_returning[i].amount) >= amount) return m_returning[i].when;
        return never;
    }
    /// Takes credits away for good, those that are in use as soon as they come back.
    void drop(std::uint64_t amount, ticks now) {
        collect(now);
        const auto before = own_balance(), lost = static_cast<std::int64_t>(std::min(amount, 2 * m_initial));
        m_balance += std::max(before - lost, -static_cast<std::int64_t>(m_initial)) - before;
    }
    /// From now on, until release(), no amount is covered, and none will be, whatever comes back. Resets do not end it.
    void withhold() {
        if (withheld()) return;
        m_balance -= withheld_amount;
    }
    void release() {
        if (withheld()) m_balance += withheld_amount;
    }
    bool withheld() const { return m_balance < -withheld_amount / 2; }
    /// What packets hold that are under way or in the buffer.
    std::uint64_t in_use(ticks now) const {
        auto sum = positive(own_balance());
        for (std::size_t i = 0; i < m_returning.size() && m_returning[i].when <= now; ++i) sum += m_returning[i].amount;
        return m_initial - std::min(m_initial, sum);
    }
    std::uint64_t available(ticks now) const {
        auto sum = own_balance();
        for (std::size_t i = 0; i < m_returning.size() && m_returning[i].when <= now; ++i)
            sum += static_cast<std::int64_t>(m_returning[i].amount);
        return positive(sum);
    }
    void reset() {
        m_balance = static_cast<std::int64_t>(m_initial) - (withheld() ? withheld_amount : 0);
        m_returning.clear();
    }

private:
    struct returning {
        ticks when;
        std::uint64_t amount;
    };
    /// Buffers need not become free in the order in which that is said: of two packets the first may leave by a slow
    /// link. Credits are kept by the time at which they are back.
    [[gnu::noinline]] void sort_last() {
        for (auto i = m_returning.size() - 1; i > 0 && m_returning[i].when < m_returning[i - 1].when; --i)
            std::swap(m_returning[i], m_returning[i - 1]);
    }
    static std::uint64_t positive(std::int64_t amount) { return amount > 0 ? static_cast<std::uint64_t>(amount) : 0; }
    std::uint64_t free() const { return positive(m_balance); }
    std::int64_t own_balance() const { return m_balance + (withheld() ? withheld_amount : 0); }

    static constexpr std::int64_t withheld_amount = std::int64_t{1} << 62;  // beyond what is ever dropped or comes back

    std::int64_t m_balance = 0;  // below zero: what was dropped and is in use still, and `withheld_amount`
    std::uint64_t m_initial = 0;
    short_ring<returning, 2> m_returning;
};

}  // namespace fabricvp::link
