// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_reservations.h"

namespace fabricvp::gpu {

void l2_reservations::reserve(std::uint64_t owner, std::uint64_t line) {
    test_and_clear(owner, line);
    auto& head = m_buckets[bucket_of(line)];
    const auto n = m_nodes.insert({owner, line, head});
    head = n;
    m_by_owner.emplace(owner, n);
}

bool l2_reservations::test_and_clear(std::uint64_t owner, std::uint64_t line) {
    const auto at = m_by_owner.find(owner);
    if (at == m_by_owner.end()) return false;
    const std::uint32_t n = at->second;
    m_by_owner.erase(at);
    return unlink(n) == line;
}

/// \returns the line
std::uint64_t l2_reservations::unlink(std::uint32_t n) {
    std::uint32_t* link = &m_buckets[bucket_of(m_nodes[n].line)];
    while (*link != n) link = &m_nodes[*link].next;
    *link = m_nodes[n].next;
    return m_nodes.remove(n).line;
}

void l2_reservations::end_others(std::uint64_t line, std::uint64_t owner) {
    std::uint32_t* link = &m_buckets[bucket_of(line)];
    while (*link != none) {
        const std::uint32_t n = *link;
        node& at = m_nodes[n];
        if (at.line != line || at.owner == owner) {
            link = &at.next;
            continue;
        }
        *link = at.next;
        m_by_owner.erase(at.owner);
        m_nodes.remove(n);
    }
}

void l2_reservations::clear() {
    m_buckets.fill(none);
    m_nodes.clear();
    m_by_owner.clear();
}

}  // namespace fabricvp::gpu
