// SPDX-License-Identifier: Apache-2.0
// Ranks that share a processor, since there are more of them than processors. One of them has its seat: it does its
// part of a window, then gives the seat to another one that has a part in the window, or looks for the next window on
// behalf of all. So one of them is awake, the processor is never idle between windows, and the rank that opens a window
// needs to wake none: to wake a process on an idle processor takes many times as long as a window.
#pragma once

#include <cstdint>

#include "platform/ranks/shared_segment.h"

namespace fabricvp::ranks {

class processor_seat {
public:
    /// \param segment must live as long
    processor_seat(shared_segment& segment, unsigned rank)
        : m_segment(segment), m_rank(rank), m_holder(segment.seat_of(rank).holder) {}

    bool is_held() const { return m_holder.load(std::memory_order_acquire) == m_rank + 1; }
    /// If this rank has it already, or none has.
    bool take() { return is_held() || give(m_segment, m_rank); }
    /// A rank of this seat, this one last, that has not begun its part of a window; \returns count() where there is
    /// none
    unsigned ready() const;
    /// To a rank of this seat that is ready, to be woken. This one has it.
    void hand_over(unsigned rank) { m_holder.store(rank + 1); }
    /// Leaves it to no rank, if this one has it. \returns a rank that has it now, since it is ready, to be woken; else
    /// count()
    unsigned leave();
    /// Gives its seat to a rank, to be woken. \returns false if some rank has it
    static bool give(const shared_segment& segment, unsigned rank);

private:
    shared_segment& m_segment;
    const unsigned m_rank;
    std::atomic<std::uint32_t>& m_holder;
};

}  // namespace fabricvp::ranks
