// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/clock_domain.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/memory/access_state.h"
#include "gpu/memory/l2_tlb.h"

namespace fabricvp::gpu {

struct l1_tlb_params {
    std::uint64_t sets = 1;
    std::uint64_t ways = 64;
    std::uint64_t mshrs = 16;
    cycles latency{1};
    void describe(parameter_visitor& v);
};

/// Hears what pieces waited for.
class l1_tlb_client {
public:
    /// Pieces that waited for a page, in the order in which they came.
    virtual void transactions_translated(transaction_queue transactions, const translation& t) = 0;
    /// A translation that found all MSHRs taken may be tried again.
    virtual void tlb_available() = 0;

protected:
    ~l1_tlb_client() = default;
};

/// The TLB of a compute unit's vector memory. Pieces of one page stay in order, whether they hit or wait.
class l1_tlb final : public model, private page_client {
public:
    const l1_tlb_params params;

    counter hits{*this, "hits", "1", "pages found"};
    counter misses{*this, "misses", "1", "pages asked for at the shared TLB"};
    counter mshr_merges{*this, "mshr_merges", "1", "misses of a page that was being asked for"};
    counter mshr_stalls{*this, "mshr_stalls", "1", "times that translation stopped because all MSHRs were taken"};
    histogram miss_latency{*this, "miss_latency", "ps", "from a miss to the translation"};

    l1_tlb(const sc_core::sc_module_name& name, const l1_tlb_params& params, const clock_domain& clock, l2_tlb& shared,
           l1_tlb_client& client);

    enum class outcome { hit, wait, full };
    /// Translates the page of a piece. `hit`: `to` is filled in. `wait`: the piece is kept until
    /// transactions_translated(). \param page must be mappable \param end when the lookup ends, not before now()
    outcome look_up(std::uint32_t space, std::uint64_t page, transaction_ref transaction, ticks end, translation& to);
    ticks latency() const { return m_latency; }
    void explain(span_list& spans, ticks begin, const translation& t) const { m_shared.explain(spans, begin, t); }
    span_stage queue_span{*this, "queue"}, lookup_span{*this, "lookup"};
    void invalidate(std::uint32_t space);

    void reset() override;

private:
    struct mshr {
        transaction_queue waiters;  // empty: free
        std::uint64_t serial = 0;
        bool read_critical = false;  // a load is among those that wait
        ticks begin = 0;
    };
    static constexpr unsigned space_shift = 37;
    static constexpr std::uint64_t stale = std::uint64_t{1} << 36;

    static std::uint64_t key_of(std::uint32_t space, std::uint64_t page) {
        return (std::uint64_t{space} + 1) << space_shift | page;
    }
    static bool same_large_page(std::uint64_t a, std::uint64_t b) { return a >> 9 == b >> 9; }

    void page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) override;
    void serve(std::size_t number, const translation& t);

    ticks m_latency;
    l2_tlb& m_shared;
    l1_tlb_client& m_client;
    tlb_entries m_entries;
    std::vector<mshr> m_mshrs;
    std::vector<std::uint64_t> m_keys;  // what MSHRs ask for; 0: free. `stale`: invalidated under way, not kept
    std::uint64_t m_refused = 0;        // looked up last, is neither here nor asked for, and found all MSHRs taken
    unsigned m_used = 0;
    std::uint64_t m_serial = 0;
};

}  // namespace fabricvp::gpu
