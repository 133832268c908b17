// SPDX-License-Identifier: Apache-2.0
// The sending half of queue pairs (InfiniBand Architecture Specification, volume 1, chapter 9): cuts messages into
// packets, fetches their payload, follows acknowledgements, places responses, sends again what was lost, completes
// entries in order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/fault.h"
#include "base/fault_duration.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/memory/data_mover.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/receive_queues.h"
#include "hca/queues/send_queues.h"
#include "hca/transport/management.h"
#include "hca/transport/network_port.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

struct requester_params {
    duration latency{60'000};
    duration packet_interval{7'000};
    std::uint64_t prepared = 16;
    std::uint64_t payload_reads = 64;
    std::uint64_t ack_every = 16;
    void describe(parameter_visitor& v);
};

class requester final : public model {
public:
    const requester_params params;

    counter messages{*this, "messages", "1",
                     "messages that were sent to their end and, where that is known, have arrived"};
    counter requests{*this, "requests", "1", "request packets made"};
    counter retries{*this, "retries", "1", "times that sending began anew at an earlier packet"};
    counter timeouts{*this, "timeouts", "1", "times that no acknowledgement came"};
    counter not_ready{*this, "receiver_not_ready", "1", "times that the receiver had no entry posted"};
    counter errors{*this, "errors", "1", "send WQEs that ended with an error, flushed ones apart"};
    counter drained{*this, "drained", "1",
                    "times that a send queue has been drained: no message is begun and not complete"};
    counter flushed{*this, "flushed", "1", "send and receive WQEs flushed"};
    span_stage scheduling_span{*this,
                               "scheduling"};   ///< until its packet is made: behind others, or a response it waits for
    span_stage payload_span{*this, "payload"};  ///< fetching payload
    span_stage response_span{*this, "response"};    ///< behind other responses
    span_stage placement_span{*this, "placement"};  ///< of a response in memory

    histogram latency{
        *this, "latency", "ps",
        "of messages, from their first packet until they are acknowledged or, where nothing is, have left"};

    fault_kind<fault_duration_arguments> stuck{
        *this,
        "stuck",
        "the send queue whose turn comes next sends nothing, until its queue pair is reset",
        [this](const auto& a) {
            m_stick = true;
            m_stuck_end.after(a.lasting);
        },
        {{0}, "for how long, until all send queues go on; 0 ps: for good"}};

    requester(const sc_core::sc_module_name& name, const requester_params& params, const wiring& w);

    /// A queue pair has new entries, may send again, or has been flushed.
    void kick(queue_pair& q);
    /// A response packet of its own requests.
    void receive(queue_pair& q, const network::packet_ptr& p);
    /// One of its packets has been handed to the link.
    void packet_left(queue_pair& q, const network::packet& p);
    /// Its state has changed.
    void changed(queue_pair& q, unsigned before);
    /// A receive entry that was being fetched has been taken, or has not, by a queue pair that has failed meanwhile.
    void flush_taken(queue_pair& q);
    /// For the watchdog: the send queue that has been stuck longest.
    std::optional<wait> waits() const override;

    void reset() override;

private:
    bool can_transmit(queue_pair& q);
    bool sticks(queue_pair& q);
    void release_stuck();
    void schedule_queue_pair(queue_pair& q);
    void schedule_issue();
    void issue();
    void transmit(queue_pair& q);
    network::packet_ptr make_request(queue_pair& q, send_wqe& e);
    void start(queue_pair& q, send_wqe& e);
    void fill(queue_pair& q, send_wqe& e, const network::packet_ptr& p, std::uint64_t from, std::uint32_t bytes);
    void fail_at(queue_pair& q, std::uint16_t index, unsigned syndrome);
    static void mark_unsent(send_state& s, std::size_t from);
    void transmit_datagram(queue_pair& q, send_wqe& e);
    void transmit_raw(queue_pair& q, send_wqe& e);

    void process_responses(queue_pair& q);
    void process_response(queue_pair& q, const network::packet_ptr& p);
    void process_acknowledge(queue_pair& q, const network::packet& p);
    bool acknowledge(queue_pair& q, std::uint32_t psn);
    void place(queue_pair& q, const network::packet_ptr& p, send_wqe& e);
    void placed(queue_pair& q, std::uint16_t index, transfer_result r);
    void go_back(queue_pair& q, std::uint32_t psn);
    bool retry(queue_pair& q, std::uint32_t psn);
    void reset_retries(queue_pair& q);
    void start_timer(queue_pair& q, ticks when);
    void complete_front(queue_pair& q);
    void complete(queue_pair& q, const send_wqe& e, unsigned syndrome);
    void drain(queue_pair& q);
    void request_acknowledge(queue_pair& q);
    void acknowledge_before_failed(queue_pair& q);
    static bool ends_requests(const send_state& s, std::size_t index);
    void complete_with_error(queue_pair& q, unsigned syndrome);
    void stop_sends(queue_pair& q);
    void flush_send_queue(queue_pair& q);
    void flush_receive(queue_pair& q, std::uint32_t wqe);
    void watch_receive_queue(queue_pair& q);
    void flush_receive_queue(queue_pair& q);
    void schedule_look(queue_pair& q);
    void look();
    void set_deadline(queue_pair& q);
    void check_deadlines();
    send_wqe* wqe_of(queue_pair& q, std::uint32_t psn);

    queue_pairs& m_qps;
    send_queues& m_sqs;
    receive_queues& m_rqs;
    data_mover& m_data_mover;
    completion_queues& m_cqs;
    event_queues& m_eqs;
    management& m_agent;
    network_port& m_port;
    struct starting {
        ticks when;
        weak_queue_pair qp;
    };
    std::deque<starting> m_starting;      // queue pairs that have just got something to send
    std::deque<weak_queue_pair> m_ready;  // queue pairs whose turn comes
    std::uint64_t m_reads = 0;            // packets whose payload is being fetched
    ticks m_next_issue = 0;
    struct stuck_queue {
        ticks since;
        weak_queue_pair qp;
    };
    std::vector<stuck_queue> m_stuck;  // in the order in which they got stuck; may be gone, or reset
    bool m_stick = false;              // the next one
    fault_end m_stuck_end{[this] { release_stuck(); }};
    calendar_event m_issue{method<&requester::issue>, this};
    std::multimap<ticks, weak_queue_pair> m_timers;  // when to look at deadlines; may be out of date
    calendar_event m_timer{method<&requester::check_deadlines>, this};
    std::multimap<ticks, weak_queue_pair> m_looks;  // at receive queues of those that have failed; may be out of date
    calendar_event m_look{method<&requester::look>, this};
};

}  // namespace fabricvp::hca
