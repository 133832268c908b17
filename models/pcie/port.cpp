// SPDX-License-Identifier: Apache-2.0
#include "pcie/port.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "pcie/capabilities.h"
#include "pcie/link_speed.h"

namespace fabricvp::pcie {

namespace {

link::channel_params channel_of(const port_params& p) {
    link::channel_params c;
    c.lanes = p.width;
    c.lane_rate = lane_rate(static_cast<unsigned>(p.generation));
    c.propagation = p.propagation;
    c.bit_error_rate = p.bit_error_rate;
    c.retrain_time = p.retrain_time;
    return c;
}

std::size_t index(flow_class c) { return static_cast<std::size_t>(c); }

const char* name_of(std::size_t flow) { return choice_traits<flow_class>::names[flow].second; }

}  // namespace

void port_params::describe(parameter_visitor& v) {
    v.field("generation", generation, between{1, 6}, "PCI Express generation of the link");
    v.field("width", width, between{1, 32}, "lanes each way");
    v.field("max_payload", max_payload, between{128, 4096}, "largest payload of a TLP that is supported, in bytes");
    v.field("propagation", propagation, between{0, 1e6}, "time of flight on the wire");
    v.field("processing", processing, between{0, 1e7}, "from the arrival of a TLP's head until the device acts on it");
    v.field("posted_headers", posted_headers, between{1, 128}, "posted TLPs that the receiver can hold");
    v.field("non_posted_headers", non_posted_headers, between{1, 128}, "non-posted TLPs that the receiver can hold");
    v.field("completion_headers", completion_headers, between{1, 128}, "completions that the receiver can hold");
    v.field("posted_buffer", posted_buffer, between{4096.0 / 32, 32752}, "receiver's buffer for posted data");
    v.field("non_posted_buffer", non_posted_buffer, between{16, 32752}, "receiver's buffer for non-posted data");
    v.field("completion_buffer", completion_buffer, between{4096.0 / 32, 32752}, "receiver's buffer for completion data");
    v.field("credit_latency", credit_latency, between{0, 1e7}, "from freeing a buffer to the partner's knowing of it");
    v.field("tlps_per_acknowledgement", tlps_per_acknowledgement, between{1, 64}, "TLPs that one ACK stands for");
    v.field("tlps_per_credit_update", tlps_per_credit_update, between{1, 64}, "TLPs that one UpdateFC stands for");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3}, "chance that a bit arrives wrong");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "time for which the link is down when it trains again");
}

port::port(const sc_core::sc_module_name& name, const port_params& p, port_owner& owner)
    : model(name),
      params(p),
      transmitter("transmitter", channel_of(p)),
      m_owner(owner),
      m_credits(credits_for(p)),
      m_arrivals(16) {
    m_generation = static_cast<unsigned>(p.generation);
    tx.bind(static_cast<tlm::tlm_bw_transport_if<link_protocol>&>(*this));
    rx.bind(static_cast<tlm::tlm_fw_transport_if<link_protocol>&>(*this));
}

bool port::idle() const { return !m_up || transmitter.free_at() <= now(); }

void port::call_when_idle() {
    const auto when = std::max(transmitter.free_at(), now());
    if (!m_wake.scheduled() || m_wake.when() > when) schedule(m_wake, when);
}

std::array<port::credits, flow_classes> port::credits_for(const port_params& receiver) {
    using link::credit_account;
    return {credits{credit_account(receiver.posted_headers), credit_account(receiver.posted_buffer / 16)},
            credits{credit_account(receiver.non_posted_headers), credit_account(receiver.non_posted_buffer / 16)},
            credits{credit_account(receiver.completion_headers), credit_account(receiver.completion_buffer / 16)}};
}

bool port::can_send(const tlp& t) {
    const auto time = now();
    if (transmitter.free_at() > time) {
        if (!m_up) return true;  // and be lost
        call_when_idle();
        return false;
    }
    auto& c = m_credits[index(t.flow())];
    const auto data = t.data_credits();
    if (c.headers.covers(1, time) && c.data.covers(data, time)) return true;
    if (!m_up) return true;
    ++credit_stalls;
    m_waits_for_credit = true;
    auto& since = m_waiting_since[index(t.flow())];
    if (since == never) since = time;
    const auto when = std::max(c.headers.covered_at(1), c.data.covered_at(data));
    if (when != never && (!m_wake.scheduled() || m_wake.when() > when)) schedule(m_wake, when);
    return false;
}

ticks port::send(const tlp_ptr& t, ticks tail_ready) {
    if (!m_up) {
        ++dropped;
        return now();
    }
    auto& c = m_credits[index(t->flow())];
    m_waiting_since[index(t->flow())] = never;
    c.headers.take(1);
    c.data.take(t->data_credits());
    const auto generation = m_generation;
    const auto payload = t->payload_bytes();
    const auto header = t->header_bytes() + framing_bytes(generation) / 2;
    const auto passage = transmitter.send(now(), tail_ready, header + payload + (framing_bytes(generation) + 1) / 2, header);
    ++tlps_sent;
    payload_sent += payload;
    if ((transmitter.bit_error_rate() > 0 || faults.any()) && disturb(*t, passage)) return passage.end;
    t->tail = passage.tail_arrival;
    if (span_recorder::on()) {
        t->pass(arbitration_span, span_kind::queueing, now());
        t->pass(lanes_span, span_kind::queueing, passage.begin);
        t->pass(serialisation_span, span_kind::service, passage.head_arrival - params.propagation);
        t->pass(wire_span, span_kind::service, passage.head_arrival);
    }
    auto phase = link_phase::transfer;
    auto delay = sc_core::sc_time::from_value(passage.head_arrival - now());
    tx->nb_transport_fw(*t, phase, delay);
    return passage.end;
}

tlm::tlm_sync_enum port::nb_transport_fw(tlp& t, link_phase&, sc_core::sc_time& delay) {
    // Time for acknowledgements and credit updates on the way back is taken from our transmitter.
    const auto dllp = dllp_bytes(m_generation);
    ++m_received;
    if (dllp && m_received % params.tlps_per_acknowledgement == 0) transmitter.add_overhead(dllp);
    if (dllp && m_received % params.tlps_per_credit_update == 0) transmitter.add_overhead(dllp);
    if (m_arrivals.full()) m_arrivals.set_capacity(2 * m_arrivals.capacity());
    const auto when = now() + delay.value() + params.processing;
    t.pass(processing_span, span_kind::service, when);
    m_arrivals.push_back({when, tlp_ptr(&t)});
    if (!m_arrive.scheduled()) schedule(m_arrive, when);
    return tlm::TLM_ACCEPTED;
}

void port::arrive() {
    const auto packet = std::move(m_arrivals.front().packet);
    m_arrivals.pop_front();
    if (!m_arrivals.empty()) schedule(m_arrive, m_arrivals.front().when);
    packet->link_epoch = m_epoch;
    m_owner.tlp_arrived(*this, packet);
}

void port::release(tlp& t, ticks when) {
    if (t.link_epoch != m_epoch) return;  // the partner has all its credits since the link came up again
    auto phase = link_phase::credit_return;
    auto delay = sc_core::sc_time::from_value(std::max(when, now()) - now() + ticks{params.credit_latency});
    rx->nb_transport_bw(t, phase, delay);
}

tlm::tlm_sync_enum port::nb_transport_bw(tlp& t, link_phase&, sc_core::sc_time& delay) {
    auto& c = m_credits[index(t.flow())];
    const ticks when = now() + delay.value();
    c.headers.give_back(1, when);
    c.data.give_back(t.data_credits(), when);
    if (m_waits_for_credit && (!m_wake.scheduled() || m_wake.when() > when)) schedule(m_wake, std::max<ticks>(when, now()));
    return tlm::TLM_ACCEPTED;
}

void port::wake() {
    m_waits_for_credit = false;
    m_owner.transmitter_ready(*this);
}

void port::b_transport(tlp&, sc_core::sc_time&) { SC_REPORT_ERROR(name(), "PCIe links are not blocking: use nb_transport"); }

unsigned port::transport_dbg(tlp& t) { return m_owner.debug_request(*this, t); }

/// Replays, faults. \returns true if the TLP does not arrive
bool port::disturb(tlp& t, const link::channel::passage& passage) {
    if (const auto attempts = transmitter.replays.total(); attempts != m_replays) {
        m_replays = attempts;
        m_partner->m_link_errors |= aer::bad_tlp;
        if (!m_partner->m_attend.scheduled()) m_partner->schedule(m_partner->m_attend, std::max(now(), passage.end));
    }
    if (const auto trainings = transmitter.retrains.total(); trainings != m_trainings) {
        m_trainings = trainings;
        m_link_errors |= aer::replay_rollover;
        if (!m_attend.scheduled()) schedule(m_attend, std::max(now(), passage.end));
    }
    if (passage.lost) {
        m_failed = true;
        ++dropped;
        return true;
    }
    if (!faults.any()) return false;
    if (faults.poisons(t)) {
        t.poisoned = true;
        const auto spoilt = allocate_slice(t.data.length);  // a copy: others may hold the good data
        for (std::size_t i = 0; i < spoilt.length; ++i) spoilt.data()[i] = static_cast<std::uint8_t>(~t.data.data()[i]);
        t.data = spoilt;
    }
    if (!faults.drops(t)) return false;
    ++dropped;
    auto& c = m_credits[index(t.flow())];  // the receiver's link layer has acknowledged it: its buffer is free again
    c.headers.give_back(1, passage.end + params.credit_latency);
    c.data.give_back(t.data_credits(), passage.end + params.credit_latency);
    return true;
}

void port::attend() {
    if (const auto errors = std::exchange(m_link_errors, 0)) m_owner.link_errors(*this, errors);
    if (!std::exchange(m_failed, false) || !m_up) return;
    log(log_level::warning, *this, "training does not help: the link goes down");
    take_down();
    train();
}

void port::drop_link() {
    m_up = false;
    ++m_epoch;
    ++link_downs;
    dropped += m_arrivals.size();
    m_arrivals.clear();
    cancel(m_arrive);
    cancel(m_wake);
    cancel(m_trained);
    m_waits_for_credit = false;
    m_waiting_since.fill(never);
}

void port::take_down() {
    if (!m_partner || !m_up) return;
    log(log_level::info, *this, "the link goes down");
    drop_link();
    m_partner->drop_link();
    m_owner.link_changed(*this, link_event::down);
    m_partner->m_owner.link_changed(*m_partner, link_event::down);
}

void port::train(std::uint64_t lanes, unsigned generation) {
    if (!m_partner || !m_present || m_held || m_partner->m_held) return;
    const auto most_lanes = std::min(params.width, m_partner->params.width);
    const auto most = static_cast<unsigned>(std::min(params.generation, m_partner->params.generation));
    lanes = lanes == 0 ? most_lanes : std::min(lanes, most_lanes);
    generation = generation == 0 ? most : std::min(generation, most);
    log(log_level::info, *this, "the link trains: {} lanes, generation {}", lanes, generation);
    for (auto* p : {this, m_partner}) {
        p->settle(lanes, generation);
        p->transmitter.retrain(lanes, lane_rate(generation));
        cancel(p->m_trained);
    }
    schedule(m_trained, now() + params.retrain_time);
    m_owner.link_changed(*this, link_event::training);
    m_partner->m_owner.link_changed(*m_partner, link_event::training);
}

void port::hold(bool down) {
    if (down == m_held) return;
    m_held = down;
    if (!down) {
        train();
        return;
    }
    take_down();
    cancel(m_trained);
    if (m_partner) cancel(m_partner->m_trained);
}

void port::trained() {
    const bool was_up = m_up;
    for (auto* p : {this, m_partner}) {
        if (!was_up) {
            p->m_up = true;
            p->m_credits = credits_for((p == this ? m_partner : this)->params);
        }
        p->m_owner.link_changed(*p, was_up ? link_event::speed : link_event::up);
        if (p->m_up) p->schedule(p->m_wake, std::max(now(), p->transmitter.free_at()));
    }
}

void port::settle(std::uint64_t lanes, unsigned generation) {
    m_generation = generation;
    transmitter.set_lanes(lanes);
}

void port::set_present(bool present) {
    if (!m_partner || present == m_present) return;
    if (!present) take_down();
    for (auto* p : {this, m_partner}) {
        p->m_present = present;
        cancel(p->m_trained);
    }
    for (auto* p : {this, m_partner}) p->m_owner.link_changed(*p, present ? link_event::plugged : link_event::pulled);
    if (present) train();
}

std::optional<model::wait> port::waits() const {
    const auto longest = std::min_element(m_waiting_since.begin(), m_waiting_since.end());
    if (*longest == never || !m_partner) return std::nullopt;
    const auto flow = static_cast<std::size_t>(longest - m_waiting_since.begin());
    auto c = m_credits[flow];
    return wait{*longest, fmt::format("{} credits of {}: {} of {} headers and {} of {} bytes are left", name_of(flow), m_partner->name(),
                                      c.headers.available(now()), c.headers.initial(), 16 * c.data.available(now()), 16 * c.data.initial())};
}

void port::reset() {
    for (auto& c : m_credits) {
        c.headers.reset();
        c.data.reset();
    }
    m_arrivals.clear();
    for (auto* e : {&m_arrive, &m_wake, &m_trained, &m_attend}) cancel(*e);
    faults.reset();
    ++m_epoch;
    m_up = m_present = true;
    m_held = false;
    m_received = m_link_errors = 0;
    m_waits_for_credit = m_failed = false;
    m_waiting_since.fill(never);
    model::reset();
    if (!m_partner) return;
    const auto lanes = std::min(params.width, m_partner->params.width);
    const auto generation = static_cast<unsigned>(std::min(params.generation, m_partner->params.generation));
    settle(lanes, generation);
    transmitter.set_lane_rate(lane_rate(generation));
    m_owner.link_changed(*this, link_event::speed);
}

void connect(port& a, port& b) {
    a.tx.bind(b.rx);
    b.tx.bind(a.rx);
    a.m_partner = &b;
    b.m_partner = &a;
    a.m_credits = port::credits_for(b.params);
    b.m_credits = port::credits_for(a.params);
    const auto lanes = std::min(a.params.width, b.params.width);
    const auto generation = static_cast<unsigned>(std::min(a.params.generation, b.params.generation));
    for (auto* p : {&a, &b}) {
        p->settle(lanes, generation);
        p->transmitter.set_lane_rate(lane_rate(generation));
        p->m_owner.link_changed(*p, link_event::speed);
    }
}

}  // namespace fabricvp::pcie
