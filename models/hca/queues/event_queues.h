// SPDX-License-Identifier: Apache-2.0
// Event queues (EQs): events of completion queues, queue pairs, the port and commands, written to memory one after the
// other; an interrupt follows if the queue is armed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "abi/hca.h"
#include "abi/hca_context.h"
#include "abi/hca_queues.h"
#include "base/model.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/translation.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

/// An event as it stands in memory.
struct event_queue_entry {
    std::array<std::uint8_t, HCA_EQE_SIZE> bytes{};

    ticks posted_at = 0;  ///< when it was posted

    explicit event_queue_entry(unsigned type) { hca_set(bytes.data(), HCA_EQE_TYPE, type); }
    event_queue_entry& set(unsigned field, std::uint32_t value) {
        hca_set(bytes.data(), field, value);
        return *this;
    }
};

class event_queues final : public model {
public:
    span_stage event_span{
        *this, "event"};  ///< from what has happened until its event has been handed over and the interrupt is raised

    counter events{*this, "events", "1", "events written"};
    counter dropped{*this, "dropped", "1", "events that no queue was there for, or had no room for"};
    counter overflows{*this, "overflows", "1", "events that found their queue full"};
    counter write_failures{*this, "write_failures", "1", "events that could not be written into their queue"};
    counter bad_consumers{*this, "bad_consumers", "1", "consumer counters of software that its queue cannot have"};
    counter interrupts{*this, "interrupts", "1", "interrupts raised"};

    event_queues(const sc_core::sc_module_name& name, const wiring& w);

    /// Software hands a queue over. \returns an enum hca_status
    unsigned add(unsigned number, const std::uint8_t* context);
    /// \param context written, unless null
    unsigned remove(unsigned number, std::uint8_t* context);
    /// Events whose bit is set in `mask` go to the queue, or nowhere any more.
    unsigned route(unsigned number, std::uint64_t mask, bool unmap);
    bool exists(unsigned number) const { return number < m_queues.size() && m_queues[number].valid; }

    /// An event that its type routes.
    void post(const event_queue_entry& e);
    /// An event of a completion queue.
    void post(unsigned number, const event_queue_entry& e);

    void arm(unsigned number);
    void set_consumer(unsigned number, std::uint32_t counter);

    void reset() override;

private:
    struct queue {
        bool valid = false, writing = false, pumping = false;
        std::uint32_t serial = 0;
        unsigned state = 0, status = 0, interrupt = 0, log_size = 0;
        std::uint32_t domain = 0, lkey = 0, consumer = 0, producer = 0;
        std::uint64_t start = 0;
        std::deque<event_queue_entry> waiting;
        std::array<std::uint8_t, HCA_EQC_SIZE> context{};
    };
    void pump(unsigned number);
    void write_next(unsigned number);
    void write(unsigned number, const event_queue_entry& e, violation v, const bus_ranges& where);
    void fire(queue& q);

    adapter& m_adapter;
    bus_access& m_bus;
    translation& m_translation;
    std::array<queue, HCA_MAX_EQS> m_queues;
    std::array<std::uint8_t, 64> m_routes;  // by type; 0xff: nowhere
};

}  // namespace fabricvp::hca
