// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/processor_seat.h"

namespace fabricvp::ranks {

unsigned processor_seat::ready() const {
    const auto count = m_segment.count();
    for (unsigned i = 1; i <= count; ++i) {
        const auto r = (m_rank + i) % count;
        if (m_segment.seat_number(r) != m_segment.seat_number(m_rank)) continue;
        const auto& turn = m_segment.turn_of(r);
        if (turn.window.load(std::memory_order_acquire) != turn.begun.load(std::memory_order_acquire)) return r;
    }
    return count;
}

unsigned processor_seat::leave() {
    const auto none = m_segment.count();
    // A rank that opens a window may be late to give the seat to one that has done its part already.
    while (is_held()) {
        m_holder.store(0);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // its counterpart is where a window is opened
        const auto next = ready();
        if (next == none || give(m_segment, next)) return next;
    }
    return none;
}

bool processor_seat::give(const shared_segment& segment, unsigned rank) {
    std::uint32_t none = 0;
    auto& holder = segment.seat_of(rank).holder;
    return holder.load() == none && holder.compare_exchange_strong(none, rank + 1);
}

}  // namespace fabricvp::ranks
