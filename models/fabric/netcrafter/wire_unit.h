// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <boost/container/static_vector.hpp>

#include "fabric/netcrafter/wire_format.h"

namespace fabricvp::fabric::netcrafter {

/// What goes over a link between clusters as one: a packet, or what its end left of it, and what rides in its last
/// flit. The far end reads the bytes; beside them it has the side records, found by the IDs that the bytes name. As for
/// timing, errors and replays the link treats a unit as a packet.
class wire_unit : public pooled<wire_unit> {
public:
    static constexpr unsigned max_bytes = 256, max_parts = 17;

    /// A whole packet, all but the end of one, or the end of one.
    enum class part_kind : std::uint8_t { whole, body, tail };
    struct part {
        packet_ptr record;  ///< of a packet that is complete with this part: what the wire format does not have
        part_kind what;
        virtual_channel channel;  ///< what its packet takes of the far end's buffers
        std::uint8_t bytes;       ///< without the sub-header
        std::uint16_t flits;
        std::uint16_t id;
    };

    std::array<std::uint8_t, max_bytes> bytes;  ///< what flits carry, the last one padded with zeros
    std::uint16_t used = 0;                     ///< without padding, sub-headers included
    std::uint16_t flits = 0;
    ticks ready = 0;  ///< when the last byte of all that is in it is at hand
    wire_format format;
    boost::container::static_vector<part, max_parts> parts;

    unsigned length() const { return flits * format.flit; }
    void recycle() {
        parts.clear();
        ready = 0;
    }
};

using wire_unit_ptr = boost::intrusive_ptr<wire_unit>;
wire_unit_ptr make_wire_unit();

/// Calls `f` with each packet that goes over a link as, or is complete with, `p`.
template <class F>
void for_each_packet(packet& p, F f) {
    if (!p.unit) return f(p);
    for (auto& part : p.unit->parts)
        if (part.record) f(*part.record);
}

}  // namespace fabricvp::fabric::netcrafter
