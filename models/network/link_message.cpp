// SPDX-License-Identifier: Apache-2.0
#include "network/link_message.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace fabricvp::network {

namespace {

struct fixed_part {
    ticks sent, when;
    std::uint32_t end, payload;
    std::uint16_t blocks;
    std::uint8_t what, lane;
    bool held;
};

static_assert(std::is_trivially_copyable_v<packet_fields> && std::is_trivially_copyable_v<fixed_part>);

void put(message_bytes& to, const void* from, std::size_t bytes) {
    const auto* data = static_cast<const std::uint8_t*>(from);
    to.insert(to.end(), data, data + bytes);
}

void get(const message_bytes& from, std::size_t& at, void* to, std::size_t bytes) {
    if (from.size() - at < bytes) throw std::runtime_error("a message of a link ends in its middle");
    if (bytes) std::memcpy(to, from.data() + at, bytes);
    at += bytes;
}

}  // namespace

void append(message_bytes& to, const link_message& m) {
    fixed_part f{};
    f.sent = m.sent;
    f.when = m.when;
    f.end = m.end;
    f.blocks = m.blocks;
    f.what = static_cast<std::uint8_t>(m.what);
    f.lane = m.lane;
    f.held = m.held;
    if (m.packet) f.payload = static_cast<std::uint32_t>(m.packet->payload.length);
    put(to, &f, sizeof f);
    if (m.what != link_message::kind::packet) return;
    put(to, static_cast<const packet_fields*>(m.packet.get()), sizeof(packet_fields));
    if (f.payload) put(to, m.packet->payload.data(), f.payload);
}

link_message take_message(const message_bytes& from, std::size_t& at) {
    fixed_part f;
    get(from, at, &f, sizeof f);
    link_message m;
    m.what = static_cast<link_message::kind>(f.what);
    m.held = f.held;
    m.lane = f.lane;
    m.blocks = f.blocks;
    m.end = f.end;
    m.sent = f.sent;
    m.when = f.when;
    if (m.what != link_message::kind::packet) return m;
    m.packet = make_packet();
    get(from, at, static_cast<packet_fields*>(m.packet.get()), sizeof(packet_fields));
    if (from.size() - at < f.payload) throw std::runtime_error("a message of a link ends in its middle");
    if (f.payload) {
        m.packet->payload = allocate_slice(f.payload);
        get(from, at, m.packet->payload.data(), f.payload);
    }
    return m;
}

}  // namespace fabricvp::network
