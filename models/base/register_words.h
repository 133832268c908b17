// SPDX-License-Identifier: Apache-2.0
// How an access of any length from outside reaches registers: in pieces that do not cross a multiple of 8.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabricvp {

/// Calls access(offset of the piece, bytes before it, its bytes) for each.
template <class Access>
void for_each_word(std::uint64_t offset, std::uint32_t bytes, Access access) {
    for (std::uint32_t done = 0; done < bytes;) {
        const auto size = std::min<std::uint32_t>(bytes - done, 8u - static_cast<std::uint32_t>((offset + done) % 8));
        access(offset + done, done, size);
        done += size;
    }
}

}  // namespace fabricvp
