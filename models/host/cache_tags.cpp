// SPDX-License-Identifier: Apache-2.0
#include "host/cache_tags.h"

#include <algorithm>
#include <stdexcept>

namespace fabricvp::host {

cache_tags::cache_tags(std::uint64_t size, std::uint64_t ways, std::uint64_t line) : m_line(line), m_ways(ways) {
    if (line == 0 || (line & (line - 1)) != 0) throw std::invalid_argument("a cache line is a power of two bytes");
    if (ways == 0 || size == 0 || size % (ways * line) != 0)
        throw std::invalid_argument("a cache's size is a multiple of its ways times its line");
    m_sets = size / (ways * line);
    m_line_bits = static_cast<unsigned>(__builtin_ctzll(line));
    m_lines.resize(m_sets * m_ways, no_line);
    m_used.resize(m_sets * m_ways);
}

cache_tags::result cache_tags::access(std::uint64_t address, bool write) {
    result r;
    r.hit = access_if_hit(address, write, true);
    if (r.hit) return r;
    const auto first = m_used.begin() + static_cast<std::ptrdiff_t>(set_of(address));
    const auto oldest = std::min_element(first, first + static_cast<std::ptrdiff_t>(m_ways));
    auto& line = m_lines[static_cast<std::size_t>(oldest - m_used.begin())];
    if (*oldest) {
        r.evicted = line;
        if (*oldest & dirty_bit) r.written_back = line;
    }
    line = line_of(address);
    *oldest = next_use() | (write ? dirty_bit : 0);
    return r;
}

void cache_tags::use_again(std::uint64_t address) { access_if_hit(address, false, false); }

bool cache_tags::write_back(std::uint64_t address) {
    const auto at = find(address);
    if (at == nowhere) return false;
    m_used[at] |= dirty_bit;
    return true;
}

bool cache_tags::holds(std::uint64_t address) const { return find(address) != nowhere; }

bool cache_tags::dirty(std::uint64_t address) const {
    const auto at = find(address);
    return at != nowhere && (m_used[at] & dirty_bit);
}

void cache_tags::clear() {
    std::fill(m_lines.begin(), m_lines.end(), no_line);
    std::fill(m_used.begin(), m_used.end(), 0);
    m_clock = 0;
}

}  // namespace fabricvp::host
