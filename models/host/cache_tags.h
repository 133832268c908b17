// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    /// Makes the line the most recently used one if it is there.
    void use_again(std::uint64_t address);
    /// Marks a line dirty if it is there (a write-back from the level above). \returns whether it is
    bool write_back(std::uint64_t address);
    bool holds(std::uint64_t address) const;
    bool dirty(std::uint64_t address) const;
    /// Takes a line out. \returns true if it was there and dirty
    bool invalidate(std::uint64_t address);
    /// Leaves the line in as clean. \returns true if it was dirty
    bool clean(std::uint64_t address);
    void clear();

    std::uint64_t line() const { return m_line; }
    std::uint64_t sets() const { return m_sets; }
    std::uint64_t line_of(std::uint64_t address) const { return address & ~(m_line - 1); }

private:
    struct entry {
        std::uint64_t address = 0;
        std::uint64_t used = 0;  // 0: empty
        bool dirty = false;
    };

    entry* find(std::uint64_t address);
    const entry* find(std::uint64_t address) const { return const_cast<cache_tags*>(this)->find(address); }
    /// Lines are powers of two, and the number of sets nearly always is: no division then.
    entry* set_of(std::uint64_t address) {
        const auto line = address >> __builtin_ctzll(m_line);
        return &m_entries[(m_sets & (m_sets - 1) ? line % m_sets : line & (m_sets - 1)) * m_ways];
    }

    std::uint64_t m_line, m_ways, m_sets;
    std::uint64_t m_clock = 0;
    std::vector<entry> m_entries;
};

}  // namespace fabricvp::host
