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
    m_entries.resize(m_sets * m_ways);
}

cache_tags::entry* cache_tags::find(std::uint64_t address) {
    address = line_of(address);
    auto* const first = set_of(address);
    auto* const found =
        std::find_if(first, first + m_ways, [&](const entry& e) { return e.used && e.address == address; });
    return found == first + m_ways ? nullptr : found;
}

cache_tags::result cache_tags::access(std::uint64_t address, bool write) {
    address = line_of(address);
    result r;
    auto* e = find(address);
    r.hit = e;
    if (!e) {
        auto* const first = set_of(address);
        e = std::min_element(first, first + m_ways, [](const entry& a, const entry& b) { return a.used < b.used; });
        if (e->used) {
            r.evicted = e->address;
            if (e->dirty) r.written_back = e->address;
        }
        *e = {address, 0, false};
    }
    e->used = ++m_clock;
    e->dirty = e->dirty || write;
    return r;
}

void cache_tags::use_again(std::uint64_t address) {
    if (auto* e = find(address)) e->used = ++m_clock;
}

bool cache_tags::write_back(std::uint64_t address) {
    auto* e = find(address);
    if (e) e->dirty = true;
    return e;
}

bool cache_tags::holds(std::uint64_t address) const { return find(address); }

bool cache_tags::dirty(std::uint64_t address) const {
    const auto* e = find(address);
    return e && e->dirty;
}

bool cache_tags::invalidate(std::uint64_t address) {
    auto* e = find(address);
    if (!e) return false;
    const bool was_dirty = e->dirty;
    *e = {};
    return was_dirty;
}

bool cache_tags::clean(std::uint64_t address) {
    auto* e = find(address);
    if (!e) return false;
    const bool was_dirty = e->dirty;
    e->dirty = false;
    return was_dirty;
}

void cache_tags::clear() {
    std::fill(m_entries.begin(), m_entries.end(), entry{});
    m_clock = 0;
}

}  // namespace fabricvp::host
