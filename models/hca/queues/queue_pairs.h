// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "abi/hca.h"
#include "base/model.h"
#include "base/statistics.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/doorbell_records.h"
#include "hca/queues/queue_pair.h"
#include "hca/queues/shared_receive_queues.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

/// All queue pairs by number, their states, and the commands that move them between these.
class queue_pairs final : public model {
public:
    derived in_use{*this, "in_use", "1", "queue pairs that are not in the reset state",
                   [this] { return static_cast<double>(m_live); }};

    queue_pairs(const sc_core::sc_module_name& name, const wiring& w);

    void configure(unsigned log_entries) {
        m_log_entries = log_entries;
        clear();
    }
    queue_pair* find(std::uint32_t number) {
        const auto index = number & ((1u << m_log_entries) - 1);
        auto* q = index < m_qps.size() ? m_qps[index].get() : nullptr;
        return q && q->attributes.number == number ? q : nullptr;
    }

    /// All that are not in the reset state, by index.
    template <class Visitor>
    void for_each(Visitor visit) const {
        for (const auto& q : m_qps)
            if (q && q->attributes.state != HCA_QP_RESET) visit(*q);
    }

    /// Null if it is gone.
    queue_pair* find(const weak_queue_pair& w) {
        auto* q = find(w.number);
        return q && q->serial == w.serial ? q : nullptr;
    }

    /// Commands; all return an enum hca_status. \param mailbox mask and context \param notify_drained by an event, when
    /// the send queue is
    unsigned modify(unsigned opcode, std::uint32_t number, const std::uint8_t* mailbox, bool notify_drained = false);
    unsigned to_error(std::uint32_t number);
    unsigned to_reset(std::uint32_t number, std::uint8_t* mailbox);
    unsigned query(std::uint32_t number, std::uint8_t* mailbox);
    /// Numbers of QP 0 and QP 1, two each, from an even one on; 0: none.
    unsigned set_special(bool gsi, std::uint32_t first);

    /// The number under which software knows the port's QP 0 or 1; 0: none.
    std::uint32_t special(bool gsi) const { return m_special[gsi]; }
    /// Puts one into the error state, as an error of its own does.
    void fail(queue_pair& q);
    /// A send of it has failed. Only a reliable connection ends in the error state: of others the send queue stops,
    /// until software lets it go on (InfiniBand Architecture Specification, volume 1, section 10.3.1).
    void fail_sends(queue_pair& q);

    void reset() override;

private:
    void clear();
    void enter(queue_pair& q, unsigned state);
    bool well_formed(const queue_pair_attributes& a) const;

    adapter& m_adapter;
    completion_queues& m_cqs;
    shared_receive_queues& m_srqs;
    doorbell_records& m_doorbell_records;
    unsigned m_log_entries = 0;
    std::size_t m_live = 0;
    std::uint32_t m_serial = 0;
    std::uint32_t m_special[2] = {0, 0};
    std::vector<std::unique_ptr<queue_pair>> m_qps;  // by index, as far as used
};

}  // namespace fabricvp::hca
