// SPDX-License-Identifier: Apache-2.0
// A GPU's way to the memories of its peers, and theirs to its own: line requests to peers' apertures become fabric
// packets, and packets of peers become line requests to this GPU's L2, whose responses go back.
//
// Requests of one class to one line of a peer are performed in the order in which they were sent; those of different
// classes (a write and a read, say) too as long as the fabric has one queue for requests, but no requester may rely on
// it: remote_order keeps what must stay in order at the requester.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/model.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "fabric/terminal.h"
#include "gpu/memory/memory_router.h"

namespace fabricvp::gpu {

class fabric_port final : public model, public line_target, private line_client, private fabric::terminal_client {
public:
    /// Requests of this GPU's to peers at one distance.
    struct traffic {
        counter reads, writes, atomics, page_table_reads;
        std::array<counter, line_sectors> needing;  ///< reads by how many sectors of the line are needed
        histogram read_latency;
        traffic(const sc_core::sc_object& owner, const std::string& name, const std::string& words);
        std::uint64_t accesses() const { return reads.value() + writes.value() + atomics.value(); }
    };
    traffic same_cluster{*this, "same_cluster", "peers in this cluster"};
    traffic other_cluster{*this, "other_cluster", "peers in other clusters"};

    counter incoming_reads{*this, "incoming_reads", "1", "reads by peers of this GPU's memory"};
    counter incoming_writes{*this, "incoming_writes", "1", "writes and atomics by peers to this GPU's memory"};
    counter incoming_page_table_reads{*this, "incoming_page_table_reads", "1",
                                      "reads by peers' walks of page tables in this GPU's memory"};
    counter rejected{*this, "rejected", "1", "requests to peers that the fabric does not reach"};
    counter late{*this, "late", "1", "responses to requests that a reset had dropped"};
    counter unexpected{
        *this, "unexpected", "1",
        "responses that no request waits for: they came twice, or their identifier was corrupted unnoticed"};
    derived local_reads{*this, "local_reads", "1", "reads of this GPU's own memory by itself, page tables apart",
                        [this] { return static_cast<double>(m_router.reads.value() - incoming_reads.value()); }};
    derived local_page_table_reads{
        *this, "local_page_table_reads", "1", "reads of page tables in this GPU's own memory by itself",
        [this] { return static_cast<double>(m_router.page_table_reads.value() - incoming_page_table_reads.value()); }};

    /// \param router of this GPU
    fabric_port(const sc_core::sc_module_name& name, memory_router& router);

    /// Attaches this GPU to the fabric: from now on the router sends requests to peers' apertures here.
    void attach(fabric::terminal& at);
    const fabric::terminal* attached() const { return m_terminal; }
    /// Bit n: the fabric reaches GPU n.
    std::uint64_t peers() const { return m_peers; }

    /// This GPU launches a kernel.
    void kernel_launched() {
        if (m_terminal) m_terminal->kernel_launched();
    }

    void send(const line_request_ptr& request) override;

    void reset() override;

private:
    void line_done(line_request& request) override;
    void packet_received(const fabric::packet_ptr& p) override;
    void serve(const fabric::packet_ptr& p);
    void finish(const fabric::packet_ptr& p);
    void reject(const line_request_ptr& request);
    void respond_rejected();
    void respond(fabric::packet& p, memory_fault fault);

    memory_router& m_router;
    fabric::terminal* m_terminal = nullptr;
    std::uint64_t m_peers = 0;
    pool<line_request> m_requests;
    slot_table<line_request_ptr> m_waiting;    // by tag: this GPU's requests in flight
    slot_table<fabric::packet_ptr> m_serving;  // by cookie: peers' requests at this GPU's L2
    std::vector<line_request_ptr> m_rejected;  // to be answered at the present time
    std::uint64_t m_epoch = 0;
    calendar_event m_respond_rejected{method<&fabric_port::respond_rejected>, this};
};

}  // namespace fabricvp::gpu
