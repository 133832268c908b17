// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "abi/hca_context.h"
#include "abi/hca_queues.h"

namespace fabricvp::hca {

/// A work queue's place in memory: a ring of entries in a buffer that is a region of its own.
struct work_queue {
    std::uint32_t lkey = 0, domain = 0;
    std::uint64_t start = 0;
    unsigned log_size = 0, log_stride = 6;
    std::uint32_t uar = 0, record = 0;  ///< doorbell record

    std::uint32_t entries() const { return 1u << log_size; }
    std::uint32_t stride() const { return 1u << log_stride; }
    std::uint64_t entry(std::uint32_t counter) const { return start + (std::uint64_t{counter & (entries() - 1)} << log_stride); }
};

/// A queue pair's attributes: its context as software knows it, and what every packet asks for taken out of it.
struct queue_pair_attributes {
    std::array<std::uint8_t, HCA_QPC_SIZE> context{};
    std::uint32_t number = 0;
    unsigned state = HCA_QP_RESET, type = HCA_QP_RC;
    std::uint32_t domain = 0, remote = 0, uar = 0, send_cqn = 0, receive_cqn = 0, qkey = 0, srqn = 0;
    std::uint32_t mtu = 256;           ///< bytes
    bool has_srq = false, signal_all = false;
    bool remote_read = false, remote_write = false, remote_atomic = false;
    unsigned send_reads = 1, receive_reads = 1;  ///< reads and atomics in flight
    unsigned retries = 0, rnr_retries = 0, ack_timeout = 0, rnr_timer = 0;
    unsigned pkey_index = 0, service_level = 0;
    std::uint16_t remote_lid = 0;
    std::uint8_t source_bits = 0;
    bool global = false;
    work_queue sq, rq;

    std::uint32_t get(unsigned field) const { return hca_get(context.data(), field); }
    std::uint32_t path(unsigned field) const { return hca_get(context.data() + HCA_QPC_PATH, field); }
    void set(unsigned field, std::uint32_t value) { hca_set(context.data(), field, value); }
    bool can_send() const { return state == HCA_QP_RTS || state == HCA_QP_SQD; }
    bool can_receive() const { return state == HCA_QP_RTR || state == HCA_QP_RTS || state == HCA_QP_SQE || state == HCA_QP_SQD; }
    /// Fills in the rest from the context.
    void decode();
};

/// A queue pair.
struct queue_pair {
    queue_pair_attributes attributes;
    std::uint32_t serial = 0;  ///< of its creation: its number may be used again
};

}  // namespace fabricvp::hca
