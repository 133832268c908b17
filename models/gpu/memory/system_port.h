// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "base/growing_ring.h"
#include "base/model.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "gpu/memory/transfer_port.h"
#include "pcie/requester.h"

namespace fabricvp::gpu {

/// The way from a GPU to system addresses: line requests of caches and command processor, and whole ranges of bytes of
/// the copy engine, become PCIe requests. Writes are handed to the link when no posted request of the device waits for
/// it, those of lines and the TLPs of ranges in turn; a write is acknowledged then, at the posting point. Reads and
/// AtomicOps of lines wait for the writes of lines before them, and for nothing else.
class system_port final : public model, public line_target, public transfer_port {
public:
    counter reads{*this, "reads", "1", "reads of lines of system memory"};
    counter writes{*this, "writes", "1", "writes to lines of system memory"};
    counter atomics{*this, "atomics", "1", "AtomicOps"};
    counter bytes_read{*this, "bytes_read", "B", "read from system memory in ranges"};
    counter bytes_written{*this, "bytes_written", "B", "written to system memory in ranges"};
    counter rejected{*this, "rejected", "1", "requests that PCIe has no transaction for"};

    histogram write_queueing{*this, "write_queueing", "ps", "time that a write of a line waited for the link"};
    histogram read_latency{*this, "read_latency", "ps", "of a line, from the request to its data"};
    histogram atomic_latency{*this, "atomic_latency", "ps", "from the request to the old value"};

    /// \param link_is_free whether no posted request of the device waits for the link; link_freed() is called when that
    /// becomes true
    system_port(const sc_core::sc_module_name& name, pcie::requester& dma, std::function<bool()> link_is_free);

    void send(const line_request_ptr& request) override;
    void read(std::uint64_t physical, const buffer_slice& data, transfer_client& client, std::uint64_t cookie) override;
    void write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
               std::uint64_t cookie) override;
    void link_freed() { advance(); }

    void reset() override;

private:
    struct transfer {
        std::uint64_t address = 0;
        buffer_slice data;  // of a write: what is left of it
        transfer_client* client = nullptr;
        std::uint64_t cookie = 0;
    };

    void read(const line_request_ptr& request);
    void write(const line_request_ptr& request);
    void atomic(const line_request_ptr& request);
    void start(const line_request_ptr& request);
    void write_next_line();
    void write_next_part();
    void respond_later(const line_request_ptr& request, memory_fault fault);
    void respond();
    void advance();
    void read_done(std::uint32_t place, memory_fault fault);

    struct waiting_line {
        line_request_ptr request;
        ticks since;
    };

    span_stage m_queue_span{*this, "queue"}, m_trip_span{*this, "round_trip"};
    pcie::requester& m_dma;
    std::function<bool()> m_link_is_free;
    growing_ring<waiting_line> m_lines;        // a write of a line, and what came after it
    bool m_line_next = true;                   // before a part of a range, where both wait
    std::deque<line_request_ptr> m_responses;  // due at the present time
    slot_table<transfer> m_reads;              // in flight
    std::deque<transfer> m_writes;             // that have bytes left
    std::deque<transfer> m_written;            // to be told at the present time
    bool m_advancing = false;                  // what is handed over may come back here at once
    calendar_event m_respond{method<&system_port::respond>, this};
};

}  // namespace fabricvp::gpu
