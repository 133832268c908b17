// SPDX-License-Identifier: Apache-2.0
// Which lanes of a wavefront run. Lanes at one place, as deep in calls, form a group; one group is current, the others
// wait, are parked at a barrier, or wait for lanes of a mask to come (sync). The deepest call runs first, then the
// order of the kernel's reconvergence_table, so that lanes reconverge where control flow joins: a group waits at a join
// until no lane is left that could come there. Without a table the smallest program counter runs first.
//
// Lanes may wait for others of their wavefront, which that order would hold back for ever. So a group that pauses, or
// that is found to turn in a loop without any change in its registers, passes the turn to the group that has waited
// longest. This one runs where it likes until it pauses or spins itself, or has jumped backwards `granted_turn` times;
// then the order holds again. Who has waited for `divergence_quantum` backward jumps gets a short turn anyway.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "gpu/lanes/reconvergence_table.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// What a group waits for that does not run.
enum class lane_wait : std::uint8_t {
    turn,
    barrier,
    lanes,           ///< others that come to the same instruction
    lanes_anywhere,  ///< others that come to any such instruction
    lanes_exchange   ///< others that come to one of the same kind
};

struct lane_group {
    std::uint64_t pc;
    lane_mask lanes;
    std::uint64_t
        last_run;         ///< when it ran last; of lanes that met, the first one; of lanes that left, as of the others
    std::uint64_t since;  ///< when it came to wait; of lanes that met, the first one
    std::uint32_t key;    ///< of the reconvergence table
    std::uint32_t depth;  ///< calls
    lane_wait waits;
    lane_mask needed;       ///< where it waits for lanes, these
    std::uint8_t kind = 0;  ///< of an exchange
    bool can_run() const { return waits == lane_wait::turn; }
};

/// What lanes that have waited for each other at several places have given each other.
struct lane_exchange {
    lane_mask lanes;
    std::array<std::uint64_t, wavefront_lanes> values;
};

/// Storage of a wavefront's groups (a lane is in one group only).
using lane_groups = std::array<lane_group, wavefront_lanes>;

class lane_schedule {
public:
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    static constexpr unsigned granted_turn = 64, max_short_turn = 256;

    // The current group. The engine works on these; `active` is empty if no lane can run.
    std::uint64_t pc = 0;
    lane_mask active = 0;
    std::uint32_t depth = 0;

    /// All `lanes` start at `entry`. \param order may be null, else it must live as long as the wavefront
    void start(lane_groups& storage, const reconvergence_table* order, std::uint64_t entry, lane_mask lanes,
               unsigned divergence_quantum);

    /// Lanes that have not ended.
    lane_mask live() const { return m_live; }
    /// Those at a barrier.
    lane_mask parked() const { return m_parked; }
    /// Those that wait for other lanes of the wavefront.
    lane_mask synced() const { return m_synced; }
    /// Live lanes other than the current ones exist, so that results must be masked.
    bool diverged() const { return active != m_live; }
    /// Others could run.
    bool others_wait() const { return m_waiting != 0; }
    /// Where the current group, moving on without a jump, must call reconsider().
    std::uint64_t limit() const { return m_limit; }
    /// Program counter of a live lane, and its call depth.
    std::uint64_t pc_of(unsigned lane) const;

    /// Some of the current lanes go from the instruction at `from` elsewhere.
    void split(lane_mask lanes, std::uint64_t from, std::uint64_t to, std::uint32_t their_depth);
    /// To be called when the current group has come from the instruction at `from` by a jump, or has reached limit():
    /// merges groups, chooses the current one.
    void reconsider(std::uint64_t from);
    /// What is to be done about a backward jump.
    enum class loop_action {
        none,     ///< call reconsider()
        compare,  ///< call compare(), and then reconsider() if the turn has not passed
        passed    ///< the turn has passed
    };
    /// The current group has jumped backwards from `from`. To be called before reconsider().
    loop_action looped(std::uint64_t from);
    /// \param state a hash of the registers of the current lanes. If it is what it was at `from` before, they spin, and
    /// the turn passes. \returns whether it has
    bool compare(std::uint64_t from, std::uint64_t state);
    /// The current group accesses memory. \param synchronises as lanes do that wait for others: atomics, load-reserved,
    /// loads that bypass caches \param stores plainly
    void accesses(bool synchronises, bool stores) {
        m_synchronises = m_synchronises || synchronises;
        m_stores = m_stores || stores;
    }
    /// The turn passes to the group that has waited longest. The current one came from `from`.
    void rotate(std::uint64_t from);
    /// The current lanes wait at a barrier; `pc` is where they go on.
    void park();
    /// All parked lanes may go on.
    void release();
    /// The current lanes wait `how` until all live lanes of a mask wait with this mask; `pc` is where they go on.
    /// \param masks of each lane \param kind of an exchange \param values of each lane for an exchange, or null
    void sync(const std::array<std::uint64_t, wavefront_lanes>& masks, lane_wait how, std::uint8_t kind = 0,
              const std::array<std::uint64_t, wavefront_lanes>* values = nullptr);
    /// The current lanes have exchanged values among themselves.
    void exchanged_here();
    /// What a lane got at its last exchange, or null if all lanes were at one place.
    const lane_exchange* exchange_of(unsigned lane) const {
        return m_exchanges ? m_exchanges->kept[lane].get() : nullptr;
    }
    bool has_exchanges() const { return m_exchanges != nullptr; }
    /// The current lanes have ended.
    void end();
    /// For debuggers: a lane goes on elsewhere, at its present depth of calls. \returns false if it has ended, is
    /// parked or waits for other lanes
    bool redirect(unsigned lane, std::uint64_t to);

private:
    void add(const lane_group& joins);
    void release_synced();
    lane_mask& lanes_that_wait(lane_wait how) {
        return how == lane_wait::turn ? m_waiting : how == lane_wait::barrier ? m_parked : m_synced;
    }
    void make_current(unsigned index);
    void settle();
    unsigned first_before(lane_group best) const;
    bool end_wait();
    void grant(unsigned index, unsigned turn);
    unsigned oldest(std::uint64_t lane_group::*when) const;
    lane_group current() const { return {pc, active, m_last_run, m_clock, key(), depth, lane_wait::turn, 0}; }
    void set_aside(lane_group g);
    void choose();
    void merge();
    void find_limit();
    void arrive(std::uint64_t from) {
        m_key = m_order ? m_order->key(from, pc) : 0;
        m_key_pc = pc;
    }
    std::uint32_t key_of(std::uint64_t at) const { return m_order ? m_order->key(at) : 0; }
    std::uint32_t key() const { return pc == m_key_pc ? m_key : key_of(pc); }
    static bool comes_before(const lane_group& a, const lane_group& b) {
        if (a.depth != b.depth) return a.depth > b.depth;
        return a.key != b.key ? a.key < b.key : a.pc < b.pc;
    }

    struct exchanges {
        std::array<std::uint64_t, wavefront_lanes> given;
        std::array<std::shared_ptr<const lane_exchange>, wavefront_lanes> kept;
    };
    void keep_exchange(const lane_group& g, lane_mask come);

    std::shared_ptr<exchanges> m_exchanges;  // from the first one at several places on
    lane_groups* m_groups = nullptr;
    const reconvergence_table* m_order = nullptr;
    unsigned m_count = 0;
    lane_mask m_live = 0, m_parked = 0, m_synced = 0, m_waiting = 0;
    std::uint64_t m_limit = nowhere;
    std::uint64_t m_key_pc = nowhere;  // where m_key was given
    std::uint32_t m_key = 0;
    bool m_granted = false;                         // this turn was given by age, not by order
    bool m_synchronises = false, m_stores = false;  // since the last backward jump
    std::uint64_t m_clock = 0;                      // backward jumps, and how often others came to run in between
    std::uint64_t m_last_run = 0;                   // of the current group
    std::uint64_t m_check_at = 0;                   // when to look for who has waited for long
    std::uint64_t m_short_turn_at = 0;              // no short turn before
    std::uint64_t m_divergence_quantum = 0;
    unsigned m_granted_left = 0, m_short_turn = 1;
    unsigned m_comparisons = 0, m_missed = 0;  // backward jumps that are to be compared; that were elsewhere
    std::uint64_t m_compared_pc = nowhere, m_compared = 0;
};

}  // namespace fabricvp::gpu
