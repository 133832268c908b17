// SPDX-License-Identifier: Apache-2.0
// What becomes of requests that have been sent: acknowledgements, responses, and their absence.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "hca/transport/requester.h"
#include "hca/transport/transport.h"

namespace fabricvp::hca {

using network::operation;

void requester::receive(queue_pair& q, const network::packet_ptr& p) {
    q.send.received_packets.push_back(p);
    process_responses(q);
}

void requester::process_responses(queue_pair& q) {
    auto& s = q.send;
    while (!s.placing && !s.received_packets.empty()) {
        const auto p = s.received_packets.front();
        s.received_packets.pop_front();
        process_response(q, p);
        m_port.release(*p);
    }
}

send_wqe* requester::wqe_of(queue_pair& q, std::uint32_t psn) {
    for (auto& e : q.send.wqes) {
        if (!e.started) return nullptr;
        const auto offset = psn_difference(psn, e.first_psn);
        if (offset >= 0 && static_cast<std::uint32_t>(offset) < e.packets) return &e;
    }
    return nullptr;
}

void requester::process_response(queue_pair& q, const network::packet_ptr& p) {
    if (q.attributes.state != HCA_QP_RTS && q.attributes.state != HCA_QP_SQD) return;
    const auto op = network::operation_of(p->bth.opcode);
    p->pass(response_span, span_kind::queueing, now());
    if (op == operation::acknowledge) return process_acknowledge(q, *p);
    auto* e = wqe_of(q, p->bth.psn);
    if (!e || e->acked || e->syndrome || !e->has_response()) return;  // late, or twice
    if (e->is_atomic() != (op == operation::atomic_acknowledge)) return fail_at(q, e->index, HCA_BAD_RESPONSE);
    const auto index = e->index;
    if (!acknowledge(q, psn_after(e->first_psn, network::psn_mask))) return;  // all before it; one of them is missing
    e = wqe_of(q, p->bth.psn);
    if (!e || e->index != index || q.attributes.state == HCA_QP_ERR) return;
    const auto expected = psn_after(e->first_psn, e->received);
    const auto ahead = psn_difference(p->bth.psn, expected);
    if (ahead < 0) return;
    if (ahead > 0) {
        if (!q.send.recovering) retry(q, expected);
        return;
    }
    place(q, p, *e);
}

void requester::place(queue_pair& q, const network::packet_ptr& p, send_wqe& e) {
    auto& s = q.send;
    const auto from = std::uint64_t{e.received} * q.attributes.mtu;
    const auto bytes = e.is_atomic() ? 8 : std::min<std::uint64_t>(q.attributes.mtu, e.length - from);
    auto payload = p->payload;
    if (e.is_atomic()) {  // host-endian, little as INIT_HCA says
        payload = allocate_slice(8);
        std::memcpy(payload.data(), &p->atomic_original, 8);
    }
    if (payload.length != bytes) return fail_at(q, e.index, HCA_BAD_RESPONSE);
    if (bytes == 0) return placed(q, e.index, {});
    s.placing = true;
    m_data_mover.scatter(e.list, q.attributes.domain, from, payload, local_write,
                         [this, qp = q.weak(), index = e.index, p](transfer_result r) {
                             auto* current_qp = m_qps.find(qp);
                             if (!current_qp) return;
                             if (auto* wqe = span_recorder::on() ? wqe_of(*current_qp, p->bth.psn) : nullptr) {
                                 wqe->spans.follow(p->spans);
                                 wqe->spans.pass(placement_span, span_kind::service, now());
                             }
                             placed(*current_qp, index, r);
                         });
}

void requester::placed(queue_pair& q, std::uint16_t index, transfer_result r) {
    auto& s = q.send;
    const bool later = std::exchange(s.placing, false);
    const auto found =
        std::find_if(s.wqes.begin(), s.wqes.end(), [index](const send_wqe& e) { return e.index == index; });
    if (found != s.wqes.end() && !found->syndrome) {
        if (!r.ok()) {
            fail_at(q, index, HCA_LOCAL_PROTECTION);
        } else {
            reset_retries(q);
            if (++found->received == found->packets) {
                found->acked = true;
                if (found->sent) --s.responses_awaited;
                // A request that goes out once more would only bring what is there.
                if (s.transmit < s.wqes.size() && s.wqes[s.transmit].index == index) ++s.transmit;
            }
            complete_front(q);
            set_deadline(q);  // of the oldest one now
            schedule_queue_pair(q);
        }
    }
    if (later && !s.received_packets.empty()) process_responses(q);
}

void requester::process_acknowledge(queue_pair& q, const network::packet& p) {
    auto& s = q.send;
    const auto psn = p.bth.psn, syndrome = std::uint32_t{p.aeth.syndrome};
    const auto kind = aeth::kind(p.aeth.syndrome);
    if (s.wqes.empty() || !s.wqes.front().started || psn_difference(psn, s.next_psn) >= 0) return;
    if (psn_difference(psn, s.wqes.front().first_psn) < -1) return;  // long known
    if (kind == aeth::kind_ack) {
        if (auto* e = span_recorder::on() ? wqe_of(q, psn) : nullptr; e && e->last_psn() == psn)
            e->spans.follow(p.spans);
        acknowledge(q, psn);
        return schedule_queue_pair(q);
    }
    const auto* e = wqe_of(q, psn);
    if (!e || e->acked || e->syndrome) return;
    const auto index = e->index;
    if (!acknowledge(q, psn_after(psn, network::psn_mask)) || q.attributes.state == HCA_QP_ERR) return;
    e = wqe_of(q, psn);
    if (!e || e->index != index) return;
    if (kind == aeth::kind_not_ready) {
        ++not_ready;
        if (s.rnr_retries_left == 0) return fail_at(q, index, HCA_RNR_RETRIES_EXCEEDED);
        if (q.attributes.rnr_retries != 7) --s.rnr_retries_left;
        go_back(q, psn);
        s.deadline = never;
        s.paused_until = now() + not_ready_time(aeth::value(p.aeth.syndrome));
        return start_timer(q, s.paused_until);
    }
    switch (static_cast<nak>(aeth::value(static_cast<std::uint8_t>(syndrome)))) {
        case nak::sequence: retry(q, psn); return;
        case nak::invalid_request: return fail_at(q, index, HCA_REMOTE_INVALID_REQUEST);
        case nak::remote_access: return fail_at(q, index, HCA_REMOTE_ACCESS);
        default: return fail_at(q, index, HCA_REMOTE_OPERATION);
    }
}

/// All up to `psn` have arrived. \returns false if a response among them has not, which was lost then
bool requester::acknowledge(queue_pair& q, std::uint32_t psn) {
    auto& s = q.send;
    const bool recovering = s.recovering;
    bool moved = false;
    std::optional<std::uint32_t> lost;
    for (auto& e : s.wqes) {
        if (!e.started || psn_difference(e.first_psn, psn) > 0) break;
        if (e.acked) continue;
        if (e.syndrome) break;
        if (e.has_response()) {
            lost = psn_after(e.first_psn, e.received);
            break;
        }
        if (psn_difference(e.last_psn(), psn) > 0) {  // part of a message is progress, too
            const auto arrived = static_cast<std::uint32_t>(psn_difference(psn, e.first_psn)) + 1;
            moved = moved || arrived > e.arrived;
            e.arrived = std::max(e.arrived, arrived);
            break;
        }
        e.acked = moved = true;
    }
    if (moved) {
        reset_retries(q);
        complete_front(q);
        set_deadline(q);
    }
    if (lost && !recovering) retry(q, *lost);
    return !lost;
}

void requester::reset_retries(queue_pair& q) {
    q.send.retries_left = q.attributes.retries;
    q.send.rnr_retries_left = q.attributes.rnr_retries;
    q.send.recovering = false;
}

/// Begins anew at `psn`, as often as the queue pair allows.
bool requester::retry(queue_pair& q, std::uint32_t psn) {
    auto& s = q.send;
    if (s.retries_left == 0) {
        if (const auto* e = wqe_of(q, psn)) fail_at(q, e->index, HCA_RETRIES_EXCEEDED);
        return false;
    }
    --s.retries_left;
    s.recovering = true;
    go_back(q, psn);
    set_deadline(q);
    schedule_queue_pair(q);
    return true;
}

void requester::go_back(queue_pair& q, std::uint32_t psn) {
    auto& s = q.send;
    ++retries;
    s.requests.clear();
    for (std::size_t i = 0; i < s.wqes.size(); ++i) {
        auto& e = s.wqes[i];
        const auto offset = psn_difference(psn, e.first_psn);
        if (!e.started || offset < 0 || static_cast<std::uint32_t>(offset) >= e.packets) continue;
        mark_unsent(s, i);
        if (!e.has_response()) e.sent = static_cast<std::uint32_t>(offset);
        return;
    }
}

void requester::set_deadline(queue_pair& q) {
    auto& s = q.send;
    const bool outstanding =
        q.attributes.state != HCA_QP_ERR && !s.wqes.empty() && s.wqes.front().sent && !s.wqes.front().acked;
    s.deadline = outstanding && q.attributes.ack_timeout ? now() + ack_time(q.attributes.ack_timeout) : never;
    if (s.deadline != never) start_timer(q, s.deadline);
}

/// Looks at a queue pair's times at `when`, or where that is already going to happen earlier, then.
void requester::start_timer(queue_pair& q, ticks when) {
    if (q.send.timed && q.send.timed_at <= when) return;
    q.send.timed = true;
    q.send.timed_at = when;
    m_timers.emplace(when, q.weak());
    if (!m_timer.scheduled() || m_timer.when() > when) schedule(m_timer, when);
}

void requester::check_deadlines() {
    while (!m_timers.empty() && m_timers.begin()->first <= now()) {
        const auto n = m_timers.begin()->second;
        m_timers.erase(m_timers.begin());
        auto* q = m_qps.find(n);
        if (!q || !q->send.timed || q->send.timed_at > now()) continue;
        auto& s = q->send;
        s.timed = false;
        if (s.paused_until > now())
            start_timer(*q, s.paused_until);
        else
            schedule_queue_pair(*q);
        if (s.deadline == never) continue;
        if (s.deadline > now()) {
            start_timer(*q, s.deadline);
            continue;
        }
        ++timeouts;
        s.recovering = false;
        const auto& e = s.wqes.front();
        // From what is not known to have arrived: all of a long message again would take longer than the timeout.
        retry(*q, psn_after(e.first_psn, e.has_response() ? e.received : e.arrived));
    }
    if (!m_timers.empty()) schedule(m_timer, m_timers.begin()->first);
}

}  // namespace fabricvp::hca
