// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace fabricvp::network {

/// Which virtual lane goes next by a port (InfiniBand Architecture Specification, volume 1, section 7.6.9): lanes of
/// the high-priority table before those of the low-priority one, until they have sent as much as the limit says while
/// others wait; within a table in turns, each as long as its weight lasts.
class lane_arbiter {
public:
    struct entry {
        std::uint8_t lane;
        std::uint8_t weight;  ///< in units of 64 bytes; 0: the entry is skipped
    };
    static constexpr unsigned no_lane = ~0u;
    static constexpr std::uint8_t unlimited = 255;

    /// \param limit what the high-priority lanes may send while others wait, in units of 4096 bytes; 0: one packet
    void configure(std::vector<entry> high, std::vector<entry> low, std::uint8_t limit = unlimited);
    const std::vector<entry>& high() const { return m_high.entries; }
    const std::vector<entry>& low() const { return m_low.entries; }
    std::uint8_t limit() const { return m_limit; }
    void set_limit(std::uint8_t limit) { m_limit = limit; }

    /// Of the lanes whose bits are set the one that goes now; `no_lane` if the tables name none of them.
    unsigned choose(std::uint32_t lanes);
    /// What was chosen takes so many units of 64 bytes.
    void charge(std::uint32_t blocks);

    /// All turns begin anew.
    void restart();

private:
    struct table {
        std::vector<entry> entries;
        std::size_t at = 0;
        std::int64_t left = 0;  // of the weight of the entry whose turn it is
        unsigned choose(std::uint32_t lanes);
        bool names(std::uint32_t lanes) const;
    };
    void restart_limit();

    table m_high, m_low;
    std::uint8_t m_limit = unlimited;
    std::int64_t m_high_left = 0;  // of what the limit allows
    table* m_chosen = &m_low;
};

}  // namespace fabricvp::network
