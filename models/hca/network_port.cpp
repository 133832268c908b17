// SPDX-License-Identifier: Apache-2.0
#include "hca/network_port.h"

#include <algorithm>

namespace fabricvp::hca {

network_port_params::network_port_params() {
    link.rate = network::link_rate::fdr;
    link.mtu = 4096;
}

void network_port_params::describe(parameter_visitor& v) {
    v.group("link", link, "the link's end at the adapter");
    v.field("receive_latency", receive_latency, between{0, 1e8}, "from the arrival of a packet to what it causes");
    v.field("loopback_latency", loopback_latency, between{0, 1e8},
            "of a packet to this port itself, from leaving to arriving");
}

network_port::network_port(const sc_core::sc_module_name& name, const network_port_params& p, queue_pairs& pairs)
    : model(name), params(p), link("link", p.link, *this), m_pairs(pairs) {
    if (p.plugged) return;
    m_nobody = std::make_unique<network::port>("nobody", p.link, static_cast<network::port_owner&>(*this));
    network::connect(link, *m_nobody);
    m_nobody->hold_down();
}

bool network_port::own(std::uint16_t lid) const { return lid != 0 && (lid & ~((1u << link.lmc()) - 1)) == link.lid(); }

void network_port::enable(bool on) {
    m_enabled = on;
    if (on_state) on_state();
}

bool network_port::try_send(const network::packet_ptr& p) {
    const bool managing = link.lane_of(*p) == network::management_lane;
    if (own(p->lrh.dlid)) {
        ++packets_sent;
        turn_round(p);
        return true;
    }
    if (!m_enabled || (managing ? !link.up() : link.state() != network::port_state::active)) {
        ++undeliverable;
        return true;
    }
    if (!link.has_room(link.lane_of(*p))) return false;
    ++packets_sent;
    if (network::is_multicast(p->lrh.dlid)) {
        const auto copy = network::copy_packet(*p);
        copy->spans.follow(p->spans);
        turn_round(copy);
    }
    p->pass(room_span, span_kind::queueing, now());
    link.send(p);
    return true;
}

void network_port::turn_round(const network::packet_ptr& p) {
    ++looped;
    p->measure();
    p->pass(room_span, span_kind::queueing, now());
    m_loop.push_back({now() + params.loopback_latency, p});
    if (!m_deliver.scheduled() || m_deliver.when() > m_loop.back().when) schedule(m_deliver, m_loop.back().when);
}

void network_port::send(queue_pair& q, direction d) {
    auto& train = d == direction::request ? q.send.requests : q.respond.responses;
    if (train.waiting) return;
    while (const auto* front = train.front()) {
        const auto p = *front;
        const auto lane = link.lane_of(*p);
        if (!m_waiting[lane].empty() || !try_send(p)) {  // behind those that came before
            train.waiting = true;
            m_waiting[lane].push_back({q.attributes.number, q.serial, d});
            return;
        }
        train.pop();
        sent(q, d, *p);
    }
}

void network_port::sent(queue_pair& q, direction d, const network::packet& p) {
    if (d == direction::request)
        on_request_sent(q, p);
    else
        on_response_sent(q);
}

void network_port::send(const network::packet_ptr& p) {
    const auto lane = link.lane_of(*p);
    if (!m_loose[lane].empty() || !try_send(p)) m_loose[lane].push_back(p);
}

void network_port::room_again(network::port&, unsigned lane) {
    auto& loose = m_loose[lane];
    while (!loose.empty() && try_send(loose.front())) loose.pop_front();
    auto& list = m_waiting[lane];
    while (loose.empty() && !list.empty()) {
        const auto w = list.front();
        auto* q = m_pairs.find(w.qpn, w.serial);
        if (!q) {
            list.pop_front();
            continue;
        }
        auto& train = w.d == direction::request ? q->send.requests : q->respond.responses;
        if (const auto* front = train.front()) {
            const auto p = *front;
            if (!try_send(p)) return;
            train.pop();
            sent(*q, w.d, *p);
        }
        list.pop_front();
        if (train.front())
            list.push_back(w);  // one of each in turn
        else
            train.waiting = false;
    }
}

/// What waited for room has nothing to wait for when the link is down.
void network_port::state_changed(network::port&, network::port_state) {
    for (unsigned lane = 0; lane < network::virtual_lanes; ++lane)
        if (!m_waiting[lane].empty() || !m_loose[lane].empty()) room_again(link, lane);
    if (on_state) on_state();
}

void network_port::packet_arrived(network::port&, const network::packet_ptr& p) {
    ++packets_received;
    bytes_received += p->wire_bytes - 2u;  // without the symbols around
    m_arrivals.push_back({now() + params.receive_latency, p});
    if (!m_deliver.scheduled() || m_deliver.when() > m_arrivals.back().when)
        schedule(m_deliver, m_arrivals.back().when);
}

void network_port::deliver() {
    while (!m_loop.empty() && m_loop.front().when <= now()) {
        const auto p = m_loop.front().packet;
        m_loop.pop_front();
        ++packets_received;
        p->link_epoch = looped_epoch;
        p->pass(loop_span, span_kind::service, now());
        m_arrivals.push_back({now() + params.receive_latency, p});
    }
    while (!m_arrivals.empty() && m_arrivals.front().when <= now()) {
        const auto p = m_arrivals.front().packet;
        m_arrivals.pop_front();
        p->pass(receive_span, span_kind::service, now());
        on_packet(p);
    }
    ticks next = never;
    if (!m_arrivals.empty()) next = m_arrivals.front().when;
    if (!m_loop.empty()) next = std::min(next, m_loop.front().when);
    if (next != never) schedule(m_deliver, next);
}

void network_port::release(network::packet& p) {
    if (p.link_epoch != looped_epoch) link.release(p, now());
}

void network_port::reset() {
    for (auto& w : m_waiting) w.clear();
    for (auto& l : m_loose) l.clear();
    for (auto& a : m_arrivals) release(*a.packet);
    m_arrivals.clear();
    m_loop.clear();
    m_enabled = false;
    cancel(m_deliver);
    model::reset();
    if (m_nobody) m_nobody->hold_down();
}

}  // namespace fabricvp::hca
