// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/large_pages.h"
#include "base/time.h"

namespace fabricvp::gpu {

/// Tags of one L2 bank: set-associative, least recently used first, some lines locked. Bytes are not kept here. Lines
/// are named by their index among those of the bank.
///
/// Most lookups miss the host's caches, so what they need of a set of up to 16 ways is one line of the host: 16 bits of
/// each tag, the order of use, and when all fetches into the set have ended. Only tags that are longer are looked at
/// themselves.
class l2_tags {
public:
    /// \param ways 1 … 64
    /// \param locked_ways most lines of a set that may be locked at a time; less than `ways`
    l2_tags(std::uint64_t sets, std::uint64_t ways, std::uint64_t locked_ways);

    static constexpr std::size_t absent = ~std::size_t{0};
    /// Where the line is, or `absent`; it becomes the most recently used one.
    std::size_t find(std::uint64_t index) {
        const std::size_t at = position_of(index);
        if (at != absent) touch(at);
        return at;
    }
    bool holds(std::uint64_t index) const { return position_of(index) != absent; }
    /// Where a line has to give way for a new one.
    std::size_t victim(std::uint64_t index) const;
    void fill(std::size_t at, std::uint64_t index, ticks ready, bool dirty);
    /// The line is there no more, if it was.
    void drop(std::uint64_t index);
    /// When the fetch that brings the line in has ended.
    ticks ready(std::size_t at) const { return m_places[at].ready; }
    /// The same, or `by` if it has certainly ended then.
    ticks ready(std::size_t at, ticks by) const {
        return m_words[line_of(at) + m_mask_words + settled] <= by ? by : m_places[at].ready;
    }
    bool dirty(std::size_t at) const { return marked(at, dirty_ways); }
    void make_dirty(std::size_t at) { mask_of(at, dirty_ways) |= bit_of(at, dirty_ways); }
    bool empty(std::size_t at) const { return !marked(at, used_ways); }
    std::uint64_t index_at(std::size_t at) const { return m_places[at].number - 1; }
    bool locked(std::size_t at) const { return marked(at, locked_ways); }
    /// Locks a line. \returns false if no more lines of its set may be locked
    bool lock(std::size_t at);
    void unlock(std::size_t at) { mask_of(at, locked_ways) &= ~bit_of(at, locked_ways); }
    void unlock_all();
    /// Places there are, filled or empty; of a place outside of its set's ways empty() is true.
    std::size_t places() const { return m_places.size(); }
    /// Tells the host that find() will follow.
    void prefetch(std::uint64_t index) const { __builtin_prefetch(&m_words[set_of(index) * m_stride], 1); }
    /// The same where prefetch() was some time ago, for fill() of the place that has to give way.
    void prefetch_victim(std::uint64_t index) const { __builtin_prefetch(&m_places[victim(index)], 1); }
    void clear();

private:
    /// Words of a set: masks of ways, in one word with up to 16 ways; then nibble n of the order is the nth way since
    /// its last use, with up to 16 ways; then when the last fetch into the set ends. Tags follow, 4 a word.
    enum mask { locked_ways, dirty_ways, used_ways, masks };
    enum word { order, settled, tags };
    static constexpr std::uint64_t each_tag = 0x0001'0001'0001'0001, each_nibble = 0x1111'1111'1111'1111;
    static constexpr std::uint64_t max_ordered = 16;
    static constexpr unsigned tag_bits = 16, tags_of_word = 4;
    static constexpr std::uint64_t no_tag = 0, long_tag = 0xffff;

    std::uint64_t tag_of(std::uint64_t index) const {
        const std::uint64_t tag = (m_sets & (m_sets - 1) ? index / m_sets : index >> m_set_bits) + 1;
        return tag && tag < long_tag ? tag : long_tag;
    }
    std::size_t set_of(std::uint64_t index) const {
        return m_sets & (m_sets - 1) ? index % m_sets : index & (m_sets - 1);
    }
    std::size_t way_at(std::size_t at) const { return at & ((std::size_t{1} << m_way_bits) - 1); }
    /// Where the words of its set begin.
    std::size_t line_of(std::size_t at) const { return (at >> m_way_bits) * m_stride; }
    unsigned mask_word(mask m) const { return m_mask_words == 1 ? 0 : m; }
    unsigned mask_shift(mask m) const { return m_mask_words == 1 ? 16 * m : 0; }
    std::uint64_t bit_of(std::size_t at, mask m) const { return std::uint64_t{1} << (way_at(at) + mask_shift(m)); }
    std::uint64_t& mask_of(std::size_t at, mask m) { return m_words[line_of(at) + mask_word(m)]; }
    bool marked(std::size_t at, mask m) const { return m_words[line_of(at) + mask_word(m)] & bit_of(at, m); }
    std::uint64_t ways_in(std::size_t set, mask m) const {
        return m_words[set * m_stride + mask_word(m)] >> mask_shift(m) & ~std::uint64_t{0} >> (64 - m_ways);
    }
    void set_tag(std::size_t at, std::uint64_t tag);
    std::size_t position_of(std::uint64_t index) const;
    void touch(std::size_t at);

    std::uint64_t m_sets, m_ways, m_locked_ways;
    unsigned m_way_bits;  // of a place, which is set << m_way_bits | way
    unsigned m_mask_words;
    std::size_t m_stride;
    std::uint32_t m_clock = 0;
    unsigned m_set_bits;                       // where sets are a power of two
    large_page_vector<std::uint64_t> m_words;  // by set
    struct place {
        std::uint64_t number;  // index plus one; 0: empty
        ticks ready;
    };
    large_page_vector<place> m_places;
    large_page_vector<std::uint32_t> m_used;  // with more ways than the order has: m_clock at the last use
};

inline std::size_t l2_tags::position_of(std::uint64_t index) const {
    const std::size_t set = set_of(index), first = set << m_way_bits;
    const std::uint64_t* const words = &m_words[set * m_stride + m_mask_words + tags];
    const std::uint64_t tag = tag_of(index), wanted = tag * each_tag;
    for (std::size_t way = 0; way < m_ways; way += tags_of_word) {
        const std::uint64_t differs = words[way / tags_of_word] ^ wanted;
        // Tags that are zero, and some behind these.
        for (std::uint64_t same = (differs - each_tag) & ~differs & each_tag << (tag_bits - 1); same;
             same &= same - 1) {
            const unsigned nth = static_cast<unsigned>(__builtin_ctzll(same)) / tag_bits;
            const std::size_t at = first + way + nth;
            if (!(differs >> nth * tag_bits & 0xffff) && (tag != long_tag || m_places[at].number == index + 1))
                return at;
        }
    }
    return absent;
}

inline void l2_tags::touch(std::size_t at) {
    if (m_ways > max_ordered) {
        m_used[at] = ++m_clock;
        return;
    }
    std::uint64_t& ways = m_words[line_of(at) + m_mask_words + order];
    const std::uint64_t differs = ways ^ way_at(at) * each_nibble;
    const std::uint64_t same = (differs - each_nibble) & ~differs & each_nibble << 3;
    const std::uint64_t later = (std::uint64_t{1} << (static_cast<unsigned>(__builtin_ctzll(same)) & ~3u)) - 1;
    ways = (ways & ~(later << 4 | 0xf)) | (ways & later) << 4 | way_at(at);
}

}  // namespace fabricvp::gpu
