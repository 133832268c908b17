// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/growing_ring.h"
#include "base/model.h"
#include "base/statistics.h"
#include "fabric/port.h"

namespace fabricvp::fabric {

/// What waits to leave by one port, and the rule that says what leaves next. The owner of the port asks for it whenever
/// the lanes are free. A rule may look into its queue, put packets together, cut them, let some overtake others, or let
/// the lanes idle in the hope of better.
class egress : public model {
public:
    explicit egress(const sc_core::sc_module_name& name) : model(name) {}

    /// Whether a packet for a terminal fits in.
    virtual bool has_room(virtual_channel c, unsigned flits, unsigned destination) const = 0;
    virtual void push(const packet_ptr& p) = 0;
    virtual bool empty() const = 0;
    /// Takes what goes next by a port whose lanes are free; null if nothing may go. If something is there nevertheless,
    /// the port's transmitter_ready() must follow: port::has_credit() sees to that where a credit was missing.
    virtual packet_ptr next(port& out) = 0;
    /// Packets for a terminal, which belongs to a cluster, leave here.
    virtual void serve(unsigned /*terminal*/, unsigned /*cluster*/) {}
    /// Time from the switch's pipeline to here.
    virtual ticks latency() const { return 0; }
    /// Takes out one packet after the other because the link is dead; null when nothing is left.
    virtual packet_ptr drain() { return nullptr; }
};

/// First come, first served in each virtual channel; the channels take turns packet by packet.
class fifo_egress final : public egress {
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

/// Makes the egress of a port of a switch. \param entries flits that it holds
using egress_maker = std::function<std::unique_ptr<egress>(const char* name, const port& out, std::uint64_t entries)>;
std::unique_ptr<egress> make_fifo_egress(const char* name, const port& out, std::uint64_t entries);

}  // namespace fabricvp::fabric
