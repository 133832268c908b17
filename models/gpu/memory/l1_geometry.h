// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/invalid_parameter.h"

namespace fabricvp::gpu {

/// Why lines of 64 bytes cannot make a cache of `size` bytes with `ways` lines a set.
invalid_parameter l1_invalid_parameter(std::uint64_t size, std::uint64_t ways);

}  // namespace fabricvp::gpu
