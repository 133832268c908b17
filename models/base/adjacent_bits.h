// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabricvp {

/// Bits of a word of 64 that flip together, one beside the other: `count` of them (1 … 64) from `first` on. Where the
/// word ends before, its last ones, so that two are never one.
constexpr std::uint64_t adjacent_bits(std::uint64_t first, std::uint64_t count) {
    return ~std::uint64_t{0} >> (64 - count) << std::min(first, 64 - count);
}

}  // namespace fabricvp
