// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::riscv {

/// What an access to memory costs beyond the instruction's own cycles. A hart with such a model attached asks it for
/// each load, store and atomic in direct memory, and is slower to simulate; data do not pass through it. Fetches are
/// not asked for: code is taken to stay in the first level.
class memory_timing {
public:
    enum class use { load, store };

    virtual ~memory_timing() = default;
    /// \param hart index of the hart, from 0
    /// \param physical first byte; an access that crosses a line counts for both lines
    /// \param at the hart's local time
    /// \returns the time for which the hart stalls
    virtual ticks access(std::uint64_t hart, std::uint64_t physical, unsigned size, use u, ticks at) = 0;
};

}  // namespace fabricvp::riscv
