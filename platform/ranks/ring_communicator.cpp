// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/ring_communicator.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/ranks/ring_windows.h"

namespace fabricvp::ranks {

namespace {

using namespace std::chrono_literals;

/// Looking longer than it takes to put a process to sleep and wake it is never worthwhile by itself, but cores are
/// often free and windows short.
constexpr std::chrono::nanoseconds min_spin = 1us, max_spin = 50us;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
    return ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

ring_communicator::ring_communicator(shared_segment& segment, unsigned rank)
    : m_segment(segment), m_rank(rank), m_seat(segment, rank), m_last_sender(rank), m_spin_time(max_spin) {
    for (unsigned r = 0; r < segment.count(); ++r)
        if (r != rank) m_peers.emplace_back(segment, rank, r);
}

std::unique_ptr<window_exchange> ring_communicator::open_windows(ticks lookahead) {
    return std::make_unique<ring_windows>(*this, lookahead);
}

void ring_communicator::begin_exchange() {
    m_segment.state(m_rank).core.store(sched_getcpu(), std::memory_order_relaxed);
}

void ring_communicator::all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) {
    const auto began = wall_clock::now();
    begin_exchange();
    leave_seat();
    ++m_exchanges;
    auto& all = m_segment.all();
    const bool counted = m_peers.size() > 1;
    if (counted && all.begun.fetch_add(1) + 1 == m_exchanges * count()) all.last = m_rank;
    send(to, true);
    arrive();
    for (auto& p : m_peers) {
        const auto wanted = counted ? shared_segment::for_all : p.rank + 1;
        while (p.received.empty())
            wait(wanted, may_run(p), to, [&] { return progress(to) || (counted && all_have_sent()); });
        from[p.rank].swap(p.received.front().data);
        p.received.pop_front();
    }
    // That rank's messages are here, and no rank is the last of the next exchange before this one takes part in it.
    m_last_sender = counted ? all.last.load() : m_peers.empty() ? m_rank : m_peers[0].rank;
    m_waited += wall_clock::now() - began;
}

/// Puts messages into rings; readers that are behind have to make room. \param empty_ones whether empty ones are
/// messages
void ring_communicator::send(const std::vector<bytes>& to, bool empty_ones) {
    m_to_send = 0;
    for (auto& p : m_peers) {
        p.sent = 0;
        p.all_sent = !empty_ones && to[p.rank].empty();
        m_to_send += !p.all_sent;
    }
    if (m_to_send) progress(to);
    while (m_to_send) {
        wake_sleepers();  // a ring may have been full before
        const auto& p = *std::find_if(m_peers.begin(), m_peers.end(), [](const peer& q) { return !q.all_sent; });
        wait(p.rank + 1, may_run(p), to, [&] { return progress(to); });
    }
}

bool ring_communicator::progress(const std::vector<bytes>& to) {
    bool moved = false;
    for (auto& p : m_peers) {
        if (p.all_sent) continue;
        moved |= p.out.write(to[p.rank], m_window, p.sent, p.all_sent);
        m_to_send -= p.all_sent;
    }
    for (auto& p : m_peers) moved |= receive(p);
    if (moved) wake_sleepers();
    return moved;
}

bool ring_communicator::receive(peer& p) {
    bool moved = false;
    for (bool complete = true; complete;) {
        complete = false;
        moved |= p.in.read(p.incoming.data, p.incoming.window, complete);
        if (complete) p.received.push_back(std::exchange(p.incoming, {}));
    }
    return moved;
}

void ring_communicator::wake(shared_segment::rank_state& state, std::uint32_t expected) {
    if (state.sleeps_for.load(std::memory_order_relaxed) == expected &&
        state.sleeps_for.compare_exchange_strong(expected, 0))
        futex(state.sleeps_for, FUTEX_WAKE, 1);
}

/// Two ranks sleep for each other only, and need not count.
void ring_communicator::arrive() {
    if (m_peers.size() < 2) return;
    if (m_segment.all().sent.fetch_add(1) + 1 < m_exchanges * count()) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // as in wake_sleepers(): its counterpart is in sleep()
    for (const auto& p : m_peers) wake(m_segment.state(p.rank), shared_segment::for_all);
}

bool ring_communicator::all_have_sent() const { return m_segment.all().sent.load() >= m_exchanges * count(); }

void ring_communicator::wake_sleepers() {
    // Either this rank sees that the other one sleeps, or that one, which looks once more before it does, sees what has
    // been written.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const auto& p : m_peers) {
        auto& state = m_segment.state(p.rank);
        wake(state, m_rank + 1);
        if (p.all_sent) continue;  // else its ring is full
        wake(state, shared_segment::for_all);
        wake(state, shared_segment::for_window);
    }
}

/// Whether it can be at work while this one looks.
bool ring_communicator::may_run(const peer& p) const {
    return !m_segment.seats() && m_segment.state(p.rank).core.load(std::memory_order_relaxed) !=
                                     m_segment.state(m_rank).core.load(std::memory_order_relaxed);
}

void ring_communicator::wait(std::uint32_t wanted, bool may_spin, const std::vector<bytes>& to,
                             const std::function<bool()>& done) {
    if (may_spin && spin(done)) return;
    sleep(wanted, to, done);
}

bool ring_communicator::spin(const std::function<bool()>& done) {
    const auto until = wall_clock::now() + m_spin_time;
    do {
        for (unsigned i = 0; i < 32; ++i) {
            if (done()) {
                m_spin_time = std::min<wall_clock::duration>(2 * m_spin_time, max_spin);
                return true;
            }
            relax();
        }
    } while (wall_clock::now() < until);
    m_spin_time = std::max<wall_clock::duration>(m_spin_time / 2, min_spin);
    return false;
}

void ring_communicator::sleep(std::uint32_t wanted, const std::vector<bytes>& to, const std::function<bool()>& done) {
    auto& sleeps_for = m_segment.state(m_rank).sleeps_for;
    sleeps_for.store(wanted);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (progress(to) || done()) {
        sleeps_for.store(0);
        return;
    }
    ++m_sleeps;
    while (sleeps_for.load() == wanted) futex(sleeps_for, FUTEX_WAIT, wanted);  // signals wake it, too
}

void ring_communicator::leave_seat() {
    if (!m_segment.seats()) return;
    if (const auto next = m_seat.leave(); next < count()) wake(m_segment.state(next), shared_segment::for_window);
}

void ring_communicator::finish() {
    leave_seat();
    m_segment.state(m_rank).finished = true;
}

}  // namespace fabricvp::ranks
