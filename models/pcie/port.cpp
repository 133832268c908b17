// SPDX-License-Identifier: Apache-2.0
#include "pcie/port.h"

#include <algorithm>

#include "base/log.h"
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
    tx.bind(static_cast<tlm::tlm_bw_transport_if<link_protocol>&>(*this));
    rx.bind(static_cast<tlm::tlm_fw_transport_if<link_protocol>&>(*this));
}

bool port::idle() const { return transmitter.free_at() <= now(); }

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
        call_when_idle();
        return false;
    }
    auto& c = m_credits[index(t.flow())];
    const auto data = t.data_credits();
    if (c.headers.covers(1, time) && c.data.covers(data, time)) return true;
    ++credit_stalls;
    m_waits_for_credit = true;
    const auto when = std::max(c.headers.covered_at(1), c.data.covered_at(data));
    if (when != never && (!m_wake.scheduled() || m_wake.when() > when)) schedule(m_wake, when);
    return false;
}

ticks port::send(const tlp_ptr& t, ticks tail_ready) {
    if (!transmitter.up()) {
        ++dropped;
        return now();
    }
    auto& c = m_credits[index(t->flow())];
    c.headers.take(1);
    c.data.take(t->data_credits());
    const auto generation = static_cast<unsigned>(params.generation);
    const auto payload = t->payload_bytes();
    const auto header = t->header_bytes() + framing_bytes(generation) / 2;
    const auto passage = transmitter.send(now(), tail_ready, header + payload + (framing_bytes(generation) + 1) / 2, header);
    ++tlps_sent;
    payload_sent += payload;
    t->tail = passage.tail_arrival;
    auto phase = link_phase::transfer;
    auto delay = sc_core::sc_time::from_value(passage.head_arrival - now());
    tx->nb_transport_fw(*t, phase, delay);
    return passage.end;
}

tlm::tlm_sync_enum port::nb_transport_fw(tlp& t, link_phase&, sc_core::sc_time& delay) {
    // Time for acknowledgements and credit updates on the way back is taken from our transmitter.
    const auto dllp = dllp_bytes(static_cast<unsigned>(params.generation));
    ++m_received;
    if (dllp && m_received % params.tlps_per_acknowledgement == 0) transmitter.add_overhead(dllp);
    if (dllp && m_received % params.tlps_per_credit_update == 0) transmitter.add_overhead(dllp);
    if (m_arrivals.full()) m_arrivals.set_capacity(2 * m_arrivals.capacity());
    const auto when = now() + delay.value() + params.processing;
    m_arrivals.push_back({when, tlp_ptr(&t)});
    if (!m_arrive.scheduled()) schedule(m_arrive, when);
    return tlm::TLM_ACCEPTED;
}

void port::arrive() {
    const auto packet = std::move(m_arrivals.front().packet);
    m_arrivals.pop_front();
    if (!m_arrivals.empty()) schedule(m_arrive, m_arrivals.front().when);
    m_owner.tlp_arrived(*this, packet);
}

void port::release(tlp& t, ticks when) {
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

void port::take_down() {
    log(log_level::warning, *this, "the link goes down");
    transmitter.set_lanes(0);
}

void port::train(std::uint64_t lanes) {
    log(log_level::info, *this, "the link trains with {} lanes", lanes);
    transmitter.retrain(lanes);
    schedule(m_wake, transmitter.free_at());
}

void port::reset() {
    for (auto& c : m_credits) {
        c.headers.reset();
        c.data.reset();
    }
    m_arrivals.clear();
    cancel(m_arrive);
    cancel(m_wake);
    m_received = 0;
    m_waits_for_credit = false;
    model::reset();
}

void connect(port& a, port& b) {
    a.tx.bind(b.rx);
    b.tx.bind(a.rx);
    a.m_credits = port::credits_for(b.params);
    b.m_credits = port::credits_for(a.params);
    const auto width = std::min(a.params.width, b.params.width);
    a.transmitter.set_lanes(width);
    b.transmitter.set_lanes(width);
}

}  // namespace fabricvp::pcie
