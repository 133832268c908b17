// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_pages.h"

namespace fabricvp::gpu {

/// Tags and data of a first-level cache: set-associative, least recently used first, a valid bit for each sector of 16
/// bytes. Forgetting everything costs next to nothing: a tag holds the generation in which it was written.
class l1_lines {
public:
    /// \throws std::invalid_argument unless the sets come out as a whole number
    l1_lines(std::uint64_t size, std::uint64_t ways);

    static constexpr unsigned absent = ~0u;
    /// Where the line is, or `absent`.
    unsigned find(std::uint64_t line) const {
        const std::uint64_t tag = tag_of(line);
        const unsigned first = set_of(line);
        for (unsigned i = first; i < first + m_ways; ++i)
            if (m_lines[i].tag == tag) return i;
        return absent;
    }
    void touch(unsigned at) { m_lines[at].used = ++m_clock; }
    std::uint8_t valid(unsigned at) const { return m_lines[at].valid; }
    std::uint8_t* data(unsigned at) { return &m_data[std::size_t{at} * 64]; }

    /// Puts sectors of a line in, beside those that are valid. \returns whether another line had to go
    /// \param way that it takes if it is not there, of victim_among(); absent: the least recently used one
    bool fill(std::uint64_t line, const std::uint8_t* data, std::uint8_t sectors, unsigned way = absent);
    /// Overwrites the bytes of `mask` if the line is there.
    void update(std::uint64_t line, const std::uint8_t* data, std::uint64_t mask);
    void drop(std::uint64_t line) {
        if (const unsigned at = find(line); at != absent) m_lines[at].tag = empty;
    }
    void clear();
    /// Places that hold a line.
    std::vector<unsigned> held() const;
    std::uint64_t line_at(unsigned at) const {
        return (m_lines[at].tag & ((std::uint64_t{1} << generation_shift) - 1)) << 6;
    }
    /// Where a line can be put in: where nothing is, or else instead of the least recently used one of those that
    /// `may_go(line)`; absent: nowhere.
    template <typename Predicate>
    unsigned victim_among(std::uint64_t line, const Predicate& may_go) const {
        unsigned way = absent;
        for (unsigned i = set_of(line), end = i + m_ways; i < end; ++i) {
            if (!holds_line(i)) return i;
            const bool older = way == absent || m_clock - m_lines[i].used > m_clock - m_lines[way].used;
            if (older && may_go(line_at(i))) way = i;
        }
        return way;
    }
    bool holds_line(unsigned at) const { return m_lines[at].tag >> generation_shift == m_generation; }
    /// Tells the host that fill() will follow.
    void prefetch(std::uint64_t line) const { __builtin_prefetch(&m_lines[set_of(line)], 1); }

private:
    static constexpr std::uint64_t empty = ~std::uint64_t{0};
    static constexpr unsigned generation_shift = 50;  // physical addresses have 56 bits, lines 50
    std::uint64_t tag_of(std::uint64_t line) const { return line >> 6 | m_generation << generation_shift; }
    unsigned set_of(std::uint64_t line) const {
        const std::uint64_t number = line >> 6;
        return static_cast<unsigned>(m_sets & (m_sets - 1) ? number % m_sets : number & (m_sets - 1)) * m_ways;
    }

    /// The way of a set that is taken next: one that holds nothing, or else the least recently used one.
    unsigned victim(unsigned first) const;

    std::uint64_t m_sets;
    unsigned m_ways;
    std::uint64_t m_generation = 0;  // below 2^14 - 1, so that no tag looks empty
    std::uint32_t m_clock = 0;
    struct state {
        std::uint64_t tag;
        std::uint32_t used;
        std::uint8_t valid;
    };
    large_page_vector<state> m_lines;
    large_page_vector<std::uint8_t> m_data;
};

}  // namespace fabricvp::gpu
