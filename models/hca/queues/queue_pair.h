// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "abi/hca_context.h"
#include "abi/hca_queues.h"
#include "base/buffer.h"
#include "base/spans.h"
#include "base/time.h"
#include "hca/memory/data_list.h"
#include "network/packet.h"

namespace fabricvp::hca {

/// A work queue's place in memory: a ring of entries in a buffer that is a region of its own.
struct work_queue {
    std::uint32_t lkey = 0, domain = 0;
    std::uint64_t start = 0;
    unsigned log_size = 0, log_stride = 6;
    std::uint32_t uar = 0, record = 0;  ///< doorbell record

    std::uint32_t entries() const { return 1u << log_size; }
    std::uint32_t stride() const { return 1u << log_stride; }
    std::uint64_t wqe_address(std::uint32_t counter) const {
        return start + (std::uint64_t{counter & (entries() - 1)} << log_stride);
    }
};

/// A queue pair's attributes: its context as software knows it, and what every packet asks for taken out of it.
struct queue_pair_attributes {
    std::array<std::uint8_t, HCA_QPC_SIZE> context{};
    std::uint32_t number = 0;
    unsigned state = HCA_QP_RESET, type = HCA_QP_RC;
    std::uint32_t domain = 0, remote = 0, uar = 0, send_cqn = 0, receive_cqn = 0, qkey = 0, srqn = 0;
    std::uint32_t mtu = 256;  ///< bytes
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
    bool can_receive() const {
        return state == HCA_QP_RTR || state == HCA_QP_RTS || state == HCA_QP_SQE || state == HCA_QP_SQD;
    }
    /// Sends that are posted complete as flushed.
    bool flushes_sends() const { return state == HCA_QP_SQE || state == HCA_QP_ERR; }
    /// Fills in the rest from the context.
    void decode();
};

/// A receive entry, decoded.
struct receive_wqe {
    std::uint32_t offset = 0;  ///< in the queue's buffer
    std::uint64_t capacity = 0;
    data_list list;
};

/// How far a queue pair has come with its receive queue.
struct receive_queue_state {
    std::deque<receive_wqe> ready;           ///< fetched and not taken
    receive_wqe wqe;                         ///< taken last
    std::uint16_t posted = 0, consumed = 0;  ///< as far as is known; counted as doorbell records do
    bool reads_ahead = true;                 ///< false: that has failed; the next message will tell
    // In the error state, where software goes on posting: when the doorbell record is looked at next, after that, and
    // for how long if nothing is found.
    ticks next_look = never, look_interval = 0, looked_until = 0;
    /// Not null: entries or the doorbell record are being read ahead of messages. What is to follow, with null if the
    /// queue pair is gone then: empty, or a message that waits.
    std::shared_ptr<std::function<void(queue_pair*)>> reading;
};

/// Packets of one direction of a queue pair that leave in order; a packet is there before its payload is.
class packet_queue {
public:
    /// \param entry counter of the send entry that it belongs to \returns a ticket for ready()
    std::uint64_t add(const network::packet_ptr& p, bool ready, std::uint16_t wqe_index = 0) {
        m_packets.push_back({p, m_tickets++, wqe_index, ready});
        return m_packets.back().ticket;
    }
    /// The payload of a packet is there. \returns false if the packet has been dropped
    bool ready(std::uint64_t ticket) {
        for (auto& w : m_packets)
            if (w.ticket == ticket) return w.ready = true;
        return false;
    }
    bool holds(std::uint64_t ticket) const {
        for (const auto& w : m_packets)
            if (w.ticket == ticket) return true;
        return false;
    }
    /// The first packet, if it is ready.
    const network::packet_ptr* front() const {
        return !m_packets.empty() && m_packets.front().ready ? &m_packets.front().packet : nullptr;
    }
    void pop() { m_packets.pop_front(); }
    void clear() { m_packets.clear(); }
    /// Drops the packets of a send entry and of all later ones.
    void drop_from(std::uint16_t wqe_index) {
        for (std::size_t i = 0; i < m_packets.size(); ++i)
            if (m_packets[i].wqe_index == wqe_index) return m_packets.resize(i);
    }
    /// Drops the packets behind one.
    void drop_behind(std::uint64_t ticket) {
        for (std::size_t i = 0; i < m_packets.size(); ++i)
            if (m_packets[i].ticket == ticket) return m_packets.resize(i + 1);
    }
    /// Drops packets by what they are.
    template <class Predicate>
    void drop_if(Predicate wanted) {
        m_packets.erase(std::remove_if(m_packets.begin(), m_packets.end(),
                                       [&](const queued_packet& w) { return wanted(*w.packet); }),
                        m_packets.end());
    }
    std::size_t size() const { return m_packets.size(); }
    /// The one that was added last; null if it has left.
    network::packet* last() { return m_packets.empty() ? nullptr : m_packets.back().packet.get(); }

    bool waiting = false;  ///< for room in the port's queue

private:
    struct queued_packet {
        network::packet_ptr packet;
        std::uint64_t ticket = 0;
        std::uint16_t wqe_index = 0;
        bool ready = false;
    };
    std::deque<queued_packet> m_packets;
    std::uint64_t m_tickets = 0;
};

/// Where a datagram goes.
struct datagram_address {
    std::uint16_t lid = 0;
    std::uint8_t service_level = 0, source_bits = 0, traffic_class = 0, hop_limit = 0, gid_index = 0;
    bool global = false;
    std::uint32_t flow_label = 0, qpn = 0, qkey = 0, domain = 0;
    network::gid gid{};
};

/// A send entry, decoded, until it is complete.
struct send_wqe {
    std::uint16_t index = 0;  ///< the send queue's counter
    std::uint8_t opcode = 0;
    bool signalled = false, solicited = false, fence = false;
    bool started = false;  ///< it has packet sequence numbers
    bool acked = false;
    bool asked = false;         ///< its last packet asks for an acknowledgement
    bool permissive = false;    ///< special queue pairs: the source LID stays as it is
    std::uint8_t syndrome = 0;  ///< enum hca_syndrome once it has failed
    std::uint32_t immediate = 0, rkey = 0;
    std::uint64_t remote = 0, swap_add = 0, compare = 0;
    data_list list;
    buffer_slice inlined;  ///< instead of the list
    std::uint32_t length = 0;
    std::uint32_t first_psn = 0, packets = 1;  ///< sequence numbers that it takes
    std::uint32_t sent = 0;                    ///< packets of it, since the last retry; a read is one
    std::uint32_t received = 0;                ///< responses of a read or atomic
    std::uint32_t arrived = 0;                 ///< packets that the peer is known to have, of all others
    datagram_address to;
    ticks began = 0;   ///< when its first packet was made
    span_trail spans;  ///< from its doorbell on

    bool is_read() const { return opcode == HCA_OP_READ; }
    bool is_atomic() const { return opcode == HCA_OP_COMPARE_SWAP || opcode == HCA_OP_FETCH_ADD; }
    bool has_response() const { return is_read() || is_atomic(); }
    /// Packets that it sends.
    std::uint32_t requests() const { return has_response() ? 1 : packets; }
    std::uint32_t last_psn() const { return (first_psn + packets - 1) & network::psn_mask; }
};

/// How far a queue pair has come with its send queue.
struct send_state {
    struct batch {  // what one doorbell told
        std::uint16_t count;
        std::uint8_t opcode, size;  // of its first entry; the size in 16 bytes
        bool fence;
        span_trail spans;  // of the doorbell, to the adapter
    };
    std::deque<batch> batches;  // not fetched yet
    struct fetch {              // of entries that lie behind each other
        std::uint64_t serial;
        buffer_slice bytes;
        std::uint32_t count;
        std::uint64_t first;  // address
        ticks began;
        bool done = false, ok = false;
    };
    std::deque<fetch> fetches;                             // under way, or behind one that is
    std::uint16_t posted = 0, fetched = 0, completed = 0;  // counters, as doorbells have them
    std::deque<send_wqe> wqes;                             // fetched and not complete
    std::size_t transmit = 0;                              // the entry that is sent from next
    packet_queue requests;
    std::uint32_t next_psn = 0;       // of the next entry that is started
    std::uint32_t since_request = 0;  // packets since an acknowledgement was asked for
    bool asks_again = false;          // the last packet of a message goes out once more to ask for one
    unsigned responses_awaited = 0;   // reads and atomics in flight
    unsigned retries_left = 0, rnr_retries_left = 0;
    ticks deadline = never;  // for an acknowledgement
    ticks paused_until = 0;  // receiver not ready
    bool scheduled = false;  // in the scheduler's list
    bool timed = false;      // in the list of timers, for:
    ticks timed_at = 0;
    bool recovering = false;                           // a gap has been seen and sending begun anew
    bool placing = false;                              // a response is being placed
    bool draining = false;                             // SQD, and messages that have begun are not complete
    bool notify_drained = false;                       // by an event
    bool stuck = false;                                // by a fault: nothing is sent
    std::deque<network::packet_ptr> received_packets;  // responses
};

/// A read or atomic that a responder has performed, for duplicates.
struct responder_resource {
    std::uint32_t first_psn = 0, packets = 1;
    bool atomic = false, done = false;
    std::uint64_t original = 0;
};

/// A response that is to be sent: an acknowledgement, or what a read or atomic has brought.
struct response_job {
    enum class kind : std::uint8_t { acknowledgement, read, atomic } what = kind::acknowledgement;
    std::uint8_t syndrome = 0;
    std::uint32_t psn = 0, msn = 0, packets = 1, made = 0;
    std::uint64_t address = 0, original = 0;
    std::uint32_t rkey = 0, length = 0;
    span_trail spans;  ///< of what it answers
};

/// How far a queue pair has come with what others ask of it.
struct responder_state {
    std::uint32_t expected_psn = 0, msn = 0;
    bool nak_sent = false;                   // until the expected packet comes
    bool communication_established = false;  // of the other side
    bool busy = false;                       // with a packet whose data or entry is being waited for
    bool pumping = false;                    // packets are being taken already
    std::deque<network::packet_ptr> received_packets;
    packet_queue responses;
    std::deque<response_job> jobs;
    bool responding = false;
    std::deque<responder_resource> resources;
    // The message that is being received.
    bool in_message = false, in_write = false, has_wqe = false;
    bool taking = false;        // an entry, which is not there yet
    std::uint64_t address = 0;  // of a write: where its next byte goes
    std::uint32_t rkey = 0, left = 0;
    std::uint64_t received = 0;
};

/// A queue pair that may be gone when it is wanted, and its number given to another one: queue_pairs::find().
struct weak_queue_pair {
    std::uint32_t number = 0, serial = 0;
};

/// A queue pair: its attributes, and how far it has come.
struct queue_pair {
    queue_pair_attributes attributes;
    std::uint32_t serial = 0;  ///< of its creation: its number may be used again
    receive_queue_state receive_queue;
    send_state send;
    responder_state responder;

    weak_queue_pair weak() const { return {attributes.number, serial}; }
    /// Fills the parts of a context in that only the HCA knows.
    void report(std::uint8_t* context) const;
};

}  // namespace fabricvp::hca
