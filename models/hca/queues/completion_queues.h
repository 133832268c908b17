// SPDX-License-Identifier: Apache-2.0
// Completion queues (CQs). Completions of one queue are written in the order in which they come; an event follows where
// software has armed the queue.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "abi/hca.h"
#include "abi/hca_context.h"
#include "abi/hca_queues.h"
#include "base/model.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/translation.h"
#include "hca/queues/doorbell_records.h"
#include "hca/queues/event_queues.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

/// A completion as it stands in memory.
struct completion_queue_entry {
    std::array<std::uint8_t, HCA_CQE_SIZE> bytes{};
    bool solicited = false;  ///< wakes those who wait for solicited completions only

    span_trail spans;  ///< of the message that ends here
    const char* what = "";

    /// Its time goes on where the message's has come to. \param kind how the recorder shall call it
    void follow(const span_trail& message, const char* kind) {
        spans.follow(message);
        what = kind;
    }
    completion_queue_entry& set(unsigned field, std::uint32_t value) {
        hca_set(bytes.data(), field, value);
        return *this;
    }
};

class completion_queues final : public model {
public:
    span_stage cqe_span{*this, "cqe"};  ///< until the completion has been handed over

    counter cqes{*this, "cqes", "1", "completions written"};
    counter overruns{*this, "overruns", "1", "completion queues that had no room"};
    counter write_failures{*this, "write_failures", "1", "completion queues whose buffer could not be written"};
    counter dropped{*this, "dropped", "1", "completions whose queue does not exist, has failed or was destroyed"};
    counter armed{*this, "armed", "1", "times that software asked for an event"};

    completion_queues(const sc_core::sc_module_name& name, const wiring& w);

    void configure(unsigned log_entries);

    /// All return an enum hca_status.
    unsigned add(std::uint32_t number, const std::uint8_t* context);
    unsigned remove(std::uint32_t number, std::uint8_t* context);
    /// \param finished called with the status once all older completions are in the old buffer; the new one has to have
    /// room for those that software has not taken
    void resize(std::uint32_t number, const std::uint8_t* mailbox, std::function<void(unsigned)> finished);

    bool exists(std::uint32_t number) const { return find(number) != nullptr; }
    void complete(std::uint32_t number, const completion_queue_entry& e);
    /// Forgets what a queue pair has completed and has not been written.
    void remove_completions(std::uint32_t number, std::uint32_t qpn);

    /// A doorbell on page `uar`. \returns false if it is not allowed to ring there
    bool ring(std::uint32_t uar, std::uint32_t high, std::uint32_t low);

    void reset() override;

private:
    struct queue {
        std::uint32_t number = 0, serial = 0;
        unsigned state = 0, status = 0, log_size = 0, eqn = 0;
        std::uint32_t uar = 0, domain = 0, lkey = 0, consumer = 0, producer = 0, solicited = 0, consumer_record = 0,
                      notified = 0;
        std::uint64_t start = 0;
        bool writing = false, pumping = false, consumer_is_new = false;
        std::deque<completion_queue_entry> waiting;
        struct resizing {
            std::size_t after;  // completions that still go to the old buffer
            std::uint64_t start;
            unsigned log_size;
            std::uint32_t lkey;
            std::function<void(unsigned)> finished;
        };
        std::unique_ptr<resizing> resize;
        std::array<std::uint8_t, HCA_CQC_SIZE> context{};
    };
    const queue* find(std::uint32_t number) const;
    queue* find(std::uint32_t number) {
        return const_cast<queue*>(static_cast<const completion_queues*>(this)->find(number));
    }
    queue* find(std::uint32_t number, std::uint32_t serial);
    void pump(queue& q);
    void read_consumer(queue& q);
    void end_resize(queue& q);
    void write_next(queue& q);
    void write(queue& q, const completion_queue_entry& e, violation v, const bus_ranges& where);
    void fail(queue& q, unsigned syndrome);
    void notify(queue& q);

    bus_access& m_bus;
    translation& m_translation;
    doorbell_records& m_doorbell_records;
    event_queues& m_eqs;
    unsigned m_log_entries = 0;
    std::uint32_t m_serial = 0;
    std::unordered_map<std::uint32_t, std::unique_ptr<queue>> m_queues;  // by index
};

}  // namespace fabricvp::hca
