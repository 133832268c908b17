// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "base/buffer.h"
#include "base/clock_domain.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/memory/transfer_port.h"

namespace fabricvp::gpu {

struct gpu_memory_port_params {
    std::uint64_t outstanding = 32;
    void describe(parameter_visitor& v);
};

/// Moves bytes line by line, coherent with L2: for DMA engines and for what arrives over a bus. Transfers start in the
/// order in which they are given, lines leave one a cycle.
class gpu_memory_port final : public model, public transfer_port, private line_client {
public:
    const gpu_memory_port_params params;

    counter transfers{*this, "transfers", "1", "byte ranges moved"};
    counter bytes_read{*this, "bytes_read", "B", "bytes read from memory"};
    counter bytes_written{*this, "bytes_written", "B", "bytes written to memory"};
    counter lines_read{*this, "lines_read", "1", "requests to memory for that, one a line"};
    counter lines_written{*this, "lines_written", "1", "requests to memory for that, one a line"};
    counter faults{*this, "faults", "1", "transfers that failed"};
    histogram latency{*this, "latency", "ps", "of a transfer, from call to last response"};

    gpu_memory_port(const sc_core::sc_module_name& name, const gpu_memory_port_params& params,
                    const clock_domain& clock, line_target& memory);

    void read(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
              std::uint64_t cookie) override {
        start(physical, data, client, cookie, false);
    }
    void write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
               std::uint64_t cookie) override {
        start(physical, data, client, cookie, true);
    }
    /// Takes the time of a write of `bytes` that are in memory already.
    void account_write(std::uint64_t physical, std::size_t bytes, transfer_client& client, std::uint64_t cookie);
    /// A write of which each line is seen when its bank gets to it: lines of different banks in any order. A read
    /// behind it leaves when all of it has been acknowledged.
    void post_write(std::uint64_t physical, const buffer_slice& data, transfer_client& client, std::uint64_t cookie);
    /// Has all that post_write() was given seen now, in order: for what must not be seen before it. \param store what
    /// writes the bytes of a line whose bits are set
    void commit_posted_writes(
        const std::function<void(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask)>& store);
    /// Transfers of which lines have not left.
    std::size_t waiting() const { return m_queue.size(); }

    void reset() override;

private:
    struct transfer : pooled<transfer> {
        std::uint64_t physical = 0, cookie = 0;
        buffer_slice data;
        std::size_t bytes = 0;
        transfer_client* client = nullptr;
        bool write = false, committed = false, at_service = false;
        std::size_t sent = 0;  // bytes
        unsigned pending = 0;  // lines
        memory_fault fault = memory_fault::none;
        ticks begin = 0;
        void recycle() { data = {}; }
    };
    using transfer_ptr = pooled_ptr<transfer>;

    struct part {  // of a transfer that lies in one line
        std::uint64_t line;
        unsigned first, bytes;
    };
    part next_part(const transfer& t) const;
    transfer_ptr start(std::uint64_t physical, const buffer_slice& data, transfer_client& client, std::uint64_t cookie,
                       bool write);
    void enqueue(const transfer_ptr& t);
    void advance();
    void send_line(const transfer_ptr& t);
    void line_done(line_request& request) override;

    ticks m_cycle;
    line_target& m_memory;
    pool<line_request> m_requests;
    pool<transfer> m_pool;
    growing_ring<transfer_ptr> m_queue;       // that have lines to send
    std::vector<transfer_ptr> m_active;       // that have not ended
    growing_ring<line_request_ptr> m_posted;  // of post_write() that have left, until the first of them has been seen
    unsigned m_unacknowledged = 0;            // of them
    unsigned m_outstanding = 0;
    std::uint64_t m_epoch = 0;  // answers to what a reset has dropped are recognised by it
    calendar_event m_next{method<&gpu_memory_port::advance>, this};
};

}  // namespace fabricvp::gpu
