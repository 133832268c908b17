// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace fabricvp {

/// Asks the host for the cache lines of what will be read and written soon, while other work goes on.
inline void prefetch(const void* begin, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(begin) + at, 1);
}

}  // namespace fabricvp
