// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lanes/compute_unit.h"

namespace fabricvp::gpu {

/// One of a compute unit's SIMD units: whose turn it is. Its event ends the running segment or, idle, starts one.
class compute_unit::simd_unit {
public:
    simd_unit(compute_unit& owner) : m_owner(owner) {}

    std::vector<wavefront*> members;  ///< its slots
    wavefront* running = nullptr;
    lane_stop stop = lane_stop::budget;
    unsigned live = 0;  ///< wavefronts that it holds
    unsigned last = 0;  ///< position of the member that ran last
    // Who may run next, by position: looked at so often that wavefronts themselves would be too far apart.
    std::uint32_t ready = 0;   ///< in state ready
    std::uint32_t asleep = 0;  ///< in state memory, and known from when on its registers can be used:
    std::array<ticks, 16> wakes{};
    // What the next segment uses first, for the host's caches: rows, and of what registers.
    std::array<std::uint64_t, 16> rows{};
    std::array<const lane_registers*, 16> registers{};
    std::array<std::uint8_t, 2>
        operands{};  ///< of the memory instruction at which the running segment stops: address, data
    calendar_event event{method<&simd_unit::happen>, this};

private:
    void happen() {
        m_owner.expect_next(*this);
        if (auto* w = running) {
            running = nullptr;
            m_owner.end_segment(*w, stop);
        }
        m_owner.run_next(*this);
    }
    compute_unit& m_owner;
};

}  // namespace fabricvp::gpu
