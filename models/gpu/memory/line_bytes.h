// SPDX-License-Identifier: Apache-2.0
// Sets of bytes of a line: bit n, byte n.
#pragma once

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// \param first offset in the line \param count 1 … line_bytes - first
constexpr std::uint64_t bytes_of(unsigned first, unsigned count) {
    return (count == line_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << first;
}

/// Bit n: sector n holds one of the bytes.
constexpr std::uint8_t sectors_of(std::uint64_t bytes) {
    return static_cast<std::uint8_t>(((bytes & 0xffff) != 0) | ((bytes & 0xffff'0000) != 0) << 1 |
                                     ((bytes & 0xffff'0000'0000) != 0) << 2 | (bytes >> 48 != 0) << 3);
}

}  // namespace fabricvp::gpu
