// SPDX-License-Identifier: Apache-2.0
// Sets of bytes of a line: bit n, byte n.
#pragma once

#include <cstring>

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

/// The bytes of the sectors whose bits are set.
constexpr std::uint64_t bytes_of_sectors(std::uint8_t sectors) {
    std::uint64_t bytes = 0;
    for (unsigned s = 0; s < line_sectors; ++s)
        if (sectors >> s & 1) bytes |= bytes_of(s * sector_bytes, sector_bytes);
    return bytes;
}

/// Copies the bytes of the set from one line to another.
inline void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
    for (; bytes; bytes >>= 8, to += 8, from += 8) {
        const std::uint64_t eight = bytes & 0xff;
        if (!eight) continue;
        std::uint64_t word;
        std::memcpy(&word, from, sizeof word);
        if (eight != 0xff) {
            // One bit in each byte of the set, then all bits of these bytes.
            const std::uint64_t in_set = eight * 0x0101'0101'0101'0101 & 0x8040'2010'0804'0201;
            const std::uint64_t mask = ((in_set + 0x7f7f'7f7f'7f7f'7f7f) >> 7 & 0x0101'0101'0101'0101) * 0xff;
            std::uint64_t old;
            std::memcpy(&old, to, sizeof old);
            word = (word & mask) | (old & ~mask);
        }
        std::memcpy(to, &word, sizeof word);
    }
}

}  // namespace fabricvp::gpu
