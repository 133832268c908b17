// SPDX-License-Identifier: Apache-2.0
// One direction of a serial link: a bundle of lanes that carries packets one after the other. Serialisation is computed
// in closed form when a packet is handed over; nothing is simulated per byte or flit. PCIe, GPU-fabric and InfiniBand
// links are its users.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>

#include "base/busy_time.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/prefetch.h"
#include "base/statistics.h"

namespace fabricvp::link {

struct channel_params {
    std::uint64_t lanes = 16;
    bandwidth lane_rate{1'000'000'000};  ///< of one lane, after line coding
    duration propagation{5'000};         ///< wire and receiver, first bit out to first bit in
    double bit_error_rate = 0.0;         ///< chance that a bit arrives wrong
    duration replay_latency{250'000};    ///< from the end of a corrupted packet to the start of its repetition
    std::uint64_t replays_before_retrain = 4;
    duration retrain_time{20'000'000};  ///< down time of a retraining
    std::uint64_t seed = 0;             ///< of the error process; 0: from simulation and path
    void describe(parameter_visitor& v);
};

class channel final : public model {
public:
    const channel_params params;

private:
    // Each packet touches these and the first statistics below.
    alignas(64) ticks m_free = 0;
    std::uint64_t m_rate = 0;       // bytes a second of all lanes
    std::uint64_t m_remainder = 0;  // of the last division, so that a busy link does not drift
    std::uint64_t m_pending_overhead = 0;
    double m_bit_error_rate;
    const ticks m_propagation;
    bool m_has_next_send_callback = false;
    bool m_down = false;

public:
    counter packets{*this, "packets", "1", "packets carried"};
    counter bytes{*this, "bytes", "B", "bytes carried, headers and framing included"};
    busy_time busy{*this, "busy", "ps", "time in which lanes carried something"};
    time_series load;  ///< bytes a window
    counter replays{*this, "replays", "1", "packets sent again because they arrived corrupted"};
    counter retrains{*this, "retrains", "1", "times the link went down and trained again"};
    counter overhead_bytes{*this, "overhead_bytes", "B", "bytes of link-layer packets (acknowledgements, credits)"};

    channel(const sc_core::sc_module_name& name, const channel_params& params);

    struct transmission {
        ticks begin;         ///< first bit leaves
        ticks end;           ///< last bit has left
        ticks head_arrival;  ///< first `head_bytes` have arrived
        ticks tail_arrival;  ///< all has arrived
        bool lost = false;   ///< given up after retraining again and again: it will not arrive
    };

    /// Sends a packet as soon as the lanes are free, but not before `earliest`, and so that its last byte does not
    /// leave before `tail_ready` (cut-through: the end of it may still be arriving). Corrupted attempts are repeated.
    transmission send(ticks earliest, ticks tail_ready, std::uint64_t wire_bytes, std::uint64_t head_bytes);

    /// Takes link time for link-layer packets of the opposite direction's traffic.
    void add_overhead(std::uint64_t wire_bytes);

    /// When the lanes are free again (may lie in the past); `never` while there are none.
    ticks free_at() const { return m_free; }
    /// When what has been sent has left, with or without lanes.
    ticks ends_at() const { return up() ? m_free : m_free_when_down; }
    std::uint64_t bytes_per_second() const { return m_rate; }
    /// Keeps bytes_per_second() at `at`, too, where who asks for it all the time has it at hand.
    void mirror_rate(std::uint64_t* at) {
        m_rate_mirror = at;
        update_rate();
    }
    /// A packet will be sent soon.
    void prefetch() const { fabricvp::prefetch(&m_free, prefetched_bytes); }
    /// It is about to be sent: the window that it counts in, whose place is known by now.
    void prefetch_window() const {
        if (!load.values().empty()) __builtin_prefetch(&load.values().back(), 1);
    }

    /// Number of lanes that carry data this way; takes effect for the next packet. Without any, nothing can be sent.
    void set_lanes(std::uint64_t lanes);
    std::uint64_t lanes() const { return m_lanes; }
    /// Nothing can be sent from now on, however many lanes there are; or it can again.
    void set_down(bool down);
    bool up() const { return m_lanes > 0 && !m_down; }
    /// Called once, before the next packet is sent.
    void at_next_send(std::function<void()> call) {
        m_has_next_send_callback = static_cast<bool>(call);
        m_next_send = std::move(call);
    }
    /// Called when something can be sent again.
    void on_restart(std::function<void()> restarted) { m_restarted = std::move(restarted); }
    void set_lane_rate(bandwidth rate) {
        m_lane_rate = rate;
        update_rate();
    }
    /// Nothing is sent before `until` (a lane is turning, or the link trains).
    void hold(ticks until);
    /// Pauses for the training time and goes on with lanes of `lane_rate`.
    void retrain(bandwidth lane_rate);
    void set_bit_error_rate(double rate) { m_bit_error_rate = rate; }
    double bit_error_rate() const { return m_bit_error_rate; }

    void reset() override;

private:
    ticks serialise(std::uint64_t wire_bytes);
    void update_link_state(bool was_up);
    void update_rate() {
        m_rate = m_lanes * m_lane_rate.bytes_per_second;
        if (m_rate_mirror) *m_rate_mirror = m_rate;
    }
    bool corrupted(std::uint64_t wire_bytes);

    static constexpr std::uint64_t max_trainings_per_packet = 8;  // then it is lost

    /// From the hot state over the statistics behind it.
    static constexpr std::size_t prefetched_bytes = 64 + 2 * sizeof(counter) + sizeof(busy_time) + sizeof(time_series);

    std::uint64_t m_lanes;
    bandwidth m_lane_rate;
    std::uint64_t* m_rate_mirror = nullptr;
    ticks m_free_when_down = 0;                 // while there are no lanes: what m_free was
    std::unique_ptr<std::mt19937_64> m_random;  // large; null where no bit is ever wrong
    std::function<void()> m_restarted, m_next_send;
};

}  // namespace fabricvp::link
