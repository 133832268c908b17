// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::riscv {

/// The real-time counter behind the `time` CSR (mtime). The CLINT of a node implements it.
class timebase {
public:
    virtual ~timebase() = default;
    /// Counter value at simulated time `at`.
    virtual std::uint64_t time_at(ticks at) const = 0;
    /// The earliest simulated time at which the counter is >= `value` (`never` if beyond the end of time).
    virtual ticks when(std::uint64_t value) const = 0;
};

}  // namespace fabricvp::riscv
