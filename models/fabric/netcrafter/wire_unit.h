// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/container/static_vector.hpp>

#include "fabric/stage_data.h"
#include "fabric/wire_format.h"

namespace fabricvp::fabric::netcrafter {

/// What goes over a link between clusters as one: a packet, or what its end left of it, and what rides in its last
/// flit. The far end reads the bytes; beside them it has the side records, found by the IDs that the bytes name. As for
/// timing, errors and replays the link treats a unit as a packet.
class wire_unit final : public pooled_stage_data<wire_unit> {
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
        ticks waited = 0;  ///< for others to ride
    };

    std::array<std::uint8_t, max_bytes> bytes;  ///< what flits carry, the last one padded with zeros
    ticks ready = 0;                            ///< when the last byte of all that is in it is at hand
    wire_format format;
    boost::container::static_vector<part, max_parts> parts;

    unsigned length() const { return flits * format.flit; }
    void visit(void (*f)(void* context, packet& each), void* context) override {
        for (auto& part : parts)
            if (part.record) f(context, *part.record);
    }
    bool flip(std::size_t byte, std::uint8_t bits) override {
        if (byte < length()) bytes[byte] ^= bits;
        return true;
    }
    void recycle() {
        parts.clear();
        ready = 0;
    }
};

using wire_unit_ptr = boost::intrusive_ptr<wire_unit>;
wire_unit_ptr make_wire_unit();

}  // namespace fabricvp::fabric::netcrafter
