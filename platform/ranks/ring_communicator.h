// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "platform/ranks/communicator.h"
#include "platform/ranks/processor_seat.h"
#include "platform/ranks/ring.h"
#include "platform/ranks/shared_segment.h"

namespace fabricvp::ranks {

/// Messages by rings in shared memory. A rank that waits looks for a short time, which depends on whether that was
/// worthwhile before, then sleeps. It sleeps at once where the one that it waits for cannot be running: there are more
/// ranks than cores, or it was last seen on this core. The last rank that has sent its messages wakes those that sleep,
/// each of them once an exchange; one whose ring is full wakes the reader before.
class ring_communicator final : public process_communicator {
public:
    /// \param segment must live as long
    ring_communicator(shared_segment& segment, unsigned rank);

    unsigned rank() const override { return m_rank; }
    unsigned count() const override { return m_segment.count(); }
    double waited() const override { return m_waited.count(); }
    unsigned last_sender() const override { return m_last_sender; }
    void all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) override;
    std::unique_ptr<window_exchange> open_windows(ticks lookahead) override;
    void finish() override;

    /// Times that this rank has slept.
    std::uint64_t sleeps() const { return m_sleeps; }

private:
    friend class ring_windows;

    using wall_clock = std::chrono::steady_clock;
    struct message {
        std::uint32_t window = 0;  ///< of the one who has sent it, when it was sent
        bytes data;
    };
    struct peer {
        peer(const shared_segment& s, unsigned from, unsigned to)
            : rank(to), out(s.ring(from, to), s.ring_bytes()), in(s.ring(to, from), s.ring_bytes()) {}
        unsigned rank;
        ring_writer out;
        ring_reader in;
        std::size_t sent = 0;
        bool all_sent = true;
        message incoming;              ///< the part that has come
        std::deque<message> received;  ///< whole ones that have not been taken
    };

    void begin_exchange();
    void send(const std::vector<bytes>& to, bool empty_ones);
    bool progress(const std::vector<bytes>& to);
    static bool receive(peer& p);
    /// Wakes ranks that sleep for this one's next step.
    void wake_sleepers();
    void arrive();
    void leave_seat();
    static void wake(shared_segment::rank_state& state, std::uint32_t expected);
    bool all_have_sent() const;
    bool may_run(const peer& p) const;
    /// Until `done`, or perhaps before. \param wanted as in rank_state \param may_spin look for some time first
    void wait(std::uint32_t wanted, bool may_spin, const std::vector<bytes>& to, const std::function<bool()>& done);
    /// Looks for a time that depends on what was worthwhile before. \returns whether it is done
    bool spin(const std::function<bool()>& done);
    void sleep(std::uint32_t wanted, const std::vector<bytes>& to, const std::function<bool()>& done);

    shared_segment& m_segment;
    const unsigned m_rank;
    processor_seat m_seat;          ///< where there are fewer processors than ranks
    std::vector<peer> m_peers;      ///< all other ranks
    unsigned m_to_send = 0;         ///< messages of the present exchange
    std::uint64_t m_exchanges = 0;  ///< of all with all
    std::uint32_t m_window = 0;     ///< the latest that this rank has taken part in
    unsigned m_last_sender;
    std::chrono::duration<double> m_waited{0};
    wall_clock::duration m_spin_time;
    std::uint64_t m_sleeps = 0;
};

}  // namespace fabricvp::ranks
