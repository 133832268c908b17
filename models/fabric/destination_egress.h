// SPDX-License-Identifier: Apache-2.0
// A device's egress with a queue for each destination and virtual channel: what waits for a slow way holds up nothing
// that goes elsewhere. Destinations take turns, channels too. So that packets for a slow way cannot fill the buffers
// before it either, only so many requests to a destination in another cluster may be without their response; what is
// under way there and back then stays below what the switches hold, and no shared buffer backs up to a device.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/growing_ring.h"
#include "base/statistics.h"
#include "fabric/stage.h"

namespace fabricvp::fabric {

class destination_egress final : public egress_stage {
public:
    histogram waiting{*this, "waiting", "1", "packets that a packet found before it in its queue"};

    /// \param window requests to a windowed destination that may be without their response
    destination_egress(const sc_core::sc_module_name& name, std::uint64_t window);

    /// The next terminal, from 0 on; all must be there before the first packet. \param windowed whether the window
    /// counts for it
    void add_destination(bool windowed);
    unsigned destinations() const { return static_cast<unsigned>(m_destinations.size()); }

    /// It holds as many as come.
    bool has_room(virtual_channel, unsigned, unsigned) const override { return true; }
    void push(const packet_ptr& p) override;
    bool empty() const override { return m_count == 0; }
    packet_ptr next(port& out) override;
    packet_ptr drain() override;
    /// The response to a request on the channel of data has come from there: next() may find more.
    void response_received(unsigned terminal);

    void reset() override;

private:
    struct entry {
        packet_ptr packet;
        unsigned flits;
    };
    struct destination {
        std::array<growing_ring<entry>, virtual_channels> waiting;
        std::uint64_t in_flight = 0;  // requests without their response
        bool windowed = false;
        bool parked = false;  // its requests wait for a response
    };
    packet_ptr next_of(port& out, unsigned channel);
    packet_ptr pop(destination& d, unsigned channel);

    const std::uint64_t m_window;
    std::vector<destination> m_destinations;
    std::array<growing_ring<std::uint16_t>, virtual_channels> m_ready;  // those whose turn comes, in order
    unsigned m_next_channel = 0;
    std::uint64_t m_count = 0;
};

}  // namespace fabricvp::fabric
