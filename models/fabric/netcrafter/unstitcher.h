// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <vector>

#include "fabric/netcrafter/wire_unit.h"

namespace fabricvp::fabric::netcrafter {

/// The far end of a link between clusters: takes units apart. Where packets begin and end, their class, ID,
/// destination, address and data come from the bytes alone; the rest from their side records.
class unstitcher {
public:
    explicit unstitcher(const packet_format& format) : m_format(format) {}

    /// A destination that packets may have.
    void add_destination(unsigned terminal) { m_known.set(terminal); }

    /// Takes the packets out that are complete now, in the order of their bytes.
    /// \param corrupted the link has not got it across whole: what is in it is poisoned
    /// \returns null, or what is wrong with the bytes; then all packets that had a part in the unit are poisoned
    const char* take(wire_unit& u, bool corrupted, packet_list& complete);
    /// Ends of packets that wait for the rest.
    std::size_t waiting() const { return m_tails.size(); }
    /// Destination of the first packet of a unit; out of range if the bytes name none that is known.
    unsigned destination_of(const wire_unit& u) const;

    void reset() { m_tails.clear(); }

private:
    struct tail {
        std::uint16_t id;
        std::uint8_t size;
        bool corrupted;
        std::array<std::uint8_t, max_packet_bytes> bytes;
    };
    struct item {
        std::size_t part;
        const std::uint8_t* bytes;
        wire_header header;
    };

    const char* parse(wire_unit& u);
    const char* parse_packet(wire_unit& u, unsigned& at, follower& next);
    const char* parse_tail(wire_unit& u, unsigned& at, follower& next);
    wire_unit::part* part_of(wire_unit& u, std::uint16_t id, bool end);
    std::vector<tail>::iterator find(std::uint16_t id);
    void fail(wire_unit& u, packet_list& complete);

    const packet_format m_format;
    std::bitset<destinations> m_known;
    std::vector<tail> m_tails, m_new_tails;
    std::array<std::uint8_t, max_packet_bytes> m_joined;  // of the packet whose end had come before
    boost::container::static_vector<item, wire_unit::max_parts> m_items;
    std::uint32_t m_seen = 0;  // parts that the bytes have named
};

}  // namespace fabricvp::fabric::netcrafter
