// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l1_tlb.h"

#include <algorithm>

namespace fabricvp::gpu {

void l1_tlb_params::describe(parameter_visitor& v) {
    v.field("sets", sets, between{1, 4096}, "sets of a compute unit's TLB");
    v.field("ways", ways, between{1, 4096}, "entries of a set");
    v.field("mshrs", mshrs, between{1, 1024}, "pages that can be asked for at a time");
    v.field("latency", latency, between{0, 1000}, "of a lookup, before that of the L1 cache, in GPU cycles");
}

l1_tlb::l1_tlb(const sc_core::sc_module_name& name, const l1_tlb_params& p, const clock_domain& clock, l2_tlb& shared,
               l1_tlb_client& client)
    : model(name),
      params(p),
      m_latency(clock.span(p.latency)),
      m_shared(shared),
      m_client(client),
      m_entries(p.sets, p.ways),
      m_mshrs(p.mshrs) {}

namespace {

/// Whether a wavefront waits for what the access brings; it goes on behind a store.
bool stalls(transaction_ref r) { return access_state::of(r).access->kind != access_kind::write; }

}  // namespace

l1_tlb::outcome l1_tlb::look_up(std::uint32_t space, std::uint64_t page, transaction_ref transaction, ticks end,
                                translation& to) {
    if (m_entries.find(space, page, to)) {
        ++hits;
        return outcome::hit;
    }
    mshr* free = nullptr;
    if (m_used == 0) {
        free = &m_mshrs.front();
    } else {
        for (auto& m : m_mshrs) {
            if (m.waiters.empty()) {
                if (!free) free = &m;
            } else if (m.page == page && m.space == space && !m.stale) {
                ++mshr_merges;
                m.waiters.push(transaction);
                if (!m.read_critical && stalls(transaction)) {
                    m.read_critical = true;
                    m_shared.make_read_critical(space, page);
                }
                return outcome::wait;
            }
        }
    }
    if (!free) {
        ++mshr_stalls;
        return outcome::full;
    }
    ++misses;
    ++m_used;
    free->space = space;
    free->page = page;
    free->waiters.push(transaction);
    free->stale = false;
    free->read_critical = stalls(transaction);
    free->serial = ++m_serial;
    free->begin = end;
    m_shared.request(space, page, free->read_critical, *this,
                     m_serial << 16 | static_cast<std::uint64_t>(free - m_mshrs.data()), end);
    return outcome::wait;
}

void l1_tlb::page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) {
    mshr& asked = m_mshrs[cookie & 0xffff];
    const bool current = !asked.waiters.empty() && asked.serial == cookie >> 16;
    if (!current) return;  // served by the response for another part of its large page, or reset
    const bool stale = asked.stale;
    if (t.fault == memory_fault::none && !stale) m_entries.insert(space, page, t);
    serve(asked, t);
    // Others that wait for parts of a large page go now: loads that come later would overtake them.
    if (t.page_bits == large_page_bits && t.fault == memory_fault::none && !stale)
        for (auto& m : m_mshrs)
            if (!m.waiters.empty() && m.space == space && m.page >> 9 == page >> 9 && !m.stale) serve(m, t);
    m_client.tlb_available();
}

void l1_tlb::serve(mshr& m, const translation& t) {
    miss_latency.add(now() - m.begin);
    const transaction_queue transactions = m.waiters;
    m.waiters.clear();
    --m_used;
    m_client.transactions_translated(transactions, t);
}

void l1_tlb::invalidate(std::uint32_t space) {
    m_entries.clear(space);
    for (auto& m : m_mshrs)
        if (m.space == space) m.stale = true;
}

void l1_tlb::reset() {
    m_entries.clear();
    std::fill(m_mshrs.begin(), m_mshrs.end(), mshr{});
    m_used = 0;
    model::reset();
}

}  // namespace fabricvp::gpu
