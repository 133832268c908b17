// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link/message.h"
#include "network/packet.h"

namespace fabricvp::network {

/// What one end of a link tells the other, where the two are in different simulations; and what a network that is in
/// several of them has to know everywhere. `end` is twice the number of the end's link, and one more for the second
/// end.
struct link_message : link::message<packet, 1> {
    /// Of a switch's port, for all: its link, that of `end`, has gone down (`signal` is 1) or is up.
    bool state_change = false;
    /// Of subnet administration, for all: node `end` now belongs to the group of this LID (`signal` is 1), or no
    /// longer.
    std::uint16_t membership = 0;
};

using link::message_bytes;

void append_packet(message_bytes& to, const packet& p);
void take_packet(const message_bytes& from, std::size_t& at, packet_ptr& p);
/// Puts a message behind others. The bytes are meant for the same program on a machine of the same kind.
void append(message_bytes& to, const link_message& m);
/// Takes the next message out, beginning at `at`, which moves on. \throws std::runtime_error if the bytes end in the
/// middle of one
link_message take_message(const message_bytes& from, std::size_t& at);

}  // namespace fabricvp::network
