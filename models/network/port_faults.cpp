// SPDX-License-Identifier: Apache-2.0
#include "network/port_faults.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/log.h"
#include "base/random_streams.h"
#include "network/port.h"
#include "network/wire.h"

namespace fabricvp::network {

void port_faults::loss_arguments::describe(parameter_visitor& v) {
    v.field("rate", rate, between{0, 1}, "chance that a packet is lost");
    fault_duration_arguments::describe(v);
}

void port_faults::drop_arguments::describe(parameter_visitor& v) {
    v.field("count", count, between{1, 1e12}, "packets");
}

void port_faults::duplicate_arguments::describe(parameter_visitor& v) {
    v.field("count", count, between{1, 1e12}, "packets");
}

void port_faults::stuck_arguments::describe(parameter_visitor& v) {
    v.field("lane", lane, between{0, management_lane - 1}, "virtual lane; one that the link has not has no packets");
    fault_duration_arguments::describe(v);
}

void port_faults::corrupt_arguments::describe(parameter_visitor& v) {
    v.field("count", count, between{1, 1e12}, "packets");
    v.choice("where", where,
             "link: the VCRC is wrong, the next port drops it; payload: only the ICRC is, the last channel adapter "
             "drops it");
}

port_faults::port_faults(port& at)
    : bit_errors(at, "bit_errors", "the link corrupts bits this way",
                 [this](const auto& a) {
                     set_rate(a.rate);
                     m_errors_end.after(a.lasting);
                 },
                 {{}, 1e-9}),
      loss(at, "loss", "packets are lost at random this way",
           [this](const auto& a) {
               m_loss = a.rate;
               m_loss_end.after(a.lasting);
               update_active();
           }),
      drop(at, "drop", "the next packets this way are lost",
           [this](const auto& a) {
               m_drop += a.count;
               update_active();
           }),
      duplicate(at, "duplicate", "the next packets this way are sent twice",
                [this](const auto& a) {
                    m_duplicate += a.count;
                    update_active();
                }),
      corrupt(at, "corrupt", "the next packets this way arrive with a bit that is wrong",
              [this](const auto& a) {
                  (a.where == corruption::link ? m_corrupt_link : m_corrupt_payload) += a.count;
                  update_active();
              }),
      stuck(at, "stuck", "the queue of a virtual lane sends nothing; other lanes go on",
            [this](const auto& a) {
                m_port.hold_queue(static_cast<unsigned>(a.lane));
                m_stuck_end.after(a.lasting);
            },
            {{{0}, "for how long, until all queues of this port go on; 0 ps: for good"}}),
      down(at, "down", "the link goes down at both ends: what is under way is lost",
           [this](const auto& a) {
               m_down = true;
               m_port.hold_down();
               m_down_end.after(a.lasting);
           },
           {{0}, "after which the link trains again; 0 ps: never"}),
      m_port(at),
      m_errors_end([this] { set_rate(m_cable_rate); }),
      m_loss_end([this] {
          m_loss = 0;
          update_active();
      }),
      m_down_end([this] {
          m_down = false;
          m_port.start_training();
      }),
      m_stuck_end([this] {
          for (unsigned lane = 0; lane < virtual_lanes; ++lane) m_port.release_queue(lane);
      }) {}

void port_faults::set_bit_error_rate(double rate, std::uint64_t seed) {
    m_cable_rate = rate;
    m_seed = seed;
    set_rate(rate);
}

void port_faults::update_active() {
    m_any = m_bit_error_rate > 0 || m_loss > 0 || m_drop || m_duplicate || m_corrupt_link || m_corrupt_payload;
}

/// Even over [0, 1).
double port_faults::draw() {
    if (!m_random) m_random = std::make_unique<std::mt19937_64>(block_seed(m_port, m_seed));
    return static_cast<double>((*m_random)() >> 11) * 0x1p-53;
}

void port_faults::set_rate(double rate) {
    m_bit_error_rate = rate;
    if (rate > 0) draw_gap();
    update_active();
}

/// The number of good bits before a bad one is geometric, so a packet without bad bits costs no random number.
void port_faults::draw_gap() {
    const double gap = std::floor(std::log1p(-draw()) / std::log1p(-m_bit_error_rate));
    m_gap = gap < 1e18 ? static_cast<std::uint64_t>(gap) : std::numeric_limits<std::uint64_t>::max();
}

bool port_faults::duplicates() {
    if (!m_duplicate) return false;
    --m_duplicate;
    update_active();
    return true;
}

bool port_faults::apply(packet& p) {
    if (m_drop) {
        --m_drop;
        update_active();
        return true;
    }
    if (m_loss > 0 && draw() < m_loss) return true;
    if (m_corrupt_link) {
        --m_corrupt_link;
        update_active();
        p.corrupted = corruption::link;
    }
    if (m_corrupt_payload) {
        --m_corrupt_payload;
        update_active();
        if (p.corrupted == corruption::none) p.corrupted = corruption::payload;
    }
    if (m_bit_error_rate > 0) flip_bits(p);
    return false;
}

/// Turns the bits whose turn it is. What the CRCs do not notice arrives as it then is.
void port_faults::flip_bits(packet& p) {
    const auto bits = std::uint64_t{p.wire_bytes} * 8;
    if (m_gap >= bits) {
        m_gap -= bits;
        return;
    }
    auto bytes = encode(p);
    bool framing = false;
    std::uint64_t at = m_gap;
    for (; at < bits; at += m_gap + 1) {
        const auto byte = at / 8;
        if (byte == 0 || byte > bytes.size())
            framing = true;  // the symbols around the packet
        else
            bytes[byte - 1] ^= static_cast<std::uint8_t>(1u << at % 8);
        draw_gap();
    }
    m_gap = at - bits;
    if (framing || !has_good_variant_crc(bytes)) {
        p.corrupted = corruption::link;
        return;
    }
    packet seen;
    if (decode(bytes.data(), bytes.size(), seen)) {
        p.corrupted = corruption::link;
        return;
    }
    p.lrh = seen.lrh;
    static_cast<packet_headers&>(p) = seen;
    p.payload = seen.payload;
    if (!has_good_invariant_crc(bytes)) p.corrupted = corruption::payload;
}

void port_faults::restart_stream() {
    m_random.reset();
    set_rate(m_bit_error_rate);
}

}  // namespace fabricvp::network
