// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/slot_table.h"

namespace fabricvp::gpu {

/// Reservations of load-reserved at the point of coherence: an owner (a lane, a hart) holds at most one, on one line. A
/// write to the line by any other agent ends it. While there is none, asking costs one test.
class l2_reservations {
public:
    void reserve(std::uint64_t owner, std::uint64_t line);
    /// Ends the owner's reservation, as store-conditional does whatever comes of it. \returns whether it was on `line`
    bool test_and_clear(std::uint64_t owner, std::uint64_t line);
    /// The owner writes to the line; its own reservation survives.
    void written(std::uint64_t line, std::uint64_t owner) {
        if (m_buckets[bucket_of(line)] != none) end_others(line, owner);
    }
    void clear();
    std::size_t held() const { return m_by_owner.size(); }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct node {
        std::uint64_t owner, line;
        std::uint32_t next;
    };
    using buckets = std::array<std::uint32_t, 1024>;
    static buckets empty() {
        buckets b;
        b.fill(none);
        return b;
    }
    static std::size_t bucket_of(std::uint64_t line) { return (line / 64 * 0x9e3779b97f4a7c15u) >> 54; }
    void end_others(std::uint64_t line, std::uint64_t owner);
    std::uint64_t unlink(std::uint32_t n);

    buckets m_buckets = empty();  // chains of nodes
    slot_table<node> m_nodes;
    std::unordered_map<std::uint64_t, std::uint32_t> m_by_owner;  // looked up only, never walked
};

}  // namespace fabricvp::gpu
