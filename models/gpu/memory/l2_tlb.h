// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock_domain.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/memory/gmmu.h"
#include "gpu/memory/tlb_entries.h"
#include "gpu/memory/vector_memory.h"

namespace fabricvp::gpu {

struct l2_tlb_params {
    std::uint64_t sets = 16384;
    std::uint64_t ways = 64;
    std::uint64_t mshrs = 64;
    cycles latency{10};
    cycles service{1};
    void describe(parameter_visitor& v);
};

/// The TLB that all of a GPU shares, before the GMMU.
class l2_tlb final : public model, public translator, private page_client {
public:
    const l2_tlb_params params;

    counter hits{*this, "hits", "1", "pages found"};
    counter misses{*this, "misses", "1", "pages walked for"};
    counter mshr_merges{*this, "mshr_merges", "1", "misses of a page that was being walked for"};
    counter mshr_stalls{*this, "mshr_stalls", "1", "misses that waited for an MSHR"};
    counter invalidations{*this, "invalidations", "1", "times that an address space was forgotten"};

    l2_tlb(const sc_core::sc_module_name& name, const l2_tlb_params& params, const clock_domain& clock, gmmu& walker);

    /// The client hears page_translated() later, never inside this call. \param page number of a 4 KiB page
    /// \param departure when the request leaves its client, not before now()
    /// \param read_critical a load waits for it
    void request(std::uint32_t space, std::uint64_t page, bool read_critical, page_client& client, std::uint64_t cookie,
                 ticks departure);
    /// A load has joined those that wait for a page that was asked for. The model takes no time to tell.
    void make_read_critical(std::uint32_t space, std::uint64_t page);
    void translate(std::uint32_t space, std::uint64_t virtual_page, unsigned access, translation_client& client,
                   std::uint64_t cookie) override;
    /// Forgets an address space; so does the GMMU. Walks under way start again.
    void invalidate(std::uint32_t space);

    /// Adds the spans of an access that has waited for a translation from `begin` until now.
    void explain(span_list& spans, ticks begin, const translation& t) const;

    void reset() override;

private:
    struct job {
        explicit job(l2_tlb& u) : unit(u) {}
        void dispatch() { unit.dispatch(*this); }
        l2_tlb& unit;
        std::uint32_t space = 0;
        std::uint64_t page = 0;
        page_client* client = nullptr;
        translation_client* outside = nullptr;  // instead of `client`
        unsigned access = 0;
        bool read_critical = false;  // a load or an instruction fetch waits for it
        std::uint64_t cookie = 0;
        ticks looked_up = 0;
        job* next = nullptr;  // of those that wait for the same walk
        calendar_event lookup{method<&job::dispatch>, this};
    };
    struct mshr {
        std::uint32_t space = 0;
        std::uint64_t page = 0;
        bool read_critical = false;
        job* first = nullptr;  // null: free
        job* last = nullptr;
    };

    job& make(std::uint32_t space, std::uint64_t page, std::uint64_t cookie, ticks departure);
    void dispatch(job& j);
    bool find(job& j);
    bool begin_walk(job& j);
    void mark(mshr& m);
    void respond(job& j, const translation& t);
    void page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) override;

    span_stage m_queue_span{*this, "queue"}, m_lookup_span{*this, "lookup"};
    ticks m_latency, m_service;
    gmmu& m_gmmu;
    tlb_entries m_entries;
    ticks m_free = 0;
    std::vector<std::unique_ptr<job>> m_jobs;
    std::vector<job*> m_idle;
    std::vector<mshr> m_mshrs;
    growing_ring<job*> m_waiting;
};

}  // namespace fabricvp::gpu
