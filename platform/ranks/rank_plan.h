// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/calendar.h"
#include "base/work_observer.h"
#include "platform/ranks/partition.h"
#include "platform/ranks/processor_timer.h"
#include "platform/ranks/window_plan.h"

namespace fabricvp::ranks {

/// Measures in one process what a machine's parts would have to do as ranks: events and processor time of blocks go to
/// the rank that would have them. What belongs to no node, switch or generator (faults, the subnet as a whole) goes to
/// rank 0. An event of no block goes where what has scheduled it went.
class rank_plan final : public work_observer {
public:
    /// One at a time. \param lookahead of the machine's links; 0: nothing is cut. \param slice of the run
    rank_plan(const partition& parts, ticks lookahead, ticks slice);
    ~rank_plan();
    rank_plan(const rank_plan&) = delete;
    rank_plan& operator=(const rank_plan&) = delete;

    /// Of the windows so far, the present one included.
    window_plan measured() const;

    void scheduled(const calendar_event& event) override { m_rank_of_event[&event] = m_rank; }
    void begins(const calendar_event& event, ticks when) override;
    void goes_on_in(const sc_core::sc_object& block, ticks when) override;
    void ends() override;

private:
    unsigned rank_of(const sc_core::sc_object& block);
    void go_on(unsigned rank, ticks when);

    const partition& m_parts;
    window_plan m_windows;
    std::unordered_map<const sc_core::sc_object*, unsigned> m_rank_of_block;
    std::unordered_map<const calendar_event*, unsigned> m_rank_of_event;  ///< of those without a block
    unsigned m_rank = 0;                                                  ///< whose work runs
    ticks m_when = 0;
    std::uint64_t m_events = 0;  ///< since the timer's lap; 0: nothing runs
    processor_timer m_timer;
};

}  // namespace fabricvp::ranks
