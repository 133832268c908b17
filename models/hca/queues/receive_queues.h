// SPDX-License-Identifier: Apache-2.0
// Takes entries of receive queues and shared receive queues for messages that arrive. These have no doorbells: the
// doorbell record tells how many software has posted, and is read when no more are known. What is known of a receive
// queue is fetched ahead of the messages.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/data_mover.h"
#include "hca/memory/translation.h"
#include "hca/queues/doorbell_records.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/shared_receive_queues.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

struct receive_queue_params {
    std::uint64_t prefetch = 8;
    void describe(parameter_visitor& v);
};

enum class consume_status : std::uint8_t { consumed, empty, failed };

class receive_queues final : public model {
public:
    const receive_queue_params params;

    counter fetches{*this, "fetches", "1", "reads of receive WQEs, several at a time where they lie behind each other"};
    counter failures{*this, "failures", "1", "reads of shared receive queues that failed"};
    counter consumed{*this, "consumed", "1", "receive WQEs taken"};
    counter empty{*this, "empty", "1", "times that no entry was posted"};

    receive_queues(const sc_core::sc_module_name& name, const receive_queue_params& params, const wiring& w);

    using done = std::function<void(consume_status)>;
    /// Takes the next entry for a queue pair, into its responder's `entry`. One at a time for each. \param finished
    /// called once, inside this call or later, when the queue pair may be gone
    void consume(queue_pair& q, done finished);
    /// Tells how many entries software has posted that have not been taken: they are to be flushed. Receive queues
    /// only. \param finished called with whether the doorbell record could be read as well
    void remaining(queue_pair& q, std::function<void(std::uint32_t entries, bool readable)> finished);

    void reset() override;

private:
    void consume_own(queue_pair& q, done finished, bool record_is_new);
    void fetch_own(queue_pair& q, std::function<void(queue_pair* q, bool ok)> finished);
    void read_ahead(queue_pair& q);
    void consume_shared(queue_pair& q, done finished);
    struct waiter {
        weak_queue_pair qp;
        done finished;
    };
    void serve(std::uint32_t srqn, std::uint32_t serial, bool record_is_new);
    void fetch_shared(std::uint32_t srqn, std::uint32_t serial);
    void complete_waiter(std::uint32_t srqn, consume_status status, const receive_wqe* wqe);
    void check_limit(std::uint32_t srqn, std::uint32_t serial, bool record_is_new);
    shared_receive_queue* find_shared(std::uint32_t srqn, std::uint32_t serial);

    bus_access& m_bus;
    translation& m_translation;
    doorbell_records& m_doorbell_records;
    shared_receive_queues& m_srqs;
    event_queues& m_eqs;
    queue_pairs& m_qps;
    std::map<std::uint32_t, std::deque<waiter>> m_waiters;  // of shared queues; the first is being served
};

/// Decodes a receive entry of `stride` bytes.
receive_wqe decode_receive(const std::uint8_t* wqe, std::uint32_t stride, std::uint32_t offset);

}  // namespace fabricvp::hca
