// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/large_pages.h"
#include "base/time.h"

namespace fabricvp::gpu {

/// Tags of one L2 bank: set-associative, least recently used first, some lines locked. Bytes are not kept here. Lines
/// are named by their index among those of the bank.
///
/// Most lookups miss the host's caches, so what they need of a set of up to 16 ways is one line of the host: a byte of
/// each tag's hash, and the order of use. A tag itself is looked at where its byte agrees.
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
    bool dirty(std::size_t at) const { return word_of(at, dirty_ways) & bit_of(at); }
    void make_dirty(std::size_t at) { word_of(at, dirty_ways) |= bit_of(at); }
    bool empty(std::size_t at) const { return !(word_of(at, used_ways) & bit_of(at)); }
    std::uint64_t index_at(std::size_t at) const { return m_places[at].number - 1; }
    bool locked(std::size_t at) const { return word_of(at, locked_ways) & bit_of(at); }
    /// Locks a line. \returns false if no more lines of its set may be locked
    bool lock(std::size_t at);
    void unlock(std::size_t at) { word_of(at, locked_ways) &= ~bit_of(at); }
    void unlock_all();
    /// Places there are, filled or empty; of a place outside of its set's ways empty() is true.
    std::size_t places() const { return m_places.size(); }
    /// Tells the host that find() will follow.
    void prefetch(std::uint64_t index) const { __builtin_prefetch(&m_words[set_of(index) * m_stride], 1); }
    /// The same where prefetch() was some time ago, for fill() of the place that has to give way.
    void prefetch_victim(std::uint64_t index) const { __builtin_prefetch(&m_places[victim(index)], 1); }
    void clear();

private:
    /// Words of a set: bit n of the first three is way n; nibble n of the order is the nth way since its last use, with
    /// up to 16 ways. Hashes of tags follow, 8 a word.
    enum word { locked_ways, dirty_ways, used_ways, order, hashes };
    static constexpr std::uint64_t each_byte = 0x0101'0101'0101'0101, each_nibble = 0x1111'1111'1111'1111;
    static constexpr std::uint64_t max_ordered = 16;

    static std::uint64_t hash_of(std::uint64_t index) { return index * 0x9e37'79b9'7f4a'7c15 >> 56; }
    std::size_t set_of(std::uint64_t index) const {
        return m_sets & (m_sets - 1) ? index % m_sets : index & (m_sets - 1);
    }
    std::size_t way_at(std::size_t at) const { return at & ((std::size_t{1} << m_way_bits) - 1); }
    std::uint64_t bit_of(std::size_t at) const { return std::uint64_t{1} << way_at(at); }
    std::uint64_t& word_of(std::size_t at, word w) { return m_words[(at >> m_way_bits) * m_stride + w]; }
    std::uint64_t word_of(std::size_t at, word w) const { return m_words[(at >> m_way_bits) * m_stride + w]; }
    std::size_t position_of(std::uint64_t index) const;
    void touch(std::size_t at);

    std::uint64_t m_sets, m_ways, m_locked_ways;
    unsigned m_way_bits;  // of a place, which is set << m_way_bits | way
    std::size_t m_stride;
    std::uint32_t m_clock = 0;
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
    const std::uint64_t* const words = &m_words[set * m_stride + hashes];
    const std::uint64_t wanted = hash_of(index) * each_byte;
    for (std::size_t way = 0; way < m_ways; way += 8) {
        const std::uint64_t differs = words[way / 8] ^ wanted;
        // Bytes that are zero, and some behind these.
        for (std::uint64_t same = (differs - each_byte) & ~differs & each_byte << 7; same; same &= same - 1) {
            const std::size_t at = first + way + static_cast<unsigned>(__builtin_ctzll(same)) / 8;
            if (at < first + m_ways && m_places[at].number == index + 1) return at;
        }
    }
    return absent;
}

inline void l2_tags::touch(std::size_t at) {
    if (m_ways > max_ordered) {
        m_used[at] = ++m_clock;
        return;
    }
    std::uint64_t& ways = word_of(at, order);
    const std::uint64_t differs = ways ^ way_at(at) * each_nibble;
    const std::uint64_t same = (differs - each_nibble) & ~differs & each_nibble << 3;
    const std::uint64_t later = (std::uint64_t{1} << (static_cast<unsigned>(__builtin_ctzll(same)) & ~3u)) - 1;
    ways = (ways & ~(later << 4 | 0xf)) | (ways & later) << 4 | way_at(at);
}

}  // namespace fabricvp::gpu
