// SPDX-License-Identifier: Apache-2.0
#include "host/cache_hierarchy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/invalid_parameter.h"

namespace fabricvp::host {

namespace {

invalid_parameter check_parameters(const cache_hierarchy_params& p) {
    if (!is_power_of_two(p.line)) return {"line", fmt::format("line is {}: give a power of two", p.line)};
    const std::pair<const char*, const cache_shape*> levels[] = {{"l1", &p.l1}, {"l2", &p.l2}, {"l3", &p.l3}};
    for (const auto& [key, shape] : levels)
        if (const auto set = shape->ways * p.line; shape->size % set)
            return {key, fmt::format("host.caches.{}: size of {} bytes is not a multiple of ways x line = {}", key,
                                     shape->size, set)};
    return {};
}

}  // namespace

void cache_shape::describe(parameter_visitor& v) {
    v.field("size", size, between{1024, 1ull << 32}, "capacity; a multiple of ways times line");
    v.field("ways", ways, between{1, 64}, "associativity");
}

void cache_params::describe(parameter_visitor& v) {
    cache_shape::describe(v);
    v.field("latency", latency, between{0, 1000}, "cycles of the caches' clock to look up and return a line");
}

void cache_hierarchy_params::describe(parameter_visitor& v) {
    v.field("clock", clock, between{1e6, 1e11}, "clock that cache latencies count in");
    v.field("line", line, between{16, 4096}, "cache line; a power of two");
    v.group("l1", l1, "first level of each hart, for data (code is taken to hit); a hit costs what hart.cpi says");
    v.group("l2", l2, "second level of each hart");
    v.group("l3", l3, "third level, shared by the harts");
    v.group("memory", memory, "memory channels behind the caches");
    v.field("hidden", hidden, between{0, 1}, "share of a miss's time that the core hides by going on without it");
    reject(v, check_parameters(*this));
}

cache_hierarchy::cache_hierarchy(const sc_core::sc_module_name& name, const cache_hierarchy_params& p,
                                 std::size_t harts)
    : model(name), params(p), m_clock(p.clock), m_l3(p.l3.size, p.l3.ways, p.line), m_memory(p.memory) {
    m_private.reserve(harts);
    for (std::size_t i = 0; i < harts; ++i)
        m_private.push_back({cache_tags(p.l1.size, p.l1.ways, p.line), cache_tags(p.l2.size, p.l2.ways, p.line)});
}

void cache_hierarchy::reset() {
    for (auto& c : m_private) {
        c.l1.clear();
        c.l2.clear();
    }
    m_l3.clear();
    m_memory.clear();
    model::reset();
}

bool cache_hierarchy::hit(std::uint64_t hart, std::uint64_t physical, unsigned size, use u) {
    auto& l1 = m_private[hart].l1;
    if ((physical ^ (physical + size - 1)) & ~(params.line - 1)) return false;  // two lines
    const bool write = u == use::store;
    if (!l1.access_if_hit(physical, write, false) && !(write && is_alone() && l1.access_if_hit(physical, true, true)))
        return false;
    ++l1_hits;
    return true;
}

ticks cache_hierarchy::access(std::uint64_t hart, std::uint64_t physical, unsigned size, use u, ticks at) {
    const auto last = m_l3.line_of(physical + (size ? size - 1 : 0));
    ticks waited = 0;
    for (auto line = m_l3.line_of(physical);; line += params.line) {
        waited += access_line(hart, line, u, at + waited);
        if (line == last) break;
    }
    const auto seen = static_cast<ticks>(static_cast<double>(waited) * (1.0 - params.hidden));
    stall += seen;
    return seen;
}

bool cache_hierarchy::only_hits(std::uint64_t hart, std::uint64_t physical, unsigned size, use u) const {
    const auto line = m_l3.line_of(physical);
    if (m_l3.line_of(physical + size - 1) != line) return false;
    const auto& l1 = m_private[hart].l1;
    return u == use::store ? l1.dirty(line) : l1.holds(line);
}

ticks cache_hierarchy::access_line(std::uint64_t hart, std::uint64_t line, use u, ticks at) {
    auto& mine = m_private[hart];
    auto& l1 = mine.l1;
    const bool write = u == use::store;
    // A dirty line is in no other cache, so that a hart which works on its own data does not look around; nor does one
    // that reads what it has, since then no cache has it dirty.
    const bool exclusive = is_alone() || (write ? l1.dirty(line) : l1.holds(line));
    if (write && on_line_acquired && !exclusive) on_line_acquired(line, params.line);
    const bool intervened = !exclusive && snoop_other_harts(hart, line, write, at);

    const auto first = l1.access(line, write);
    if (first.written_back) write_back_to_l2(mine, *first.written_back, at);
    if (first.hit) {
        ++l1_hits;
        return intervened ? span(params.l3) : 0;  // the others answer through the shared level
    }
    ++l1_misses;
    const auto second = mine.l2.access(line, false);
    if (second.written_back) write_back_to_l3(*second.written_back, at);
    const auto waited = span(params.l2);
    if (second.hit) {
        ++l2_hits;
        return waited + (intervened ? span(params.l3) : 0);
    }
    ++l2_misses;
    return waited + fill(line, at + waited);
}

/// Brings a line into L3 if it is not there.
ticks cache_hierarchy::fill(std::uint64_t line, ticks at) {
    const auto third = m_l3.access(line, false);
    evicted_from_l3(third, at);
    const auto looked_up = span(params.l3);
    if (third.hit) {
        ++l3_hits;
        return looked_up;
    }
    ++l3_misses;
    memory_reads += params.line;
    return m_memory.transfer(line, params.line, at + looked_up) - at;
}

bool cache_hierarchy::snoop_other_harts(std::uint64_t hart, std::uint64_t line, bool write, ticks at) {
    bool any = false;
    for (std::size_t other = 0; other < m_private.size(); ++other) {
        if (other == hart) continue;
        auto& theirs = m_private[other];
        bool dirty = false, held = false;
        announce(theirs, line);
        for (auto* cache : {&theirs.l1, &theirs.l2}) {
            const auto found = cache->snoop(line, write);
            held = held || found.held;
            dirty = dirty || found.dirty;
        }
        if (dirty) write_back_to_l3(line, at);
        if (dirty || (write && held)) {
            ++interventions;
            any = true;
        }
    }
    return any;
}

bool cache_hierarchy::snoop_all_harts(std::uint64_t line, bool write, ticks at) {
    bool dirty = false;
    for (auto& c : m_private) announce(c, line);
    for (auto& c : m_private)
        for (auto* cache : {&c.l1, &c.l2}) dirty = cache->snoop(line, write).dirty || dirty;
    if (!dirty) return false;
    ++interventions;
    write_back_to_l3(line, at);
    return true;
}

ticks cache_hierarchy::shared_access(std::uint64_t physical, std::uint64_t size, bool writes, ticks at) {
    ticks done = at;
    for (auto line = m_l3.line_of(physical); line < physical + size; line += params.line)
        done = std::max(
            done,
            shared_access_line(line, writes, writes && line >= physical && line + params.line <= physical + size, at));
    return done;
}

/// \param whole all of it is written, so that the old bytes are not needed
ticks cache_hierarchy::shared_access_line(std::uint64_t line, bool writes, bool whole, ticks at) {
    const ticks asked = snoop_all_harts(line, writes, at) ? at + span(params.l2) : at;  // of the hart that had it
    const auto found = m_l3.access(line, writes);
    evicted_from_l3(found, asked);
    const ticks done = asked + span(params.l3);
    ++(found.hit ? l3_hits : l3_misses);
    if (found.hit || whole) return done;
    memory_reads += params.line;
    const ticks filled = m_memory.transfer(line, params.line, done);
    return writes ? done : filled;  // what is written is merged when the line has come
}

void cache_hierarchy::write_back_to_l2(private_caches& c, std::uint64_t line, ticks at) {
    const auto r = c.l2.access(line, true);
    if (r.written_back) write_back_to_l3(*r.written_back, at);
}

void cache_hierarchy::write_back_to_l3(std::uint64_t line, ticks at) { evicted_from_l3(m_l3.access(line, true), at); }

void cache_hierarchy::evicted_from_l3(const cache_tags::result& r, ticks at) {
    if (!r.written_back) return;
    memory_writes += params.line;
    m_memory.transfer(*r.written_back, params.line, at);  // nothing waits for it, but the channel is busy
}

void cache_hierarchy::invalidate(std::uint64_t physical, std::uint64_t size) {
    if (size == 0) return;
    const auto end = physical + size;
    for (auto line = m_l3.line_of(physical); line < end; line += params.line) {
        for (auto& c : m_private) {
            announce(c, line);
            for (auto* cache : {&c.l1, &c.l2}) cache->invalidate(line);
        }
        m_l3.invalidate(line);
    }
}

}  // namespace fabricvp::host
