// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/calendar.h"
#include "gpu/replay/gpu_player.h"
#include "gpu/replay/recording_bytes.h"

namespace fabricvp::gpu::replay {

/// A wavefront that goes through its items.
class wavefront_player {
public:
    explicit wavefront_player(gpu_player& gpu) : m_gpu(gpu) {}

    group_player* group = nullptr;
    unsigned simd = 0;
    std::uint32_t serial = 0;  ///< counts wavefronts of its GPU

    void start(const stream& s, ticks now);
    /// As at power-on.
    void stop() {
        calendar::current().cancel(m_next);
        m_in_flight.clear();
        m_state = state::idle;
    }
    /// Its access has found room.
    void resume();
    /// An access has all that it needs, and its data are in registers at `ready`.
    void done(access_player& a, ticks ready);
    /// All wavefronts of its work-group are at the barrier.
    void release();

private:
    enum class state { idle, runs, waits, held, barrier, ended };
    void act();
    void advance();
    void issue();
    bool satisfied() const;
    ticks span(std::uint64_t cycles) const { return m_gpu.clock.span(cycles); }

    gpu_player& m_gpu;
    item_reader m_items;
    item m_item;
    state m_state = state::idle;
    ticks m_at = 0;                // it has come to here; may lie ahead of the present
    std::uint32_t m_accesses = 0;  // issued
    std::vector<access_player*> m_in_flight;
    calendar_event m_next{method<&wavefront_player::act>, this};
};

}  // namespace fabricvp::gpu::replay
