// SPDX-License-Identifier: Apache-2.0
#include "fabric/port.h"

#include <algorithm>

#include <fmt/format.h>

#include "fabric/stage.h"
#include "link/far_end.h"

namespace fabricvp::fabric {

namespace {

link::channel_params channel_of(const link_params& p) {
    link::channel_params c;
    c.lanes = p.lanes;
    c.lane_rate = p.lane_rate;
    c.propagation = p.propagation;
    c.bit_error_rate = p.bit_error_rate;
    c.replay_latency = p.replay_latency;
    c.retrain_time = p.retrain_time;
    c.seed = p.seed;
    return c;
}

port::buffers room_of(const buffer_params& b) {
    port::buffers room;
    for (unsigned c = 0; c < virtual_channels; ++c) room[c] = {b.capacity(static_cast<virtual_channel>(c))};
    return room;
}

}  // namespace

void link_params::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{1, 64}, "lanes each way");
    v.field("lane_rate", lane_rate, between{1e6, 1e12}, "data rate of one lane");
    v.field("propagation", propagation, between{0, 1e9}, "time of flight, first bit out to first bit in");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3},
            "chance that a bit arrives wrong; the packet is sent again");
    v.field("replay_latency", replay_latency, between{0, 1e9}, "from the end of a corrupted packet to its repetition");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "time for which the link is down when it trains again");
    v.field("seed", seed,
            "seed of the error processes of both directions; 0: follows from simulation.seed and the block's path");
    v.group("reversible", reversible, "reversible lanes");
}

void buffer_params::describe(parameter_visitor& v) {
    v.field("entries", entries, between{2, 1e6},
            "flits that an input buffer holds, half of them for requests, half for responses");
    v.field("page_table_entries", page_table_entries, between{2, 1e6},
            "with packet.page_table_channels: flits for page-table packets beside these, half for requests, half for "
            "responses");
    v.field("credit_latency", credit_latency, between{0, 1e9},
            "from freeing entries to the transmitter's knowing of it");
}

std::string port_traits::describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial) {
    return fmt::format("{} credits of {}: {} of {} flits are left", choice_traits<virtual_channel>::names[c].second,
                       partner, left[0], initial[0]);
}

port::port(const sc_core::sc_module_name& name, const link_params& p, const buffer_params& b, const port_place& place)
    : link::port<port_traits>(name, channel_of(p)),
      m_owner(place.owner),
      m_credit_latency(static_cast<std::uint32_t>(b.credit_latency.value)),
      index(place.index),
      m_flit(static_cast<std::uint32_t>(place.format.flit.bytes)),
      crosses_clusters(place.crosses_clusters),
      params(p),
      buffer(b),
      format(place.format) {
    sent.set_flit(place.format.payload());
}

port::~port() = default;

void port::send(const packet_ptr& p, ticks tail_ready) {
    transmitter.prefetch_window();
    consume_credits(*p);
    const auto leave = [this](packet& each) {
        sent.add(each);
        ++each.hops;
        each.crossed_clusters |= crosses_clusters;
    };
    if (!p->carried) {
        leave(*p);
    } else {
        sent.add_carrier(p->carried->used, p->carried->flits);
        for_each_packet(*p, [this, &leave](packet& each) {
            leave(each);
            sent.add_carried(each);
        });
    }
    auto transmission = transmitter.send(now(), tail_ready, p->wire_bytes, m_flit);
    if (transmission.lost) {  // it goes on as far as it came, so that its requester hears of it
        ++corrupted;
        p->status = access_status::poisoned;
        transmission.head_arrival = transmission.tail_arrival = transmission.end + params.propagation;
    }
    if (m_fault_ordered) apply_faults(*p);
    p->head = transmission.head_arrival;
    p->tail = transmission.tail_arrival;
    if (span_recorder::on()) {
        for_each_packet(*p, [&](packet& each) {
            each.pass(queue_span, span_kind::queueing, now());
            each.pass(lanes_span, span_kind::queueing, transmission.begin);
            each.pass(serialisation_span, span_kind::service,
                      transmission.head_arrival - std::min<ticks>(params.propagation, transmission.head_arrival));
            each.pass(wire_span, span_kind::service, transmission.head_arrival);
        });
    }
    transmit_packet(*p, transmission.head_arrival);
}

void port::apply_faults(packet& p) {
    if (faults.poisons()) p.status = access_status::poisoned;
    faults.flip_in(p);
    m_fault_ordered = faults.ordered();
}

/// When what an ingress stage takes, or a stage has made, is due.
ticks port::staged_arrival_time(packet& p) {
    for_each_packet(p, [this](packet& each) { m_occupied[port_traits::class_of(each)] += each.flits; });
    const auto plan = ingress ? ingress->announced(p) : arrival_plan{p.destination, true, 0, 0};
    return p.due = m_owner.packet_announced(*this, p, plan);
}

void port::take_out(const packet_ptr& p) {
    packet_list complete;
    if (!ingress)
        unpack(p, complete);
    else if (const auto* wrong = ingress->take(p, complete))
        m_owner.packet_malformed(*this, wrong);
    for (const auto& each : complete) {
        if (each != p) {
            each->head = each->tail = p->tail;
            each->due = p->due;
        }
        m_owner.packet_unpacked(*this, each);
    }
}

void port::reset() {
    m_occupied.fill(0);
    link::port<port_traits>::reset();
    faults.restore();
}

void connect(port& a, port& b) {
    link::join<port_traits>(a, room_of(a.buffer), b, room_of(b.buffer));
    for (auto* p : {&a, &b}) {
        const bool reversible = p->params.reversible.policy != link::lane_policy_kind::none;
        p->faults.lanes.defaults.max_lanes = p->params.lanes + (reversible ? p->partner()->params.lanes - 1 : 0);
    }
}

void connect(port& here, far_end& there, const buffer_params& of_there) {
    link::join<port_traits>(here, there, room_of(of_there));
    here.faults.lanes.defaults.max_lanes = here.params.lanes;
}

}  // namespace fabricvp::fabric
