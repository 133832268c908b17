// SPDX-License-Identifier: Apache-2.0
// A compute unit's way to memory: coalescer, L1 TLB, L1 vector cache. An access becomes pieces, one a line; each is
// translated and then presented to L1, one a cycle. Whatever can be known at once is: an access that hits costs no
// event.
//
// Order: pieces that touch the same line never overtake each other. They meet in one queue behind translation (pieces
// of a page that is being looked up wait together, in order), go to their point of coherence by one path, and the L1
// cache closes fetches that a store or an atomic comes after. For remote memory, and posted writes, see remote_order.
//
// Registers of devices (GPU_PTE_TYPE_DEVICE) are told apart from memory by translation, so their pieces are cut into
// lanes there: each lane's load or store is one transaction of its own width, those of a line in lane order.
#pragma once

#include <memory>
#include <vector>

#include "base/growing_ring.h"
#include "gpu/memory/l1_tlb.h"
#include "gpu/memory/remote_order.h"
#include "gpu/memory/reorder_buffer.h"
#include "gpu/memory/vector_cache.h"
#include "gpu/memory/vector_memory.h"

namespace fabricvp::gpu {

struct vector_memory_unit_params {
    std::uint64_t queue = 64;
    std::uint64_t outstanding_bypasses = 128;
    cycles latency{1};
    std::uint64_t address_lanes = 64;
    std::uint64_t reorder_buffer = 0;
    bool coalesced_atomics = true;
    l1_tlb_params tlb;
    vector_cache_params l1;
    void describe(parameter_visitor& v);
};

/// The pools that a GPU's units share.
struct memory_pools {
    pool<vector_access> accesses;
    pool<line_request> requests;
};

/// What a compute unit's way to memory leads to.
struct vector_memory_unit_wiring {
    const clock_domain& clock;
    l2_tlb& shared_tlb;
    memory_router& router;
    vector_cache& constants;  ///< the scalar cache
    memory_pools& pools;
};

class vector_memory_unit final : public model,
                                 public vector_memory,
                                 private line_client,
                                 private transaction_client,
                                 private l1_tlb_client {
public:
    const vector_memory_unit_params params;

    l1_tlb tlb;
    vector_cache l1;

    counter accesses{*this, "accesses", "1", "memory instructions of wavefronts"};
    counter transactions{*this, "transactions", "1",
                         "lines (load-reserved, store-conditional: lanes) presented to L1 or sent past it"};
    counter loads{*this, "loads", "1", "lines loaded through L1"};
    counter stores{*this, "stores", "1", "lines stored"};
    counter atomics{*this, "atomics", "1", "lanes' atomics, load-reserved and store-conditional"};
    counter atomic_requests{*this, "atomic_requests", "1", "requests that carried them, of one or more lanes"};
    counter scoped_loads{*this, "scoped_loads", "1", "lines loaded bypassing L1"};
    counter scratch{*this, "scratch", "1", "lines of lanes' private memory, loaded or stored"};
    counter remote{*this, "remote", "1", "lines of memory that is not this GPU's"};
    counter faults{*this, "faults", "1", "accesses that failed"};
    counter queue_stalls{*this, "queue_stalls", "1",
                         "transactions that waited because too many were under way bypassing L1"};
    counter ordering_stalls{
        *this, "ordering_stalls", "1",
        "lines of memory elsewhere that waited for the wavefront's earlier access to the same line"};
    counter reorder_stalls{*this, "reorder_stalls", "1",
                           "times that translation stopped because the reorder buffer was full"};
    histogram lines_per_access{*this, "lines_per_access", "1", "distinct lines of an access"};
    histogram load_latency{*this, "load_latency", "ps", "from issue to the last lane's data, loads and atomics"};
    histogram store_latency{*this, "store_latency", "ps", "from issue to the last acknowledgement"};

    /// \param index of the compute unit in its GPU
    vector_memory_unit(const sc_core::sc_module_name& name, const vector_memory_unit_params& params, unsigned index,
                       const vector_memory_unit_wiring& to);

    vector_access_ptr make_access() override { return m_pools.accesses.make(); }
    void issue(const vector_access_ptr& access) override;
    bool can_issue() const override { return m_in_flight < params.queue; }
    void invalidate() override;
    bool passes_stores() const override { return m_router.reaches_gpus(); }
    bool flush_system(system_fence_client& client, std::uint64_t cookie) override {
        return m_router.flush_system(client, cookie);
    }

    /// Accesses that have not ended.
    unsigned in_flight() const { return m_in_flight; }

    void reset() override;

private:
    void transaction_loaded(access_state& state, unsigned transaction, const std::uint8_t* line, memory_fault fault,
                            ticks ready) override;
    void cache_available() override { drain_port(); }
    void transactions_translated(transaction_queue transactions, const translation& t) override;
    void tlb_available() override { resume_translation(); }
    void line_done(line_request& request) override;

    access_state& allocate_state();
    bool translate(access_state& state);
    void resume_translation();
    void enter(access_state& state, unsigned transaction, const translation& t);
    bool goes_by_lane(const access_state& state, unsigned transaction, const translation& t) const;
    void enqueue_uncached(access_state& state, unsigned transaction, const translation& t);
    void drain_port();
    bool look_up(access_state& state, unsigned transaction);
    bool bypass_l1(access_state& state, unsigned transaction, ticks at);
    void transaction_failed(access_state& state, unsigned transaction, memory_fault fault);
    void transaction_done(access_state& state, unsigned transaction, ticks ready);
    void return_in_order();
    void release(access_state& state);
    static unsigned permissions_for(const vector_access& a);
    static bool is_write(const vector_access& a) { return a.kind != access_kind::read; }
    unsigned split(vector_access& a, coalescer::transactions& to);
    ticks address_time(const vector_access& a) const;
    std::uint64_t owner_of(const vector_access& a, lane_mask lane) const;

    const unsigned m_index;
    ticks m_latency, m_cycle;
    ticks m_coalescer_free = 0;  // when it takes the next access
    memory_router& m_router;
    vector_cache& m_constants;
    memory_pools& m_pools;
    span_stage m_coalesce_span{*this, "coalesce"}, m_port_span{*this, "port"}, m_bypass_span{*this, "l1_bypass"};

    coalescer m_coalescer;
    remote_order m_order;
    fabricvp::gpu::reorder_buffer m_reorder;
    std::vector<std::unique_ptr<access_state>> m_states;
    access_state* m_free = nullptr;
    growing_ring<access_state*> m_blocked;  // whose translation waits for an MSHR or the reorder buffer, in order
    bool m_translating = false;
    transaction_queue m_port;  // translated pieces that wait for L1, in order
    bool m_pumping = false;
    ticks m_port_free = 0;       // when L1 can look up the next line
    ticks m_refused_at = never;  // when the first of the port was looked up, if it waits since then
    unsigned m_in_flight = 0;
    unsigned m_bypasses = 0;  // requests under way bypassing L1
    std::uint64_t m_serial = 0, m_epoch = 0;
};

}  // namespace fabricvp::gpu
