// SPDX-License-Identifier: Apache-2.0
#include "fabric/port_faults.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "fabric/port.h"
#include "fabric/stage_data.h"
#include "fabric/wire_format.h"

namespace fabricvp::fabric {

void port_faults::lane_arguments::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{1, static_cast<double>(max_lanes)},
            "lanes that fail; where this direction has fewer at that time, those");
    fault_duration_arguments::describe(v);
}

void port_faults::stuck_arguments::describe(parameter_visitor& v) {
    v.choice("channel", channel,
             "of which virtual channel; those of page tables are there if packet.page_table_channels");
    fault_duration_arguments::describe(v);
}

void port_faults::poison_arguments::describe(parameter_visitor& v) {
    v.field("count", count, between{1, 1e12}, "packets");
}

void port_faults::flip_arguments::describe(parameter_visitor& v) {
    v.field("bit", bit, between{0, 2047},
            "which bit of the packet, its header first, then its address, then its data; behind them padding");
}

port_faults::port_faults(port& at)
    : bit_errors(at, "bit_errors", "the link corrupts bits this way",
                 [this](const auto& a) {
                     m_bit_error_rate = a.rate;
                     restore();
                     m_errors_end.after(a.lasting);
                 }),
      down(at, "down", "nothing is sent this way; what there is waits",
           [this](const auto& a) {
               log(log_level::info, m_port, "the link goes down");
               m_down = true;
               restore();
               m_down_end.after(a.lasting);
           }),
      lanes(at, "lanes", "lanes fail this way; the others go on",
            [this](const auto& a) {
                const bool was_up = m_port.transmitter.up();
                const auto lost = m_port.duplex().fail_lanes(m_port.local_side(), a.lanes);
                log(log_level::info, m_port, "{} lanes fail", lost);
                m_port.failed_lanes += lost;
                if (was_up && !m_port.transmitter.up()) ++m_port.link_downs;
                if (!a.lasting || !lost) return;
                auto& c = calendar::current();
                const auto when = c.now() + a.lasting;
                const auto after = std::upper_bound(m_repairs.begin(), m_repairs.end(), when,
                                                    [](ticks t, const lane_repair& r) { return t < r.when; });
                m_repairs.insert(after, {when, lost});
                c.schedule(m_lanes_repaired, m_repairs.front().when);
            }),
      stuck(at, "stuck", "the queues of a virtual channel send nothing this way; other channels go on",
            [this](const auto& a) {
                m_port.hold_queue(static_cast<unsigned>(a.channel));
                m_stuck_end.after(a.lasting);
            },
            {{{0}, "for how long, until all queues of this end go on; 0 ps: for good"}}),
      poison(at, "poison", "the next packets this way arrive marked as poisoned",
             [this](const auto& a) {
                 m_poison += a.count;
                 m_port.m_fault_ordered = true;
             }),
      flip(at, "flip",
           "a bit of the next packet this way whose flits have it flips behind the CRC check, so that no repetition "
           "mends it",
           [this](const auto& a) {
               m_flips.push_back(a.bit);
               m_port.m_fault_ordered = true;
           }),
      dead(at, "dead",
           "the link is dead for good, both ways: packets take other ways, and accesses for which there is none fail",
           [this](const auto&) {
               if (on_failure) on_failure();
           }),
      m_port(at),
      m_errors_end([this] {
          m_bit_error_rate.reset();
          restore();
      }),
      m_down_end([this] {
          m_down = false;
          restore();
      }),
      m_stuck_end([this] { release_queues(); }) {}

void port_faults::fail() {
    m_dead = true;
    restore();
}

void port_faults::restore() {
    m_port.transmitter.set_bit_error_rate(m_bit_error_rate.value_or(m_port.params.bit_error_rate));
    const bool was_held = std::exchange(m_held, m_down || m_dead);  // a reset lifts that, and is no other time
    const bool was_up = m_port.transmitter.up();
    m_port.transmitter.set_down(m_held);
    if (!was_held && was_up && !m_port.transmitter.up()) ++m_port.link_downs;
}

void port_faults::release_queues() {
    for (unsigned c = 0; c < virtual_channels; ++c) m_port.release_queue(c);
}

void port_faults::repair_lanes() {
    auto& c = calendar::current();
    while (!m_repairs.empty() && m_repairs.front().when <= c.now()) {
        m_port.duplex().repair(m_port.local_side(), m_repairs.front().lanes);
        m_repairs.erase(m_repairs.begin());
    }
    if (!m_repairs.empty()) c.schedule(m_lanes_repaired, m_repairs.front().when);
}

/// What a stage sends may be bytes, and the far end reads what has become of them. Others become bytes for a moment:
/// what still makes sense goes on as that, the rest poisoned.
void port_faults::flip_first_in(packet& p) {
    const auto bit = m_flips.front();
    const auto at = static_cast<std::size_t>(bit / 8);
    if (at >= std::size_t{p.wire_bytes}) return;
    m_flips.erase(m_flips.begin());
    log(log_level::info, m_port, "bit {} of a packet flips", bit);
    const auto mask = static_cast<std::uint8_t>(1u << bit % 8);
    if (p.carried) {
        if (!p.carried->flip(at, mask)) p.status = access_status::poisoned;
        return;
    }
    if (at < p.bytes && !fabric::flip(p, m_port.format, at, mask)) p.status = access_status::poisoned;
}

void port_faults::repair() {
    for (auto* e : {&m_errors_end, &m_down_end, &m_stuck_end}) e->cancel();
    calendar::current().cancel(m_lanes_repaired);
    m_repairs.clear();
    m_flips.clear();
    m_poison = 0;
    m_down = m_dead = false;
    m_bit_error_rate.reset();
    restore();
    release_queues();
    m_port.duplex().repair(m_port.local_side(), m_port.duplex().failed(m_port.local_side()));
}

}  // namespace fabricvp::fabric
