// SPDX-License-Identifier: Apache-2.0
// A recording that as many GPUs play as it was made with. On a fabric with several times as many GPUs, tiles lie beside
// each other or across the whole of it; each plays for itself, and they meet on links only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "gpu/replay/gpu_player.h"

namespace fabricvp::gpu::replay {

class player;

class replica {
public:
    /// \param terminals of its GPUs, in the order of the recording
    replica(player& owner, std::vector<unsigned> terminals) : m_owner(owner), m_terminals(std::move(terminals)) {}

    /// Begins at the present time.
    void start();
    bool ended() const { return m_ended; }
    /// The launches that it waits for, since when; nothing if it does not.
    std::optional<ticks> waits_since() const;
    void reset();

    // For its GPUs.
    const recording& what() const;
    void launch_ended(std::uint32_t launch);
    /// Streams of a launch: number of the first, in their order.
    std::uint32_t first_stream(std::uint32_t launch) const;
    /// Where the recording's GPU `n` is.
    unsigned terminal(unsigned n) const { return m_terminals[n]; }
    /// The transaction that the GPU at `terminal` has under way with this tag. 0: none of this tile's
    transaction_id transaction_with_tag(unsigned terminal, std::uint32_t tag) const;
    replay_state state;

private:
    void next();
    void act();

    player& m_owner;
    const std::vector<unsigned> m_terminals;
    std::size_t m_at = 0;          // the host's next event
    ticks m_since = 0;             // its last one, or the end of a launch that the next one waits for
    std::vector<bool> m_finished;  // by launch
    bool m_ended = false;
    calendar_event m_act{method<&replica::act>, this};
};

}  // namespace fabricvp::gpu::replay
