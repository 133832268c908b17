// SPDX-License-Identifier: Apache-2.0
// Which lanes of a wavefront run. Lanes with the same program counter and call depth form a group; one group is
// current, the others wait or are parked at a barrier. The deepest call runs first, then the smallest program counter,
// so that lanes rejoin where control flow joins. After 64 backward branches, a pause or a failed store-conditional
// the turn passes to the group that has not run for longest, so that a lane which others wait for always gets on.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

struct lane_group {
    std::uint64_t pc;
    lane_mask lanes;
    std::uint64_t last_run;  ///< number of the turn in which it last ran
    std::uint32_t depth;     ///< calls
    bool parked;
};

/// Storage of a wavefront's groups (a lane is in one group only).
using lane_groups = std::array<lane_group, wavefront_lanes>;

class lane_schedule {
public:
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

    // The current group. The engine works on these; `active` is empty if no lane can run.
    std::uint64_t pc = 0;
    lane_mask active = 0;
    std::uint32_t depth = 0;

    /// All `lanes` start at `entry`.
    void start(lane_groups& storage, std::uint64_t entry, lane_mask lanes, unsigned divergence_quantum);

    /// Lanes that have not ended.
    lane_mask live() const { return m_live; }
    lane_mask parked() const { return m_parked; }
    /// Live lanes other than the current ones exist, so that results must be masked.
    bool diverged() const { return active != m_live; }
    /// Others could run.
    bool others_wait() const { return m_waiting != 0; }
    /// Where the current group, moving on without a jump, must call reconsider().
    std::uint64_t limit() const { return m_limit; }
    /// Program counter of a live lane, and its call depth.
    std::uint64_t pc_of(unsigned lane) const;

    /// Some of the current lanes go elsewhere.
    void split(lane_mask lanes, std::uint64_t to, std::uint32_t their_depth);
    /// To be called when the current group has jumped, or has reached limit(): merges groups, chooses the current one.
    void reconsider();
    /// The current group has jumped backwards, or done something that counts as `weight` such jumps; the turn may pass.
    void spend(unsigned weight) {
        if (m_waiting == 0) return;
        if (m_budget <= weight)
            rotate();
        else
            m_budget -= weight;
    }
    /// The turn passes to the group that has not run for longest.
    void rotate();
    /// The current lanes wait at a barrier; `pc` is where they go on.
    void park();
    /// All parked lanes may go on.
    void release();
    /// The current lanes have ended.
    void end();
    /// For debuggers: a lane goes on elsewhere, at its present depth of calls. \returns false if it has ended or is
    /// parked
    bool redirect(unsigned lane, std::uint64_t to);

private:
    void add(std::uint64_t at, lane_mask lanes, std::uint32_t at_depth, bool parked);
    void make_current(unsigned index);
    void choose();
    void merge();
    void find_limit();
    bool comes_before(const lane_group& g) const;

    lane_groups* m_groups = nullptr;
    unsigned m_count = 0;
    lane_mask m_live = 0, m_parked = 0, m_waiting = 0;
    std::uint64_t m_limit = nowhere;
    std::uint64_t m_switch_count = 0, m_last_run = 0;
    unsigned m_divergence_quantum = 64, m_budget = 64;
    bool m_rotated = false;  // this turn was given by age, not by order
};

}  // namespace fabricvp::gpu
