// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace fabricvp::gpu {

/// Tags of one L2 bank: set-associative, least recently used first, some lines locked. Bytes are not kept here.
class l2_tags {
public:
    struct line {
        std::uint64_t number = 0;  ///< line number plus one; 0: empty
        std::uint64_t used = 0;
        ticks ready = 0;           ///< when the fetch that brings it in has ended
        bool dirty = false;
        bool locked = false;
    };

    /// \param locked_ways most lines of a set that may be locked at a time; less than `ways`
    l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked_ways)
        : m_sets(sets), m_ways(ways), m_locked_ways(locked_ways), m_lines(sets * ways) {}

    /// The line, as most recently used, or null. \param index of the line among those of this bank
    line* find(std::uint64_t index);
    /// The line to be given up for a new one.
    line& victim(std::uint64_t index);
    void fill(line& l, std::uint64_t index, ticks ready) { l = {index + 1, ++m_clock, ready, false, false}; }
    /// Whether one more line of this line's set may be locked.
    bool can_lock(std::uint64_t index) const;
    /// Index of a line in this bank.
    static std::uint64_t index_of(const line& l) { return l.number - 1; }
    void clear();

private:
    std::size_t set_of(std::uint64_t index) const {
        return (m_sets & (m_sets - 1) ? index % m_sets : index & (m_sets - 1)) * m_ways;
    }

    std::uint64_t m_sets, m_ways, m_locked_ways;
    std::uint64_t m_clock = 0;
    std::vector<line> m_lines;
};

}  // namespace fabricvp::gpu
