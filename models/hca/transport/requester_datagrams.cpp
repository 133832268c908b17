// SPDX-License-Identifier: Apache-2.0
// Datagrams, and what the special queue pairs send: packets whose headers software has made.
#include <algorithm>
#include <cstring>

#include "hca/transport/packet_headers.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "network/wire.h"

namespace fabricvp::hca {

void requester::transmit_datagram(queue_pair& q, send_wqe& e) {
    auto& s = q.send;
    const auto index = e.index;
    if (q.attributes.type == HCA_QP_MLX) return transmit_raw(q, e);
    if (e.length > std::min<std::uint64_t>(q.attributes.mtu, m_port.link.mtu()))
        return fail_at(q, index, HCA_LOCAL_LENGTH);
    if (e.to.domain != q.attributes.domain) return fail_at(q, index, HCA_LOCAL_QP_OPERATION);
    auto p = make_datagram(q.attributes, e.to, m_port.link, m_agent.port);
    const bool immediate = e.opcode == HCA_OP_SEND_IMMEDIATE;
    p->bth.opcode = network::opcode_of(
        network::transport::ud, immediate ? network::operation::send_only_immediate : network::operation::send_only);
    p->bth.solicited = e.solicited;
    p->bth.psn = s.next_psn;
    p->immediate = e.immediate;
    p->spans.follow(e.spans);
    p->pass(scheduling_span, span_kind::queueing, now());
    s.next_psn = psn_after(s.next_psn, 1);
    ++requests;
    e.started = true;
    e.began = now();
    ++e.sent;
    ++s.transmit;
    fill(q, e, p, 0, e.length);
}

/// Headers and data of an entry are fetched first, since the headers say what kind of packet it is.
void requester::transmit_raw(queue_pair& q, send_wqe& e) {
    auto& s = q.send;
    const auto bytes = data_mover::length(e.list);
    if (bytes > 4096) return fail_at(q, e.index, HCA_LOCAL_LENGTH);
    const auto whole = allocate_slice(static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 1)));
    auto p = network::make_packet();
    e.started = true;
    e.began = now();
    ++e.sent;
    ++s.transmit;
    ++requests;
    const auto ticket = s.requests.add(p, false, e.index);
    ++m_reads;
    m_data_mover.gather(
        e.list, q.attributes.domain, 0, whole, local_read,
        [this, qp = q.weak(), ticket, index = e.index, p, whole, permissive = e.permissive](transfer_result r) {
            --m_reads;
            schedule_issue();
            auto* current_qp = m_qps.find(qp);
            if (!current_qp || !current_qp->send.requests.holds(ticket)) return;
            if (!r.ok()) return fail_at(*current_qp, index, HCA_LOCAL_PROTECTION);
            if (network::decode(whole.data(), whole.length, *p, false))
                return fail_at(*current_qp, index, HCA_LOCAL_QP_OPERATION);
            // Software leaves the source LID to the port, but for its lowest bits.
            if (!permissive) p->lrh.slid = static_cast<std::uint16_t>(p->lrh.slid | m_port.link.lid());
            current_qp->send.requests.ready(ticket);
            m_port.send(*current_qp, network_port::direction::request);
            schedule_queue_pair(*current_qp);
        });
}

}  // namespace fabricvp::hca
