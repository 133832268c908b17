// SPDX-License-Identifier: Apache-2.0
#include "hca/transport/network_port.h"

#include <algorithm>
#include <utility>

#include "hca/transport/requester.h"
#include "hca/transport/responder.h"

namespace fabricvp::hca {

network_port_params::network_port_params() {
    link.rate = network::link_rate::fdr;
    link.mtu = 2048;  // Linux's driver knows no more
}

void network_port_params::describe(parameter_visitor& v) {
    v.group("link", link, "the link's end at the adapter");
    v.field("receive_latency", receive_latency, between{0, 1e8}, "from the arrival of a packet to what it causes");
    v.field("loopback_latency", loopback_latency, between{0, 1e8},
            "of a packet to this port itself, from leaving to arriving");
}

network_port::network_port(const sc_core::sc_module_name& name, const network_port_params& p, const wiring& w)
    : model(name),
      params(p),
      link("link", p.link, *this),
      m_adapter(w.adapter),
      m_qps(w.queue_pairs),
      m_requester(w.requester),
      m_responder(w.responder) {
    if (p.plugged) return;
    m_absent_peer = std::make_unique<network::port>("absent_peer", p.link, static_cast<network::port_owner&>(*this));
    network::connect(link, *m_absent_peer);
    m_absent_peer->hold_down();
}

bool network_port::is_own_lid(std::uint16_t lid) const {
    return lid != 0 && (lid & ~((1u << link.lmc()) - 1)) == link.lid();
}

void network_port::enable(bool on) {
    m_enabled = on;
    m_adapter.update_port_info();
}

bool network_port::try_send(const network::packet_ptr& p) {
    const bool managing = network::is_subnet_management(*p);
    const bool own = is_own_lid(p->lrh.dlid);
    if (own && m_looped >= max_looped) {
        m_wanting_loopback |= 1u << link.lane_of(*p);
        return false;
    }
    if (own) {
        ++packets_sent;
        loop_back(p);
        return true;
    }
    if (!m_enabled || (managing ? !link.up() : link.state() != network::port_state::active)) {
        ++undeliverable;
        return true;
    }
    if (!link.has_room(link.lane_of(*p))) return false;
    ++packets_sent;
    if (network::is_multicast(p->lrh.dlid)) {  // released as soon as it has arrived
        const auto copy = network::copy_packet(*p);
        copy->spans.follow(p->spans);
        loop_back(copy);
    }
    p->pass(transmit_queue_span, span_kind::queueing, now());
    link.send(p);
    return true;
}

void network_port::loop_back(const network::packet_ptr& p) {
    ++loopback_packets;
    ++m_looped;
    p->link_epoch = loopback_epoch;
    p->measure();
    p->pass(transmit_queue_span, span_kind::queueing, now());
    m_loopback.push_back({now() + params.loopback_latency, p});
    if (!m_deliver.scheduled() || m_deliver.when() > m_loopback.back().when)
        schedule(m_deliver, m_loopback.back().when);
}

void network_port::send(queue_pair& q, direction d) {
    auto& queue = d == direction::request ? q.send.requests : q.responder.responses;
    if (queue.waiting) return;
    while (const auto* front = queue.front()) {
        const auto p = *front;
        const auto lane = link.lane_of(*p);
        if (!m_waiting[lane].empty() || !try_send(p)) {  // behind those that came before
            queue.waiting = true;
            m_waiting[lane].push_back({q.weak(), d});
            return;
        }
        queue.pop();
        sent(q, d, *p);
    }
}

void network_port::sent(queue_pair& q, direction d, const network::packet& p) {
    if (d == direction::request)
        m_requester.packet_left(q, p);
    else
        m_responder.responses_sent(q);
}

void network_port::send(const network::packet_ptr& p) {
    const auto lane = link.lane_of(*p);
    if (!m_agent_packets[lane].empty() || !try_send(p)) m_agent_packets[lane].push_back(p);
}

void network_port::space_available(network::port&, unsigned lane) {
    auto& agent_packets = m_agent_packets[lane];
    while (!agent_packets.empty() && try_send(agent_packets.front())) agent_packets.pop_front();
    auto& list = m_waiting[lane];
    while (agent_packets.empty() && !list.empty()) {
        const auto w = list.front();
        auto* q = m_qps.find(w.qp);
        if (!q) {
            list.pop_front();
            continue;
        }
        auto& queue = w.d == direction::request ? q->send.requests : q->responder.responses;
        if (const auto* front = queue.front()) {
            const auto p = *front;
            if (!try_send(p)) return;
            queue.pop();
            sent(*q, w.d, *p);
        }
        list.pop_front();
        if (queue.front())
            list.push_back(w);  // one of each in turn
        else
            queue.waiting = false;
    }
}

/// What waited for room has nothing to wait for when the link is down.
void network_port::state_changed(network::port&, network::port_state) {
    for (unsigned lane = 0; lane < network::virtual_lanes; ++lane)
        if (!m_waiting[lane].empty() || !m_agent_packets[lane].empty()) space_available(link, lane);
    m_adapter.update_port_info();
}

void network_port::packet_arrived(network::port&, const network::packet_ptr& p) {
    ++packets_received;
    bytes_received += p->wire_bytes - 2u;  // without the symbols around
    m_arrivals.push_back({now() + params.receive_latency, p});
    if (!m_deliver.scheduled() || m_deliver.when() > m_arrivals.back().when)
        schedule(m_deliver, m_arrivals.back().when);
}

void network_port::deliver() {
    while (!m_loopback.empty() && m_loopback.front().when <= now()) {
        const auto p = m_loopback.front().packet;
        m_loopback.pop_front();
        ++packets_received;
        p->pass(loopback_span, span_kind::service, now());
        m_arrivals.push_back({now() + params.receive_latency, p});
    }
    while (!m_arrivals.empty() && m_arrivals.front().when <= now()) {
        const auto p = m_arrivals.front().packet;
        m_arrivals.pop_front();
        p->pass(receive_span, span_kind::service, now());
        m_adapter.packet_received(p);
    }
    ticks next = never;
    if (!m_arrivals.empty()) next = m_arrivals.front().when;
    if (!m_loopback.empty()) next = std::min(next, m_loopback.front().when);
    if (next != never) schedule(m_deliver, next);
}

void network_port::release(network::packet& p) {
    if (p.link_epoch != loopback_epoch) return link.release(p, now());
    if (m_looped) --m_looped;
    if (m_wanting_loopback && !m_loopback_room.scheduled()) schedule(m_loopback_room, now());
}

void network_port::loopback_has_room() {
    for (auto lanes = std::exchange(m_wanting_loopback, 0); lanes; lanes &= lanes - 1)
        space_available(link, static_cast<unsigned>(__builtin_ctz(lanes)));
}

void network_port::reset() {
    for (auto& w : m_waiting) w.clear();
    for (auto& l : m_agent_packets) l.clear();
    for (auto& a : m_arrivals) release(*a.packet);
    m_arrivals.clear();
    m_loopback.clear();
    m_looped = 0;
    m_wanting_loopback = 0;
    m_enabled = false;
    cancel(m_deliver);
    cancel(m_loopback_room);
    model::reset();
    if (m_absent_peer) m_absent_peer->hold_down();
}

}  // namespace fabricvp::hca
