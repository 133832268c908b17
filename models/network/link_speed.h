// SPDX-License-Identifier: Apache-2.0
// Signalling rates and widths of InfiniBand links (InfiniBand Architecture Specification, volume 2, and the roadmap of
// the InfiniBand Trade Association). Data rates are those after line coding (8b/10b up to QDR, 64b/66b from FDR10 on)
// and, from HDR on, after forward error correction.
#pragma once

#include <cstdint>
#include <utility>

#include "base/parameters.h"

namespace fabricvp::network {

enum class link_rate : std::uint8_t { sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr };

/// Lanes each way.
enum class link_width : std::uint8_t { x1 = 1, x2 = 2, x4 = 4, x8 = 8, x12 = 12 };

/// Data rate of one lane.
constexpr bandwidth lane_rate(link_rate r) {
    constexpr std::uint64_t rates[] = {250'000'000,      // 2.5 GBd, 8b/10b
                                       500'000'000,      // 5 GBd
                                       1'000'000'000,    // 10 GBd
                                       1'250'000'000,    // 10.3125 GBd, 64b/66b
                                       1'704'545'454,    // 14.0625 GBd
                                       3'125'000'000,    // 25.78125 GBd
                                       6'250'000'000,    // 50 Gb/s
                                       12'500'000'000};  // 100 Gb/s
    return {rates[static_cast<unsigned>(r)]};
}
constexpr std::uint64_t lanes_of(link_width w) { return static_cast<std::uint64_t>(w); }

}  // namespace fabricvp::network

namespace fabricvp {

template <>
struct choice_traits<network::link_rate> {
    static constexpr std::pair<network::link_rate, const char*> names[] = {
        {network::link_rate::sdr, "SDR"},     {network::link_rate::ddr, "DDR"}, {network::link_rate::qdr, "QDR"},
        {network::link_rate::fdr10, "FDR10"}, {network::link_rate::fdr, "FDR"}, {network::link_rate::edr, "EDR"},
        {network::link_rate::hdr, "HDR"},     {network::link_rate::ndr, "NDR"}};
};

template <>
struct choice_traits<network::link_width> {
    static constexpr std::pair<network::link_width, const char*> names[] = {{network::link_width::x1, "1x"},
                                                                            {network::link_width::x2, "2x"},
                                                                            {network::link_width::x4, "4x"},
                                                                            {network::link_width::x8, "8x"},
                                                                            {network::link_width::x12, "12x"}};
};

}  // namespace fabricvp
