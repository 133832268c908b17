// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/tlb_entries.h"

namespace fabricvp::gpu {

namespace {
constexpr unsigned min_bucket_bits = 7;
}

tlb_entries::tlb_entries(std::uint64_t sets, std::uint64_t ways) : m_sets(sets), m_ways(ways) { clear(); }

void tlb_entries::clear() {
    m_entries.clear();
    m_set.assign(m_sets, {});
    m_buckets.assign(std::size_t{1} << min_bucket_bits, 0);
    m_shift = 64 - min_bucket_bits;
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
    to = {found.physical, static_cast<std::uint8_t>(large ? large_page_bits : small_page_bits), found.permissions,
          found.type, memory_fault::none};
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

void tlb_entries::chain(std::uint32_t e) {
    auto& bucket = bucket_of(m_entries[e - 1].key);
    m_entries[e - 1].chained = bucket;
    bucket = e;
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

void tlb_entries::grow() {
    m_buckets.assign(2 * m_buckets.size(), 0);
    --m_shift;
    for (std::uint32_t e = 1; e <= m_entries.size(); ++e)
        if (m_entries[e - 1].key) chain(e);
}

void tlb_entries::insert(std::uint32_t space, std::uint64_t page, const translation& t) {
    const bool large = t.page_bits == large_page_bits;
    const std::uint64_t key = key_of(space, page, large);
    const std::uint64_t number = set_of(key);
    set& s = m_set[number];
    std::uint32_t e = look_up(key);
    if (!e) {
        if (s.used < m_ways) {
            ++s.used;
            m_entries.push_back({});
            e = static_cast<std::uint32_t>(m_entries.size());
            m_entries[e - 1].older = s.newest;
            (s.newest ? m_entries[s.newest - 1].newer : s.oldest) = e;
            s.newest = e;
        } else {
            e = s.oldest;
            unchain(e);
            make_newest(s, e);
        }
        m_entries[e - 1].key = key;
        ++(large ? m_large : m_small);
        if (2 * m_entries.size() > m_buckets.size())
            grow();
        else
            chain(e);
    }
    entry& x = m_entries[e - 1];
    x.physical = t.physical;
    x.permissions = t.permissions;
    x.type = t.type;
}

void tlb_entries::clear(std::uint32_t space) {
    if (!m_small && !m_large) return;
    for (std::uint32_t e = 1; e <= m_entries.size(); ++e)
        if (m_entries[e - 1].key >> 37 == std::uint64_t{space} + 1) unchain(e);  // old enough to be taken in its turn
}

}  // namespace fabricvp::gpu
