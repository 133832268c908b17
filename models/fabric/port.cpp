// SPDX-License-Identifier: Apache-2.0
#include "fabric/port.h"

#include <algorithm>

#include <fmt/format.h>

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

std::size_t index_of(const packet& p) { return static_cast<std::size_t>(p.channel()); }

}  // namespace

void link_params::describe(parameter_visitor& v) {
    v.field("lanes", lanes, between{1, 64}, "lanes each way");
    v.field("lane_rate", lane_rate, between{1e6, 1e12}, "data rate of one lane");
    v.field("propagation", propagation, between{0, 1e9}, "time of flight, first bit out to first bit in");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3}, "chance that a bit arrives wrong; the packet is sent again");
    v.field("replay_latency", replay_latency, between{0, 1e9}, "from the end of a corrupted packet to its repetition");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "time for which the link is down when it trains again");
    v.field("seed", seed, "seed of the error process");
}

void buffer_params::describe(parameter_visitor& v) {
    v.field("entries", entries, between{2, 1e6}, "flits that an input buffer holds, half of them for requests, half for responses");
    v.field("credit_latency", credit_latency, between{0, 1e9}, "from freeing entries to the transmitter's knowing of it");
}

port::port(const sc_core::sc_module_name& name, const link_params& p, const buffer_params& b, const packet_format& format,
           port_owner& owner, unsigned i, bool crosses)
    : model(name), params(p), buffer(b), index(i), crosses_clusters(crosses), transmitter("transmitter", channel_of(p)),
      m_flit(static_cast<std::uint32_t>(format.flit.bytes)), m_owner(owner), m_arrivals(64) {
    sent.set_flit(format.flit);
    tx.bind(static_cast<tlm::tlm_bw_transport_if<link_protocol>&>(*this));
    rx.bind(static_cast<tlm::tlm_fw_transport_if<link_protocol>&>(*this));
}

void port::call_when_idle() {
    if (faults.is_down()) {
        m_down_since = std::min(m_down_since, now());
        return;
    }
    m_down_since = never;
    const auto when = std::max(transmitter.free_at(), now());
    if (!m_wake.scheduled() || m_wake.when() > when) schedule(m_wake, when);
}

bool port::has_credit(virtual_channel channel, unsigned flits) {
    const auto c = static_cast<std::size_t>(channel);
    auto& credits = m_credits[c];
    if (credits.covers(flits, now())) return true;
    if (m_waiting_since[c] == never) {
        ++credit_stalls;
        m_waiting_since[c] = now();
    }
    m_waits_for_credit = true;
    const auto when = credits.covered_at(flits);
    if (when != never && (!m_wake.scheduled() || m_wake.when() > when)) schedule(m_wake, when);
    return false;
}

void port::send(const packet_ptr& p, ticks tail_ready) {
    const auto c = index_of(*p);
    m_waiting_since[c] = never;
    m_credits[c].take(p->flits);
    sent.add(*p);
    ++p->hops;
    p->crossed_clusters |= crosses_clusters;
    auto passage = transmitter.send(now(), tail_ready, p->wire_bytes, m_flit);
    if (passage.lost) {  // it goes on as far as it came, so that its requester hears of it
        ++spoilt;
        p->status = access_status::poisoned;
        passage.head_arrival = passage.tail_arrival = passage.end + params.propagation;
    }
    if (faults.poisons()) p->status = access_status::poisoned;
    p->head = passage.head_arrival;
    p->tail = passage.tail_arrival;
    if (span_recorder::on()) {
        p->pass(queue_span, span_kind::queueing, now());
        p->pass(lanes_span, span_kind::queueing, passage.begin);
        p->pass(serialisation_span, span_kind::service, passage.head_arrival - std::min<ticks>(params.propagation, passage.head_arrival));
        p->pass(wire_span, span_kind::service, passage.head_arrival);
    }
    auto phase = link_phase::transfer;
    auto delay = sc_core::sc_time::from_value(passage.head_arrival - now());
    tx->nb_transport_fw(*p, phase, delay);
}

tlm::tlm_sync_enum port::nb_transport_fw(packet& p, link_phase&, sc_core::sc_time&) {
    m_occupied[index_of(p)] += p.flits;
    if (m_arrivals.full()) m_arrivals.set_capacity(2 * m_arrivals.capacity());
    // What came first goes on first, whatever the owner says.
    p.due = m_last_due = std::max(m_last_due, m_owner.packet_announced(*this, p));
    m_arrivals.push_back(packet_ptr(&p));
    if (!m_arrive.scheduled()) schedule(m_arrive, p.due);
    return tlm::TLM_ACCEPTED;
}

void port::arrive() {
    const auto p = std::move(m_arrivals.front());
    m_arrivals.pop_front();
    if (!m_arrivals.empty()) schedule(m_arrive, m_arrivals.front()->due);
    m_owner.packet_arrived(*this, p);
}

void port::release(const packet& p, ticks when) {
    m_occupied[index_of(p)] -= p.flits;
    auto phase = link_phase::credit_return;
    auto delay = sc_core::sc_time::from_value(std::max(when, now()) - now() + ticks{buffer.credit_latency});
    rx->nb_transport_bw(const_cast<packet&>(p), phase, delay);
}

tlm::tlm_sync_enum port::nb_transport_bw(packet& p, link_phase&, sc_core::sc_time& delay) {
    const ticks when = now() + delay.value();
    m_credits[index_of(p)].give_back(p.flits, when);
    if (m_waits_for_credit && (!m_wake.scheduled() || m_wake.when() > when)) schedule(m_wake, when);
    return tlm::TLM_ACCEPTED;
}

void port::wake() {
    m_waits_for_credit = false;
    m_owner.transmitter_ready(*this);
}

void port::b_transport(packet&, sc_core::sc_time&) { SC_REPORT_ERROR(name(), "fabric links are not blocking: use nb_transport"); }

std::optional<model::wait> port::waits() const {
    if (m_down_since != never) return wait{m_down_since, "its link to come up"};
    const auto longest = std::min_element(m_waiting_since.begin(), m_waiting_since.end());
    if (*longest == never || !m_partner) return std::nullopt;
    const auto c = static_cast<std::size_t>(longest - m_waiting_since.begin());
    auto credits = m_credits[c];
    return wait{*longest, fmt::format("{} credits of {}: {} of {} flits are left", name_of(static_cast<virtual_channel>(c)),
                                      m_partner->name(), credits.available(now()), credits.initial())};
}

void port::set_credits(std::uint64_t each) {
    for (auto& c : m_credits) c = link::credit_account(each);
}

void port::reset() {
    for (auto& c : m_credits) c.reset();
    m_arrivals.clear();
    cancel(m_arrive);
    cancel(m_wake);
    m_waiting_since.fill(never);
    m_occupied.fill(0);
    m_waits_for_credit = false;
    m_last_due = 0;
    m_down_since = never;
    faults.reset();
    model::reset();
}

void connect(port& a, port& b) {
    a.tx.bind(b.rx);
    b.tx.bind(a.rx);
    a.m_partner = &b;
    b.m_partner = &a;
    a.set_credits(b.buffer.share());
    b.set_credits(a.buffer.share());
}

}  // namespace fabricvp::fabric
