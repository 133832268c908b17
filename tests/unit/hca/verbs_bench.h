// SPDX-License-Identifier: Apache-2.0
// Queue pairs of the bench's drivers: completion queues, work queues, posting and polling, as a verbs library does it.
#pragma once

#include <deque>

#include "hca_bench.h"

namespace fabricvp::hca::test {

struct completion_queue {
    std::uint32_t number, log_size;
    driver::memory_region memory;
    std::uint32_t consumer = 0;
};

/// A completion as software reads it.
struct completion {
    std::uint32_t qpn, wqe, bytes, immediate, source_qpn;
    unsigned opcode, syndrome;
    bool is_send;
    bool error() const { return opcode == HCA_CQE_ERROR_SEND || opcode == HCA_CQE_ERROR_RECEIVE; }
};

struct element {
    std::uint64_t address;
    std::uint32_t key, bytes;
};

struct send_request {
    unsigned opcode = HCA_OP_SEND;
    std::vector<element> list;
    std::uint64_t remote = 0;
    std::uint32_t rkey = 0, immediate = 0;
    std::uint64_t swap_add = 0, compare = 0;
    bool signalled = true, solicited = false, fence = false, inlined = false;
    std::uint16_t lid = 0;  // datagrams
    std::uint32_t qpn = 0, qkey = 0;
    std::optional<network::gid> gid;  // of a datagram with a global route header
};

/// One queue pair, with its two queues in one buffer, and what a library keeps of it.
class test_qp {
public:
    static constexpr std::uint32_t uar = 2;
    driver& d;
    const std::uint32_t number;
    const unsigned type, log_rq, log_sq, log_stride;
    driver::memory_region memory;
    std::uint32_t sq_start, record;
    std::uint16_t posted = 0, received = 0;

    struct settings {
        unsigned type = HCA_QP_RC, log_rq = 4, log_sq = 4, log_stride = 7, domain = 1, mtu = 4, timeout = 8,
                 retries = 7, rnr_retries = 7, rnr_timer = 1;
        unsigned log_reads = 2;
        bool remote_write = true, remote_read = true, remote_atomic = true, signal_all = false;
        std::uint32_t psn = 0xfffff0, srqn = 0, qkey = 0x1111;
        std::uint16_t lid = 0;
        std::uint64_t global_to = 0;  ///< GUID of the other port, whose packets then have global headers
    };
    const settings s;

    test_qp(driver& driver_, std::uint32_t number_, std::uint32_t send_cqn, std::uint32_t receive_cqn,
            std::uint32_t record_, const settings& set)
        : d(driver_),
          number(number_),
          type(set.type),
          log_rq(set.log_rq),
          log_sq(set.log_sq),
          log_stride(set.log_stride),
          memory(driver_.region(((1u << set.log_rq) + (1u << set.log_sq)) << set.log_stride, set.domain, local_read)),
          sq_start(1u << (set.log_rq + set.log_stride)),
          record(record_),
          s(set),
          m_send_cqn(send_cqn),
          m_receive_cqn(receive_cqn) {
        d.record(uar, record);
        start();
    }

    /// From the reset state to the state INIT, with empty queues.
    void start() {
        posted = received = 0;
        std::memset(d.record(uar, record), 0, 16);
        auto* c = d.in() + HCA_QP_CONTEXT;
        hca_set(c, HCA_QPC_TYPE, type);
        hca_set(c, HCA_QPC_MIGRATION, HCA_MIGRATED);
        hca_set(c, HCA_QPC_LOG_RQ_SIZE, log_rq);
        hca_set(c, HCA_QPC_LOG_RQ_STRIDE, log_stride - 4);
        hca_set(c, HCA_QPC_LOG_SQ_SIZE, log_sq);
        hca_set(c, HCA_QPC_LOG_SQ_STRIDE, log_stride - 4);
        hca_set(c, HCA_QPC_UAR, uar);
        hca_set(c, HCA_QPC_PD, s.domain);
        hca_set(c, HCA_QPC_LKEY, memory.key);
        hca_set(c, HCA_QPC_SIGNAL_ALL, s.signal_all);
        hca_set(c, HCA_QPC_SEND_CQN, m_send_cqn);
        hca_set(c, HCA_QPC_RECEIVE_CQN, m_receive_cqn);
        hca_set(c, HCA_QPC_SQ_START, sq_start);
        hca_set(c, HCA_QPC_SQ_RECORD, record);
        hca_set(c, HCA_QPC_RQ_RECORD, record + 1);
        hca_set(c, HCA_QPC_QKEY, s.qkey);
        hca_set(c, HCA_QPC_HAS_SRQ, s.srqn != 0);
        hca_set(c, HCA_QPC_SRQN, s.srqn);
        hca_set(c, HCA_QPC_MTU, s.mtu);
        REQUIRE(d.command(HCA_RST2INIT_QP, number) == HCA_OK);
    }

    void connect(std::uint32_t remote, std::uint16_t lid) {
        to_rtr(remote, lid);
        to_rts();
    }
    void to_rtr(std::uint32_t remote, std::uint16_t lid) {
        auto* m = d.in();
        auto* c = m + HCA_QP_CONTEXT;
        hca_set(m, HCA_QP_MASK, HCA_OPTPAR_REMOTE_READ | HCA_OPTPAR_REMOTE_WRITE | HCA_OPTPAR_REMOTE_ATOMIC);
        hca_set(c, HCA_QPC_MTU, s.mtu);
        hca_set(c, HCA_QPC_LOG_MESSAGE, 31);
        hca_set(c, HCA_QPC_REMOTE, remote);
        hca_set(c, HCA_QPC_RECEIVE_PSN, s.psn);
        hca_set(c, HCA_QPC_RNR_TIMER, s.rnr_timer);
        hca_set(c, HCA_QPC_LOG_RECEIVE_READS, s.log_reads);
        hca_set(c, HCA_QPC_REMOTE_READ, s.remote_read);
        hca_set(c, HCA_QPC_REMOTE_WRITE, s.remote_write);
        hca_set(c, HCA_QPC_REMOTE_ATOMIC, s.remote_atomic);
        hca_set(c + HCA_QPC_PATH, HCA_PATH_LID, lid);
        if (s.global_to) {
            hca_set(c + HCA_QPC_PATH, HCA_PATH_GRH, 1);
            hca_set(c + HCA_QPC_PATH, HCA_PATH_HOP_LIMIT, 5);
            hca_set(c + HCA_QPC_PATH, HCA_PATH_TRAFFIC_CLASS, 0x12);
            hca_set(c + HCA_QPC_PATH, HCA_PATH_FLOW_LABEL, 0xabcde);
            hca_put64(c + HCA_QPC_PATH + HCA_PATH_GID, 0xfe80'0000'0000'0000);
            hca_put64(c + HCA_QPC_PATH + HCA_PATH_GID + 8, s.global_to);
        }
        REQUIRE(d.command(HCA_INIT2RTR_QP, number) == HCA_OK);
    }
    void to_rts() {
        auto* c = d.in() + HCA_QP_CONTEXT;
        hca_set(c + HCA_QPC_PATH, HCA_PATH_ACK_TIMEOUT, s.timeout);
        hca_set(c + HCA_QPC_PATH, HCA_PATH_RNR_RETRIES, s.rnr_retries);
        hca_set(c, HCA_QPC_RETRIES, s.retries);
        hca_set(c, HCA_QPC_LOG_SEND_READS, s.log_reads);
        hca_set(c, HCA_QPC_SEND_PSN, s.psn);
        REQUIRE(d.command(HCA_RTR2RTS_QP, number) == HCA_OK);
    }

    std::uint64_t slot(std::uint16_t index) const {
        return sq_start + (std::uint64_t{index & ((1u << log_sq) - 1)} << log_stride);
    }

    /// Writes entries and rings once for all of them.
    void post(const std::vector<send_request>& all) {
        unsigned first_opcode = 0, first_size = 0;
        bool first_fence = false;
        const auto before = posted;
        for (std::size_t i = 0; i < all.size(); ++i, ++posted) {
            const auto size = write_wqe(posted, all[i]);
            if (i == 0) {
                first_opcode = all[i].opcode;
                first_size = size;
                first_fence = all[i].fence;
            }
            auto* previous = d.byte(memory, slot(static_cast<std::uint16_t>(posted - 1)));
            hca_set(previous, HCA_NEXT_ADDRESS, static_cast<std::uint32_t>(slot(posted)) >> 6);
            hca_set(previous, HCA_NEXT_OPCODE, all[i].opcode);
            hca_set(previous, HCA_NEXT_DBD, 1);
            hca_set(previous, HCA_NEXT_FENCE, all[i].fence);
            hca_set(previous, HCA_NEXT_SIZE, size);
        }
        hca_put32(d.record(uar, record), posted);
        d.doorbell(uar, HCA_UAR_SEND,
                   static_cast<std::uint32_t>(all.size()) << 24 | std::uint32_t{before} << 8 |
                       (first_fence ? 0x20u : 0u) | first_opcode,
                   number << 8 | first_size);
    }
    void post(const send_request& r) { post(std::vector<send_request>{r}); }

    void post_receive(const std::vector<element>& list) {
        auto* w = d.byte(memory, std::uint64_t{received & ((1u << log_rq) - 1)} << log_stride);
        std::memset(w, 0, std::size_t{1} << log_stride);
        std::size_t at = HCA_SEGMENT;
        for (const auto& e : list) at += write_element(w + at, e);
        if (at + HCA_SEGMENT <= std::size_t{1} << log_stride) hca_set(w + at, HCA_DATA_KEY, HCA_INVALID_LKEY);
        ++received;
        hca_put32(d.record(uar, record + 1), received);
    }

    static std::size_t write_element(std::uint8_t* w, const element& e) {
        hca_set(w, HCA_DATA_BYTES, e.bytes);
        hca_set(w, HCA_DATA_KEY, e.key);
        hca_set_long(w, HCA_DATA_ADDRESS, e.address);
        return HCA_SEGMENT;
    }

private:
    const std::uint32_t m_send_cqn, m_receive_cqn;

    /// \returns its size in 16 bytes
    unsigned write_wqe(std::uint16_t index, const send_request& r) {
        auto* w = d.byte(memory, slot(index));
        std::memset(w, 0, std::size_t{1} << log_stride);
        hca_set(w, HCA_NEXT_ALWAYS, 1);
        hca_set(w, HCA_NEXT_SIGNALLED, r.signalled);
        hca_set(w, HCA_NEXT_SOLICITED, r.solicited);
        hca_set(w, HCA_NEXT_IMMEDIATE, r.immediate);
        std::size_t at = HCA_SEGMENT;
        if (type == HCA_QP_UD) {
            hca_set(w + at, HCA_AV_PD, s.domain);
            hca_set(w + at, HCA_AV_LID, r.lid);
            hca_set(w + at, HCA_AV_GRH, r.gid.has_value());
            if (r.gid) std::memcpy(w + at + HCA_AV_GID, r.gid->data(), r.gid->size());
            hca_set(w + at, HCA_UD_QPN, r.qpn);
            hca_set(w + at, HCA_UD_QKEY, r.qkey);
            at += HCA_UD_SIZE;
        } else if (r.opcode != HCA_OP_SEND && r.opcode != HCA_OP_SEND_IMMEDIATE) {
            hca_set_long(w + at, HCA_REMOTE_ADDRESS, r.remote);
            hca_set(w + at, HCA_REMOTE_KEY, r.rkey);
            at += HCA_SEGMENT;
        }
        if (r.opcode == HCA_OP_COMPARE_SWAP || r.opcode == HCA_OP_FETCH_ADD) {
            hca_set_long(w + at, HCA_ATOMIC_SWAP_ADD, r.swap_add);
            hca_set_long(w + at, HCA_ATOMIC_COMPARE, r.compare);
            at += HCA_SEGMENT;
        }
        if (r.inlined) {
            std::size_t bytes = 0;
            for (const auto& e : r.list) {
                std::memcpy(w + at + 4 + bytes, d.at(e.address), e.bytes);  // a bus address, for once
                bytes += e.bytes;
            }
            hca_put32(w + at, 1u << 31 | static_cast<std::uint32_t>(bytes));
            at += (4 + bytes + 15) / 16 * 16;
        } else {
            for (const auto& e : r.list) at += write_element(w + at, e);
        }
        REQUIRE(at <= std::size_t{1} << log_stride);
        return static_cast<unsigned>(at / 16);
    }
};

inline completion_queue create_cq(driver& d, std::uint32_t number, unsigned log_size, unsigned eqn,
                                  std::uint32_t record) {
    completion_queue q{number, log_size, d.region(std::uint64_t{HCA_CQE_SIZE} << log_size, 1, local_write), 0};
    for (unsigned i = 0; i < 1u << log_size; ++i) hca_set(d.byte(q.memory, i * HCA_CQE_SIZE), HCA_CQE_OWNER, 1);
    d.record(test_qp::uar, record);
    auto* c = d.in();
    hca_set(c, HCA_CQC_LOG_SIZE, log_size);
    hca_set(c, HCA_CQC_UAR, test_qp::uar);
    hca_set(c, HCA_CQC_EQN, eqn);
    hca_set(c, HCA_CQC_PD, 1);
    hca_set(c, HCA_CQC_LKEY, q.memory.key);
    hca_set(c, HCA_CQC_NUMBER, number);
    hca_set(c, HCA_CQC_CONSUMER_RECORD, record);
    hca_set(c, HCA_CQC_ARM_RECORD, record + 1);
    REQUIRE(d.command(HCA_SW2HW_CQ, number) == HCA_OK);
    return q;
}

/// A shared receive queue of 2^log_size entries of 2^log_stride bytes, which are to be written. \returns its memory
inline driver::memory_region create_srq(driver& d, std::uint32_t number, std::uint32_t record, unsigned log_stride,
                                        unsigned log_size) {
    const auto memory = d.region(std::uint64_t{1} << (log_stride + log_size));
    d.record(test_qp::uar, record);
    auto* c = d.in();
    hca_set(c, HCA_SRQC_LOG_SIZE, log_size);
    hca_set(c, HCA_SRQC_NUMBER, number);
    hca_set(c, HCA_SRQC_LKEY, memory.key);
    hca_set(c, HCA_SRQC_RECORD, record);
    hca_set(c, HCA_SRQC_LOG_STRIDE, log_stride - 4);
    hca_set(c, HCA_SRQC_UAR, test_qp::uar);
    hca_set(c, HCA_SRQC_PD, 1);
    REQUIRE(d.command(HCA_SW2HW_SRQ, number) == HCA_OK);
    return memory;
}

/// The next completion, if there is one; the doorbell record is told.
inline std::optional<completion> poll(driver& d, completion_queue& q, std::uint32_t record) {
    auto* e = d.byte(q.memory, (q.consumer & ((1u << q.log_size) - 1)) * HCA_CQE_SIZE);
    if (hca_get(e, HCA_CQE_OWNER)) return std::nullopt;
    completion c{hca_get(e, HCA_CQE_QPN),       hca_get(e, HCA_CQE_WQE),         hca_get(e, HCA_CQE_BYTES),
                 hca_get(e, HCA_CQE_IMMEDIATE), hca_get(e, HCA_CQE_SOURCE_QPN),  hca_get(e, HCA_CQE_OPCODE),
                 hca_get(e, HCA_CQE_SYNDROME),  hca_get(e, HCA_CQE_IS_SEND) != 0};
    hca_set(e, HCA_CQE_OWNER, 1);
    ++q.consumer;
    hca_put32(d.record(test_qp::uar, record), q.consumer);
    return c;
}

}  // namespace fabricvp::hca::test
