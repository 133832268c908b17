// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "base/growing_ring.h"
#include "base/model.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "gpu/memory/memory_router.h"
#include "gpu/memory/transfer_port.h"
#include "pcie/requester.h"

namespace fabricvp::gpu {

/// When a release of system scope sends a read of host memory behind the writes, and waits for it.
enum class system_release {
    behind_writes,  ///< if lanes have written since the last one that has come back
    always,
    never  ///< writes count as performed when they are handed to the link
};

struct system_port_params {
    system_release release = system_release::behind_writes;
    void describe(parameter_visitor& v);
};

/// The way from a GPU to system addresses: line requests of caches and command processor, and whole ranges of bytes of
/// the copy engine, become PCIe requests. Writes are handed to the link when no posted request of the device waits for
/// it, those of lines and the TLPs of ranges in turn; a write is acknowledged then, at the posting point. Reads and
/// AtomicOps of lines wait for the writes of lines before them, and for nothing else.
///
/// A release of system scope (flush()) is a read of the host's memory: PCIe keeps it behind the writes on their whole
/// way there. Those to a device below the same switch have then left the switch for it, in order.
class system_port final : public model, public line_target, public transfer_port, public system_fence {
public:
    const system_port_params params;

    counter reads{*this, "reads", "1", "reads of lines of system memory"};
    counter writes{*this, "writes", "1", "writes to lines of system memory"};
    counter atomics{*this, "atomics", "1", "AtomicOps"};
    counter bytes_read{*this, "bytes_read", "B", "read from system memory in ranges"};
    counter bytes_written{*this, "bytes_written", "B", "written to system memory in ranges"};
    counter flushes{*this, "flushes", "1", "reads of the flush page for releases of system scope"};
    counter rejected{*this, "rejected", "1", "requests that PCIe has no transaction for"};

    histogram write_queueing{*this, "write_queueing", "ps", "time that a write of a line waited for the link"};
    histogram read_latency{*this, "read_latency", "ps", "of a line, from the cache that asks to its data there"};
    histogram flush_latency{*this, "flush_latency", "ps", "of a release of system scope, from its begin to its end"};
    histogram atomic_latency{*this, "atomic_latency", "ps", "from the request of a cache to the old value there"};

    /// Address in the host's memory that flush() reads 4 bytes of; 0: releases do not wait. Set by the driver.
    std::uint64_t flush_page = 0;

    /// \param link_is_free whether no posted request of the device waits for the link; link_freed() is called when that
    /// becomes true
    system_port(const sc_core::sc_module_name& name, const system_port_params& params, memory_router& router,
                pcie::requester& dma, std::function<bool()> link_is_free);

    void send(const line_request_ptr& request) override;
    void read(std::uint64_t physical, const buffer_slice& data, transfer_client& client, std::uint64_t cookie) override;
    void write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
               std::uint64_t cookie) override;
    bool flush(system_fence_client& client, std::uint64_t cookie) override;
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
    void respond_to(const line_request_ptr& request, memory_fault fault);
    void respond();
    void advance();
    void read_done(std::uint32_t place, memory_fault fault);

    struct pending_flush {
        system_fence_client* client = nullptr;
        std::uint64_t cookie = 0;
        ticks begin = 0;
    };
    void begin_flushes();
    void end_flushes();
    void start(const pending_flush& f);
    void end(const pending_flush& f, std::uint64_t writes);

    struct waiting_line {
        line_request_ptr request;  // null: a flush
        ticks since;
        pending_flush flush{};
    };
    static bool is_write(const waiting_line& w);

    span_stage m_queue_span{*this, "queue"}, m_trip_span{*this, "round_trip"};
    memory_router& m_router;
    pcie::requester& m_dma;
    std::function<bool()> m_link_is_free;
    growing_ring<waiting_line> m_lines;  // a write of a line, and what came after it
    bool m_line_next = true;             // before a part of a range, where both wait
    slot_table<transfer> m_reads;        // in flight
    std::deque<transfer> m_writes;       // that have bytes left
    std::deque<transfer> m_written;      // to be told at the present time
    bool m_advancing = false;            // what is handed over may come back here at once
    struct due_flush {
        ticks when;
        pending_flush flush;
    };
    std::uint64_t m_posted = 0, m_performed = 0;   // writes of lanes handed over, and of these, known to be performed
    growing_ring<due_flush> m_arriving, m_ending;  // on their way from and to compute units
    calendar_event m_begin_flushes{method<&system_port::begin_flushes>, this};
    calendar_event m_end_flushes{method<&system_port::end_flushes>, this};
    calendar_event m_respond{method<&system_port::respond>, this};
};

}  // namespace fabricvp::gpu

namespace fabricvp {
template <>
struct choice_traits<gpu::system_release> {
    static constexpr std::pair<gpu::system_release, const char*> names[] = {
        {gpu::system_release::behind_writes, "behind_writes"},
        {gpu::system_release::always, "always"},
        {gpu::system_release::never, "never"}};
};
}  // namespace fabricvp
