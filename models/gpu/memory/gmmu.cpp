// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/gmmu.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/trace.h"
#include "gpu/memory/observer.h"

namespace fabricvp::gpu {

namespace {
/// What a register for a root table keeps: physical addresses have 56 bits, and tables lie on page borders.
constexpr std::uint64_t root_mask = (std::uint64_t{1} << 56) - (std::uint64_t{1} << small_page_bits);
}  // namespace

void gmmu_params::describe(parameter_visitor& v) {
    v.field("walkers", walkers, between{1, 1024}, "page-table walks under way at a time");
    v.field("latency", latency, between{0, 10000}, "of a walk beside its reads of memory, in GPU cycles");
    v.field("level_latency", level_latency, between{0, 10000},
            "least time of a level that is read, its read of memory included, in GPU cycles");
    v.field("walk_cache_entries", walk_cache_entries, between{0, 4096},
            "entries of the page-walk cache for each of the three upper levels; 0: none");
}

gmmu::gmmu(const sc_core::sc_module_name& name, const gmmu_params& p, const clock_domain& clock, line_target& memory)
    : model(name),
      params(p),
      m_latency(clock.span(p.latency)),
      m_level_latency(clock.span(p.level_latency)),
      m_memory(memory) {
    for (auto& level : m_cached) level.resize(p.walk_cache_entries);
    for (std::uint64_t i = 0; i < p.walkers; ++i) m_walkers.push_back(std::make_unique<walker>(*this));
    for (auto w = m_walkers.rbegin(); w != m_walkers.rend(); ++w) m_idle.push_back(w->get());
}

void gmmu::set_root(std::uint32_t space, std::uint64_t table) {
    if (space >= address_spaces)
        throw std::out_of_range(fmt::format("{}: there is no address space {}", name(), space));
    m_roots[space] = table & root_mask;
    invalidate(space);
}

void gmmu::invalidate(std::uint32_t space) {
    for (auto& level : m_cached)
        for (auto& c : level)
            if (c.key >> 36 == std::uint64_t{space} + 1) c = {};
    for (auto& w : m_walkers)
        if (w->work.space == space) w->stale = true;
}

void gmmu::walk(std::uint32_t space, std::uint64_t page, bool read_critical, page_client& client,
                std::uint64_t cookie) {
    const job j{space, page, read_critical, &client, cookie, now()};
    if (m_idle.empty()) return m_queue.push_back(j);
    walker& w = *m_idle.back();
    m_idle.pop_back();
    begin(w, j);
}

void gmmu::make_read_critical(std::uint32_t space, std::uint64_t page) {
    const auto mark = [&](job& j) { j.read_critical |= j.space == space && j.page == page; };
    for (auto& w : m_walkers) mark(w->work);
    for (std::size_t i = 0; i < m_queue.size(); ++i) mark(m_queue[i]);
    for (auto& j : m_waiting) mark(j);
}

void gmmu::begin(walker& w, const job& j) {
    ++walks;
    walk_queueing.add(now() - j.asked);
    w.work = j;
    w.begin = now();
    w.stale = false;
    w.level = top_level;
    w.table = j.space < address_spaces ? m_roots[j.space] : 0;
    for (unsigned level = 0; level < top_level && is_mappable(j.page); ++level) {
        if (!look_up(j.space, j.page, level, w.table)) continue;
        walk_cache_hits += top_level - level;
        w.level = level;
        break;
    }
    if (auto* o = memory_observer::attached()) o->walk_started(&w, now());
    schedule_in(w.start, m_latency);
}

void gmmu::read(walker& w) {
    if (!is_mappable(w.work.page) || w.table == 0) {
        translation nothing;
        nothing.fault = memory_fault::unmapped;
        return finish(w, nothing);
    }
    const std::uint64_t address = w.table + (w.work.page >> 9 * w.level & 0x1ff) * 8;
    auto request = m_requests.make();
    request->kind = access_kind::read;
    request->page_table = true;
    request->read_critical = w.work.read_critical;
    request->line = address & ~std::uint64_t{line_bytes - 1};
    request->offset = static_cast<std::uint8_t>(address % line_bytes);
    request->needed_sectors = static_cast<std::uint8_t>(1u << request->offset / sector_bytes);
    request->client = this;
    request->context = &w;
    request->cookie = m_epoch;
    request->issued = w.read_at = now();
    ++reads;
    m_memory.send(request);
}

void gmmu::line_done(line_request& r) {
    if (r.cookie != m_epoch) return;
    walker& w = *static_cast<walker*>(r.context);
    translation t;
    if (r.fault != memory_fault::none) {
        t.fault = r.fault;
        return finish(w, t);
    }
    std::memcpy(&w.entry, r.data.data() + r.offset, sizeof w.entry);
    if (const ticks at = w.read_at + m_level_latency; at > now())
        schedule(w.entry_taken, at);
    else
        follow(w);
}

/// Goes on with the entry of the present level.
void gmmu::follow(walker& w) {
    translation t;
    const std::uint64_t entry = w.entry;
    if (w.level <= 1 && (entry & (GPU_PTE_VALID | GPU_PTE_DEMAND)) == GPU_PTE_DEMAND) return wait_for_page(w);
    if (interpret(entry, w.level, w.work.page, t)) return finish(w, t);
    --w.level;
    w.table = t.physical;
    keep(w, w.table);
    read(w);
}

bool gmmu::interpret(std::uint64_t entry, unsigned level, std::uint64_t page, translation& to) {
    const std::uint64_t span = (std::uint64_t{1} << (small_page_bits + 9 * level)) - 1;
    const unsigned permissions = entry & (GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_EXECUTE);
    const bool write_only = (permissions & (GPU_PTE_READ | GPU_PTE_WRITE)) == GPU_PTE_WRITE;
    to = {};
    to.physical = (entry >> GPU_PTE_PPN_SHIFT & ((std::uint64_t{1} << 44) - 1)) << small_page_bits;
    const bool misplaced = permissions && (to.physical & span);
    if (!(entry & GPU_PTE_VALID) || write_only || misplaced || entry >> 54 || (!permissions && level == 0)) {
        to.fault = memory_fault::unmapped;
        return true;
    }
    if (!permissions) return false;
    to.permissions = static_cast<std::uint8_t>(permissions);
    to.type = static_cast<std::uint8_t>(entry >> GPU_PTE_TYPE_SHIFT & 3);
    if (level > 0) {
        to.page_bits = large_page_bits;
        to.physical |= page << small_page_bits & span & ~((std::uint64_t{1} << large_page_bits) - 1);
    }
    return true;
}

bool gmmu::debug_walk(std::uint32_t space, std::uint64_t page, translation& to,
                      const std::function<bool(std::uint64_t physical, std::uint64_t& entry)>& read) const {
    std::uint64_t table = space < address_spaces ? m_roots[space] : 0, entry = 0;
    if (!table || !is_mappable(page)) return false;
    for (unsigned level = top_level;; --level) {
        if (!read(table + (page >> 9 * level & 0x1ff) * 8, entry)) return false;
        if (interpret(entry, level, page, to)) return to.fault == memory_fault::none;
        table = to.physical;
    }
}

void gmmu::finish(walker& w, const translation& t) {
    walk_latency.add(now() - w.begin);
    faults += t.fault != memory_fault::none;
    trace::slice(*this, "walk", w.begin, now());
    translation found = t;
    found.walk_begin = w.begin;
    found.walk_end = now();
    if (auto* o = memory_observer::attached()) o->walk_ended(&w, w.work.page, now());
    const job done = w.work;
    if (w.stale) {
        begin(w, done);  // the tables have changed under way
        return;
    }
    release(w);
    read_critical += done.read_critical;
    done.client->page_translated(done.space, done.page, found, done.cookie);
}

void gmmu::release(walker& w) {
    if (m_queue.empty())
        m_idle.push_back(&w);
    else
        begin(w, m_queue.take_front());
}

void gmmu::wait_for_page(walker& w) {
    ++demand_faults;
    m_waiting.push_back(w.work);
    release(w);
}

bool gmmu::pop_demand_fault(std::uint32_t& space, std::uint64_t& page) {
    if (m_asked == m_waiting.size()) return false;
    space = m_waiting[m_asked].space;
    page = m_waiting[m_asked++].page;
    return true;
}

void gmmu::retry_demand_faults() {
    m_asked = 0;
    for (const auto& j : std::exchange(m_waiting, {})) walk(j.space, j.page, j.read_critical, *j.client, j.cookie);
}

bool gmmu::look_up(std::uint32_t space, std::uint64_t page, unsigned level, std::uint64_t& table) {
    // A table of level n is found by what of the page number lies above the bits that index it.
    const std::uint64_t key = key_of(space, page, level + 1);
    for (auto& c : m_cached[level]) {
        if (c.key != key) continue;
        c.used = ++m_clock;
        table = c.table;
        return true;
    }
    return false;
}

void gmmu::keep(const walker& w, std::uint64_t table) {
    auto& level = m_cached[w.level];
    if (level.empty() || w.stale) return;
    const std::uint64_t key = key_of(w.work.space, w.work.page, w.level + 1);
    auto at = std::find_if(level.begin(), level.end(), [&](const cached_table& c) { return c.key == key; });
    if (at == level.end())
        at = std::min_element(level.begin(), level.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
    *at = {key, table, ++m_clock};
}

void gmmu::reset() {
    m_roots.fill(0);
    for (auto& level : m_cached) std::fill(level.begin(), level.end(), cached_table{});
    m_idle.clear();
    for (auto w = m_walkers.rbegin(); w != m_walkers.rend(); ++w) {
        cancel((*w)->start);
        cancel((*w)->entry_taken);
        m_idle.push_back(w->get());
    }
    m_queue.clear();
    m_waiting.clear();
    m_asked = 0;
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu
