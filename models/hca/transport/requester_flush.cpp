// SPDX-License-Identifier: Apache-2.0
// What becomes of the entries of a queue pair that has failed: one is told as the cause, all others are flushed.
#include <algorithm>
#include <utility>

#include "hca/transport/requester.h"

namespace fabricvp::hca {

namespace {

// Of receives that are posted in the error state: the first ones are looked for after this time, then after ever longer
// ones up to a limit, until nothing has been found for long.
constexpr ticks first_look = 10'000'000, longest_look = 1'000'000'000, looking_time = ticks_per_second;

}  // namespace

/// The oldest entry has failed: it is told, and the rest is flushed.
void requester::complete_with_error(queue_pair& q, unsigned syndrome) {
    auto& s = q.send;
    ++errors;
    complete(q, s.wqes.front(), syndrome);
    s.wqes.pop_front();
    ++s.completed;
    s.transmit = 0;
    m_qps.fail_sends(q);
}

/// What is being fetched is flushed with the rest at once: when it comes, software may have let the queue go on, which
/// then begins with what is posted afterwards.
void requester::stop_sends(queue_pair& q) {
    q.send.requests.clear();
    q.send.fetches.clear();
    flush_send_queue(q);
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

/// Software posts receives in the error state as well, as Linux does to learn when all before them have ended. That is
/// a store to its own memory, of which the adapter hears nothing. So it looks again and again, ever more seldom, and no
/// more after a while, since a machine that has nothing else to do must come to rest. A send doorbell, or the order to
/// fail once more, begins it anew.
void requester::watch_receive_queue(queue_pair& q) {
    if (q.attributes.has_srq) return;
    q.receive_queue.look_interval = first_look;
    q.receive_queue.looked_until = now() + looking_time;
    flush_receive_queue(q);
}

void requester::flush_receive_queue(queue_pair& q) {
    q.receive_queue.next_look = never;
    m_rqs.remaining(q, [this, qp = q.weak()](std::uint32_t left, bool readable) {
        auto* current_qp = m_qps.find(qp);
        if (!current_qp || current_qp->attributes.state != HCA_QP_ERR) return;
        auto& r = current_qp->receive_queue;
        r.ready.clear();
        if (left) {
            r.look_interval = first_look;
            r.looked_until = now() + looking_time;
        }
        for (; left; --left)
            flush_receive(*current_qp, static_cast<std::uint32_t>(current_qp->attributes.rq.wqe_address(r.consumed++)));
        if (readable) schedule_look(*current_qp);
    });
}

void requester::schedule_look(queue_pair& q) {
    auto& r = q.receive_queue;
    if (now() >= r.looked_until) return;
    r.next_look = now() + r.look_interval;
    r.look_interval = std::min(2 * r.look_interval, longest_look);
    m_looks.emplace(r.next_look, q.weak());
    if (!m_look.scheduled() || m_look.when() > r.next_look) schedule(m_look, r.next_look);
}

void requester::look() {
    while (!m_looks.empty() && m_looks.begin()->first <= now()) {
        const auto [when, qp] = *m_looks.begin();
        m_looks.erase(m_looks.begin());
        auto* q = m_qps.find(qp);
        if (q && q->receive_queue.next_look == when) flush_receive_queue(*q);
    }
    if (!m_looks.empty()) schedule(m_look, m_looks.begin()->first);
}

}  // namespace fabricvp::hca
