// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_tags.h"

#include <algorithm>

namespace fabricvp::gpu {

l2_tags::l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked_ways)
    : m_sets(sets),
      m_ways(ways),
      m_locked_ways(locked_ways),
      m_numbers(sets * ways),
      m_used(sets * ways),
      m_state(sets),
      m_ready(sets * ways) {}

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
    const std::size_t number = set_number(index), set = number * m_ways;
    const std::uint64_t locked = m_state[number].locked;
    std::size_t oldest = absent;
    for (std::size_t at = set; at < set + m_ways; ++at) {
        if (m_numbers[at] == 0) return at;
        if (locked >> (at - set) & 1) continue;
        if (oldest == absent || m_clock - m_used[at] > m_clock - m_used[oldest]) oldest = at;
    }
    return oldest;  // there is one: not all ways may be locked
}

void l2_tags::fill(std::size_t at, std::uint64_t index, ticks ready, bool dirty) {
    m_numbers[at] = index + 1;
    m_used[at] = ++m_clock;
    m_ready[at] = ready;
    auto& state = m_state[set_at(at)].dirty;
    const std::uint64_t way = std::uint64_t{1} << way_at(at);
    state = dirty ? state | way : state & ~way;
}

void l2_tags::drop(std::uint64_t index) {
    const std::size_t at = position_of(index);
    if (at == absent) return;
    m_numbers[at] = 0;
    unlock(at);
}

bool l2_tags::lock(std::size_t at) {
    auto& set = m_state[set_at(at)].locked;
    const std::uint64_t way = std::uint64_t{1} << way_at(at);
    if (!(set & way) && static_cast<std::uint64_t>(__builtin_popcountll(set)) >= m_locked_ways) return false;
    set |= way;
    return true;
}

void l2_tags::unlock_all() {
    for (auto& set : m_state) set.locked = 0;
}

void l2_tags::clear() {
    std::fill(m_numbers.begin(), m_numbers.end(), 0);
    std::fill(m_used.begin(), m_used.end(), 0);
    std::fill(m_state.begin(), m_state.end(), set_state{});
    std::fill(m_ready.begin(), m_ready.end(), 0);
    m_clock = 0;
}

}  // namespace fabricvp::gpu
