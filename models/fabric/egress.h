// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/prefetch.h"
#include "base/short_ring.h"
#include "base/statistics.h"
#include "fabric/stage.h"

namespace fabricvp::fabric {

/// First come, first served in each virtual channel; the channels take turns packet by packet.
class fifo_egress final : public egress_stage {
public:
    alignas(64) histogram waiting{*this, "waiting", "flits", "flits that a packet found before it"};

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

    /// A packet will come soon: the host fetches what that touches.
    void prefetch_push() const {
        prefetch(&m_capacity, prefetched_bytes);
        prefetch(&waiting, 1);  // its first buckets, and behind them all its sums
        prefetch(reinterpret_cast<const char*>(&waiting + 1) - 4 * sizeof(std::uint64_t), 1);
    }

private:
    packet_ptr pop(unsigned c);

    struct entry {
        packet_ptr packet;
        unsigned flits = 0;  // of the packet, which has long left the host's caches
    };
    using queue = short_ring<entry, 2>;
    static constexpr std::size_t prefetched_bytes = 48 + data_channels * sizeof(queue);

    alignas(64) std::array<std::uint64_t, 2> m_capacity;  // of a channel: of data, of page tables
    std::array<std::uint32_t, virtual_channels> m_flits{};
    std::uint64_t m_packets = 0;
    unsigned m_next_grant = 0;
    std::array<queue, virtual_channels> m_queues;
};

}  // namespace fabricvp::fabric
