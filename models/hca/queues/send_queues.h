// SPDX-License-Identifier: Apache-2.0
// Send queues: doorbells tell how many entries have been posted; the entries are fetched, several at a time where they
// lie behind each other, and decoded.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/data_mover.h"
#include "hca/memory/translation.h"
#include "hca/queues/queue_pairs.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

struct send_queue_params {
    duration doorbell_latency{50'000};
    std::uint64_t doorbells = 64;
    byte_size fetch{512};
    std::uint64_t reads = 4;
    std::uint64_t window = 256;
    void describe(parameter_visitor& v);
};

class send_queues final : public model {
public:
    const send_queue_params params;

    counter posted{*this, "posted", "1", "send WQEs posted"};
    counter fetches{*this, "fetches", "1", "reads of send WQEs"};
    counter doorbell_queue_full{*this, "doorbell_queue_full", "1",
                                "doorbells after which no further one could be taken for the time being"};
    span_stage doorbell_span{*this, "doorbell"};  ///< from its arrival until its entries are fetched
    span_stage fetch_span{*this, "fetch"};        ///< of entries

    counter overruns{*this, "overruns", "1", "doorbells that told of more send WQEs than the ring holds"};
    counter failures{*this, "failures", "1", "reads of send WQEs that failed"};

    send_queues(const sc_core::sc_module_name& name, const send_queue_params& params, const wiring& w);

    /// Whether a doorbell more can be taken; where not, adapter::doorbell_room() follows.
    bool has_room() const { return m_pending.size() < params.doorbells; }
    std::size_t held() const { return m_pending.size(); }
    /// A doorbell on page `uar`, to be rung only while there is room. \param spans those that it has come by
    /// \returns false if it is not allowed to ring there, or tells nonsense
    bool ring(std::uint32_t uar, std::uint32_t high, std::uint32_t low, const span_trail& spans);
    /// Fetches what has been posted, as far as the window goes.
    void fetch(queue_pair& q);

    void reset() override;

private:
    void overrun(queue_pair& q);
    void due();
    void fetched(queue_pair& q, std::uint64_t serial, bool ok);
    void decode(queue_pair& q, const send_state::fetch& f);

    adapter& m_adapter;
    bus_access& m_bus;
    translation& m_translation;
    event_queues& m_eqs;
    queue_pairs& m_qps;
    struct pending {
        ticks when;
        weak_queue_pair qp;
    };
    std::deque<pending> m_pending;  // doorbells on their way through
    std::uint64_t m_fetch_serial = 0;
    calendar_event m_due{method<&send_queues::due>, this};
};

/// Decodes a send entry of `size` bytes into `e`. \param transport enum hca_qp_type \returns false if it makes no sense
bool decode_send(const std::uint8_t* wqe, std::uint32_t size, unsigned transport, send_wqe& e);

}  // namespace fabricvp::hca
