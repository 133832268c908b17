// SPDX-License-Identifier: Apache-2.0
// Packets as bytes on the wire, from LRH to VCRC (InfiniBand Architecture Specification, volume 1, chapters
// 5, 7.7, 7.8, 8.3 and 9). The model never needs them: captures, corruptions, software that builds its own headers, and
// tests do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "network/packet.h"

namespace fabricvp::network {

/// The whole packet with its CRCs; those of a corrupted one are wrong. measure() must have set its pad count.
std::vector<std::uint8_t> encode(const packet& p);

/// Reads a packet of `bytes` (LRH to VCRC). \param whole without ICRC and VCRC if false
/// \returns why it is none, in words; null if it is one. CRCs are not looked at.
const char* decode(const std::uint8_t* bytes, std::size_t size, packet& to, bool whole = true);

/// CRCs of the bytes of a packet, as the bytes that follow it: the invariant one of LRH to pad bytes, the variant one
/// of LRH to ICRC. The lowest byte goes first.
std::uint32_t invariant_crc(const std::uint8_t* bytes, std::size_t size);
std::uint16_t variant_crc(const std::uint8_t* bytes, std::size_t size);

/// Whether the CRCs at the end of a whole packet are right.
bool has_good_invariant_crc(const std::vector<std::uint8_t>& whole);
bool has_good_variant_crc(const std::vector<std::uint8_t>& whole);

}  // namespace fabricvp::network
