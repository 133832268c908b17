// SPDX-License-Identifier: Apache-2.0
#include "hca/queues/queue_pair.h"

#include <algorithm>

namespace fabricvp::hca {

void queue_pair_attributes::decode() {
    state = get(HCA_QPC_STATE);
    type = get(HCA_QPC_TYPE);
    domain = get(HCA_QPC_PD);
    remote = get(HCA_QPC_REMOTE);
    uar = get(HCA_QPC_UAR);
    send_cqn = get(HCA_QPC_SEND_CQN);
    receive_cqn = get(HCA_QPC_RECEIVE_CQN);
    qkey = get(HCA_QPC_QKEY);
    has_srq = get(HCA_QPC_HAS_SRQ);
    srqn = get(HCA_QPC_SRQN);
    mtu = 128u << std::clamp(get(HCA_QPC_MTU), 1u, 5u);
    signal_all = get(HCA_QPC_SIGNAL_ALL);
    remote_read = get(HCA_QPC_REMOTE_READ);
    remote_write = get(HCA_QPC_REMOTE_WRITE);
    remote_atomic = get(HCA_QPC_REMOTE_ATOMIC);
    send_reads = 1u << get(HCA_QPC_LOG_SEND_READS);
    receive_reads = 1u << get(HCA_QPC_LOG_RECEIVE_READS);
    retries = get(HCA_QPC_RETRIES);
    rnr_timer = get(HCA_QPC_RNR_TIMER);
    rnr_retries = path(HCA_PATH_RNR_RETRIES);
    ack_timeout = path(HCA_PATH_ACK_TIMEOUT);
    pkey_index = path(HCA_PATH_PKEY_INDEX);
    service_level = path(HCA_PATH_SERVICE_LEVEL);
    remote_lid = static_cast<std::uint16_t>(path(HCA_PATH_LID));
    source_bits = static_cast<std::uint8_t>(path(HCA_PATH_SOURCE_BITS));
    global = path(HCA_PATH_GRH);
    const auto base = std::uint64_t{get(HCA_QPC_BUFFER_HIGH)} << 32;
    const auto lkey = get(HCA_QPC_LKEY);
    const auto queue = [&](unsigned start, unsigned log_size, unsigned log_stride, unsigned record) {
        return work_queue{
            lkey, domain,     base + (get(start) & ~std::uint64_t{0x3f}), get(log_size), get(log_stride) + 4,
            uar,  get(record)};
    };
    sq = queue(HCA_QPC_SQ_START, HCA_QPC_LOG_SQ_SIZE, HCA_QPC_LOG_SQ_STRIDE, HCA_QPC_SQ_RECORD);
    rq = queue(HCA_QPC_RQ_START, HCA_QPC_LOG_RQ_SIZE, HCA_QPC_LOG_RQ_STRIDE, HCA_QPC_RQ_RECORD);
}

void queue_pair::report(std::uint8_t* c) const {
    if (send.draining) hca_set(c, HCA_QPC_STATE, HCA_QP_DRAINING);
    hca_set(c, HCA_QPC_SEND_PSN, send.next_psn);
    hca_set(c, HCA_QPC_RECEIVE_PSN, responder.expected_psn);
    hca_set(c, HCA_QPC_RMSN, responder.msn);
    hca_set(c, HCA_QPC_SQ_COUNTER, send.completed);
    hca_set(c, HCA_QPC_RQ_COUNTER, receive_queue.consumed);
}

}  // namespace fabricvp::hca
