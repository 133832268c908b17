// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/queue_pairs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hca/queues/qp_transitions.h"

namespace fabricvp::hca {

queue_pairs::queue_pairs(const sc_core::sc_module_name& name, const wiring& w)
    : model(name),
      m_adapter(w.adapter),
      m_cqs(w.completion_queues),
      m_srqs(w.shared_receive_queues),
      m_doorbell_records(w.doorbell_records) {}

bool queue_pairs::well_formed(const queue_pair_attributes& a) const {
    const bool type = a.type == HCA_QP_RC || a.type == HCA_QP_UC || a.type == HCA_QP_UD || a.type == HCA_QP_MLX;
    return type && m_doorbell_records.valid_uar(a.uar) && m_cqs.exists(a.send_cqn) && m_cqs.exists(a.receive_cqn) &&
           (!a.has_srq || m_srqs.find(a.srqn));
}

unsigned queue_pairs::modify(unsigned opcode, std::uint32_t number, const std::uint8_t* mailbox, bool notify_drained) {
    const auto* t = find_transition(opcode);
    const auto index = number & ((1u << m_log_entries) - 1);
    auto* q = find(number);
    if (opcode == HCA_RST2INIT_QP) {
        if (index < m_qps.size() && m_qps[index] && (!q || q->attributes.state != HCA_QP_RESET))
            return HCA_BAD_QP_STATE;
        queue_pair_attributes a;
        a.number = number;
        apply_transition(*t, a.context.data(), mailbox);
        a.set(HCA_QPC_NUMBER, number);
        a.decode();
        if (!well_formed(a)) return HCA_BAD_RESOURCE;
        if (index >= m_qps.size())
            m_qps.resize(std::min<std::size_t>(std::size_t{1} << m_log_entries, index + index / 2 + 16));
        m_qps[index] = std::make_unique<queue_pair>();
        q = m_qps[index].get();
        q->attributes = a;
        q->serial = ++m_serial;
        ++m_live;
        m_adapter.queue_pair_changed(*q, HCA_QP_RESET);
        return HCA_OK;
    }
    if (!q) return HCA_BAD_INDEX;
    const auto before = q->attributes.state;
    if (std::find(t->from.begin(), t->from.end(), before) == t->from.end() || q->send.draining) return HCA_BAD_QP_STATE;
    apply_transition(*t, q->attributes.context.data(), mailbox);
    q->attributes.decode();
    q->send.notify_drained = notify_drained;
    m_adapter.queue_pair_changed(*q, before);
    return HCA_OK;
}

void queue_pairs::enter(queue_pair& q, unsigned state) {
    const auto before = std::exchange(q.attributes.state, state);
    q.attributes.set(HCA_QPC_STATE, state);
    m_adapter.queue_pair_changed(q, before);
}

void queue_pairs::fail(queue_pair& q) {
    if (q.attributes.state != HCA_QP_ERR) enter(q, HCA_QP_ERR);
}

void queue_pairs::fail_sends(queue_pair& q) {
    if (q.attributes.type == HCA_QP_RC) return fail(q);
    if (q.attributes.can_send()) enter(q, HCA_QP_SQE);
}

unsigned queue_pairs::to_error(std::uint32_t number) {
    auto* q = find(number);
    if (!q) return HCA_BAD_INDEX;
    if (q->attributes.state == HCA_QP_ERR)
        m_adapter.queue_pair_changed(*q, HCA_QP_ERR);  // software may be about to post
    else
        fail(*q);
    return HCA_OK;
}

unsigned queue_pairs::to_reset(std::uint32_t number, std::uint8_t* mailbox) {
    auto* q = find(number);
    if (!q) return number >> 24 ? HCA_BAD_INDEX : HCA_OK;  // it is in the reset state
    if (mailbox) query(number, mailbox);
    const auto before = q->attributes.state;
    q->attributes.state = HCA_QP_RESET;
    q->attributes.set(HCA_QPC_STATE, HCA_QP_RESET);
    m_adapter.queue_pair_changed(*q, before);
    for (const auto cqn : {q->attributes.send_cqn, q->attributes.receive_cqn}) m_cqs.remove_completions(cqn, number);
    m_qps[number & ((1u << m_log_entries) - 1)].reset();
    --m_live;
    return HCA_OK;
}

unsigned queue_pairs::query(std::uint32_t number, std::uint8_t* mailbox) {
    auto* q = find(number);
    if (!q) {
        hca_set(mailbox + HCA_QP_CONTEXT, HCA_QPC_NUMBER, number);  // in the reset state
        return HCA_OK;
    }
    auto* context = mailbox + HCA_QP_CONTEXT;
    std::memcpy(context, q->attributes.context.data(), HCA_QPC_SIZE);
    q->report(context);
    return HCA_OK;
}

unsigned queue_pairs::set_special(bool gsi, std::uint32_t first) {
    if (first >> 24 || first & 1) return HCA_BAD_PARAMETER;
    m_special[gsi] = first;
    return HCA_OK;
}

/// What they hold of the network's buffers is let go.
void queue_pairs::clear() {
    for (auto& q : m_qps) {
        if (!q) continue;
        const auto before = std::exchange(q->attributes.state, HCA_QP_RESET);
        m_adapter.queue_pair_changed(*q, before);
    }
    m_qps.clear();
    m_live = 0;
    m_special[0] = m_special[1] = 0;
}

void queue_pairs::reset() {
    clear();
    m_log_entries = 0;
    model::reset();
}

}  // namespace fabricvp::hca
