// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "network/packet.h"

namespace fabricvp::network {

/// What one end of a link tells the other, where the two are in different simulations; and what a network that is in
/// several of them has to know everywhere.
struct link_message {
    enum class kind : std::uint8_t {
        packet,       ///< its head and tail say when it arrives
        credits,      ///< a buffer of the end that sends is free again
        signal,       ///< the end that sends holds the link down, or does no longer
        state_change  ///< of a switch's port, for all: its link has gone down or is up
    };

    kind what = kind::signal;
    bool held = false;         ///< of a signal; of a change: the link is down
    std::uint8_t lane = 0;     ///< of credits
    std::uint16_t blocks = 0;  ///< of credits
    std::uint32_t end = 0;  ///< that is to hear it, or of which whose link changed: twice the number of its link, and
                            ///< one more for the second end
    ticks sent = 0;         ///< now, where it is sent
    ticks when = 0;         ///< from when on it counts, where it is received
    packet_ptr packet;      ///< spans do not travel
};

using message_bytes = std::vector<std::uint8_t>;

/// Puts a message behind others. The bytes are meant for the same program on a machine of the same kind.
void append(message_bytes& to, const link_message& m);
/// Takes the next message out, beginning at `at`, which moves on. \throws std::runtime_error if the bytes end in the
/// middle of one
link_message take_message(const message_bytes& from, std::size_t& at);

}  // namespace fabricvp::network
