// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/tlb_entries.h"

#include <new>

namespace fabricvp::gpu {

namespace {

template <class T>
T* zeros(std::uint64_t n) {
    void* p = std::calloc(n, sizeof(T));
    if (!p) throw std::bad_alloc();
    return static_cast<T*>(p);
}

unsigned bucket_bits(std::uint64_t entries) {
    unsigned bits = 1;
    while (std::uint64_t{1} << bits < 2 * entries) ++bits;
    return bits;
}

}  // namespace

tlb_entries::tlb_entries(std::uint64_t sets, std::uint64_t ways)
    : m_sets(sets), m_ways(ways), m_shift(64 - bucket_bits(sets * ways)) {
    clear();
}

void tlb_entries::clear() {
    m_entries.reset(zeros<entry>(m_sets * m_ways));
    m_set.reset(zeros<set>(m_sets));
    m_buckets.reset(zeros<std::uint32_t>(std::uint64_t{1} << (64 - m_shift)));
    m_small = m_large = 0;
}

std::uint32_t tlb_entries::look_up(std::uint64_t key) {
    std::uint32_t e = bucket_of(key);
    while (e && m_entries[e - 1].key != key) e = m_entries[e - 1].chained;
    return e;
}

bool tlb_entries::find(std::uint32_t space, std::uint64_t page, translation& to) {
    bool large = false;
    std::uint32_t e = m_small ? look_up(key_of(space, page, false)) : 0;
    if (!e && m_large) {
        large = true;
        e = look_up(key_of(space, page, true));
    }
    if (!e) return false;
    const entry& found = m_entries[e - 1];
    to = {found.physical, static_cast<std::uint8_t>(large ? large_page_bits : small_page_bits), found.permissions, found.type,
          memory_fault::none};
    make_newest(m_set[set_of(found.key)], e);
    return true;
}

void tlb_entries::detach(set& s, std::uint32_t e) {
    const entry& x = m_entries[e - 1];
    (x.newer ? m_entries[x.newer - 1].older : s.newest) = x.older;
    (x.older ? m_entries[x.older - 1].newer : s.oldest) = x.newer;
}

void tlb_entries::make_newest(set& s, std::uint32_t e) {
    if (s.newest == e) return;
    detach(s, e);
    entry& x = m_entries[e - 1];
    x.newer = 0;
    x.older = s.newest;
    (s.newest ? m_entries[s.newest - 1].newer : s.oldest) = e;
    s.newest = e;
}

void tlb_entries::unchain(std::uint32_t e) {
    entry& x = m_entries[e - 1];
    if (!x.key) return;
    std::uint32_t* link = &bucket_of(x.key);
    while (*link != e) link = &m_entries[*link - 1].chained;
    *link = x.chained;
    --(x.key >> 36 & 1 ? m_large : m_small);
    x.key = 0;
}

void tlb_entries::insert(std::uint32_t space, std::uint64_t page, const translation& t) {
    const bool large = t.page_bits == large_page_bits;
    const std::uint64_t key = key_of(space, page, large);
    const std::uint64_t number = set_of(key);
    set& s = m_set[number];
    std::uint32_t e = look_up(key);
    if (!e) {
        if (s.used < m_ways) {
            e = static_cast<std::uint32_t>(number * m_ways + s.used++ + 1);
            entry& x = m_entries[e - 1];
            x.older = s.newest;
            (s.newest ? m_entries[s.newest - 1].newer : s.oldest) = e;
            s.newest = e;
        } else {
            e = s.oldest;
            unchain(e);
            make_newest(s, e);
        }
        entry& x = m_entries[e - 1];
        x.key = key;
        auto& bucket = bucket_of(key);
        x.chained = bucket;
        bucket = e;
        ++(large ? m_large : m_small);
    }
    entry& x = m_entries[e - 1];
    x.physical = t.physical;
    x.permissions = t.permissions;
    x.type = t.type;
}

void tlb_entries::clear(std::uint32_t space) {
    if (!m_small && !m_large) return;
    for (std::uint64_t n = 0; n < m_sets; ++n)
        for (std::uint32_t w = 0; w < m_set[n].used; ++w) {
            const auto e = static_cast<std::uint32_t>(n * m_ways + w + 1);
            if (m_entries[e - 1].key >> 37 == std::uint64_t{space} + 1) unchain(e);  // old enough to be taken in its turn
        }
}

}  // namespace fabricvp::gpu
