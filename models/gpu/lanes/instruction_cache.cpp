// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/instruction_cache.h"

#include <algorithm>
#include <cstring>

#include "base/invalid_parameter.h"
#include "gpu/memory/observer.h"

namespace fabricvp::gpu {

namespace {

invalid_parameter invalid_parameter_of(const instruction_cache_params& p) {
    const auto sets = p.ways ? p.size / line_bytes / p.ways : 0;
    if (is_power_of_two(sets) && sets * p.ways * line_bytes == p.size) return {};
    return {"size", "size of " + std::to_string(p.size.bytes) + " bytes with " + std::to_string(p.ways) +
                        " ways: give a power of two of sets, size / 64 / ways"};
}

}  // namespace

void instruction_cache_params::describe(parameter_visitor& v) {
    v.field("size", size, between{1 << 10, 1 << 24}, "bytes, a power of two times ways");
    v.field("ways", ways, between{1, 64}, "associativity");
    v.field("latency", latency, between{0, 10'000}, "cycles that a miss spends here (hits are hidden by the pipeline)");
    v.field("tlb_entries", tlb_entries, between{1, 1024}, "translations held here");
    v.field("prefetch", prefetch, "whether the first use of a line requests the next one");
    reject(v, invalid_parameter_of(*this));
}

instruction_cache::instruction_cache(const sc_core::sc_module_name& name, const instruction_cache_params& p,
                                     const clock_domain& clock, translator& translations, line_target& memory)
    : model(name),
      params(p),
      m_clock_domain(clock),
      m_translator(translations),
      m_memory(memory),
      m_sets(p.ways ? p.size / line_bytes / p.ways : 0),
      m_ways(static_cast<unsigned>(p.ways)) {
    reject("instruction_cache", invalid_parameter_of(p));
    m_lines.resize(m_sets * m_ways);
    m_pages.reserve(p.tlb_entries);
}

void instruction_cache::invalidate() {
    for (auto& l : m_lines) l.address = decoded_line::nothing;
    m_pages.clear();
    m_next_page = 0;
    ++m_generation;
}

void instruction_cache::reset() {
    invalidate();
    m_misses.clear();
    m_finished.clear();
    cancel(m_finish);
    model::reset();
}

void instruction_cache::used_first(decoded_line& l) {
    l.fresh = false;
    const auto next = l.address + line_bytes;
    if (!params.prefetch || next % page_bytes == 0) return;
    const auto* set = &m_lines[(next / line_bytes & (m_sets - 1)) * m_ways];
    for (unsigned way = 0; way < m_ways; ++way)
        if (set[way].address == next && set[way].address_space == l.address_space) return;
    if (find_miss(l.address_space, next)) return;
    ++prefetches;
    begin(l.address_space, next);
}

instruction_cache::miss* instruction_cache::find_miss(std::uint32_t address_space, std::uint64_t line) {
    for (auto& m : m_misses)
        if (m.in_flight && m.line == line && m.address_space == address_space && m.generation == m_generation)
            return &m;
    return nullptr;
}

void instruction_cache::request(std::uint32_t address_space, std::uint64_t line, fetch_client& client) {
    auto* m = find_miss(address_space, line);
    if (!m) {
        ++misses;
        m = &m_misses[begin(address_space, line)];
    }
    if (std::find(m->waiting.begin(), m->waiting.end(), &client) == m->waiting.end()) m->waiting.push_back(&client);
}

unsigned instruction_cache::begin(std::uint32_t address_space, std::uint64_t line) {
    unsigned index = 0;
    while (index < m_misses.size() && m_misses[index].in_flight) ++index;
    if (index == m_misses.size()) m_misses.emplace_back();
    auto& m = m_misses[index];
    m.line = line;
    m.address_space = address_space;
    m.generation = m_generation;
    m.in_flight = true;
    m.fault = memory_fault::none;
    m.waiting.clear();
    const auto virtual_page = line & ~(page_bytes - 1);
    for (const auto& p : m_pages)
        if (p.virtual_page == virtual_page && p.address_space == address_space) {
            send(index, p.physical);
            return index;
        }
    ++walks;
    m_translator.translate(address_space, virtual_page, GPU_PTE_EXECUTE, *this, index);
    return index;
}

void instruction_cache::translated(std::uint64_t virtual_page, std::uint64_t physical, memory_fault fault,
                                   std::uint64_t cookie) {
    const auto index = static_cast<unsigned>(cookie);
    if (index >= m_misses.size() || !m_misses[index].in_flight) return;  // it was reset meanwhile
    auto& m = m_misses[index];
    if (fault != memory_fault::none) {
        response_received(index, fault);
        return;
    }
    if (m.generation == m_generation) {
        const page entry{virtual_page, physical, m.address_space};
        if (m_pages.size() < params.tlb_entries)
            m_pages.push_back(entry);
        else
            m_pages[m_next_page++ % m_pages.size()] = entry;
    }
    send(index, physical);
}

void instruction_cache::send(unsigned index, std::uint64_t physical_page) {
    auto request = m_requests.make();
    request->kind = access_kind::read;
    request->needed_sectors = 0xf;
    request->line = physical_page + (m_misses[index].line & (page_bytes - 1));
    request->client = this;
    request->cookie = index;
    request->issued = now();
    if (auto* o = memory_observer::attached()) o->code_requested(gpu, number, m_misses[index].line, *request);
    m_misses[index].request = request;
    m_memory.send(request);
}

void instruction_cache::line_done(line_request& request) {
    const auto index = static_cast<unsigned>(request.cookie);
    if (index >= m_misses.size() || m_misses[index].request.get() != &request) return;
    response_received(index, request.fault);
}

void instruction_cache::response_received(unsigned index, memory_fault fault) {
    m_misses[index].fault = fault;
    m_finished.push_back({now() + m_clock_domain.span(params.latency), index});
    if (!m_finish.scheduled()) schedule(m_finish, m_finished.front().first);
}

void instruction_cache::finish() {
    while (!m_finished.empty() && m_finished.front().first <= now()) {
        auto& m = m_misses[m_finished.front().second];
        m_finished.pop_front();
        if (m.fault == memory_fault::none && m.generation == m_generation) keep(m);
        m.request.reset();
        m.in_flight = false;
        // A client that asks again at once may reuse this very entry.
        const auto line = m.line;
        const auto space = m.address_space;
        const auto fault = m.fault;
        auto waiting = std::move(m.waiting);
        for (auto* client : waiting) client->fetched(space, line, fault);
    }
    if (!m_finished.empty()) schedule(m_finish, m_finished.front().first);
}

void instruction_cache::keep(const miss& m) {
    auto* set = &m_lines[(m.line / line_bytes & (m_sets - 1)) * m_ways];
    auto* victim = set;
    for (unsigned way = 0; way < m_ways; ++way) {
        if (set[way].address == decoded_line::nothing) {
            victim = &set[way];
            break;
        }
        if (m_clock - set[way].last_used > m_clock - victim->last_used) victim = &set[way];
    }
    victim->address = m.line;
    victim->address_space = m.address_space;
    victim->last_used = ++m_clock;
    victim->fresh = true;
    victim->touches = 0;
    for (unsigned i = 0; i < line_instructions; ++i) {
        std::uint32_t word;
        std::memcpy(&word, m.request->data.data() + i * 4, 4);
        victim->ops[i] = decode_lane_op(word);
        victim->touches |= victim->ops[i].touches;
    }
}

}  // namespace fabricvp::gpu
