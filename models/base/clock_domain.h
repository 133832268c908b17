// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "base/time.h"

namespace fabricvp {

/// Converts between cycles and ticks. Edge n lies at n / frequency, rounded down to a picosecond each time anew, so
/// that frequencies whose period is not a whole number of picoseconds do not drift.
class clock_domain {
public:
    /// \throws std::invalid_argument unless the frequency is 1 Hz … 1 THz.
    explicit clock_domain(frequency f) : m_hertz(f.hertz) {
        if (m_hertz == 0 || m_hertz > ticks_per_second)
            throw std::invalid_argument("clock frequency must be 1 Hz ... 1 THz");
    }

    frequency rate() const { return {m_hertz}; }

    /// Time that `n` cycles take, counted from time zero.
    ticks span(std::uint64_t n) const { return static_cast<ticks>(static_cast<wide>(n) * ticks_per_second / m_hertz); }

    /// Number of whole cycles that have passed at time `t`: the largest n with span(n) <= t.
    std::uint64_t cycle_at(ticks t) const {
        // floor(n * s / f) <= t  <=>  n * s < (t + 1) * f
        return static_cast<std::uint64_t>(((static_cast<wide>(t) + 1) * m_hertz - 1) / ticks_per_second);
    }

    /// The first clock edge at or after `t`.
    ticks edge_at_or_after(ticks t) const {
        const auto n = cycle_at(t);
        return span(n) == t ? t : span(n + 1);
    }

private:
    using wide = unsigned __int128;
    std::uint64_t m_hertz;
};

}  // namespace fabricvp
