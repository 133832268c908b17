// SPDX-License-Identifier: Apache-2.0
// What a generation of PCI Express carries: line coding, and the bytes around a TLP.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::pcie {

/// Data rate of one lane after line coding (8b/10b for 1 and 2, 128b/130b for 3 to 5; generation 6 carries 236 TLP
/// bytes in each 256-byte flit). \param generation 1 to 6
constexpr bandwidth lane_rate(unsigned generation) {
    switch (generation) {
        case 1: return {250'000'000};
        case 2: return {500'000'000};
        case 3: return {984'615'385};
        case 4: return {1'969'230'769};
        case 5: return {3'938'461'538};
        default: return {7'375'000'000};
    }
}

/// Bytes around a TLP on the wire: start, sequence number and LCRC (and end, for generations 1 and 2). Flits have none.
constexpr std::uint64_t framing_bytes(unsigned generation) { return generation <= 5 ? 8 : 0; }

/// A data link layer packet (acknowledgement, credit update) with its framing. Flits carry them in their own bytes.
constexpr std::uint64_t dllp_bytes(unsigned generation) { return generation <= 5 ? 8 : 0; }

/// Whether a link can have so many lanes.
constexpr bool is_width(std::uint64_t lanes) {
    return lanes == 12 || (lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0);
}
inline constexpr const char* width_list = "1, 2, 4, 8, 12, 16, 32";

/// Value of the link-speed fields of the PCI Express capability.
constexpr unsigned speed_code(unsigned generation) { return generation; }

}  // namespace fabricvp::pcie
