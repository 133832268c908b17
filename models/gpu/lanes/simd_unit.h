// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "gpu/lanes/compute_unit.h"

namespace fabricvp::gpu {

/// One of a compute unit's SIMD units: whose turn it is. Its event ends the running segment or, idle, starts one. A
/// segment whose instructions wait for each other's results takes longer than it occupies the unit: as if others'
/// issued in between, the unit turns to the next wavefront when it has been occupied for the segment's issue intervals,
/// and the segment ends later.
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
    // Segments that have occupied the unit as long as they do, and end later.
    std::uint32_t ending = 0;
    std::array<ticks, 16> ends{};
    std::array<lane_stop, 16> stops{};
    calendar_event event{method<&simd_unit::happen>, this};
    calendar_event results{method<&simd_unit::end_segments>, this};

private:
    void happen() {
        m_owner.expect_next(*this);
        if (auto* w = running) {
            running = nullptr;
            if (w->issued_until > m_owner.now())
                end_later(*w);
            else
                m_owner.end_segment(*w, stop);
        }
        m_owner.run_next(*this);
    }
    void end_later(const wavefront& w) {
        ending |= std::uint32_t{1} << w.position;
        ends[w.position] = w.issued_until;
        stops[w.position] = stop;
        if (!results.scheduled() || results.when() > w.issued_until) m_owner.schedule(results, w.issued_until);
    }
    void end_segments() {
        for (auto left = ending; left; left &= left - 1) {
            const auto position = static_cast<unsigned>(__builtin_ctz(left));
            if (ends[position] > m_owner.now()) continue;
            ending &= ~(left & -left);
            m_owner.end_segment(*members[position], stops[position]);
        }
        auto next = never;
        for (auto left = ending; left; left &= left - 1)
            next = std::min(next, ends[static_cast<unsigned>(__builtin_ctz(left))]);
        if (next != never) m_owner.schedule(results, next);
        if (!running) m_owner.run_next(*this);
    }
    compute_unit& m_owner;
};

}  // namespace fabricvp::gpu
