// SPDX-License-Identifier: Apache-2.0
#include "hca/transport/requester.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "hca/transport/packet_headers.h"
#include "hca/transport/transport.h"

namespace fabricvp::hca {

using network::operation;

void requester_params::describe(parameter_visitor& v) {
    v.field("latency", latency, between{0, 1e8}, "from work for an idle queue pair until its first packet is begun");
    v.field("packet_interval", packet_interval, between{0, 1e8}, "time between two packets that the requester begins");
    v.field("prepared", prepared, between{1, 1024}, "packets of a queue pair whose payload may be under way");
    v.field("payload_reads", payload_reads, between{1, 4096},
            "packets of all queue pairs whose payload may be under way");
    v.field("ack_every", ack_every, between{1, 256},
            "packets after which an acknowledgement is asked for at the latest; never more than send_queues.window");
}

requester::requester(const sc_core::sc_module_name& name, const requester_params& p, const wiring& w)
    : model(name),
      params(p),
      m_qps(w.queue_pairs),
      m_sqs(w.send_queues),
      m_rqs(w.receive_queues),
      m_data_mover(w.data_mover),
      m_cqs(w.completion_queues),
      m_eqs(w.event_queues),
      m_agent(w.management),
      m_port(w.network) {}

// --- whose turn it is ---

bool requester::can_transmit(queue_pair& q) {
    auto& s = q.send;
    while (s.transmit < s.wqes.size() && s.wqes[s.transmit].acked) ++s.transmit;
    if (s.transmit >= s.wqes.size() || s.requests.size() >= params.prepared) return false;
    const auto& e = s.wqes[s.transmit];
    // A queue that is being drained ends what it has begun.
    if (q.attributes.state != HCA_QP_RTS && !(q.attributes.state == HCA_QP_SQD && e.started)) return false;
    if (e.syndrome || s.stuck || now() < s.paused_until) return false;
    if (e.has_response() && e.sent == 0 && s.responses_awaited >= q.attributes.send_reads) return false;
    return !(e.fence && e.sent == 0 && s.responses_awaited);
}

/// \returns true if the fault `stuck` has waited for this one
bool requester::sticks(queue_pair& q) {
    if (!m_stick) return false;
    log(log_level::info, *this, "the send queue of queue pair {} is stuck", q.attributes.number);
    m_stick = false;
    q.send.stuck = true;
    m_stuck.push_back({now(), q.weak()});
    return true;
}

void requester::release_stuck() {
    m_stick = false;
    for (const auto& each : std::exchange(m_stuck, {})) {
        auto* q = m_qps.find(each.qp);
        if (!q || !q->send.stuck) continue;
        q->send.stuck = false;
        schedule_queue_pair(*q);
    }
}

std::optional<model::wait> requester::waits() const {
    for (const auto& each : m_stuck) {
        const auto* q = m_qps.find(each.qp);
        if (!q || !q->send.stuck || q->attributes.flushes_sends()) continue;  // one that has failed sends no more
        return wait{each.since, fmt::format("the send queue of queue pair {}, which is stuck", q->attributes.number)};
    }
    return std::nullopt;
}

void requester::schedule_queue_pair(queue_pair& q) {
    if (q.send.scheduled || !can_transmit(q)) return;
    q.send.scheduled = true;
    m_starting.push_back({now() + params.latency, q.weak()});
    schedule_issue();
}

void requester::schedule_issue() {
    ticks when = never;
    if (!m_ready.empty() && m_reads < params.payload_reads) when = std::max(now(), m_next_issue);
    if (!m_starting.empty()) when = std::min(when, std::max(m_starting.front().when, now()));
    if (when != never && (!m_issue.scheduled() || m_issue.when() > when)) schedule(m_issue, when);
}

void requester::kick(queue_pair& q) {
    if (q.attributes.flushes_sends()) {
        flush_send_queue(q);
        if (q.attributes.state == HCA_QP_ERR) watch_receive_queue(q);
        return;
    }
    acknowledge_before_failed(q);
    complete_front(q);
    schedule_queue_pair(q);
}

void requester::issue() {
    for (; !m_starting.empty() && m_starting.front().when <= now(); m_starting.pop_front())
        m_ready.push_back(m_starting.front().qp);
    while (!m_ready.empty() && m_reads < params.payload_reads && m_next_issue <= now()) {
        const auto next = m_ready.front();
        m_ready.pop_front();
        auto* q = m_qps.find(next);
        if (!q) continue;
        q->send.scheduled = false;
        if (!can_transmit(*q) || sticks(*q)) continue;
        q->send.scheduled = true;  // it is in the pipeline, also while a packet leaves at once: its latency is over
        transmit(*q);
        q = m_qps.find(next);
        if (q) q->send.scheduled = false;
        if (q) acknowledge_before_failed(*q);
        if (q && can_transmit(*q)) {
            q->send.scheduled = true;
            m_ready.push_back(next);
        }
        m_next_issue = now() + params.packet_interval;
    }
    schedule_issue();
}

// --- packets ---

void requester::start(queue_pair& q, send_wqe& e) {
    e.started = true;
    e.packets = e.is_atomic() || e.opcode == HCA_OP_NOP ? 1 : packets_of(e.length, q.attributes.mtu);
    e.first_psn = q.send.next_psn;
    e.began = now();
    q.send.next_psn = psn_after(e.first_psn, e.packets);
}

network::packet_ptr requester::make_request(queue_pair& q, send_wqe& e) {
    const auto& a = q.attributes;
    const auto transport = a.type == HCA_QP_UC ? network::transport::uc : network::transport::rc;
    auto p = make_connected_packet(a, m_port.link, m_agent.port);
    auto op = operation::read_request;
    if (e.is_read()) {
        const auto done = std::uint64_t{e.received} * a.mtu;
        p->reth = {e.remote + done, e.rkey, static_cast<std::uint32_t>(e.length - done)};
        p->bth.psn = psn_after(e.first_psn, e.received);
    } else if (e.is_atomic()) {
        op = e.opcode == HCA_OP_FETCH_ADD ? operation::fetch_add : operation::compare_swap;
        p->atomic = {e.remote, e.rkey, e.swap_add, e.compare};
        p->bth.psn = e.first_psn;
    } else {
        const bool first = e.sent == 0, last = e.sent + 1 == e.packets;
        const bool immediate = last && (e.opcode == HCA_OP_SEND_IMMEDIATE || e.opcode == HCA_OP_WRITE_IMMEDIATE);
        const bool write = e.opcode == HCA_OP_WRITE || e.opcode == HCA_OP_WRITE_IMMEDIATE;
        auto o = static_cast<unsigned>(write ? operation::write_first : operation::send_first);
        if (first && last)
            o += immediate ? 5 : 4;
        else if (last)
            o += immediate ? 3 : 2;
        else if (!first)
            o += 1;
        op = static_cast<operation>(o);
        if (write && first) p->reth = {e.remote, e.rkey, e.length};
        if (immediate) p->immediate = e.immediate;
        p->bth.solicited = last && e.solicited && (!write || immediate);
        p->bth.psn = psn_after(e.first_psn, e.sent);
    }
    p->bth.opcode = network::opcode_of(transport, op);
    return p;
}

void requester::transmit(queue_pair& q) {
    auto& s = q.send;
    auto& e = s.wqes[s.transmit];
    if (q.attributes.type == HCA_QP_UD || q.attributes.type == HCA_QP_MLX) return transmit_datagram(q, e);
    if (!e.started) start(q, e);
    if (e.opcode == HCA_OP_NOP) {  // a sequence number for nothing would be missed by the other side
        // Nothing comes back for this one, so what is before it has to bring it to its end.
        const bool asks =
            e.signalled || ends_requests(s, s.transmit) || s.draining || s.wqes.size() >= m_sqs.params.window;
        e.acked = true;
        s.next_psn = e.first_psn;
        ++s.transmit;
        if (asks) request_acknowledge(q);
        return complete_front(q);
    }
    auto p = make_request(q, e);
    ++requests;
    p->spans.follow(e.spans);
    p->pass(scheduling_span, span_kind::queueing, now());
    const bool last = e.has_response() || e.sent + 1 == e.packets;
    const bool final = last && (s.asks_again || ends_requests(s, s.transmit));
    ++s.since_request;
    p->bth.ack_request = !e.has_response() && ((last && (e.signalled || final || s.draining)) ||
                                               s.since_request >= std::min(params.ack_every, m_sqs.params.window));
    if (p->bth.ack_request || e.has_response()) {
        s.since_request = 0;
        s.asks_again = false;
    }
    const auto from = std::uint64_t{e.sent} * q.attributes.mtu;
    const auto bytes =
        e.has_response() ? 0u : static_cast<std::uint32_t>(std::min<std::uint64_t>(q.attributes.mtu, e.length - from));
    ++e.sent;
    if (e.has_response()) ++s.responses_awaited;
    if (last) {
        e.asked = p->bth.ack_request;
        ++s.transmit;
    }
    fill(q, e, p, from, bytes);
}

/// Puts a packet into the train, and its payload into the packet.
void requester::fill(queue_pair& q, send_wqe& e, const network::packet_ptr& p, std::uint64_t from,
                     std::uint32_t bytes) {
    auto& s = q.send;
    if (bytes && e.inlined) p->payload = e.inlined.part(static_cast<std::size_t>(from), bytes);
    if (bytes == 0 || e.inlined) {
        s.requests.add(p, true, e.index);
        return m_port.send(q, network_port::direction::request);
    }
    p->payload = allocate_slice(bytes);
    const auto ticket = s.requests.add(p, false, e.index);
    ++m_reads;
    m_data_mover.gather(e.list, q.attributes.domain, from, p->payload, local_read,
                        [this, qp = q.weak(), ticket, index = e.index, p](transfer_result r) {
                            --m_reads;
                            schedule_issue();
                            auto* current_qp = m_qps.find(qp);
                            if (!current_qp || !current_qp->send.requests.holds(ticket)) return;
                            if (!r.ok()) return fail_at(*current_qp, index, HCA_LOCAL_PROTECTION);
                            p->pass(payload_span, span_kind::service, now());
                            current_qp->send.requests.ready(ticket);
                            m_port.send(*current_qp, network_port::direction::request);
                            schedule_queue_pair(*current_qp);
                        });
}

/// An entry cannot be sent, or was refused: those before it still come to their end.
void requester::fail_at(queue_pair& q, std::uint16_t index, unsigned syndrome) {
    auto& s = q.send;
    s.requests.drop_from(index);
    for (std::size_t i = 0; i < s.wqes.size(); ++i) {
        if (s.wqes[i].index != index) continue;
        s.wqes[i].syndrome = static_cast<std::uint8_t>(syndrome);
        mark_unsent(s, i);
        break;
    }
    acknowledge_before_failed(q);
    complete_front(q);
    schedule_queue_pair(q);
}

/// Sending goes on, if it does, with an entry that has been sent before.
void requester::mark_unsent(send_state& s, std::size_t from) {
    for (std::size_t i = from; i < s.wqes.size(); ++i) {
        auto& e = s.wqes[i];
        if (e.has_response() && e.sent && !e.acked) --s.responses_awaited;
        if (!e.acked) {
            e.sent = 0;
            e.asked = false;
        }
    }
    s.transmit = std::min(s.transmit, from);
}

void requester::packet_left(queue_pair& q, const network::packet& p) {
    auto& s = q.send;
    if (q.attributes.type == HCA_QP_RC) {
        if (s.deadline == never) set_deadline(q);
    } else if (const auto op = network::operation_of(p.bth.opcode);
               q.attributes.type != HCA_QP_UC || op == operation::send_last || op == operation::send_only ||
               op == operation::send_last_immediate || op == operation::send_only_immediate ||
               op == operation::write_last || op == operation::write_only || op == operation::write_last_immediate ||
               op == operation::write_only_immediate) {
        for (auto& e : s.wqes)
            if (!e.acked && !e.syndrome) {  // they leave in order
                e.acked = true;
                break;
            }
        complete_front(q);
    }
    schedule_queue_pair(q);
}

// --- the end of entries ---

void requester::complete_front(queue_pair& q) {
    auto& s = q.send;
    while (!s.wqes.empty() && !q.attributes.flushes_sends()) {
        auto& e = s.wqes.front();
        if ((!e.acked && !e.syndrome) || (q.attributes.state == HCA_QP_SQD && !e.started)) break;
        if (e.syndrome) return complete_with_error(q, e.syndrome);
        ++messages;
        if (e.started) latency.add(now() - e.began);
        if (e.signalled) complete(q, e, 0);
        s.wqes.pop_front();
        ++s.completed;
        if (s.transmit) --s.transmit;
    }
    if (q.attributes.state == HCA_QP_RTS) m_sqs.fetch(q);
    drain(q);
}

/// Tells once that a send queue is drained, if it is.
void requester::drain(queue_pair& q) {
    auto& s = q.send;
    if (!s.draining || (!s.wqes.empty() && s.wqes.front().started)) return;
    s.draining = false;
    ++drained;
    if (std::exchange(s.notify_drained, false))
        m_eqs.post(event_queue_entry(HCA_EVENT_SQ_DRAINED).set(HCA_EQE_NUMBER, q.attributes.number));
}

/// Whether nothing is sent behind an entry that would ask for an acknowledgement: nothing is posted, or what is next
/// cannot be sent.
bool requester::ends_requests(const send_state& s, std::size_t index) {
    for (auto i = index + 1; i < s.wqes.size(); ++i)
        if (!s.wqes[i].acked) return s.wqes[i].syndrome != 0;
    return static_cast<std::uint16_t>(s.wqes.back().index + 1) == s.posted;
}

/// An entry that cannot be sent is told of once all before it have come to their end.
void requester::acknowledge_before_failed(queue_pair& q) {
    auto& s = q.send;
    auto next = s.transmit;
    while (next < s.wqes.size() && s.wqes[next].acked) ++next;
    if (q.attributes.type != HCA_QP_RC || next >= s.wqes.size() || !s.wqes[next].syndrome) return;
    while (next > 0 && s.wqes[next - 1].acked) --next;
    if (next == 0) return;
    auto& e = s.wqes[next - 1];
    if (e.has_response() || std::exchange(e.asked, true)) return;
    if (s.since_request == 0) s.since_request = 1;  // what asked has failed and does not leave
    request_acknowledge(q);
}

/// What has been sent last asks for an acknowledgement, if it has not: nothing follows that would.
void requester::request_acknowledge(queue_pair& q) {
    auto& s = q.send;
    if (q.attributes.type != HCA_QP_RC || s.since_request == 0) return;
    if (auto* p = s.requests.last()) {
        p->bth.ack_request = true;
        s.since_request = 0;
        return;
    }
    for (auto i = s.wqes.size(); i-- > 0;) {
        auto& e = s.wqes[i];
        if (!e.started || e.acked || e.syndrome) continue;
        if (e.sent == e.requests() && !e.has_response()) {  // its last packet goes out once more
            --e.sent;
            s.transmit = i;
            s.asks_again = true;
        }
        return;
    }
}

void requester::complete(queue_pair& q, const send_wqe& e, unsigned syndrome) {
    completion_queue_entry c;
    const auto& a = q.attributes;
    if (!syndrome) c.follow(e.spans, "message");
    c.set(HCA_CQE_QPN, a.number);
    c.set(HCA_CQE_WQE, static_cast<std::uint32_t>(a.sq.wqe_address(e.index)));
    c.set(HCA_CQE_IS_SEND, 1);
    if (syndrome) {
        c.set(HCA_CQE_SYNDROME, syndrome).set(HCA_CQE_OPCODE, HCA_CQE_ERROR_SEND);
        c.solicited = true;
    } else {
        c.set(HCA_CQE_OPCODE, e.opcode);
        if (e.has_response()) c.set(HCA_CQE_BYTES, e.length);
    }
    m_cqs.complete(a.send_cqn, c);
}

void requester::changed(queue_pair& q, unsigned before) {
    auto& s = q.send;
    const auto state = q.attributes.state;
    if (state == before) {
        if (state == HCA_QP_ERR) watch_receive_queue(q);
        return;
    }
    if (before == HCA_QP_RTR && state == HCA_QP_RTS) {
        s.next_psn = q.attributes.get(HCA_QPC_SEND_PSN);
        s.retries_left = q.attributes.retries;
        s.rnr_retries_left = q.attributes.rnr_retries;
    }
    if (state == HCA_QP_RTS) return kick(q);
    s.draining = state == HCA_QP_SQD;
    if (s.draining) {
        request_acknowledge(q);
        return kick(q);
    }
    if (state == HCA_QP_SQE) return stop_sends(q);
    if (state != HCA_QP_ERR && state != HCA_QP_RESET) return;
    s.requests.clear();
    for (const auto& p : s.received_packets) m_port.release(*p);
    s.received_packets.clear();
    s.deadline = never;
    if (state == HCA_QP_RESET) return;
    flush_send_queue(q);
    flush_taken(q);
    watch_receive_queue(q);
}

void requester::reset() {
    m_ready.clear();
    m_starting.clear();
    m_timers.clear();
    m_looks.clear();
    m_reads = 0;
    m_next_issue = 0;
    m_stuck.clear();
    m_stick = false;
    m_stuck_end.cancel();
    cancel(m_issue);
    cancel(m_timer);
    cancel(m_look);
    model::reset();
}

}  // namespace fabricvp::hca
