// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::riscv {

/// What an access to memory costs beyond the instruction's own cycles. Harts ask for each load, store, atomic and fetched
/// line when such a model is attached; data do not pass through it.
class memory_timing {
public:
    enum class use { fetch, load, store };

    virtual ~memory_timing() = default;
    /// \param hart index of the hart, from 0
    /// \param physical first byte; an access that crosses a line counts for both lines
    /// \param at the hart's local time
    /// \returns the time for which the hart stalls
    virtual ticks access(std::uint64_t hart, std::uint64_t physical, unsigned size, use u, ticks at) = 0;
};

}  // namespace fabricvp::riscv
