// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_tags.h"

#include <algorithm>

namespace fabricvp::gpu {

namespace {
constexpr std::size_t words_of_line = 8;  // of the host
}

l2_tags::l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked)
    : m_sets(sets),
      m_ways(ways),
      m_locked_ways(locked),
      m_way_bits(ways < 2 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(ways - 1))),
      m_stride((hashes + (ways + 7) / 8 + words_of_line - 1) / words_of_line * words_of_line),
      m_words(sets * m_stride),
      m_places(sets << m_way_bits),
      m_used(ways > max_ordered ? sets << m_way_bits : 0) {
    clear();
}

std::size_t l2_tags::victim(std::uint64_t index) const {
    const std::size_t set = set_of(index), first = set << m_way_bits;
    const std::uint64_t* const words = &m_words[set * m_stride];
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - m_ways);
    if (const std::uint64_t unused = all & ~words[used_ways])
        return first + static_cast<unsigned>(__builtin_ctzll(unused));
    const std::uint64_t locked = words[locked_ways];
    if (m_ways <= max_ordered) {
        auto shift = static_cast<unsigned>(m_ways - 1) * 4;
        while (locked >> (words[order] >> shift & 0xf) & 1) shift -= 4;  // not all ways may be locked
        return first + (words[order] >> shift & 0xf);
    }
    std::size_t oldest = absent;
    for (std::size_t at = first; at < first + m_ways; ++at) {
        if (locked >> (at - first) & 1) continue;
        if (oldest == absent || m_clock - m_used[at] > m_clock - m_used[oldest]) oldest = at;
    }
    return oldest;
}

void l2_tags::fill(std::size_t at, std::uint64_t index, ticks ready, bool dirty) {
    m_places[at] = {index + 1, ready};
    touch(at);
    const std::size_t way = way_at(at);
    std::uint64_t* const words = &m_words[(at >> m_way_bits) * m_stride];
    std::uint64_t& eight = words[hashes + way / 8];
    eight = (eight & ~(std::uint64_t{0xff} << way % 8 * 8)) | hash_of(index) << way % 8 * 8;
    words[used_ways] |= bit_of(at);
    words[dirty_ways] = dirty ? words[dirty_ways] | bit_of(at) : words[dirty_ways] & ~bit_of(at);
}

void l2_tags::drop(std::uint64_t index) {
    const std::size_t at = position_of(index);
    if (at == absent) return;
    m_places[at].number = 0;
    word_of(at, used_ways) &= ~bit_of(at);
    unlock(at);
}

bool l2_tags::lock(std::size_t at) {
    std::uint64_t& set = word_of(at, locked_ways);
    if (!(set & bit_of(at)) && static_cast<std::uint64_t>(__builtin_popcountll(set)) >= m_locked_ways) return false;
    set |= bit_of(at);
    return true;
}

void l2_tags::unlock_all() {
    for (std::size_t set = 0; set < m_sets; ++set) m_words[set * m_stride + locked_ways] = 0;
}

void l2_tags::clear() {
    std::fill(m_words.begin(), m_words.end(), 0);
    for (std::size_t set = 0; set < m_sets; ++set) m_words[set * m_stride + order] = 0xfedc'ba98'7654'3210;
    std::fill(m_places.begin(), m_places.end(), place{});
    std::fill(m_used.begin(), m_used.end(), 0);
    m_clock = 0;
}

}  // namespace fabricvp::gpu
