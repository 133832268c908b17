// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/growing_ring.h"
#include "base/statistics.h"
#include "fabric/stage.h"

namespace fabricvp::fabric {

/// First come, first served in each virtual channel; the channels take turns packet by packet.
class fifo_egress final : public egress_stage {
public:
    histogram waiting{*this, "waiting", "flits", "flits that a packet found before it"};

    /// \param entries flits that it holds, half of them requests, half responses; 0: as many as come
    /// \param page_tables the same of page-table packets with channels of their own
    fifo_egress(const sc_core::sc_module_name& name, std::uint64_t entries, std::uint64_t page_tables);

    bool has_room(virtual_channel c, unsigned flits, unsigned) const override {
        const auto capacity = m_capacity[!is_data(c)];
        return capacity == 0 || m_flits[static_cast<unsigned>(c)] + flits <= capacity;
    }
    void push(const packet_ptr& p) override;
    bool empty() const override { return m_packets == 0; }
    packet_ptr next(port& out) override;
    packet_ptr drain() override;

    void reset() override;

private:
    packet_ptr pop(unsigned c);

    std::array<std::uint64_t, 2> m_capacity;  // of a channel: of data, of page tables
    struct entry {
        packet_ptr packet;
        unsigned flits;  // of the packet, which has long left the host's caches
    };
    std::array<growing_ring<entry>, virtual_channels> m_queues;
    std::array<std::uint64_t, virtual_channels> m_flits{};
    std::uint64_t m_packets = 0;
    unsigned m_next_grant = 0;
};

}  // namespace fabricvp::fabric
