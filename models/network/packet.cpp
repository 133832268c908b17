// SPDX-License-Identifier: Apache-2.0
#include "network/packet.h"

namespace fabricvp::network {

void packet::measure() {
    bth.pad = static_cast<std::uint8_t>(-payload.length & 3);
    const auto bytes = packet_bytes();
    // The start delimiter, the VCRC and the end delimiter make one word more.
    wire_bytes = static_cast<std::uint16_t>(bytes + 4);
    blocks = static_cast<std::uint16_t>((bytes + 2 + 63) / 64);
}

void packet::recycle() {
    static_cast<packet_fields&>(*this) = packet_fields{};
    payload = {};
    spans.clear();
}

packet_ptr make_packet() {
    static pool<packet> packets;
    return packets.make();
}

packet_ptr copy_packet(const packet& p) {
    auto copy = make_packet();
    static_cast<packet_fields&>(*copy) = p;
    copy->payload = p.payload;
    return copy;
}

}  // namespace fabricvp::network
