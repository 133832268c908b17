// SPDX-License-Identifier: Apache-2.0
#include "gpu/l2_tags.h"

#include <algorithm>

namespace fabricvp::gpu {

l2_tags::l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked_ways)
    : m_sets(sets), m_ways(ways), m_locked_ways(locked_ways), m_numbers(sets * ways), m_used(sets * ways), m_lines(sets * ways) {}

std::size_t l2_tags::position_of(std::uint64_t index) const {
    const std::size_t set = set_of(index);
    for (std::size_t at = set; at < set + m_ways; ++at)
        if (m_numbers[at] == index + 1) return at;
    return absent;
}

std::size_t l2_tags::find(std::uint64_t index) {
    const std::size_t at = position_of(index);
    if (at != absent) m_used[at] = ++m_clock;
    return at;
}

std::size_t l2_tags::victim(std::uint64_t index) const {
    const std::size_t set = set_of(index);
    std::size_t oldest = absent;
    for (std::size_t at = set; at < set + m_ways; ++at) {
        if (m_numbers[at] == 0) return at;
        if (m_lines[at].locked) continue;
        if (oldest == absent || m_clock - m_used[at] > m_clock - m_used[oldest]) oldest = at;
    }
    return oldest;  // there is one: not all ways may be locked
}

void l2_tags::fill(std::size_t at, std::uint64_t index, ticks ready, bool dirty) {
    m_numbers[at] = index + 1;
    m_used[at] = ++m_clock;
    m_lines[at] = {ready, dirty, false};
}

bool l2_tags::can_lock(std::uint64_t index) const {
    const auto set = m_lines.begin() + static_cast<std::ptrdiff_t>(set_of(index));
    const auto locked = std::count_if(set, set + static_cast<std::ptrdiff_t>(m_ways), [](const line& l) { return l.locked; });
    return static_cast<std::uint64_t>(locked) < m_locked_ways;
}

void l2_tags::clear() {
    std::fill(m_numbers.begin(), m_numbers.end(), 0);
    std::fill(m_used.begin(), m_used.end(), 0);
    std::fill(m_lines.begin(), m_lines.end(), line{});
    m_clock = 0;
}

}  // namespace fabricvp::gpu
