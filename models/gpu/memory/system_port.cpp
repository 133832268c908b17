// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/system_port.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::gpu {

namespace {
memory_fault fault_of(pcie::request_status status) {
    switch (status) {
        case pcie::request_status::ok: return memory_fault::none;
        case pcie::request_status::poisoned: return memory_fault::poisoned;
        default: return memory_fault::bus_error;
    }
}
}  // namespace

void system_port_params::describe(parameter_visitor& v) {
    v.choice("release", release,
             "when a release of system scope waits for a read of host memory, which follows the writes there: "
             "behind_writes, if lanes have written there since the last such read; always; or never");
}

system_port::system_port(const sc_core::sc_module_name& name, const system_port_params& p, memory_router& router,
                         pcie::requester& dma, std::function<bool()> link_is_free)
    : model(name), params(p), m_router(router), m_dma(dma), m_link_is_free(std::move(link_is_free)) {}

void system_port::reset() {
    m_lines.clear();
    m_line_next = true;
    m_reads.clear();
    m_writes.clear();
    m_written.clear();
    cancel(m_respond);
    flush_page = 0;
    m_posted = m_performed = 0;
    m_arriving.clear();
    m_ending.clear();
    cancel(m_begin_flushes);
    cancel(m_end_flushes);
    model::reset();
}

void system_port::send(const line_request_ptr& request) {
    if (span_recorder::on()) request->spans.mark(span_reach::host);
    m_lines.push_back({request, now()});
    advance();
}

void system_port::start(const line_request_ptr& request) {
    switch (request->kind) {
        case access_kind::read: return read(request);
        case access_kind::write: return write(request);
        case access_kind::atomic: return atomic(request);
        default:
            ++rejected;
            return respond_to(request, memory_fault::bus_error);  // no reservations or locks across PCIe
    }
}

void system_port::read(const line_request_ptr& request) {
    ++reads;
    const unsigned first =
        static_cast<unsigned>(__builtin_ctz(request->needed_sectors | 1u << line_sectors)) % line_sectors;
    const unsigned last = request->needed_sectors ? 31u - static_cast<unsigned>(__builtin_clz(request->needed_sectors))
                                                  : line_sectors - 1;
    auto from = first * sector_bytes, bytes = (last + 1 - first) * sector_bytes;
    if (request->exact) {
        from = static_cast<unsigned>(__builtin_ctzll(request->byte_mask));
        bytes = static_cast<unsigned>(__builtin_popcountll(request->byte_mask));  // one lane's, so they lie together
    }
    const auto slice = allocate_slice(bytes);
    const ticks sent = now();
    m_dma.read(offset_of(request->line) + from, slice,
               [this, sent, request, slice, from, first, last](pcie::request_status status) {
                   if (status == pcie::request_status::ok) {
                       std::memcpy(request->data.data() + from, slice.data(), slice.length);
                       request->valid_sectors = 0;
                       for (unsigned s = first; s <= last; ++s)
                           request->valid_sectors |= static_cast<std::uint8_t>(1u << s);
                   }
                   request->spans.add(m_trip_span, span_kind::service, sent, now());
                   read_latency.add(now() - sent + 2 * m_router.system_time());
                   respond_to(request, fault_of(status));
               });
}

void system_port::write(const line_request_ptr& request) {
    ++writes;
    m_posted += is_lane(request->owner);
    for (auto mask = request->byte_mask; mask;) {  // each run of neighbouring bytes is a request of its own
        const auto first = static_cast<unsigned>(__builtin_ctzll(mask));
        const auto rest = ~(mask >> first);
        const auto bytes = rest ? static_cast<unsigned>(__builtin_ctzll(rest)) : 64u;
        const auto slice = allocate_slice(bytes);
        std::memcpy(slice.data(), request->data.data() + first, bytes);
        m_dma.write(offset_of(request->line) + first, slice);
        mask = first + bytes >= 64 ? 0 : mask & (~std::uint64_t{0} << (first + bytes));
    }
    respond_to(request, memory_fault::none);
}

void system_port::atomic(const line_request_ptr& request) {
    using operation = atomic_extension::operation;
    pcie::tlp_kind kind;
    switch (request->operation) {
        case operation::add: kind = pcie::tlp_kind::fetch_add; break;
        case operation::swap: kind = pcie::tlp_kind::swap; break;
        case operation::compare_swap: kind = pcie::tlp_kind::compare_swap; break;
        default: ++rejected; return respond_to(request, memory_fault::bus_error);
    }
    ++atomics;
    const auto old = allocate_slice(request->size);
    const ticks sent = now();
    m_dma.atomic(kind, offset_of(request->line) + request->offset, request->size, request->operand, request->compare,
                 old, [this, sent, request, old](pcie::request_status status) {
                     if (status == pcie::request_status::ok) {
                         request->operand = 0;
                         std::memcpy(&request->operand, old.data(), old.length);
                     }
                     request->spans.add(m_trip_span, span_kind::service, sent, now());
                     atomic_latency.add(now() - sent + 2 * m_router.system_time());
                     respond_to(request, fault_of(status));
                 });
}

void system_port::read(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
                       std::uint64_t cookie) {
    bytes_read += data.length;
    const auto place = m_reads.insert({offset_of(physical), data, &client, cookie});
    m_dma.read(offset_of(physical), data,
               [this, place](pcie::request_status status) { read_done(place, fault_of(status)); });
}

void system_port::read_done(std::uint32_t place, memory_fault fault) {
    const auto t = m_reads.remove(place);
    t.client->transfer_done(t.cookie, fault);
}

void system_port::write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
                        std::uint64_t cookie) {
    bytes_written += data.length;
    m_writes.push_back({offset_of(physical), data, &client, cookie});
    advance();
}

bool system_port::is_write(const waiting_line& w) { return w.request && w.request->kind == access_kind::write; }

void system_port::advance() {
    if (m_advancing) return;
    m_advancing = true;
    for (;;) {
        while (!m_lines.empty() && !is_write(m_lines.front())) {
            const auto next = m_lines.take_front();
            if (next.request)
                start(next.request);
            else
                start(next.flush);
        }
        if ((m_lines.empty() && m_writes.empty()) || !m_link_is_free()) break;
        if (m_writes.empty() || (m_line_next && !m_lines.empty())) {
            m_line_next = false;
            write_next_line();
        } else {
            m_line_next = true;
            write_next_part();
        }
    }
    m_advancing = false;
}

void system_port::write_next_line() {
    const auto next = m_lines.take_front();
    write_queueing.add(now() - next.since);
    if (now() > next.since) next.request->spans.add(m_queue_span, span_kind::queueing, next.since, now());
    start(next.request);
}

void system_port::write_next_part() {
    auto& t = m_writes.front();
    const auto bytes = std::min<std::uint64_t>(
        {t.data.length, pcie::payload_room(t.address, m_dma.max_payload), 4096 - t.address % 4096});
    m_dma.write(t.address, t.data.part(0, bytes));
    t.address += bytes;
    t.data.offset += bytes;
    t.data.length -= bytes;
    if (t.data.length) return;
    if (!m_respond.scheduled()) schedule(m_respond, now());
    m_written.push_back(std::move(t));
    m_writes.pop_front();
}

void system_port::respond_to(const line_request_ptr& request, memory_fault fault) {
    request->fault = fault;
    m_router.respond_from_system(request);
}

void system_port::respond() {
    for (auto count = m_written.size(); count; --count) {
        const auto t = std::move(m_written.front());
        m_written.pop_front();
        t.client->transfer_done(t.cookie, memory_fault::none);
    }
    if (!m_written.empty() && !m_respond.scheduled()) schedule(m_respond, now());
}

bool system_port::flush(system_fence_client& client, std::uint64_t cookie) {
    if (!flush_page || params.release == system_release::never ||
        (params.release == system_release::behind_writes && m_performed == m_posted))
        return true;
    m_arriving.push_back({now() + m_router.system_time(), {&client, cookie, now()}});
    if (!m_begin_flushes.scheduled()) schedule(m_begin_flushes, m_arriving.front().when);
    return false;
}

void system_port::begin_flushes() {
    while (!m_arriving.empty() && m_arriving.front().when <= now())
        m_lines.push_back({nullptr, now(), m_arriving.take_front().flush});
    if (!m_arriving.empty()) schedule(m_begin_flushes, m_arriving.front().when);
    advance();
}

void system_port::start(const pending_flush& f) {
    ++flushes;
    const auto word = allocate_slice(4);
    m_dma.read(flush_page, word, [this, f, word, writes = m_posted](pcie::request_status) { end(f, writes); });
}

/// \param writes that had been handed over when its read left
void system_port::end(const pending_flush& f, std::uint64_t writes) {
    m_performed = std::max(m_performed, writes);
    m_ending.push_back({now() + m_router.system_time(), f});
    if (!m_end_flushes.scheduled()) schedule(m_end_flushes, m_ending.front().when);
}

void system_port::end_flushes() {
    while (!m_ending.empty() && m_ending.front().when <= now()) {
        const auto f = m_ending.take_front().flush;
        flush_latency.add(now() - f.begin);
        f.client->system_flushed(f.cookie);
    }
    if (!m_ending.empty() && !m_end_flushes.scheduled()) schedule(m_end_flushes, m_ending.front().when);
}

}  // namespace fabricvp::gpu
