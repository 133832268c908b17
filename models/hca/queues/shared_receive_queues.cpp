// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/shared_receive_queues.h"

#include <cstring>

namespace fabricvp::hca {

unsigned shared_receive_queues::add(std::uint32_t number, const std::uint8_t* c) {
    if (number >> m_log_entries) return HCA_BAD_INDEX;
    if (m_queues.count(number)) return HCA_BAD_OBJECT_STATE;
    const auto start = hca_get_long(c, HCA_SRQC_START);
    auto& q = m_queues[number];
    std::memcpy(q.context.data(), c, q.context.size());
    q.number = number;
    q.serial = ++m_serial;
    q.queue = {hca_get(c, HCA_SRQC_LKEY),           hca_get(c, HCA_SRQC_PD),
               start & ~std::uint64_t{0x3f},        hca_get(c, HCA_SRQC_LOG_SIZE),
               hca_get(c, HCA_SRQC_LOG_STRIDE) + 4, hca_get(c, HCA_SRQC_UAR),
               hca_get(c, HCA_SRQC_RECORD)};
    q.next = q.queue.start;
    q.limit = static_cast<std::uint16_t>(hca_get(c, HCA_SRQC_LIMIT));
    return HCA_OK;
}

unsigned shared_receive_queues::remove(std::uint32_t number, std::uint8_t* context) {
    if (!find(number)) return HCA_BAD_INDEX;
    if (context) query(number, context);
    m_queues.erase(number);
    return HCA_OK;
}

unsigned shared_receive_queues::query(std::uint32_t number, std::uint8_t* context) const {
    const auto found = m_queues.find(number);
    if (found == m_queues.end()) return HCA_BAD_INDEX;
    const auto& q = found->second;
    std::memcpy(context, q.context.data(), q.context.size());
    if (q.failed) hca_set(context, HCA_SRQC_STATE, 1);
    hca_set_long(context, HCA_SRQC_START, q.next);
    hca_set(context, HCA_SRQC_LIMIT, q.limit);
    hca_set(context, HCA_SRQC_COUNT, static_cast<std::uint16_t>(q.posted - q.consumed));
    hca_set(context, HCA_SRQC_COUNTER, q.consumed);
    return HCA_OK;
}

unsigned shared_receive_queues::arm(std::uint32_t number, std::uint64_t limit) {
    auto* q = find(number);
    if (!q) return HCA_BAD_INDEX;
    if (limit > q->queue.entries()) return HCA_BAD_PARAMETER;
    q->limit = static_cast<std::uint16_t>(limit);
    return HCA_OK;
}

void shared_receive_queues::reset() {
    m_queues.clear();
    m_log_entries = 0;
    model::reset();
}

}  // namespace fabricvp::hca
