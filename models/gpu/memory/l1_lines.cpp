// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l1_lines.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "gpu/memory/l1_geometry.h"
#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

invalid_parameter l1_invalid_parameter(std::uint64_t size, std::uint64_t ways) {
    if (ways && size && size % (ways * 64) == 0) return {};
    return {"size", fmt::format("size of {} bytes is not a multiple of ways x 64 = {}", size, ways * 64)};
}

l1_lines::l1_lines(std::uint64_t size, std::uint64_t ways) : m_ways(static_cast<unsigned>(ways)) {
    reject("cache", l1_invalid_parameter(size, ways));
    m_sets = size / (ways * 64);
    const std::size_t lines = size / 64;
    m_lines.assign(lines, {empty, 0, 0});
    m_data.resize(size);
}

unsigned l1_lines::victim(unsigned first) const {
    const state* const set = &m_lines[first];
    const std::uint64_t generation = m_generation;
    const std::uint32_t clock = m_clock;
    unsigned way = 0;
    std::uint32_t oldest = 0;  // age of that way
    for (unsigned i = 0; i < m_ways; ++i) {
        if (set[i].tag >> generation_shift != generation) return first + i;
        const std::uint32_t age = clock - set[i].used;
        way = age > oldest ? i : way;
        oldest = age > oldest ? age : oldest;
    }
    return first + way;
}

std::vector<unsigned> l1_lines::held() const {
    std::vector<unsigned> found;
    for (unsigned at = 0; at < m_lines.size(); ++at)
        if (holds_line(at)) found.push_back(at);
    return found;
}

bool l1_lines::fill(std::uint64_t line, const std::uint8_t* data, std::uint8_t sectors, unsigned way) {
    unsigned at = find(line);
    bool evicts = false;
    if (at == absent) {
        at = way == absent ? victim(set_of(line)) : way;
        evicts = holds_line(at);
        m_lines[at].tag = tag_of(line);
        m_lines[at].valid = 0;
    }
    if (sectors == 0xf) {
        std::memcpy(this->data(at), data, 64);
    } else {
        for (unsigned s = 0; s < 4; ++s)
            if (sectors >> s & 1) std::memcpy(this->data(at) + 16 * s, data + 16 * s, 16);
    }
    m_lines[at].valid |= sectors;
    touch(at);
    return evicts;
}

void l1_lines::update(std::uint64_t line, const std::uint8_t* data, std::uint64_t mask) {
    const unsigned at = find(line);
    if (at == absent) return;
    std::uint8_t* to = this->data(at);
    if (mask == ~std::uint64_t{0}) {
        std::memcpy(to, data, 64);
        m_lines[at].valid = 0xf;
        return;
    }
    copy_bytes(to, data, mask);
}

void l1_lines::clear() {
    if (++m_generation < (1u << 14) - 1) return;
    m_generation = 0;
    for (state& s : m_lines) s.tag = empty;
}

}  // namespace fabricvp::gpu
