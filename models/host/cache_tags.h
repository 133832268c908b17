// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fabricvp::host {

/// Tags of a set-associative, write-back, write-allocate cache with true LRU replacement. It holds no data: bytes stay
/// in memory, tags only decide how long an access takes.
class cache_tags {
public:
    /// All sizes in bytes. \throws std::invalid_argument unless lines are a power of two and sets come out whole
    cache_tags(std::uint64_t size, std::uint64_t ways, std::uint64_t line);

    struct result {
        bool hit = false;
        std::optional<std::uint64_t> written_back;  ///< address of a dirty line that had to go
        std::optional<std::uint64_t> evicted;       ///< address of any line that had to go
    };

    /// Looks the line up and makes it the most recently used one; brings it in on a miss.
    result access(std::uint64_t address, bool write);
    /// The same if the line is there and, for a write, dirty or `clean_too`. \returns false, with nothing changed,
    /// otherwise
    bool access_if_hit(std::uint64_t address, bool write, bool clean_too) {
        const auto at = find(address);
        if (at == nowhere || (write && !clean_too && !(m_used[at] & dirty_bit))) return false;
        m_used[at] = next_use() | (write ? dirty_bit : m_used[at] & dirty_bit);
        return true;
    }
    /// Makes the line the most recently used one if it is there.
    void use_again(std::uint64_t address);
    /// Marks a line dirty if it is there (a write-back from the level above). \returns whether it is
    bool write_back(std::uint64_t address);
    bool holds(std::uint64_t address) const;
    bool dirty(std::uint64_t address) const;
    struct snooped {
        bool held = false, dirty = false;  ///< before
    };
    /// Takes a line out, or leaves it in as clean.
    snooped snoop(std::uint64_t address, bool take_out) {
        const auto at = find(address);
        if (at == nowhere) return {};
        const bool was_dirty = m_used[at] & dirty_bit;
        m_used[at] = take_out ? 0 : m_used[at] & ~dirty_bit;
        if (take_out) m_lines[at] = no_line;
        return {true, was_dirty};
    }
    /// Takes a line out. \returns true if it was there and dirty
    bool invalidate(std::uint64_t address) { return snoop(address, true).dirty; }
    /// Leaves the line in as clean. \returns true if it was dirty
    bool clean(std::uint64_t address) { return snoop(address, false).dirty; }
    void clear();

    std::uint64_t line() const { return m_line; }
    std::uint64_t sets() const { return m_sets; }
    std::uint64_t line_of(std::uint64_t address) const { return address & ~(m_line - 1); }

private:
    static constexpr std::size_t nowhere = ~std::size_t{0};
    static constexpr std::uint64_t no_line = ~std::uint64_t{0}, dirty_bit = 1;

    /// First way of the line's set. Lines are powers of two, and the number of sets nearly always is: no division then.
    std::size_t set_of(std::uint64_t address) const {
        const auto line = address >> m_line_bits;
        return (m_sets & (m_sets - 1) ? line % m_sets : line & (m_sets - 1)) * m_ways;
    }
    std::size_t find(std::uint64_t address) const {
        address = line_of(address);
        const auto first = set_of(address);
        for (auto at = first; at != first + m_ways; ++at)
            if (m_lines[at] == address) return at;
        return nowhere;
    }
    std::uint64_t next_use() { return ++m_clock * 2; }

    std::uint64_t m_line, m_ways, m_sets;
    unsigned m_line_bits = 0;
    std::uint64_t m_clock = 0;
    // By set and way.
    std::vector<std::uint64_t> m_lines;  // addresses
    std::vector<std::uint64_t> m_used;   // twice the time of the last use, and the dirty bit; 0: empty
};

}  // namespace fabricvp::host
