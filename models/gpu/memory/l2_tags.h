// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_pages.h"
#include "base/time.h"

namespace fabricvp::gpu {

/// Tags of one L2 bank: set-associative, least recently used first, some lines locked. Bytes are not kept here. Lines
/// are named by their index among those of the bank.
class l2_tags {
public:
    /// \param locked_ways most lines of a set that may be locked at a time; less than `ways`
    l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked_ways);

    static constexpr std::size_t absent = ~std::size_t{0};
    /// Where the line is, or `absent`; it becomes the most recently used one.
    std::size_t find(std::uint64_t index);
    bool holds(std::uint64_t index) const { return position_of(index) != absent; }
    /// Where a line has to give way for a new one.
    std::size_t victim(std::uint64_t index) const;
    void fill(std::size_t at, std::uint64_t index, ticks ready, bool dirty);
    /// The line is there no more, if it was.
    void drop(std::uint64_t index);
    /// When the fetch that brings the line in has ended.
    ticks ready(std::size_t at) const { return m_ready[at]; }
    bool dirty(std::size_t at) const { return m_state[set_at(at)].dirty >> way_at(at) & 1; }
    void make_dirty(std::size_t at) { m_state[set_at(at)].dirty |= std::uint64_t{1} << way_at(at); }
    bool empty(std::size_t at) const { return m_numbers[at] == 0; }
    std::uint64_t index_at(std::size_t at) const { return m_numbers[at] - 1; }
    bool locked(std::size_t at) const { return m_state[set_at(at)].locked >> way_at(at) & 1; }
    /// Locks a line. \returns false if no more lines of its set may be locked
    bool lock(std::size_t at);
    void unlock(std::size_t at) { m_state[set_at(at)].locked &= ~(std::uint64_t{1} << way_at(at)); }
    void unlock_all();
    /// Tells the host that find() will follow.
    void prefetch(std::uint64_t index) const {
        const std::size_t number = set_number(index), set = number * m_ways;
        __builtin_prefetch(&m_numbers[set]);
        __builtin_prefetch(&m_numbers[set + m_ways - 1]);
        __builtin_prefetch(&m_used[set]);
        __builtin_prefetch(&m_state[number]);
    }
    void clear();

private:
    // Short divisions take half the time of long ones.
    std::uint32_t set_at(std::size_t at) const {
        return static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(m_ways);
    }
    std::uint32_t way_at(std::size_t at) const {
        return static_cast<std::uint32_t>(at) % static_cast<std::uint32_t>(m_ways);
    }
    std::size_t set_number(std::uint64_t index) const {
        return m_sets & (m_sets - 1) ? index % m_sets : index & (m_sets - 1);
    }
    std::size_t set_of(std::uint64_t index) const { return set_number(index) * m_ways; }
    std::size_t position_of(std::uint64_t index) const;

    std::uint64_t m_sets, m_ways, m_locked_ways;
    std::uint32_t m_clock = 0;
    struct set_state {
        std::uint64_t locked, dirty;  // bit n, way n
    };
    large_page_vector<std::uint64_t> m_numbers;  // index plus one; 0: empty
    large_page_vector<std::uint32_t> m_used;     // m_clock at the last use
    large_page_vector<set_state> m_state;        // by set
    large_page_vector<ticks> m_ready;
};

}  // namespace fabricvp::gpu
