// SPDX-License-Identifier: Apache-2.0
#include "fabric/signature.h"

#include <array>
#include <cstring>

namespace fabricvp::fabric {

namespace {

std::uint64_t word_at(std::uint64_t address) {
    auto x = (address + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    return x * 0xbf58476d1ce4e5b9u;
}

using sector = std::array<std::uint64_t, 2>;

/// What a sector holds that goes from or to a requester.
sector signature(const packet& p, unsigned requester, unsigned server, unsigned at) {
    const auto address = word_at(p.line + at);
    return {address, word_at(address ^ (std::uint64_t{requester} << 48 | std::uint64_t{server} << 32 | p.tag))};
}

}  // namespace

void sign(packet& p, unsigned requester, unsigned server) {
    for (unsigned at = 0; at < line_bytes; at += sizeof(sector)) {
        const auto s = signature(p, requester, server, at);
        std::memcpy(p.data.data() + at, s.data(), sizeof s);
    }
}

bool intact(const packet& p, unsigned requester, unsigned server, unsigned sectors) {
    const bool entry = p.type == packet_class::page_table_response;  // it brings eight bytes
    for (unsigned at = 0; at < line_bytes; at += sizeof(sector)) {
        if (!(sectors >> at / sizeof(sector) & 1)) continue;
        sector s;
        std::memcpy(s.data(), p.data.data() + at, sizeof s);
        const auto right = signature(p, requester, server, at);
        if (!entry && s != right) return false;
        if (entry && p.offset / sizeof(sector) == at / sizeof(sector) && s[p.offset / 8 % 2] != right[p.offset / 8 % 2])
            return false;
    }
    return true;
}

}  // namespace fabricvp::fabric
