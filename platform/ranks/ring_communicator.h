// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/interprocess/mapped_region.hpp>

#include "platform/ranks/communicator.h"
#include "platform/ranks/ring.h"

namespace fabricvp::ranks {

/// Memory that the ranks of one computer share: a ring from each of them to each other one, and where they sleep. It
/// has no name, so nothing is left of it when the last of them has ended, however that was. Processes get it by fork().
class shared_segment {
public:
    /// \param ring_bytes a power of two, at least 128; 0: what suits so many ranks
    /// \throws input_error where there is no memory for it
    explicit shared_segment(unsigned count, std::size_t ring_bytes = 0);

    /// What all know of one rank, in a cache line of its own.
    struct alignas(64) rank_state {
        /// 1 + the rank whose next step it sleeps for; `for_all`: until all ranks have sent; 0: it is awake
        std::atomic<std::uint32_t> sleeps_for{0};
        std::atomic<std::int32_t> core{-1};  ///< where it was when it last began to exchange
        std::atomic<bool> finished{false}, results_written{false};
    };
    static constexpr std::uint32_t for_all = ~0u;
    struct alignas(64) arrivals {
        std::atomic<std::uint64_t> begun{0}, sent{0};  ///< one for each rank and exchange
        std::atomic<std::uint32_t> last{0};            ///< the rank that was the last to begin the latest exchange
    };
    unsigned count() const { return m_count; }
    std::size_t ring_bytes() const { return m_ring_bytes; }
    arrivals& all() const { return *static_cast<arrivals*>(m_region.get_address()); }
    rank_state& state(unsigned rank) const;
    /// Where the ring from one rank to another one is.
    void* ring(unsigned from, unsigned to) const;

private:
    unsigned m_count;
    std::size_t m_ring_bytes;
    boost::interprocess::mapped_region m_region;
};

/// Messages by rings in shared memory. A rank that waits looks at the rings for a short time, which depends on whether
/// that was worthwhile before, then sleeps. It sleeps at once where the one that it waits for cannot be running: there
/// are more ranks than cores, or it was last seen on this core. The last rank that has sent its messages wakes those
/// that sleep, each of them once an exchange; one whose ring is full wakes the reader before.
class ring_communicator final : public process_communicator {
public:
    /// \param segment must live as long
    ring_communicator(shared_segment& segment, unsigned rank);

    unsigned rank() const override { return m_rank; }
    unsigned count() const override { return m_segment.count(); }
    double waited() const override { return m_waited.count(); }
    unsigned last_sender() const override { return m_last_sender; }
    void all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) override;
    void finish() override;

    /// Times that this rank has slept.
    std::uint64_t sleeps() const { return m_sleeps; }

private:
    using wall_clock = std::chrono::steady_clock;
    struct peer {
        unsigned rank;
        ring_writer out;
        ring_reader in;
        std::size_t sent = 0;
        bool all_sent = true, all_received = true;
    };

    bool progress(const std::vector<bytes>& to, std::vector<bytes>& from);
    /// Wakes ranks that sleep for this one's next step.
    void wake_sleepers();
    void arrive();
    static void wake(shared_segment::rank_state& state, std::uint32_t expected);
    bool all_have_sent() const;
    const peer& awaited() const;
    bool may_spin(const peer& p) const;
    void wait(const std::vector<bytes>& to, std::vector<bytes>& from);
    void sleep(std::uint32_t wanted, const std::vector<bytes>& to, std::vector<bytes>& from);

    shared_segment& m_segment;
    const unsigned m_rank;
    const bool m_cores_suffice;
    std::vector<peer> m_peers;                 ///< all other ranks
    unsigned m_to_send = 0, m_to_receive = 0;  ///< messages of the present exchange
    std::uint64_t m_exchanges = 0;
    unsigned m_last_sender;
    std::chrono::duration<double> m_waited{0};
    wall_clock::duration m_spin_time;
    std::uint64_t m_sleeps = 0;
};

}  // namespace fabricvp::ranks
