// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/misfit.h"

namespace fabricvp::gpu {

/// Why lines of 64 bytes cannot make a cache of `size` bytes with `ways` lines a set.
misfit l1_misfit(std::uint64_t size, std::uint64_t ways);

}  // namespace fabricvp::gpu
