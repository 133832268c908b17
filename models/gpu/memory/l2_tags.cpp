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
      m_mask_words(ways > max_ordered ? masks : 1),
      m_stride((m_mask_words + tags + (ways + tags_of_word - 1) / tags_of_word + words_of_line - 1) / words_of_line *
               words_of_line),
      m_set_bits(static_cast<unsigned>(__builtin_ctzll(sets))),
      m_words(sets * m_stride),
      m_places(sets << m_way_bits),
      m_used(ways > max_ordered ? sets << m_way_bits : 0) {
    clear();
}

std::size_t l2_tags::victim(std::uint64_t index) const {
    const std::size_t set = set_of(index), first = set << m_way_bits;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - m_ways);
    if (const std::uint64_t unused = all & ~ways_in(set, used_ways))
        return first + static_cast<unsigned>(__builtin_ctzll(unused));
    const std::uint64_t locked = ways_in(set, locked_ways);
    if (m_ways <= max_ordered) {
        const std::uint64_t ordered = m_words[set * m_stride + m_mask_words + order];
        auto shift = static_cast<unsigned>(m_ways - 1) * 4;
        while (locked >> (ordered >> shift & 0xf) & 1) shift -= 4;  // not all ways may be locked
        return first + (ordered >> shift & 0xf);
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
    set_tag(at, tag_of(index));
    ticks& last = m_words[line_of(at) + m_mask_words + settled];
    last = std::max(last, ready);
    mask_of(at, used_ways) |= bit_of(at, used_ways);
    std::uint64_t& dirty_mask = mask_of(at, dirty_ways);
    dirty_mask = dirty ? dirty_mask | bit_of(at, dirty_ways) : dirty_mask & ~bit_of(at, dirty_ways);
}

void l2_tags::set_tag(std::size_t at, std::uint64_t tag) {
    const auto way = static_cast<unsigned>(way_at(at));
    const unsigned shift = way % tags_of_word * tag_bits;
    std::uint64_t& word = m_words[line_of(at) + m_mask_words + tags + way / tags_of_word];
    word = (word & ~(std::uint64_t{0xffff} << shift)) | tag << shift;
}

void l2_tags::drop(std::uint64_t index) {
    const std::size_t at = position_of(index);
    if (at == absent) return;
    set_tag(at, no_tag);
    mask_of(at, used_ways) &= ~bit_of(at, used_ways);
    unlock(at);
}

bool l2_tags::lock(std::size_t at) {
    const auto count = static_cast<std::uint64_t>(__builtin_popcountll(ways_in(at >> m_way_bits, locked_ways)));
    if (!locked(at) && count >= m_locked_ways) return false;
    mask_of(at, locked_ways) |= bit_of(at, locked_ways);
    return true;
}

void l2_tags::unlock_all() {
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - m_ways);
    for (std::size_t set = 0; set < m_sets; ++set)
        m_words[set * m_stride + mask_word(locked_ways)] &= ~(all << mask_shift(locked_ways));
}

void l2_tags::clear() {
    std::fill(m_words.begin(), m_words.end(), 0);
    for (std::size_t set = 0; set < m_sets; ++set)
        m_words[set * m_stride + m_mask_words + order] = 0xfedc'ba98'7654'3210;
    std::fill(m_places.begin(), m_places.end(), place{});
    std::fill(m_used.begin(), m_used.end(), 0);
    m_clock = 0;
}

}  // namespace fabricvp::gpu
