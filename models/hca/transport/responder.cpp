// SPDX-License-Identifier: Apache-2.0
#include "hca/transport/responder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hca/transport/packet_headers.h"

namespace fabricvp::hca {

using network::operation;

namespace {

constexpr std::uint32_t gsi_qkey = 0x8001'0000;  // of QP 1
/// Responses that may wait. Requests that come faster than these leave are dropped, as if the network had lost them.
constexpr std::size_t max_jobs = 512;

bool is_first(operation o) { return o == operation::send_first || o == operation::write_first; }
bool is_middle(operation o) { return o == operation::send_middle || o == operation::write_middle; }
bool is_only(operation o) {
    return o == operation::send_only || o == operation::send_only_immediate || o == operation::write_only ||
           o == operation::write_only_immediate;
}
bool is_last(operation o) {
    return o == operation::send_last || o == operation::send_last_immediate || o == operation::write_last ||
           o == operation::write_last_immediate;
}
bool is_write(operation o) { return o >= operation::write_first && o <= operation::write_only_immediate; }
bool is_send(operation o) { return o <= operation::send_only_immediate; }
bool has_immediate(operation o) {
    return o == operation::send_last_immediate || o == operation::send_only_immediate ||
           o == operation::write_last_immediate || o == operation::write_only_immediate;
}

}  // namespace

void responder_params::describe(parameter_visitor& v) {
    v.field("prepared", prepared, between{1, 1024}, "response packets of a queue pair whose payload may be under way");
    v.field("atomic_latency", atomic_latency, between{0, 1e8}, "of an atomic, beyond reading and writing memory");
}

responder::responder(const sc_core::sc_module_name& name, const responder_params& p, const wiring& w)
    : model(name),
      params(p),
      m_bus(w.bus),
      m_translation(w.translation),
      m_qps(w.queue_pairs),
      m_rqs(w.receive_queues),
      m_data_mover(w.data_mover),
      m_cqs(w.completion_queues),
      m_eqs(w.event_queues),
      m_agent(w.management),
      m_port(w.network),
      m_requester(w.requester) {}

void responder::receive(queue_pair& q, const packet_ptr& p) {
    q.responder.received_packets.push_back(p);
    pump(q);
}

void responder::pump(queue_pair& q) {
    auto& r = q.responder;
    if (r.pumping) return;
    r.pumping = true;
    while (!r.busy && !r.received_packets.empty()) {
        const auto p = r.received_packets.front();
        r.received_packets.pop_front();
        r.busy = true;
        process(q, p);
    }
    r.pumping = false;
}

void responder::finished(queue_pair& q, const packet_ptr& p) {
    q.responder.busy = false;
    m_port.release(*p);
    pump(q);
}

void responder::drop(queue_pair& q, const packet_ptr& p) {
    ++dropped;
    finished(q, p);
}

void responder::process(queue_pair& q, const packet_ptr& p) {
    p->pass(order_span, span_kind::queueing, now());
    if (!q.attributes.can_receive() || q.responder.jobs.size() >= max_jobs) return drop(q, p);
    switch (q.attributes.type) {
        case HCA_QP_RC: return process_reliable(q, p);
        case HCA_QP_UC: return process_unreliable(q, p);
        default: return process_datagram(q, p);
    }
}

void responder::process_reliable(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto ahead = psn_difference(p->bth.psn, r.expected_psn);
    if (ahead < 0) return process_duplicate(q, p);
    if (ahead > 0) {
        if (!std::exchange(r.nak_sent, true)) {
            ++naks;
            acknowledge(q, r.expected_psn, aeth::negative(nak::sequence));
        }
        return drop(q, p);
    }
    if (!sequence_and_length_valid(q, *p)) return reject(q, p, nak::invalid_request);
    process_in_order(q, p);
}

void responder::process_unreliable(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto op = network::operation_of(p->bth.opcode);
    if (p->bth.psn != r.expected_psn || !sequence_and_length_valid(q, *p)) {
        r.in_message = false;  // what it was part of is lost; another may begin
        r.expected_psn = psn_after(p->bth.psn, 1);
        if (!(is_first(op) || is_only(op)) || !sequence_and_length_valid(q, *p)) return drop(q, p);
        r.expected_psn = p->bth.psn;
    }
    process_in_order(q, p);
}

/// Whether a packet may follow the one before it, and has the length that its place asks for.
bool responder::sequence_and_length_valid(const queue_pair& q, const network::packet& p) const {
    const auto& r = q.responder;
    const auto op = network::operation_of(p.bth.opcode);
    const auto mtu = q.attributes.mtu;
    if (!is_send(op) && !is_write(op)) return !r.in_message;
    if (p.payload.length > mtu) return false;
    if (is_first(op) || is_middle(op)) {
        if (p.payload.length != mtu) return false;
    } else if (is_last(op) && p.payload.length == 0) {
        return false;
    }
    if (is_first(op) || is_only(op)) return !r.in_message;
    return r.in_message && r.in_write == is_write(op);
}

void responder::process_in_order(queue_pair& q, const packet_ptr& p) {
    // Software that has not gone on from RTR learns that the other side has.
    if (!std::exchange(q.responder.communication_established, true) && q.attributes.state == HCA_QP_RTR)
        m_eqs.post(event_queue_entry(HCA_EVENT_COMMUNICATION).set(HCA_EQE_NUMBER, q.attributes.number));
    const auto op = network::operation_of(p->bth.opcode);
    if (is_send(op)) return process_send(q, p);
    if (is_write(op)) return process_write(q, p);
    if (op == operation::read_request) return process_read(q, p);
    if (op == operation::compare_swap || op == operation::fetch_add) return process_atomic(q, p);
    reject(q, p, nak::invalid_request);
}

/// Goes on with `then` once the queue pair has a receive entry.
void responder::with_receive_wqe(queue_pair& q, const packet_ptr& p, step then) {
    if (q.responder.has_wqe) return (this->*then)(q, p);
    q.responder.taking = true;
    m_rqs.consume(q, [this, qp = q.weak(), p, then](consume_status s) {
        auto* current_qp = m_qps.find(qp);
        if (!current_qp) return m_port.release(*p);
        current_qp->responder.taking = false;
        if (!current_qp->attributes.can_receive()) {  // it has failed meanwhile
            current_qp->responder.has_wqe = s == consume_status::consumed;
            m_requester.flush_taken(*current_qp);
            return drop(*current_qp, p);
        }
        p->pass(receive_wqe_span, span_kind::service, now());
        switch (s) {
            case consume_status::consumed: current_qp->responder.has_wqe = true; return (this->*then)(*current_qp, p);
            case consume_status::empty:
                ++not_ready;
                if (current_qp->attributes.type == HCA_QP_RC) {
                    current_qp->responder.nak_sent = true;  // what follows it is not in order
                    acknowledge(*current_qp, p->bth.psn, aeth::not_ready(current_qp->attributes.rnr_timer));
                } else {
                    current_qp->responder.in_message = false;
                    current_qp->responder.expected_psn = psn_after(p->bth.psn, 1);
                }
                return drop(*current_qp, p);
            default:
                m_eqs.post(event_queue_entry(HCA_EVENT_WQ_CATASTROPHIC_ERROR).set(HCA_EQE_NUMBER, qp.number));
                return reject(*current_qp, p, nak::remote_operation);
        }
    });
}

void responder::process_send(queue_pair& q, const packet_ptr& p) {
    const auto op = network::operation_of(p->bth.opcode);
    if (is_first(op) || is_only(op)) return with_receive_wqe(q, p, &responder::place_send);
    place_send(q, p);
}

void responder::place_send(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto op = network::operation_of(p->bth.opcode);
    if (is_first(op) || is_only(op)) {
        r.in_message = true;
        r.in_write = false;
        r.received = 0;
    }
    const auto& wqe = q.receive_queue.wqe;
    if (p->payload.length > wqe.capacity - r.received) return reject(q, p, nak::invalid_request, HCA_LOCAL_LENGTH);
    place(q, p, p->payload, wqe.list, r.received, local_write);
}

bool responder::has_access(queue_pair& q, std::uint32_t rkey, std::uint64_t address, std::uint32_t bytes,
                           std::uint32_t right) {
    const auto& a = q.attributes;
    const bool allowed = right == remote_write  ? a.remote_write
                         : right == remote_read ? a.remote_read
                                                : a.remote_atomic;
    const region* r = nullptr;
    return allowed &&
           (bytes == 0 || m_translation.check({rkey, a.domain, address, bytes, right}, r) == violation::none);
}

void responder::process_write(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto op = network::operation_of(p->bth.opcode);
    if (is_first(op) || is_only(op)) {
        if (!has_access(q, p->reth.rkey, p->reth.address, p->reth.length, remote_write))
            return reject(q, p, nak::remote_access);
        r.in_message = r.in_write = true;
        r.address = p->reth.address;
        r.rkey = p->reth.rkey;
        r.left = p->reth.length;
        r.received = 0;
    }
    const bool ends = is_last(op) || is_only(op);
    if (ends ? p->payload.length != r.left : p->payload.length >= r.left) return reject(q, p, nak::invalid_request);
    if (has_immediate(op)) return with_receive_wqe(q, p, &responder::place_write);
    place_write(q, p);
}

void responder::place_write(queue_pair& q, const packet_ptr& p) {
    const auto& r = q.responder;
    place(q, p, p->payload, {{r.address, r.rkey, static_cast<std::uint32_t>(p->payload.length)}}, 0, remote_write);
}

void responder::place(queue_pair& q, const packet_ptr& p, const buffer_slice& bytes, const data_list& list,
                      std::uint64_t at, std::uint32_t right) {
    if (bytes.length == 0) return placed(q, p, {});
    m_data_mover.scatter(list, q.attributes.domain, at, bytes, right, [this, qp = q.weak(), p](transfer_result r) {
        auto* current_qp = m_qps.find(qp);
        if (!current_qp) return m_port.release(*p);
        placed(*current_qp, p, r);
    });
}

void responder::placed(queue_pair& q, const packet_ptr& p, transfer_result r) {
    if (!q.attributes.can_receive()) return drop(q, p);
    if (!r.ok()) {
        if (q.responder.in_write) return reject(q, p, nak::remote_access);
        return reject(q, p, nak::remote_operation, HCA_LOCAL_PROTECTION);
    }
    p->pass(placement_span, span_kind::service, now());
    advance(q, p);
    finished(q, p);
}

/// A packet has done what it is for.
void responder::advance(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto op = network::operation_of(p->bth.opcode);
    const auto bytes = static_cast<std::uint32_t>(p->payload.length);
    ++received;
    r.nak_sent = false;
    r.expected_psn = psn_after(p->bth.psn, 1);
    r.received += bytes;
    if (r.in_write) {
        r.address += bytes;
        r.left -= bytes;
    }
    if (is_last(op) || is_only(op)) {
        r.in_message = false;
        r.msn = psn_after(r.msn, 1);
        if (is_send(op) || has_immediate(op)) complete(q, *p, r.received, 0);
    }
    if (q.attributes.type == HCA_QP_RC && p->bth.ack_request) acknowledge(q, p->bth.psn, aeth::ack, p.get());
}

void responder::complete(queue_pair& q, const network::packet& p, std::uint64_t bytes, unsigned syndrome) {
    const auto& a = q.attributes;
    q.responder.has_wqe = false;
    completion_queue_entry c;
    c.set(HCA_CQE_QPN, a.number).set(HCA_CQE_WQE, q.receive_queue.wqe.offset);
    c.solicited = p.bth.solicited || syndrome;
    if (syndrome) {
        c.set(HCA_CQE_SYNDROME, syndrome).set(HCA_CQE_OPCODE, HCA_CQE_ERROR_RECEIVE);
        return m_cqs.complete(a.receive_cqn, c);
    }
    c.follow(p.spans, "receive");
    c.set(HCA_CQE_BYTES, static_cast<std::uint32_t>(bytes));
    c.set(HCA_CQE_OPCODE, p.bth.opcode & 0x1f);
    if (has_immediate(network::operation_of(p.bth.opcode))) c.set(HCA_CQE_IMMEDIATE, p.immediate);
    if (a.type == HCA_QP_UD || a.type == HCA_QP_MLX) {
        c.set(HCA_CQE_SOURCE_QPN, p.deth.source_qp).set(HCA_CQE_SERVICE_LEVEL, p.lrh.sl).set(HCA_CQE_GRH, p.lrh.global);
        c.set(HCA_CQE_PATH_BITS, p.lrh.dlid & ((1u << m_port.link.lmc()) - 1)).set(HCA_CQE_SOURCE_LID, p.lrh.slid);
        if (a.type == HCA_QP_MLX)
            for (std::size_t i = 0; i < m_agent.port.pkeys.size(); ++i)
                if (m_agent.port.pkeys[i] == p.bth.pkey) {
                    c.set(HCA_CQE_PKEY_INDEX, static_cast<std::uint32_t>(i));
                    break;
                }
    }
    m_cqs.complete(a.receive_cqn, c);
}

/// The other side has done what it must not, or memory of this one fails: a negative acknowledgement, and the error
/// state.
void responder::reject(queue_pair& q, const packet_ptr& p, nak code, unsigned syndrome) {
    const auto& a = q.attributes;
    ++naks;
    if (a.type == HCA_QP_UC && !syndrome) {  // without a report
        q.responder.in_message = false;
        q.responder.expected_psn = psn_after(p->bth.psn, 1);
        return drop(q, p);
    }
    if (syndrome)
        complete(q, *p, 0, syndrome);
    else if (q.responder.has_wqe)
        complete(q, *p, 0, HCA_FLUSHED);
    if (a.type == HCA_QP_RC) {
        acknowledge(q, p->bth.psn, aeth::negative(code));
        if (code != nak::remote_operation)
            m_eqs.post(
                event_queue_entry(code == nak::remote_access ? HCA_EVENT_ACCESS_VIOLATION : HCA_EVENT_INVALID_REQUEST)
                    .set(HCA_EQE_NUMBER, a.number));
    }
    m_qps.fail(q);
    drop(q, p);
}

void responder::changed(queue_pair& q, unsigned before) {
    auto& r = q.responder;
    const auto state = q.attributes.state;
    if (state == before) return;
    if (before == HCA_QP_INIT && state == HCA_QP_RTR) r.expected_psn = q.attributes.get(HCA_QPC_RECEIVE_PSN);
    if (state != HCA_QP_ERR && state != HCA_QP_RESET) return;
    for (const auto& p : r.received_packets) m_port.release(*p);
    r.received_packets.clear();
    r.resources.clear();
    if (state == HCA_QP_RESET) {
        r.jobs.clear();
        r.responses.clear();
        return;
    }
    // What has been refused is still told.
    r.jobs.erase(std::remove_if(r.jobs.begin(), r.jobs.end(),
                                [](const response_job& j) { return j.what != response_job::kind::acknowledgement; }),
                 r.jobs.end());
}

void responder::process_datagram(queue_pair& q, const packet_ptr& p) {
    const auto& a = q.attributes;
    const auto wanted = a.type == HCA_QP_MLX ? (p->bth.destination_qp == 0 ? 0 : gsi_qkey) : a.qkey;
    if (p->deth.qkey != wanted) {
        if (p->bth.destination_qp != 0) ++m_agent.port.qkey_violations;
        return drop(q, p);
    }
    with_receive_wqe(q, p, &responder::place_datagram);
}

/// A datagram's entry begins with room for the global route header.
void responder::place_datagram(queue_pair& q, const packet_ptr& p) {
    auto& r = q.responder;
    const auto& wqe = q.receive_queue.wqe;
    r.in_message = true;
    r.in_write = false;
    r.received = HCA_GRH_BYTES;
    if (HCA_GRH_BYTES + p->payload.length > wqe.capacity) return reject(q, p, nak::invalid_request, HCA_LOCAL_LENGTH);
    if (!p->lrh.global) return place(q, p, p->payload, wqe.list, HCA_GRH_BYTES, local_write);
    const auto whole = allocate_slice(HCA_GRH_BYTES + p->payload.length);
    write_grh(*p, whole.data());
    if (p->payload.length) std::memcpy(whole.data() + HCA_GRH_BYTES, p->payload.data(), p->payload.length);
    place(q, p, whole, wqe.list, 0, local_write);
}

void responder::reset() {
    m_atomics.clear();
    cancel(m_perform);
    model::reset();
}

}  // namespace fabricvp::hca
