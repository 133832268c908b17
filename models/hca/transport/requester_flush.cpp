// SPDX-License-Identifier: Apache-2.0
// What becomes of the entries of a queue pair that has failed: one is told as the cause, all others are flushed.
#include <utility>

#include "hca/transport/requester.h"

namespace fabricvp::hca {

/// The oldest entry has failed: it is told, and the queue pair ends in the error state, where the rest is flushed.
void requester::complete_with_error(queue_pair& q, unsigned syndrome) {
    auto& s = q.send;
    ++errors;
    complete(q, s.wqes.front(), syndrome);
    s.wqes.pop_front();
    ++s.completed;
    s.transmit = 0;
    m_qps.fail(q);
}

void requester::flush_send_queue(queue_pair& q) {
    auto& s = q.send;
    if (!s.fetches.empty()) return;  // comes back here
    while (s.completed != s.posted) {
        send_wqe e;
        e.index = s.completed++;
        ++flushed;
        complete(q, e, HCA_FLUSHED);
    }
    s.fetched = s.posted;
    s.batches.clear();
    s.wqes.clear();
    s.transmit = 0;
}

void requester::flush_receive(queue_pair& q, std::uint32_t wqe) {
    completion_queue_entry c;
    c.set(HCA_CQE_QPN, q.attributes.number).set(HCA_CQE_WQE, wqe);
    c.set(HCA_CQE_SYNDROME, HCA_FLUSHED).set(HCA_CQE_OPCODE, HCA_CQE_ERROR_RECEIVE);
    c.solicited = true;
    ++flushed;
    m_cqs.complete(q.attributes.receive_cqn, c);
}

/// What a message has taken comes to its end before the rest. While an entry of a shared queue is being fetched, it is
/// not known yet; flush_taken() follows.
void requester::flush_taken(queue_pair& q) {
    if (std::exchange(q.responder.has_wqe, false)) flush_receive(q, q.receive_queue.wqe.offset);
    if (q.attributes.has_srq && !q.responder.taking)
        m_eqs.post(event_queue_entry(HCA_EVENT_LAST_WQE).set(HCA_EQE_NUMBER, q.attributes.number));
}

void requester::flush_receive_queue(queue_pair& q) {
    flush_taken(q);
    if (q.attributes.has_srq) return;
    m_rqs.remaining(q, [this, qp = q.weak()](std::uint32_t left) {
        auto* current_qp = m_qps.find(qp);
        if (!current_qp || current_qp->attributes.state != HCA_QP_ERR) return;
        auto& r = current_qp->receive_queue;
        r.ready.clear();
        for (; left; --left)
            flush_receive(*current_qp, static_cast<std::uint32_t>(current_qp->attributes.rq.wqe_address(r.consumed++)));
    });
}

}  // namespace fabricvp::hca
