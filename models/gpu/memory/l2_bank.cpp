// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_bank.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/invalid_parameter.h"

namespace fabricvp::gpu {

namespace {

constexpr unsigned line_bits = 6;

/// Whether a miss fetches the line: what writes all of it does not.
bool needs_mshr(const line_request& r) {
    return r.kind != access_kind::unlock && (r.kind != access_kind::write || r.byte_mask != ~std::uint64_t{0});
}

unsigned log2(std::uint64_t n) { return n < 2 ? 0 : 63 - static_cast<unsigned>(__builtin_clzll(n)); }

invalid_parameter invalid_parameter_of(const l2_params& p) {
    if (!is_power_of_two(p.banks)) return {"banks", fmt::format("banks is {}: give a power of two", p.banks)};
    if (p.interleave < line_bytes || !is_power_of_two(p.interleave))
        return {"interleave", fmt::format("interleave is {} bytes: give a power of two of at least {}",
                                          p.interleave.bytes, line_bytes)};
    const std::uint64_t unit = p.banks * p.ways * line_bytes;
    if (p.size < unit || p.size % unit)
        return {"size", fmt::format("size of {} bytes is not a multiple of banks x ways x {} = {}", p.size.bytes,
                                    line_bytes, unit)};
    if (p.locked_ways >= p.ways)
        return {"locked_ways", fmt::format("locked_ways is {}: give less than the {} ways", p.locked_ways, p.ways)};
    return {};
}

std::uint64_t sets_of(const l2_params& p) {
    reject("l2", invalid_parameter_of(p));
    return p.size / (p.banks * p.ways * line_bytes);
}

}  // namespace

void l2_params::describe(parameter_visitor& v) {
    v.field("size", size, between{1024, 1 << 30}, "capacity of all banks together");
    v.field("banks", banks, between{1, 256}, "banks");
    v.field("ways", ways, between{1, 64}, "lines of a set");
    v.field("mshrs", mshrs, between{1, 4096}, "fetches that a bank can have under way");
    v.field("write_backs", write_backs, between{1, 4096},
            "dirty lines that a bank can have on their way to memory; a miss that would evict another one waits. "
            "Akita's write-back cache has 128 evictions in flight (and 1,024 places before them, left out here)");
    v.field("interleave", interleave, between{64, 1 << 20}, "bytes after which the next bank takes over");
    v.field("hashed", hashed,
            "the bank is chosen by a hash of the address (Rau, ISCA 1991), so that strides of any power of two use all "
            "banks; otherwise banks take turns");
    v.field("latency", latency, between{0, 10000}, "lookup in a bank, data included, in GPU cycles");
    v.field("service", service, between{1, 1000}, "from one request of a bank to the next, in GPU cycles");
    v.field("requests", requests, between{1, 64}, "requests that a bank takes at a time, every `service` cycles");
    v.field("atomic_latency", atomic_latency, between{0, 10000}, "more for an atomic, in GPU cycles");
    v.field(
        "atomic_units", atomic_units, between{1, 64},
        "operations of an atomic request that a bank performs in a cycle of service, on different words of its line. "
        "A channel of GCN's L2 moves 64 bytes a cycle, 16 words (AMD, Graphics Core Next white paper, 2012)");
    v.field("locked_ways", locked_ways, between{0, 63}, "most lines of a set that may be locked; less than the ways");
    v.field(
        "ecc", ecc,
        "words of 64 bits have a code that corrects one wrong bit and detects two (SECDED); tags are not modelled to "
        "fail");
    v.field("ecc_latency", ecc_latency, between{0, 1000},
            "more for a lookup where there is ECC, in GPU cycles; two in the L2 of Arm's Cortex-A8 and Cortex-A72 (Arm "
            "DDI 0344H, 8.7; 100095, 7.2.4)");
    reject(v, invalid_parameter_of(*this));
}

l2_bank::l2_bank(const sc_core::sc_module_name& name, const l2_params& p, unsigned bank, const l2_wiring& to,
                 const interleaving& over_banks, l2_reservations& reservations, const l2_queue_lines& queue_lines)
    : model(name),
      params(p),
      errors(*this, p.ecc, to.memory, to.dram.errors),
      m_latency(to.clock.span(p.latency) + (p.ecc ? to.clock.span(p.ecc_latency) : 0)),
      m_service(to.clock.span(p.service)),
      m_atomic(to.clock.span(p.atomic_latency)),
      m_response_latency(to.response_latency),
      m_bank(bank),
      m_chunk_bits(log2(p.interleave / line_bytes)),
      m_interleaving(over_banks),
      m_memory(to.memory),
      m_dram(to.dram),
      m_reservations(reservations),
      m_queue_lines(queue_lines),
      m_scheduler(to.scheduler),
      m_tags(sets_of(p), p.ways, p.locked_ways),
      m_fetches(p.mshrs),
      m_write_backs(p.write_backs) {}

std::uint64_t l2_bank::index_of(std::uint64_t offset) const {
    return m_interleaving.round_of(offset) << m_chunk_bits |
           (offset >> line_bits & ((std::uint64_t{1} << m_chunk_bits) - 1));
}

std::uint64_t l2_bank::offset_of_index(std::uint64_t index) const {
    const std::uint64_t line = index & ((std::uint64_t{1} << m_chunk_bits) - 1);
    return m_interleaving.begin_of(m_bank, index >> m_chunk_bits) | line << line_bits;
}

std::uint64_t l2_bank::key_in_tags(const line_request& request) {
    return where(request.line) == GPU_PA_SYSTEM ? key_of(request.line) : offset_of(request.line);
}

/// When a request is looked up that takes so many rounds of service.
ticks l2_bank::begin_lookup(std::uint64_t rounds) {
    if (m_taken < params.requests && now() < m_free && rounds == 1) {
        ++m_taken;
        return std::max(now(), m_taken_at);
    }
    m_taken_at = std::max(now(), m_free);
    m_taken = rounds == 1 ? 1 : params.requests;
    m_free = m_taken_at + rounds * m_service;
    return m_taken_at;
}

void l2_bank::arrive(const line_request_ptr& request) {
    const std::uint64_t index = index_of(key_in_tags(*request));
    lookup times;
    times.begin = begin_lookup(rounds_of(*request));
    times.end = times.go = times.begin + m_latency;
    if ((m_stalled.empty() || may_pass(*request, index)) && serve(request, times)) return;
    ++mshr_stalls;
    const bool alone = ++stalled_of(index) == 1;
    const bool misses = alone && needs_mshr(*request) && where(request->line) != GPU_PA_SYSTEM;
    m_stalled.push_back({request, times.end, index, misses});
}

/// Whether a request may overtake the misses that wait: it takes neither MSHR nor write-back, and none of them is for
/// its line.
bool l2_bank::may_pass(const line_request& r, std::uint64_t index) const {
    if (m_stalled_lines[index % m_stalled_lines.size()]) return false;
    return r.kind == access_kind::unlock || m_tags.holds(index);
}

/// A fetch or a write-back has ended: the first that waits for one goes on, and those behind it that need none.
void l2_bank::retry() {
    while (!m_stalled.empty()) {
        const auto& first = m_stalled.front();
        const ticks end = first.end, go = std::max(end, now());
        if (first.misses && !mshr_available(go)) return;  // found without another lookup
        if (!serve(first.request, {end - m_latency, end, go})) return;
        --stalled_of(first.index);
        m_stalled.pop_front();
        expect_stalled();
    }
}

/// Who waits here has long left the host's caches. What it takes to serve the first comes in steps, since each tells
/// where the next one lies.
void l2_bank::expect_stalled() const {
    if (m_stalled.empty()) return;
    m_tags.prefetch_victim(m_stalled.front().index);
    if (m_stalled.size() > 1) {
        const auto& next = m_stalled[1];
        m_tags.prefetch(next.index);
        if (where(next.request->line) != GPU_PA_SYSTEM) m_memory.prefetch(offset_of(next.request->line));
    }
    if (m_stalled.size() > 2) {
        const auto* const lines = reinterpret_cast<const char*>(m_stalled[2].request.get());
        for (std::size_t at = 0; at < 256; at += 64) __builtin_prefetch(lines + at, 1);
    }
}

void l2_bank::under_way::end_until(ticks at) {
    while (!m_ends.empty() && m_ends.front() <= at) {
        std::pop_heap(m_ends.begin(), m_ends.end(), std::greater<ticks>());
        m_ends.pop_back();
    }
}

void l2_bank::under_way::add(ticks end) {
    m_ends.push_back(end);
    std::push_heap(m_ends.begin(), m_ends.end(), std::greater<ticks>());
}

/// \returns false if there is none; then retry() comes when there is
bool l2_bank::mshr_available(ticks at) {
    if (m_fetches.available(at)) return true;
    schedule(m_retry, m_fetches.first());
    return false;
}

/// Whether a place for the line is free or becomes so at once.
/// \returns false if its victim must wait to be written back; then retry() comes when it can
bool l2_bank::victim_can_leave(std::uint64_t index, ticks at) {
    if (m_write_backs.available(at)) return true;
    if (const std::size_t victim = m_tags.victim(index); m_tags.empty(victim) || !m_tags.dirty(victim)) return true;
    schedule(m_retry, m_write_backs.first());
    return false;
}

void l2_bank::evict(std::size_t victim, ticks at) {
    if (m_tags.empty(victim)) return;
    ++evictions;
    // Of a victim that nothing asks for the host need not fetch what the new line overwrites.
    if (m_queue_lines.bytes && m_queue_lines.holds(offset_of_index(m_tags.index_at(victim)))) ++queue_evictions;
    if (errors.any()) errors.evicted(offset_of_index(m_tags.index_at(victim)), m_tags.dirty(victim));
    if (!m_tags.dirty(victim)) return;
    ++writebacks;
    const ticks begin = std::max(at, m_tags.ready(victim));
    m_write_backs.add(m_dram.access(offset_of_index(m_tags.index_at(victim)), true, begin));
    if (m_dram.errors.any()) m_dram.errors.written_back(offset_of_index(m_tags.index_at(victim)));
}

/// Brings a line in where another one has to go.
ticks l2_bank::fetch(const line_request& request, std::uint64_t index, ticks at, std::size_t victim) {
    const std::uint64_t offset = offset_of(request.line);
    evict(victim, at);
    ticks ready = at;
    if (needs_mshr(request)) {
        ready = m_dram.access(offset, false, at);
        m_fetches.add(ready);
        if (m_dram.errors.any()) m_dram.errors.fetched(offset, m_memory);
    }
    m_tags.fill(victim, index, ready, request.kind == access_kind::write);
    // What is written needs no old bytes: they are merged when the fetch ends.
    return request.kind == access_kind::write ? at : ready;
}

/// \returns false if it must wait for an MSHR or a write-back; then retry() comes back when there is one
bool l2_bank::serve(const line_request_ptr& request, const lookup& times) {
    line_request& r = *request;
    if (where(r.line) == GPU_PA_SYSTEM) return serve_shared(request, times);
    const std::uint64_t index = index_of(offset_of(r.line));
    ticks done = times.go;
    bool commits_later = false;
    if (r.kind == access_kind::unlock) {  // concerns only what is there
        unlock(r, index);
    } else {
        const bool is_write = r.kind == access_kind::write;
        std::size_t at = m_tags.find(index);
        const bool hit = at != l2_tags::absent;
        if (!hit && ((needs_mshr(r) && !mshr_available(done)) || !victim_can_leave(index, done))) return false;
        if (hit) {
            ++hits;
            if (is_write) {
                m_tags.make_dirty(at);
            } else if (const ticks ready = m_tags.ready(at, done); ready > done) {
                ++mshr_merges;
                r.spans.add(m_fetch_span, span_kind::queueing, done, ready);
                done = ready;
            }
        } else {
            ++misses;
            at = m_tags.victim(index);
            done = fetch(r, index, times.go, at);
            if (span_recorder::on() && done > times.go) {
                const ticks service_start = done - std::min(m_dram.last_service(), done - times.go);
                if (service_start > times.go)
                    r.spans.add(m_dram.access_span, span_kind::queueing, times.go, service_start);
                r.spans.add(m_dram.access_span, span_kind::service, service_start, done);
            }
        }
        if (m_queue_lines.holds(offset_of(r.line))) watch(r, at, hit);
        commits_later = r.at_service && is_write && times.begin > now();
        if (!commits_later) perform(r, at);
        if (r.kind == access_kind::atomic) {
            const ticks longer = m_atomic + (rounds_of(r) - 1) * m_service;
            r.spans.add(m_atomic_span, span_kind::service, done, done + longer);
            done += longer;
        }
    }
    account(r, times, done);
    if (commits_later) {
        r.done = done;
        m_scheduler.schedule<&l2_bank::commit>(request, times.begin, *this);
        return true;
    }
    m_scheduler.respond(request, done + m_response_latency);
    return true;
}

void l2_bank::account(line_request& r, const lookup& times, ticks done) {
    const ticks arrived = r.arrival_time();
    queueing += times.begin - arrived + (times.go - times.end);
    if (!span_recorder::on()) return;
    if (times.begin > arrived) r.spans.add(m_queue_span, span_kind::queueing, arrived, times.begin);
    r.spans.add(m_lookup_span, span_kind::service, times.begin, times.end);
    if (times.go > times.end) r.spans.add(m_fetch_span, span_kind::queueing, times.end, times.go);
    r.spans.add(m_response_span, span_kind::service, done, done + m_response_latency);
}

void l2_bank::commit(const line_request_ptr& request) {
    perform(*request, l2_tags::absent);  // a write changes no tag any more
    m_scheduler.respond(request, request->done + m_response_latency);
}

void l2_bank::perform(line_request& r, std::size_t at) {
    const std::uint64_t offset = offset_of(r.line);
    if (errors.any()) errors.reached(r);
    if (m_dram.errors.any() && !m_dram.errors.allows(r)) return;
    switch (r.kind) {
        case access_kind::read:
            ++reads;
            page_table_reads += r.page_table;
            m_memory.read_line(offset, r.data.data());
            r.valid_sectors = r.sectored ? r.needed_sectors : 0xf;
            break;
        case access_kind::write:
            ++writes;
            if (r.committed) break;
            m_memory.write_line(offset, r.data.data(), r.byte_mask);
            m_reservations.written(offset, r.owner);
            r.committed = true;
            break;
        case access_kind::atomic:
            ++atomics;
            if (r.operands) {
                perform_operands(r, [&](unsigned at_byte, std::uint64_t operand) {
                    return m_memory.atomic(offset + at_byte, r.size, r.operation, operand, 0);
                });
            } else {
                ++atomic_operations;
                r.operand = m_memory.atomic(offset + r.offset, r.size, r.operation, r.operand, r.compare);
            }
            m_reservations.written(offset, r.owner);
            m_tags.make_dirty(at);
            break;
        case access_kind::load_reserved:
            ++atomics;
            r.operand = m_memory.load(offset + r.offset, r.size);
            m_reservations.reserve(r.owner, offset);
            break;
        case access_kind::store_conditional:
            ++atomics;
            r.succeeded = m_reservations.test_and_clear(r.owner, offset);
            if (!r.succeeded) break;
            m_memory.store(offset + r.offset, r.size, r.operand);
            m_reservations.written(offset, r.owner);
            m_tags.make_dirty(at);
            break;
        case access_kind::lock: r.succeeded = lock(at); break;
        case access_kind::unlock: break;
    }
}

void l2_bank::flip_cells(const cell_flip_arguments& a) {
    std::vector<std::uint64_t> lines;  // of device memory
    for (std::size_t at = 0; at < m_tags.places(); ++at) {
        if (m_tags.empty(at)) continue;
        const auto offset = offset_of_index(m_tags.index_at(at));
        if (offset < shared_line) lines.push_back(offset);
    }
    if (!lines.empty()) errors.flip(lines[a.line % lines.size()], static_cast<unsigned>(a.word), a.mask());
}

bool l2_bank::lock(std::size_t at) {
    const bool taken = m_tags.lock(at);
    ++(taken ? locks : lock_rejections);
    return taken;
}

/// A line of a queue has been reached.
void l2_bank::watch(const line_request& r, std::size_t at, bool hit) {
    const bool by_processor = (r.owner & 0xffff0000u) == 0xffff0000u;
    if (r.kind == access_kind::read && by_processor) {
        ++queue_reads;
        queue_misses += !hit;
    }
    if (r.kind != access_kind::write || !m_queue_lines.lock || at == l2_tags::absent) return;
    if (by_processor)
        m_tags.unlock(at);
    else if (!m_tags.locked(at))
        lock(at);
}

void l2_bank::unlock(line_request& r, std::uint64_t index) {
    const std::size_t at = m_tags.find(index);
    r.succeeded = at != l2_tags::absent && m_tags.locked(at);
    if (r.succeeded) m_tags.unlock(at);
}

bool l2_bank::locked(std::uint64_t offset) {
    const std::size_t at = m_tags.find(index_of(offset));
    return at != l2_tags::absent && m_tags.locked(at);
}

void l2_bank::reset() {
    m_tags.clear();
    m_free = m_taken_at = 0;
    m_taken = 0;
    m_fetches.clear();
    m_write_backs.clear();
    m_stalled.clear();
    m_stalled_lines.fill(0);
    cancel(m_retry);
    errors.clear();
    model::reset();
}

}  // namespace fabricvp::gpu
