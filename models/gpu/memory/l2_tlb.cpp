// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_tlb.h"

#include <algorithm>
#include <utility>

namespace fabricvp::gpu {

void l2_tlb_params::describe(parameter_visitor& v) {
    v.field("sets", sets, between{1, 1 << 20}, "sets of the TLB that the whole GPU shares");
    v.field("ways", ways, between{1, 4096}, "entries of a set");
    v.field("mshrs", mshrs, between{1, 4096}, "pages that can be walked for at a time");
    v.field("latency", latency, between{1, 10000}, "of a hit, from the first-level TLB and back, in GPU cycles");
    v.field("service", service, between{1, 1000}, "from one lookup to the next, in GPU cycles");
}

l2_tlb::l2_tlb(const sc_core::sc_module_name& name, const l2_tlb_params& p, const clock_domain& clock, gmmu& walker)
    : model(name),
      params(p),
      m_latency(clock.span(p.latency)),
      m_service(clock.span(p.service)),
      m_gmmu(walker),
      m_entries(p.sets, p.ways),
      m_mshrs(p.mshrs) {}

l2_tlb::job& l2_tlb::make(std::uint32_t space, std::uint64_t page, std::uint64_t cookie, ticks departure) {
    if (m_idle.empty()) {
        m_jobs.push_back(std::make_unique<job>(*this));
        m_idle.reserve(m_jobs.size());
        m_idle.push_back(m_jobs.back().get());
    }
    job& j = *m_idle.back();
    m_idle.pop_back();
    j.space = space;
    j.page = page;
    j.cookie = cookie;
    j.client = nullptr;
    j.outside = nullptr;
    j.read_critical = false;
    j.next = nullptr;
    const ticks start = std::max(departure, m_free);
    m_free = start + m_service;
    j.looked_up = start + m_latency;
    schedule(j.lookup, j.looked_up);
    return j;
}

void l2_tlb::request(std::uint32_t space, std::uint64_t page, bool read_critical, page_client& client,
                     std::uint64_t cookie, ticks departure) {
    job& j = make(space, page, cookie, departure);
    j.client = &client;
    j.read_critical = read_critical;
}

void l2_tlb::make_read_critical(std::uint32_t space, std::uint64_t page) {
    for (auto& j : m_jobs) j->read_critical |= j->space == space && j->page == page;
    for (auto& m : m_mshrs)
        if (m.first && m.space == space && m.page == page) mark(m);
}

void l2_tlb::mark(mshr& m) {
    if (!std::exchange(m.read_critical, true)) m_gmmu.make_read_critical(m.space, m.page);
}

void l2_tlb::translate(std::uint32_t space, std::uint64_t virtual_page, unsigned access, translation_client& client,
                       std::uint64_t cookie) {
    job& j = make(space, page_of(virtual_page), cookie, now());
    j.outside = &client;
    j.access = access;
    j.read_critical = access & GPU_PTE_EXECUTE;
}

void l2_tlb::dispatch(job& j) {
    if (find(j)) return;  // also where others wait for an MSHR
    if (m_waiting.empty() && begin_walk(j)) return;
    ++mshr_stalls;
    m_waiting.push_back(&j);
}

/// \returns whether its page is here or already walked for
bool l2_tlb::find(job& j) {
    translation t;
    if (is_mappable(j.page) && m_entries.find(j.space, j.page, t)) {
        ++hits;
        respond(j, t);
        return true;
    }
    for (auto& m : m_mshrs) {
        if (!m.first || m.page != j.page || m.space != j.space) continue;
        ++mshr_merges;
        m.last = m.last->next = &j;
        if (j.read_critical) mark(m);
        return true;
    }
    return false;
}

/// \returns false if there is no MSHR for it
bool l2_tlb::begin_walk(job& j) {
    const auto free = std::find_if(m_mshrs.begin(), m_mshrs.end(), [](const mshr& m) { return !m.first; });
    if (free == m_mshrs.end()) return false;
    ++misses;
    *free = {j.space, j.page, j.read_critical, &j, &j};
    m_gmmu.walk(j.space, j.page, j.read_critical, *this, static_cast<std::uint64_t>(free - m_mshrs.begin()));
    return true;
}

void l2_tlb::page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) {
    if (t.fault == memory_fault::none) m_entries.insert(space, page, t);
    job* j = m_mshrs[cookie].first;
    m_mshrs[cookie].first = nullptr;
    while (j) {
        job* const next = j->next;
        respond(*j, t);
        j = next;
    }
    while (!m_waiting.empty() && (find(*m_waiting.front()) || begin_walk(*m_waiting.front()))) m_waiting.pop_front();
}

void l2_tlb::respond(job& j, const translation& t) {
    m_idle.push_back(&j);  // nothing makes a new job of it before the call below has its arguments
    const std::uint64_t page = j.page, cookie = j.cookie;
    if (j.client) {
        translation found = t;
        found.looked_up = j.looked_up;
        return j.client->page_translated(j.space, page, found, cookie);
    }
    const memory_fault fault = t.check(j.access);
    const std::uint64_t address = page << small_page_bits;
    j.outside->translated(address, fault == memory_fault::none ? t.at(address) : 0, fault, cookie);
}

void l2_tlb::explain(span_list& spans, ticks begin, const translation& t) const {
    const auto until = [&](ticks end, const span_stage& stage, span_kind kind) {
        end = std::min(end, now());
        if (end <= begin) return;
        spans.add(stage, kind, begin, end);
        begin = end;
    };
    until(t.looked_up - std::min(t.looked_up, m_latency), m_queue_span, span_kind::queueing);
    until(t.looked_up, m_lookup_span, span_kind::service);
    until(t.walk_begin, m_gmmu.queue_span, span_kind::queueing);
    until(t.walk_end, m_gmmu.walk_span, span_kind::service);
    until(now(), m_queue_span, span_kind::queueing);
}

void l2_tlb::invalidate(std::uint32_t space) {
    ++invalidations;
    m_entries.clear(space);
    m_gmmu.invalidate(space);
}

void l2_tlb::reset() {
    m_entries.clear();
    m_idle.clear();
    for (auto& j : m_jobs) {
        cancel(j->lookup);
        m_idle.push_back(j.get());
    }
    std::fill(m_mshrs.begin(), m_mshrs.end(), mshr{});
    m_waiting.clear();
    m_free = 0;
    model::reset();
}

}  // namespace fabricvp::gpu
