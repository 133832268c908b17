// SPDX-License-Identifier: Apache-2.0
#include "network/link_message.h"

namespace fabricvp::network {

void append_packet(message_bytes& to, const packet& p) {
    link::append_value(to, static_cast<const packet_fields&>(p));
    link::append_slice(to, p.payload);
}

void take_packet(const message_bytes& from, std::size_t& at, packet_ptr& p) {
    p = make_packet();
    link::take_value(from, at, static_cast<packet_fields&>(*p));
    link::take_slice(from, at, p->payload);
}

void append(message_bytes& to, const link_message& m) {
    link::append(to, static_cast<const link::message<packet, 1>&>(m));
    link::append_value(to, m.state_change);
    link::append_value(to, m.membership);
}

link_message take_message(const message_bytes& from, std::size_t& at) {
    link_message m;
    link::take(from, at, static_cast<link::message<packet, 1>&>(m));
    link::take_value(from, at, m.state_change);
    link::take_value(from, at, m.membership);
    return m;
}

}  // namespace fabricvp::network
