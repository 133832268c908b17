// SPDX-License-Identifier: Apache-2.0
#include "gpu/l2_tags.h"

#include <algorithm>

namespace fabricvp::gpu {

l2_tags::line* l2_tags::find(std::uint64_t index) {
    line* const set = &m_lines[set_of(index)];
    for (line* l = set; l != set + m_ways; ++l) {
        if (l->number != index + 1) continue;
        l->used = ++m_clock;
        return l;
    }
    return nullptr;
}

l2_tags::line& l2_tags::victim(std::uint64_t index) {
    line* const set = &m_lines[set_of(index)];
    line* oldest = nullptr;
    for (line* l = set; l != set + m_ways; ++l)
        if (!l->locked && (!oldest || l->used < oldest->used)) oldest = l;
    return *oldest;  // there is one: not all ways may be locked
}

bool l2_tags::can_lock(std::uint64_t index) const {
    const line* const set = &m_lines[set_of(index)];
    const auto locked = std::count_if(set, set + m_ways, [](const line& l) { return l.locked; });
    return static_cast<std::uint64_t>(locked) < m_locked_ways;
}

void l2_tags::clear() {
    std::fill(m_lines.begin(), m_lines.end(), line{});
    m_clock = 0;
}

}  // namespace fabricvp::gpu
