// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_pages.h"
#include "gpu/memory/translation.h"

namespace fabricvp::gpu {

/// The entries of a TLB: set-associative up to fully associative, pages of 4 KiB and 2 MiB together, least recently
/// used first. A lookup costs a hash probe however many ways there are. Entries lie side by side in the order in which
/// they came into use, whatever their sets, and the hash table grows with them: a large TLB that is hardly used stays
/// in the host's caches.
class tlb_entries {
public:
    tlb_entries(std::uint64_t sets, std::uint64_t ways);

    /// \param page number of a 4 KiB page \returns false if it is not there
    bool find(std::uint32_t space, std::uint64_t page, translation& to);
    void insert(std::uint32_t space, std::uint64_t page, const translation& t);
    void clear(std::uint32_t space);
    void clear();

private:
    struct entry {
        std::uint64_t key;  // 0: none
        std::uint64_t physical;
        std::uint32_t newer, older;  // in its set, plus one; 0: none
        std::uint32_t chained;       // next of the hash bucket, plus one
        std::uint8_t permissions, type;
    };
    struct set {
        std::uint32_t newest = 0, oldest = 0, used = 0;
    };

    static std::uint64_t key_of(std::uint32_t space, std::uint64_t page, bool large) {
        return (std::uint64_t{space} + 1) << 37 | std::uint64_t{large} << 36 | (large ? page >> 9 : page);
    }
    std::uint32_t& bucket_of(std::uint64_t key) { return m_buckets[(key * 0x9e3779b97f4a7c15u) >> m_shift]; }
    std::uint64_t set_of(std::uint64_t key) const {
        const std::uint64_t number = key & 0xfffffffff;
        return m_sets & (m_sets - 1) ? number % m_sets : number & (m_sets - 1);
    }
    std::uint32_t look_up(std::uint64_t key);
    void chain(std::uint32_t e);
    void grow();
    void unchain(std::uint32_t e);
    void detach(set& s, std::uint32_t e);
    void make_newest(set& s, std::uint32_t e);

    std::uint64_t m_sets, m_ways;
    unsigned m_shift = 0;
    std::uint64_t m_small = 0, m_large = 0;  // entries of each size
    large_page_vector<entry> m_entries;
    large_page_vector<set> m_set;
    large_page_vector<std::uint32_t> m_buckets;  // a power of two, at least twice as many as entries
};

}  // namespace fabricvp::gpu
