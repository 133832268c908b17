// SPDX-License-Identifier: Apache-2.0
// An Ethernet frame (IEEE 802.3): its bytes from the destination address to the end of the payload. The check sequence
// is not among them; it takes its time on the wire, as do preamble and gap. It travels over TLM-2.0 sockets with the
// protocol traits below. A switch that floods one gives the same frame to several ports, so frames are never changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <tlm>

#include "base/buffer.h"
#include "base/pool.h"
#include "link/phase.h"

namespace fabricvp::ethernet {

inline constexpr std::size_t header_bytes = 14, min_frame_bytes = 60, max_mtu = 9'000;

/// A MAC address as a number: the first byte on the wire is the highest of six.
using address = std::uint64_t;
/// Of a group of stations, or of all.
constexpr bool is_group(address a) { return a >> 40 & 1; }
/// Six bytes in hexadecimal with colons between. \throws std::invalid_argument if it is none of one station
address parse_address(const std::string& text);
std::string text_of(address a);
inline address read_address(const std::uint8_t* from) {
    address a = 0;
    for (unsigned i = 0; i < 6; ++i) a = a << 8 | from[i];
    return a;
}

struct frame : pooled<frame> {
    buffer_slice bytes;  ///< at least `min_frame_bytes`

    address destination() const { return read_address(bytes.data()); }
    address source() const { return read_address(bytes.data() + 6); }
    /// With preamble, check sequence and the gap to the next.
    std::uint64_t wire_bytes() const { return bytes.length + 8 + 4 + 12; }
    void recycle() { bytes = {}; }
};

using frame_ptr = pooled_ptr<frame>;

/// A frame from the pool around these bytes.
frame_ptr make_frame(const buffer_slice& bytes);

struct link_protocol {
    using tlm_payload_type = frame;
    using tlm_phase_type = link::phase;
};

}  // namespace fabricvp::ethernet
