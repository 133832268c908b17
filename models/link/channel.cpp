// SPDX-License-Identifier: Apache-2.0
#include "link/channel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/counted_warning.h"
#include "base/random_streams.h"

namespace fabricvp::link {

void channel_params::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{1, 64}, "lanes that carry data in this direction");
    v.field("lane_rate", lane_rate, between{1e6, 1e12}, "data rate of one lane, after line coding");
    v.field("propagation", propagation, between{0, 1e9}, "time of flight, first bit out to first bit in");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3}, "chance that a bit arrives wrong");
    v.field("replay_latency", replay_latency, between{0, 1e9}, "from the end of a corrupted packet to its repetition");
    v.field("replays_before_retrain", replays_before_retrain, between{1, 1000},
            "failed attempts at one packet after which the link trains again");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "time for which the link is down when it trains again");
    v.field("seed", seed, "seed of the error process; 0: follows from simulation.seed and the block's path");
}

channel::channel(const sc_core::sc_module_name& name, const channel_params& p)
    : model(name),
      params(p),
      m_bit_error_rate(p.bit_error_rate),
      m_propagation(p.propagation),
      load(*this, "load", "B", "bytes carried a window"),
      m_lanes(p.lanes),
      m_lane_rate(p.lane_rate) {
    update_rate();
}

/// Up to here 64 bits hold the work below; divisions of 128 bits take many times as long.
static constexpr std::uint64_t max_of_short_division = 1 << 24, max_remainder = std::uint64_t{1} << 60;
static_assert(max_of_short_division * static_cast<unsigned __int128>(ticks_per_second) + max_remainder <=
              ~std::uint64_t{0});

ticks channel::serialise(std::uint64_t wire_bytes) {
    const auto rate = bytes_per_second();
    if (rate == 0) throw std::logic_error(std::string(name()) + ": a packet is sent without lanes");
    if (wire_bytes <= max_of_short_division && m_remainder <= max_remainder) {
        const std::uint64_t work = wire_bytes * ticks_per_second + m_remainder, time = work / rate;
        m_remainder = work - time * rate;
        return time;
    }
    const auto work = static_cast<unsigned __int128>(wire_bytes) * ticks_per_second + m_remainder;
    m_remainder = static_cast<std::uint64_t>(work % rate);
    return static_cast<ticks>(work / rate);
}

/// time * part / whole
static ticks scaled_time(ticks time, std::uint64_t part, std::uint64_t whole) {
    if (time < std::uint64_t{1} << 40 && part < 1 << 24) return time * part / whole;
    return static_cast<ticks>(static_cast<unsigned __int128>(part) * time / whole);
}

bool channel::corrupted(std::uint64_t wire_bytes) {
    if (m_bit_error_rate <= 0) return false;
    const double good = std::exp(static_cast<double>(wire_bytes) * 8 * std::log1p(-m_bit_error_rate));
    if (!m_random) m_random = std::make_unique<std::mt19937_64>(block_seed(*this, params.seed));
    return static_cast<double>((*m_random)() >> 11) * 0x1p-53 >= good;
}

channel::transmission channel::send(ticks earliest, ticks tail_ready, std::uint64_t wire_bytes,
                                    std::uint64_t head_bytes) {
    if (m_has_next_send_callback) {
        m_has_next_send_callback = false;
        std::exchange(m_next_send, {})();
    }
    if (m_pending_overhead) {
        if (m_free < earliest) {
            // The lanes were idle: link-layer packets went out in the gap, as far as they fitted.
            m_remainder = 0;
            const auto gap = static_cast<unsigned __int128>(earliest - m_free) * bytes_per_second() / ticks_per_second;
            m_pending_overhead -= std::min<std::uint64_t>(
                m_pending_overhead, static_cast<std::uint64_t>(std::min<unsigned __int128>(gap, m_pending_overhead)));
        }
        if (m_pending_overhead) {
            const auto time = serialise(m_pending_overhead);
            if (m_free < earliest) m_free = earliest;
            m_free += time;
            busy.book(0, m_free - time, m_free);
            m_pending_overhead = 0;
        }
    }
    if (m_free < earliest) {
        m_free = earliest;
        m_remainder = 0;
    }
    for (std::uint64_t failures = 0;;) {
        const ticks time = serialise(wire_bytes);
        transmission p;
        p.begin = m_free;
        if (tail_ready > time && tail_ready - time > m_free) p.begin = tail_ready - time;
        p.end = p.begin + time;
        m_free = p.end;
        busy.book(0, p.begin, p.end);
        if (!corrupted(wire_bytes)) {
            ++packets;
            bytes += wire_bytes;
            load.add(p.begin, static_cast<double>(wire_bytes));
            p.tail_arrival = p.end + m_propagation;
            const auto head =
                scaled_time(time, std::min(head_bytes, wire_bytes), std::max<std::uint64_t>(wire_bytes, 1));
            p.head_arrival = p.begin + head + m_propagation;
            return p;
        }
        ++replays;
        m_free += params.replay_latency;
        if (++failures % params.replays_before_retrain == 0) {
            m_free += params.retrain_time;
            p.lost = failures >= max_trainings_per_packet * params.replays_before_retrain;
            count_warning(retrains, *this, "{} failed attempts at one packet: the link trains again", failures);
            if (p.lost) return p;
        }
    }
}

void channel::add_overhead(std::uint64_t wire_bytes) {
    overhead_bytes += wire_bytes;
    m_pending_overhead += wire_bytes;
}

void channel::hold(ticks until) {
    auto& free = up() ? m_free : m_free_when_down;
    if (free < until) free = until;
}

void channel::set_lanes(std::uint64_t lanes) {
    const bool was_up = up();
    m_lanes = lanes;
    update_rate();
    update_link_state(was_up);
}

void channel::set_down(bool down) {
    const bool was_up = up();
    m_down = down;
    update_link_state(was_up);
}

void channel::update_link_state(bool was_up) {
    if (up() == was_up) return;
    if (was_up) {
        m_free_when_down = m_free;
        m_free = never;
        return;
    }
    m_free = m_free_when_down;
    if (m_restarted) m_restarted();
}

void channel::retrain(bandwidth lane_rate) {
    ++retrains;
    set_lane_rate(lane_rate);
    hold(now() + params.retrain_time);
}

void channel::reset() {
    m_lanes = params.lanes;
    m_lane_rate = params.lane_rate;
    update_rate();
    m_bit_error_rate = params.bit_error_rate;
    m_down = false;
    m_free = m_free_when_down = now();
    busy.drop();
    m_remainder = 0;
    m_pending_overhead = 0;
    m_random.reset();
    model::reset();
}

}  // namespace fabricvp::link
