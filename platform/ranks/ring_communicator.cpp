// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/ring_communicator.h"

#include <algorithm>
#include <cerrno>
#include <new>

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <boost/interprocess/anonymous_shared_memory.hpp>

#include "platform/common/input_error.h"

namespace fabricvp::ranks {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_ring = 64 << 10;  // stays in a core's cache
constexpr std::size_t min_ring = 1 << 10;
constexpr std::size_t max_all_rings = 64 << 20;
/// Looking longer than it takes to put a process to sleep and wake it is never worthwhile by itself, but cores are
/// often free and windows short.
constexpr std::chrono::nanoseconds min_spin = 1us, max_spin = 50us;

std::size_t fitting_ring(unsigned count) {
    const auto rings = std::max<std::size_t>(std::size_t{count} * (count - 1), 1);
    auto size = max_ring;
    while (size > min_ring && size * rings > max_all_rings) size /= 2;
    return size;
}

boost::interprocess::mapped_region reserve(unsigned count, std::size_t ring_bytes) {
    const auto size = sizeof(shared_segment::arrivals) + count * sizeof(shared_segment::rank_state) +
                      std::size_t{count} * count * ring_end::bytes_needed(ring_bytes);
    try {
        return boost::interprocess::anonymous_shared_memory(size);
    } catch (const boost::interprocess::interprocess_exception& e) {
        throw input_error(fmt::format("--ranks {}: no {} MiB of shared memory: {}", count, size >> 20, e.what()));
    }
}

bool enough_cores(unsigned ranks) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return true;  // more than a set holds
    return static_cast<unsigned>(CPU_COUNT(&cores)) >= ranks;
}

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

shared_segment::shared_segment(unsigned count, std::size_t ring_bytes)
    : m_count(count),
      m_ring_bytes(ring_bytes ? ring_bytes : fitting_ring(count)),
      m_region(reserve(count, m_ring_bytes)) {
    new (&all()) arrivals;
    for (unsigned r = 0; r < count; ++r) new (&state(r)) rank_state;  // rings begin as zeros, which they are
}

shared_segment::rank_state& shared_segment::state(unsigned rank) const {
    return reinterpret_cast<rank_state*>(&all() + 1)[rank];
}

void* shared_segment::ring(unsigned from, unsigned to) const {
    return reinterpret_cast<std::uint8_t*>(&state(m_count)) +
           (std::size_t{from} * m_count + to) * ring_end::bytes_needed(m_ring_bytes);
}

ring_communicator::ring_communicator(shared_segment& segment, unsigned rank)
    : m_segment(segment),
      m_rank(rank),
      m_cores_suffice(enough_cores(segment.count())),
      m_last_sender(rank),
      m_spin_time(max_spin) {
    for (unsigned r = 0; r < segment.count(); ++r)
        if (r != rank)
            m_peers.push_back(
                {r, {segment.ring(rank, r), segment.ring_bytes()}, {segment.ring(r, rank), segment.ring_bytes()}});
}

void ring_communicator::all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) {
    const auto began = wall_clock::now();
    m_segment.state(m_rank).core.store(sched_getcpu(), std::memory_order_relaxed);
    m_to_send = m_to_receive = static_cast<unsigned>(m_peers.size());
    ++m_exchanges;
    for (auto& p : m_peers) {
        from[p.rank].clear();
        p.sent = 0;
        p.all_sent = p.all_received = false;
    }
    auto& all = m_segment.all();
    const bool counted = m_peers.size() > 1;
    if (counted && all.begun.fetch_add(1) + 1 == m_exchanges * count()) all.last = m_rank;
    progress(to, from);
    while (m_to_send || m_to_receive) wait(to, from);
    // That rank's messages are here, and no rank is the last of the next exchange before this one takes part in it.
    m_last_sender = counted ? all.last.load() : m_peers.empty() ? m_rank : m_peers[0].rank;
    m_waited += wall_clock::now() - began;
}

bool ring_communicator::progress(const std::vector<bytes>& to, std::vector<bytes>& from) {
    bool moved = false;
    for (auto& p : m_peers) {
        if (p.all_sent) continue;
        moved |= p.out.write(to[p.rank], p.sent, p.all_sent);
        if (p.all_sent && --m_to_send == 0) arrive();
    }
    for (auto& p : m_peers) {
        if (p.all_received || !p.in.read(from[p.rank], p.all_received)) continue;
        moved = true;
        m_to_receive -= p.all_received;
    }
    if (moved) wake_sleepers();
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
        if (!p.all_sent) wake(state, shared_segment::for_all);  // its ring is full
    }
}

/// One of those whose next step is needed; first those whose ring is full.
const ring_communicator::peer& ring_communicator::awaited() const {
    return *std::find_if(m_peers.begin(), m_peers.end(),
                         [this](const peer& p) { return m_to_send ? !p.all_sent : !p.all_received; });
}

bool ring_communicator::may_spin(const peer& p) const {
    return m_cores_suffice && m_segment.state(p.rank).core.load(std::memory_order_relaxed) !=
                                  m_segment.state(m_rank).core.load(std::memory_order_relaxed);
}

void ring_communicator::wait(const std::vector<bytes>& to, std::vector<bytes>& from) {
    const auto& p = awaited();
    if (may_spin(p)) {
        const auto until = wall_clock::now() + m_spin_time;
        do {
            for (unsigned i = 0; i < 32; ++i) {
                if (progress(to, from)) {
                    m_spin_time = std::min<wall_clock::duration>(2 * m_spin_time, max_spin);
                    return;
                }
                relax();
            }
        } while (wall_clock::now() < until);
        m_spin_time = std::max<wall_clock::duration>(m_spin_time / 2, min_spin);
    }
    sleep(m_to_send || m_peers.size() < 2 ? p.rank + 1 : shared_segment::for_all, to, from);
}

/// \param wanted as in rank_state
void ring_communicator::sleep(std::uint32_t wanted, const std::vector<bytes>& to, std::vector<bytes>& from) {
    auto& sleeps_for = m_segment.state(m_rank).sleeps_for;
    sleeps_for.store(wanted);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (progress(to, from) || (wanted == shared_segment::for_all && all_have_sent())) {
        sleeps_for.store(0);
        return;
    }
    ++m_sleeps;
    while (sleeps_for.load() == wanted) futex(sleeps_for, FUTEX_WAIT, wanted);  // signals wake it, too
}

void ring_communicator::finish() { m_segment.state(m_rank).finished = true; }

}  // namespace fabricvp::ranks
