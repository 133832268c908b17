// SPDX-License-Identifier: Apache-2.0
// Small things of the transport layer: sequence numbers, acknowledgement syndromes, time-outs (InfiniBand Architecture
// Specification, volume 1, sections 9.7.5, 9.7.6; table 45).
#pragma once

#include <cstdint>

#include "base/time.h"
#include "network/packet.h"

namespace fabricvp::hca {

/// Sequence numbers go round: positive if `a` comes after `b`.
constexpr std::int32_t psn_difference(std::uint32_t a, std::uint32_t b) {
    const auto d = (a - b) & network::psn_mask;
    return d < 0x80'0000 ? static_cast<std::int32_t>(d) : static_cast<std::int32_t>(d) - 0x100'0000;
}
constexpr std::uint32_t psn_after(std::uint32_t psn, std::uint32_t n) { return (psn + n) & network::psn_mask; }

/// Packets that `bytes` take; none at all still takes one.
constexpr std::uint32_t packets_of(std::uint64_t bytes, std::uint32_t mtu) {
    return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + mtu - 1) / mtu);
}

enum class nak : std::uint8_t { sequence = 0, invalid_request = 1, remote_access = 2, remote_operation = 3 };

namespace aeth {
inline constexpr std::uint8_t ack = 0x1f;  ///< no credits told
constexpr std::uint8_t negative(nak code) { return static_cast<std::uint8_t>(0x60 | static_cast<unsigned>(code)); }
constexpr std::uint8_t not_ready(unsigned timer) { return static_cast<std::uint8_t>(0x20 | timer); }
constexpr unsigned kind(std::uint8_t syndrome) { return syndrome >> 5 & 3; }
inline constexpr unsigned kind_ack = 0, kind_not_ready = 1, kind_nak = 3;
constexpr unsigned value(std::uint8_t syndrome) { return syndrome & 0x1f; }
}  // namespace aeth

/// How long a requester waits after "receiver not ready".
constexpr ticks not_ready_time(unsigned timer) {
    constexpr std::uint32_t in_10_us[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                            48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                            2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return ticks{in_10_us[timer & 31]} * 10'000'000;
}

/// Local acknowledgement time-out; never for 0.
constexpr ticks ack_time(unsigned timeout) { return timeout == 0 ? never : ticks{4'096'000} << timeout; }

}  // namespace fabricvp::hca
