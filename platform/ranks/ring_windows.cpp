// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/ring_windows.h"

#include <algorithm>
#include <atomic>

namespace fabricvp::ranks {

namespace {

void lower(std::atomic<ticks>& to, ticks value) {
    auto found = to.load(std::memory_order_relaxed);
    while (value < found && !to.compare_exchange_weak(found, value, std::memory_order_relaxed)) {
    }
}

/// Numbers of windows begin anew after 2^32.
bool earlier(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace

window_bounds ring_windows::next(const window_report& own, const std::vector<bytes>& to, const std::vector<ticks>& due,
                                 const receiver& receive) {
    const auto began = ring_communicator::wall_clock::now();
    const auto rank = m_rings.m_rank;
    m_rings.begin_exchange();
    for (const auto& p : m_rings.m_peers) lower(m_segment.turn_of(p.rank).due, due[p.rank]);
    m_rings.send(to, false);
    static_cast<window_report&>(m_segment.report_of(rank)) = own;
    auto& all = m_segment.all_windows();
    if (own.for_all) all.for_all.store(true, std::memory_order_relaxed);
    // Who counts last sees what the others have written before they did, and all of them what it writes now.
    if (all.at_work.fetch_sub(1, std::memory_order_acq_rel) == 1) open(own.limit);
    wait(to);
    const auto& turn = m_segment.turn_of(rank);
    m_rings.m_window = turn.window.load(std::memory_order_relaxed);
    m_segment.turn_of(rank).begun.store(m_rings.m_window, std::memory_order_release);
    m_rings.progress(to);
    // A rank that has done with this window already may have said more. That is not for now: it is later than what
    // may still happen here.
    for (auto& p : m_rings.m_peers)
        for (; !p.received.empty() && earlier(p.received.front().window, m_rings.m_window); p.received.pop_front())
            receive(p.received.front().data, 0);
    m_rings.m_last_sender = turn.opened_by;
    m_rings.m_waited += ring_communicator::wall_clock::now() - began;
    return turn.bounds;
}

/// No other rank is at work, so what they share is this one's. \param limit as this one knows it, which is as all do:
/// what changes it makes all take part
void ring_windows::open(ticks limit) {
    auto& all = m_segment.all_windows();
    ticks first = never, second = never, latest = 0;
    for (unsigned r = 0; r < m_segment.count(); ++r) {
        auto& its = m_segment.report_of(r);
        const auto next = m_next[r] = std::min(its.next, m_segment.turn_of(r).due.load(std::memory_order_relaxed));
        second = std::min(second, std::max(first, next));
        first = std::min(first, next);
        latest = std::max(latest, its.now);
        all.work.add(its.seconds, its.events);
        if (its.events || its.seconds > 0) its.seconds = 0, its.events = 0;  // not yet where a rank sleeps on
    }
    all.work.end_window();
    const bool all_take_part =
        all.for_all.exchange(false, std::memory_order_relaxed) || first == never || first > limit;
    const auto last = window_bounds{never, first, 0}.end(m_lookahead);
    ++all.number;
    m_taking_part.clear();
    for (unsigned r = 0; r < m_segment.count(); ++r) {
        if (!all_take_part && m_next[r] > last) continue;
        auto& turn = m_segment.turn_of(r);
        turn.bounds = {m_next[r], m_next[r] == first ? second : first, latest};
        turn.opened_by = m_rings.m_rank;
        turn.due.store(never, std::memory_order_relaxed);
        m_taking_part.push_back(r);
    }
    all.at_work.store(static_cast<std::uint32_t>(m_taking_part.size()), std::memory_order_relaxed);
    // From here on they work, and send.
    for (const auto r : m_taking_part) m_segment.turn_of(r).window.store(all.number, std::memory_order_release);
    // Its counterparts are in sleep() and where a seat is left.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const auto r : m_taking_part)
        if (r != m_rings.m_rank && (!m_segment.seats() || processor_seat::give(m_segment, r)))
            ring_communicator::wake(m_segment.state(r), shared_segment::for_window);
}

bool ring_windows::its_turn() const {
    return m_segment.turn_of(m_rings.m_rank).window.load(std::memory_order_acquire) != m_rings.m_window;
}

/// Until this rank takes part in a window.
void ring_windows::wait(const std::vector<bytes>& to) {
    if (m_segment.seats()) return wait_for_seat(to);
    while (!its_turn()) m_rings.wait(shared_segment::for_window, may_spin(), to, [this] { return its_turn(); });
}

/// As wait(), where ranks share a processor: none begins its part without the seat.
void ring_windows::wait_for_seat(const std::vector<bytes>& to) {
    auto& seat = m_rings.m_seat;
    const auto count = m_rings.count();
    for (;;) {
        if (seat.take()) {
            auto next = count;
            m_rings.spin([&] { return its_turn() || (next = seat.ready()) < count; });
            if (its_turn()) return;
            if (next < count)
                seat.hand_over(next);
            else
                next = seat.leave();
            if (next < count) ring_communicator::wake(m_segment.state(next), shared_segment::for_window);
        }
        m_rings.sleep(shared_segment::for_window, to, [&] { return seat.is_held(); });
    }
}

/// Whether all that are awake can be at work while this one looks.
bool ring_windows::may_spin() const {
    return std::all_of(m_rings.m_peers.begin(), m_rings.m_peers.end(), [this](const auto& p) {
        return m_segment.state(p.rank).sleeps_for.load(std::memory_order_relaxed) || m_rings.may_run(p);
    });
}

}  // namespace fabricvp::ranks
