// SPDX-License-Identifier: Apache-2.0
// The receiving half of queue pairs (InfiniBand Architecture Specification, volume 1, chapter 9): checks sequence
// numbers and rights, places data, answers reads and atomics, acknowledges, completes receive entries. Packets of a
// queue pair are taken one after the other.
#pragma once

#include <cstdint>
#include <deque>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/memory/data_mover.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/receive_queues.h"
#include "hca/transport/management.h"
#include "hca/transport/network_port.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

struct responder_params {
    std::uint64_t prepared = 16;
    duration atomic_latency{20'000};
    void describe(parameter_visitor& v);
};

class responder final : public model {
public:
    const responder_params params;

    counter received{*this, "received", "1", "request packets taken in order"};
    counter duplicates{*this, "duplicates", "1", "request packets that had been taken before"};
    counter naks{*this, "naks", "1", "negative acknowledgements sent, receiver not ready apart"};
    counter not_ready{*this, "not_ready", "1", "times that no entry was posted for a message"};
    counter acknowledgements{*this, "acknowledgements", "1", "acknowledgements sent"};
    counter responses{*this, "responses", "1", "packets of read and atomic responses sent"};
    counter atomics{*this, "atomics", "1", "atomics performed"};
    counter dropped{*this, "dropped", "1",
                    "packets dropped: wrong queue pair, type, state, key or order, or no entry posted for them"};

    responder(const sc_core::sc_module_name& name, const responder_params& params, const wiring& w);

    span_stage order_span{*this, "order"};              ///< behind other packets of the queue pair
    span_stage receive_wqe_span{*this, "receive_wqe"};  ///< taking a receive entry
    span_stage placement_span{*this, "placement"};      ///< translating addresses and handing writes over
    span_stage response_span{*this, "response"};        ///< behind other responses of the queue pair
    span_stage memory_span{*this, "memory"};            ///< reading what is asked for
    span_stage atomic_span{*this, "atomic"};

    /// A request packet for a queue pair.
    void receive(queue_pair& q, const network::packet_ptr& p);
    /// Its state has changed.
    void changed(queue_pair& q, unsigned before);
    /// Packets of its responses have left.
    void responses_sent(queue_pair& q) { send_responses(q); }

    void reset() override;

private:
    using packet_ptr = network::packet_ptr;

    void pump(queue_pair& q);
    // Each of these ends with finished(), at once or later.
    void finished(queue_pair& q, const packet_ptr& p);
    void process(queue_pair& q, const packet_ptr& p);
    void process_reliable(queue_pair& q, const packet_ptr& p);
    void process_unreliable(queue_pair& q, const packet_ptr& p);
    void process_in_order(queue_pair& q, const packet_ptr& p);
    void process_send(queue_pair& q, const packet_ptr& p);
    void process_write(queue_pair& q, const packet_ptr& p);
    void process_read(queue_pair& q, const packet_ptr& p);
    void process_atomic(queue_pair& q, const packet_ptr& p);
    void process_datagram(queue_pair& q, const packet_ptr& p);
    void process_duplicate(queue_pair& q, const packet_ptr& p);
    void go_back(queue_pair& q, std::uint32_t psn);
    void drop(queue_pair& q, const packet_ptr& p);
    void reject(queue_pair& q, const packet_ptr& p, nak code, unsigned syndrome = 0);

    using step = void (responder::*)(queue_pair&, const packet_ptr&);
    void with_receive_wqe(queue_pair& q, const packet_ptr& p, step then);
    void place_send(queue_pair& q, const packet_ptr& p);
    void place_write(queue_pair& q, const packet_ptr& p);
    void place_datagram(queue_pair& q, const packet_ptr& p);
    void place(queue_pair& q, const packet_ptr& p, const buffer_slice& bytes, const data_list& list, std::uint64_t at,
               std::uint32_t right);
    void placed(queue_pair& q, const packet_ptr& p, transfer_result r);
    void advance(queue_pair& q, const packet_ptr& p);
    bool sequence_and_length_valid(const queue_pair& q, const network::packet& p) const;
    bool has_access(queue_pair& q, std::uint32_t rkey, std::uint64_t address, std::uint32_t bytes, std::uint32_t right);
    void complete(queue_pair& q, const network::packet& p, std::uint64_t bytes, unsigned syndrome);
    void add_resource(queue_pair& q, const responder_resource& r);
    void start_atomic(queue_pair& q, const packet_ptr& p, violation v, const bus_ranges& where);
    void run_atomic();
    void atomic_read(bool ok);

    /// \param cause whose time goes on
    void acknowledge(queue_pair& q, std::uint32_t psn, std::uint8_t syndrome, const network::packet* cause = nullptr);
    void send_responses(queue_pair& q);
    void make_response(queue_pair& q, response_job& j);
    void fill_read(queue_pair& q, const response_job& j, const packet_ptr& p, std::uint32_t bytes);

    bus_access& m_bus;
    translation& m_translation;
    queue_pairs& m_qps;
    receive_queues& m_rqs;
    data_mover& m_data_mover;
    completion_queues& m_cqs;
    event_queues& m_eqs;
    management& m_agent;
    network_port& m_port;
    requester& m_requester;
    struct atomic_job {
        weak_queue_pair qp;
        packet_ptr packet;
        std::uint64_t address;
    };
    std::deque<atomic_job> m_atomics;  // the first is being performed
    buffer_slice m_operand;
    calendar_event m_perform{method<&responder::run_atomic>, this};
};

}  // namespace fabricvp::hca
