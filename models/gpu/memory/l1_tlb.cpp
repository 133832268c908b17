// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l1_tlb.h"

#include <algorithm>
#include <utility>

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
      m_mshrs(p.mshrs),
      m_keys(p.mshrs) {}

namespace {

/// Whether a wavefront waits for what the access brings; it goes on behind a store.
bool stalls(transaction_ref r) { return access_state::of(r).access->kind != access_kind::write; }

}  // namespace

l1_tlb::outcome l1_tlb::look_up(std::uint32_t space, std::uint64_t page, transaction_ref transaction, ticks end,
                                translation& to) {
    const std::uint64_t key = key_of(space, page);
    if (std::exchange(m_refused, 0) != key) {
        if (m_entries.find(space, page, to)) {
            ++hits;
            return outcome::hit;
        }
        const auto asked = m_used ? std::find(m_keys.begin(), m_keys.end(), key) : m_keys.end();
        if (asked != m_keys.end()) {
            mshr& m = m_mshrs[static_cast<std::size_t>(asked - m_keys.begin())];
            ++mshr_merges;
            m.waiters.push(transaction);
            if (!m.read_critical && stalls(transaction)) {
                m.read_critical = true;
                m_shared.make_read_critical(space, page);
            }
            return outcome::wait;
        }
    }
    if (m_used == m_mshrs.size()) {
        ++mshr_stalls;
        m_refused = key;
        return outcome::full;
    }
    const auto number = static_cast<std::size_t>(std::find(m_keys.begin(), m_keys.end(), 0u) - m_keys.begin());
    mshr& free = m_mshrs[number];
    ++misses;
    ++m_used;
    m_keys[number] = key;
    free.waiters.push(transaction);
    free.read_critical = stalls(transaction);
    free.serial = ++m_serial;
    free.begin = end;
    m_shared.request(space, page, free.read_critical, *this, m_serial << 16 | number, end);
    return outcome::wait;
}

void l1_tlb::page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) {
    const std::size_t number = cookie & 0xffff;
    mshr& asked = m_mshrs[number];
    const bool current = !asked.waiters.empty() && asked.serial == cookie >> 16;
    if (!current) return;  // served by the response for another part of its large page, or reset
    const std::uint64_t key = key_of(space, page);
    const bool kept = t.fault == memory_fault::none && m_keys[number] == key;
    if (kept) {
        m_entries.insert(space, page, t);
        if (same_large_page(m_refused, key)) m_refused = 0;
    }
    serve(number, t);
    // Others that wait for parts of a large page go now: loads that come later would overtake them.
    if (kept && t.page_bits == large_page_bits)
        for (std::size_t i = 0; i < m_keys.size(); ++i)
            if (same_large_page(m_keys[i], key)) serve(i, t);
    m_client.tlb_available();
}

void l1_tlb::serve(std::size_t number, const translation& t) {
    mshr& m = m_mshrs[number];
    miss_latency.add(now() - m.begin);
    const transaction_queue transactions = m.waiters;
    m.waiters.clear();
    m_keys[number] = 0;
    --m_used;
    m_client.transactions_translated(transactions, t);
}

void l1_tlb::invalidate(std::uint32_t space) {
    m_entries.clear(space);
    for (auto& k : m_keys)
        if (k >> space_shift == std::uint64_t{space} + 1) k |= stale;
}

void l1_tlb::reset() {
    m_entries.clear();
    std::fill(m_mshrs.begin(), m_mshrs.end(), mshr{});
    std::fill(m_keys.begin(), m_keys.end(), 0);
    m_refused = 0;
    m_used = 0;
    model::reset();
}

}  // namespace fabricvp::gpu
