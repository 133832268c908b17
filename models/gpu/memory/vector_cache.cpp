// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/vector_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "gpu/memory/l1_geometry.h"
#include "gpu/memory/observer.h"

namespace fabricvp::gpu {

namespace {
constexpr std::uint8_t all_sectors = (1u << line_sectors) - 1;
bool one_sector(std::uint8_t sectors) { return (sectors & (sectors - 1)) == 0; }
}  // namespace

void vector_cache_params::describe(parameter_visitor& v) {
    v.field("size", size, between{64, 1 << 24}, "capacity");
    v.field("ways", ways, between{1, 256}, "lines of a set");
    v.field("mshrs", mshrs, between{1, 1024}, "lines that can be fetched at a time");
    v.field("latency", latency, between{0, 1000}, "of a hit, from lookup to registers, in GPU cycles");
    v.field("tag_latency", tag_latency, between{0, 1000},
            "from lookup to the request for a line that is not there, in GPU cycles");
    v.field("sectored", sectored,
            "a miss fetches the 16-byte sectors that the load wants, from everywhere; otherwise the line");
    v.field("line_pairs", line_pairs,
            "a miss in memory of a GPU fetches the other line of its aligned 128 bytes as well, if it is not there; a "
            "cache with lines of 128 bytes brings the same. `mshrs` counts pairs then");
    v.field("fill_latency", fill_latency, between{0, 1000}, "from a line's arrival to registers, in GPU cycles");
    v.field("in_flight", in_flight, between{0, 4096},
            "lines under way at a time: of loads that hit, of loads that miss, and of stores; 0: `mshrs` bound misses, "
            "`outstanding_bypasses` stores, and nothing hits");
    v.field(
        "reserves_ways", reserves_ways,
        "a miss takes its way when it asks for the line: the least recently used one that is not being fetched or "
        "written. It waits while there is none, or that line is being read. Otherwise it takes its way when the line "
        "comes");
    v.field("write_latency", write_latency, between{0, 1000},
            "cycles for which a line that has come is being written: a load of it stops the cache so long");
    v.field("trim_predictor", trim_predictor,
            "another GPU's line of which a load wants one sector is asked for as a whole, so that nothing trims the "
            "response, if lines of the same instruction were asked for other sectors as well; not published");
    v.field("trim_history", trim_history, between{1, 1024},
            "with `trim_predictor`: lines of an instruction that must have left the cache in a row without being "
            "asked for another sector before its lines are trimmed again");
    v.field("ecc", ecc,
            "words of 64 bits have a code that detects one and two wrong bits; such a line is fetched again, since the "
            "cache has nothing that is not elsewhere. That is all it costs: Arm's Cortex-A57 checks its L1 in the "
            "background (Arm DDI 0488D, 6.4.8)");
    reject(v, l1_invalid_parameter(size, ways));
    if (line_pairs && sectored)
        reject(v, {"line_pairs", "line_pairs fetches two lines for one: a sectored cache fetches no lines"});
    if (trim_predictor && sectored)
        reject(v, {"trim_predictor",
                   "trim_predictor chooses between a sector and its line: a sectored cache fetches no lines"});
}

vector_cache::vector_cache(const sc_core::sc_module_name& name, const vector_cache_params& p, const clock_domain& clock,
                           memory_router& router, pool<line_request>& requests)
    : model(name),
      params(p),
      m_latency(clock.span(p.latency)),
      m_tag_latency(clock.span(p.tag_latency)),
      m_fill_latency(clock.span(p.fill_latency)),
      m_write_latency(clock.span(p.write_latency)),
      m_cycle(clock.span(1)),
      m_router(router),
      m_requests(requests),
      m_lines(p.size, p.ways),
      m_open(p.fetches(), closed),
      m_mshrs(p.fetches()),
      m_observer_ids(p.fetches()),
      m_line_pairs(p.fetches()),
      m_free(p.fetches()) {
    std::iota(m_free.rbegin(), m_free.rend(), 0u);
    if (p.trim_predictor)
        m_predictor =
            std::make_unique<reuse_predictor>("trim_predictor", p.trim_history, p.size / line_bytes, m_mshrs.size());
}

/// Places of hits become free when their data leave.
void vector_cache::end_hits() {
    while (!m_hits.empty() && m_hits.front().end <= now()) {
        m_hits.pop_front();
        give_place();
    }
    if (!m_hits.empty()) schedule(m_hit_end, m_hits.front().end);
    for (transaction_client* user : m_users) user->cache_available();
}

void vector_cache::end_writes() {
    while (!m_writing.empty() && m_writing.front().end <= now()) m_writing.pop_front();
    if (!m_writing.empty()) schedule(m_write_end, m_writing.front().end);
    for (transaction_client* user : m_users) user->cache_available();
}

/// Whether a line is being fetched or written, so that it keeps its way.
bool vector_cache::locked(std::uint64_t line) const {
    for (std::size_t m = 0; m < m_mshrs.size(); ++m)
        if (m_mshrs[m].line == line && (m_line_pairs[m] || !m_mshrs[m].waiters.empty())) return true;
    return std::any_of(m_writing.begin(), m_writing.end(), [line](const line_until& w) { return w.line == line; });
}

/// With `reserves_ways`: the way of a line that is to be fetched; absent: none can be had. It is the least recently
/// used one that is not locked, and a line that is being read may not go.
unsigned vector_cache::reserved_way(std::uint64_t line) const {
    const unsigned way = m_lines.victim_among(line, [this](std::uint64_t l) { return !locked(l); });
    if (way == l1_lines::absent || !m_lines.holds_line(way)) return way;
    const auto read = [victim = m_lines.line_at(way)](const line_until& l) { return l.line == victim; };
    return std::none_of(m_hits.begin(), m_hits.end(), read) ? way : l1_lines::absent;
}

bool vector_cache::load(access_state& state, unsigned transaction, ticks& at) {
    const access_transaction& p = state.transactions[transaction];
    const std::uint8_t sectors = sectors_of(p.bytes);
    if (!m_faulty.empty()) check(p.line);
    const unsigned found = m_lines.find(p.line);
    if (m_predictor && found != l1_lines::absent) m_predictor->asks_line(found, sectors);
    if (found != l1_lines::absent && (sectors & ~m_lines.valid(found)) == 0) {
        ++hits;
        m_lines.touch(found);
        for (const auto& w : m_writing) {
            if (w.line != p.line || w.end <= at) continue;
            ++write_stalls;
            at = w.end;
        }
        if (bounded() || params.reserves_ways) {
            take_place();
            m_hits.push_back({p.line, at + m_latency});
            if (!m_hit_end.scheduled()) schedule(m_hit_end, at + m_latency);
        }
        if (auto* o = memory_observer::attached())
            o->hit(m_router.where() - GPU_PA_GPU0, number, *state.access, transaction, p.line, at);
        state.access->spans.add(m_hit_span, span_kind::service, at, at + m_latency);
        state.unit->transaction_loaded(state, transaction, m_lines.data(found), memory_fault::none, at + m_latency);
        return true;
    }
    if (const unsigned m = open_fetch(p.line); m < m_open.size()) {
        ++mshr_merges;
        m_mshrs[m].bytes |= p.bytes;
        if (m_predictor) m_predictor->asks_fetch(m, sectors);
        if (auto* o = memory_observer::attached()) o->waits(*state.access, transaction, m_observer_ids[m]);
        if (state.spanned) state.since[transaction] = at;
        m_mshrs[m].waiters.push(state.ref(transaction));
        take_place();
        return true;
    }
    if (m_free.size() < (params.line_pairs ? 2u : 1u)) {
        ++mshr_stalls;
        return false;
    }
    unsigned way = found;
    if (params.reserves_ways && found == l1_lines::absent) {
        way = reserved_way(p.line);
        if (way == l1_lines::absent) {
            ++way_stalls;
            return false;
        }
    }
    take_place();
    if (params.reserves_ways) fill(p.line, nullptr, 0, way);
    ++misses;
    sector_misses += found != l1_lines::absent;
    const unsigned m = take_mshr(p.line, p.bytes);
    m_mshrs[m].waiters.push(state.ref(transaction));
    if (state.spanned) state.since[transaction] = at + m_tag_latency;
    state.access->spans.add(m_lookup_span, span_kind::service, at, at + m_tag_latency);
    if (m_predictor) {
        if (found == l1_lines::absent && one_sector(sectors))
            m_predictor->follow(m, state.access->pc, sectors);
        else
            m_predictor->ignore(m);
    }
    const transaction_ref first = state.ref(transaction);
    fetch(m, first, sectors, at + m_tag_latency);
    if (auto* o = memory_observer::attached()) o->waits(*state.access, transaction, m_observer_ids[m]);
    if (params.line_pairs) fetch_pair(p.line ^ line_bytes, first, at + m_tag_latency);
    return true;
}

unsigned vector_cache::take_mshr(std::uint64_t line, std::uint64_t bytes) {
    const unsigned m = m_free.back();
    m_free.pop_back();
    m_mshrs[m].line = m_open[m] = line;
    m_mshrs[m].bytes = bytes;
    m_observer_ids[m] = 0;
    m_line_pairs[m] = false;
    ++open_like(line);
    return m;
}

/// No load waits for the line yet, and a read of a device's registers would be one too many.
/// \param first that missed, in the other line
void vector_cache::fetch_pair(std::uint64_t line, transaction_ref first, ticks departure) {
    if (gpu::where(line) == GPU_PA_SYSTEM || m_lines.find(line) != l1_lines::absent || open_fetch(line) < m_open.size())
        return;
    if (params.reserves_ways) {
        const unsigned way = reserved_way(line);
        if (way == l1_lines::absent) return;
        fill(line, nullptr, 0, way);
    }
    ++pair_fetches;
    const unsigned m = take_mshr(line, 0);
    m_line_pairs[m] = true;
    if (m_predictor) m_predictor->ignore(m);
    fetch(m, first, all_sectors, departure);
}

/// \param first whose miss makes it
void vector_cache::fetch(unsigned m, transaction_ref first, std::uint8_t sectors, ticks departure) {
    const vector_access& access = *access_state::of(first).access;
    auto request = m_requests.make();
    request->kind = access_kind::read;
    request->scope = access.scope;
    request->line = m_mshrs[m].line;
    request->needed_sectors = sectors;
    request->sectored = params.sectored;
    if (m_predictor && predicted_whole(access, *request)) request->needed_sectors = all_sectors;
    request->client = this;
    request->cookie = m_epoch << 16 | m;
    request->context = reinterpret_cast<void*>(first);
    request->issued = departure;
    if (auto* o = memory_observer::attached()) {
        o->requested(m_router.where() - GPU_PA_GPU0, number, access, *request);
        if (request->observer_id) m_observer_ids[m] = request->observer_id;
    }
    m_router.send_at(request, departure);
}

/// Whether a request that another cluster's switch could trim is to be left whole.
bool vector_cache::predicted_whole(const vector_access& access, const line_request& request) {
    return one_sector(request.needed_sectors) && gpu::where(request.line) != GPU_PA_SYSTEM &&
           !m_router.keeps_order(request.line) && !m_predictor->trims(access.pc);
}

/// Puts sectors of a line in; where it was not there, another one may have to go.
/// \param way that it takes then; absent: the least recently used one
void vector_cache::fill(std::uint64_t line, const std::uint8_t* data, std::uint8_t sectors, unsigned way) {
    if (!m_faulty.empty() && m_lines.find(line) == l1_lines::absent) m_faulty.erase(line);  // it had left
    const bool comes = m_predictor && m_lines.find(line) == l1_lines::absent;
    evictions += m_lines.fill(line, data, sectors, way);
    if (comes) m_predictor->left(m_lines.find(line));
}

void vector_cache::flip_cells(const cell_flip_arguments& a) {
    const auto held = m_lines.held();
    if (held.empty()) return;
    const auto at = held[a.line % held.size()];
    if (params.ecc) {
        m_faulty.insert(m_lines.line_at(at));
        return;
    }
    std::uint64_t word;
    std::memcpy(&word, m_lines.data(at) + 8 * a.word, sizeof word);
    word ^= a.mask();
    std::memcpy(m_lines.data(at) + 8 * a.word, &word, sizeof word);
}

/// A load looks the line up.
void vector_cache::check(std::uint64_t line) {
    if (!m_faulty.erase(line) || m_lines.find(line) == l1_lines::absent) return;
    ++corrected_errors;
    if (m_predictor) leave(line);
    m_lines.drop(line);
}

void vector_cache::leave(std::uint64_t line) {
    if (const unsigned at = m_lines.find(line); at != l1_lines::absent) m_predictor->left(at);
}

/// \param bytes of a fetched line that lanes wanted
void vector_cache::count_needed(std::uint64_t bytes) {
    bytes_needed.add(static_cast<unsigned>(__builtin_popcountll(bytes)));
    switch (__builtin_popcount(sectors_of(bytes))) {
        case 1: ++lines_needing_16; break;
        case 2: ++lines_needing_32; break;
        case 3: ++lines_needing_48; break;
        default: ++lines_needing_64; break;
    }
}

void vector_cache::line_done(line_request& r) {
    if (r.cookie >> 16 != m_epoch) return;
    const auto index = static_cast<unsigned>(r.cookie & 0xffff);
    mshr& m = m_mshrs[index];
    const bool fault = r.fault != memory_fault::none;
    __builtin_prefetch(&m);
    m_lines.prefetch(r.line);
    const auto waits = reinterpret_cast<transaction_ref>(r.context);
    __builtin_prefetch(&access_state::of(waits));
    __builtin_prefetch(&access_state::of(waits).transactions[access_state::transaction_of(waits)]);
    m_port = std::max(m_port, now()) + m_cycle;
    const ticks taken = m_port - m_cycle, ready = taken + m_fill_latency;
    miss_latency.add(now() - r.issued);
    if (m_open[index] != closed && !fault) {
        fill(r.line, r.data.data(), r.valid_sectors);
        if (m_predictor) m_predictor->arrives(index, m_lines.find(r.line));
        if (m_write_latency) {
            m_writing.push_back({r.line, taken + m_write_latency});
            if (!m_write_end.scheduled()) schedule(m_write_end, taken + m_write_latency);
        }
    }
    transaction_queue complete, rest;
    std::uint8_t missing = 0;
    while (!m.waiters.empty()) {
        const transaction_ref p = m.waiters.pop();
        const std::uint8_t wanted = sectors_of(access_state::of(p).transactions[access_state::transaction_of(p)].bytes);
        const bool there = fault || (wanted & ~r.valid_sectors) == 0;
        (there ? complete : rest).push(p);
        if (!there) missing |= wanted;
    }
    if (rest.empty()) {
        if (m.bytes) count_needed(m.bytes);
        m_line_pairs[index] = false;
        close_fetch(index);
        m_free.push_back(index);
    } else {  // a trimmer cut what a load wanted that came after the request
        ++refetches;
        m.waiters = rest;
        fetch(index, rest.front(), missing, now() + m_tag_latency);
    }
    while (!complete.empty()) {  // users may come back with new loads inside these calls
        const transaction_ref p = complete.pop();
        access_state& state = access_state::of(p);
        give_place();
        auto& spans = state.access->spans;
        if (state.records_spans()) {
            const ticks since = state.since[access_state::transaction_of(p)];
            spans.mark(r.spans.reach());
            if (since == r.issued)
                spans.append(r.spans);
            else if (since < now())
                spans.add(m_merge_span, span_kind::queueing, since, now());
            if (taken > now()) spans.add(m_fill_span, span_kind::queueing, now(), taken);
            spans.add(m_fill_span, span_kind::service, taken, ready);
        }
        state.unit->transaction_loaded(state, access_state::transaction_of(p), r.data.data(), r.fault, ready);
    }
    for (transaction_client* user : m_users) user->cache_available();
}

/// \returns the MSHR that has an open fetch of a line, or m_open.size()
unsigned vector_cache::open_fetch(std::uint64_t line) {
    if (!open_like(line)) return static_cast<unsigned>(m_open.size());  // most often
    return static_cast<unsigned>(std::find(m_open.begin(), m_open.end(), line) - m_open.begin());
}

void vector_cache::close_fetch(unsigned mshr) {
    if (m_open[mshr] == closed) return;
    --open_like(m_open[mshr]);
    m_open[mshr] = closed;
}

void vector_cache::close_all() {
    std::fill(m_open.begin(), m_open.end(), closed);
    m_open_by_hash.fill(0);
}

void vector_cache::close(std::uint64_t line) {
    if (const unsigned mshr = open_fetch(line); mshr < m_open.size()) close_fetch(mshr);
}

void vector_cache::invalidate() {
    ++invalidations;
    if (m_predictor) m_predictor->all_left();
    m_lines.clear();
    m_faulty.clear();
    if (m_free.size() < m_mshrs.size()) close_all();
}

bool vector_cache::peek(std::uint64_t address, void* to, unsigned size) {
    const unsigned first = address % line_bytes;
    const unsigned at = m_lines.find(address - first);
    if (at == l1_lines::absent) return false;
    for (unsigned sector = first / sector_bytes; sector <= (first + size - 1) / sector_bytes; ++sector)
        if (!(m_lines.valid(at) >> sector & 1)) return false;
    std::memcpy(to, m_lines.data(at) + first, size);
    return true;
}

void vector_cache::reset() {
    m_lines.clear();
    m_faulty.clear();
    close_all();
    std::fill(m_mshrs.begin(), m_mshrs.end(), mshr{});
    std::fill(m_line_pairs.begin(), m_line_pairs.end(), false);
    m_free.resize(m_mshrs.size());
    std::iota(m_free.rbegin(), m_free.rend(), 0u);
    m_port = 0;
    m_in_flight = 0;
    m_hits.clear();
    m_writing.clear();
    cancel(m_hit_end);
    cancel(m_write_end);
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu
