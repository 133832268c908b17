// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/gpu_memory_port.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

void gpu_memory_port_params::describe(parameter_visitor& v) {
    v.field("outstanding", outstanding, between{1, 4096}, "lines under way at a time");
}

gpu_memory_port::gpu_memory_port(const sc_core::sc_module_name& name, const gpu_memory_port_params& p,
                                 const clock_domain& clock, line_target& memory)
    : model(name), params(p), m_cycle(clock.span(1)), m_memory(memory) {}

gpu_memory_port::transfer_ptr gpu_memory_port::start(std::uint64_t physical, const buffer_slice& data,
                                                     transfer_client& client, std::uint64_t cookie, bool write) {
    auto t = m_pool.make();
    t->physical = physical;
    t->cookie = cookie;
    t->data = data;
    t->bytes = data.length;
    t->client = &client;
    t->write = write;
    t->committed = t->at_service = false;
    enqueue(t);
    return t;
}

void gpu_memory_port::post_write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
                                 std::uint64_t cookie) {
    start(physical, data, client, cookie, true)->at_service = true;
}

void gpu_memory_port::account_write(std::uint64_t physical, std::size_t bytes, transfer_client& client,
                                    std::uint64_t cookie) {
    const auto t = start(physical, {}, client, cookie, true);
    t->committed = true;
    t->bytes = bytes;
    bytes_written += bytes;
}

void gpu_memory_port::enqueue(const transfer_ptr& t) {
    t->sent = 0;
    t->pending = 0;
    t->fault = memory_fault::none;
    t->begin = now();
    ++transfers;
    (t->write ? bytes_written : bytes_read) += t->bytes;
    m_queue.push_back(t);
    m_active.push_back(t);
    if (!m_next.scheduled()) schedule_in(m_next, 0);
}

void gpu_memory_port::advance() {
    if (m_queue.empty() || m_outstanding >= params.outstanding) return;
    const transfer_ptr t = m_queue.front();
    if (!t->write && m_unacknowledged) return;
    send_line(t);
    if (t->sent == t->bytes) m_queue.pop_front();
    if (!m_queue.empty()) schedule_in(m_next, m_cycle);
}

gpu_memory_port::part gpu_memory_port::next_part(const transfer& t) const {
    const std::uint64_t address = t.physical + t.sent;
    const auto first = static_cast<unsigned>(address % line_bytes);
    return {address - first, first,
            static_cast<unsigned>(std::min<std::uint64_t>(line_bytes - first, t.bytes - t.sent))};
}

void gpu_memory_port::send_line(const transfer_ptr& t) {
    const auto [line, first, bytes] = next_part(*t);
    auto r = m_requests.make();
    r->kind = t->write ? access_kind::write : access_kind::read;
    r->committed = t->committed;
    r->at_service = t->at_service;
    r->line = line;
    r->byte_mask = bytes_of(first, bytes);
    r->offset = static_cast<std::uint8_t>(first);
    r->client = this;
    r->context = t.get();
    r->cookie = m_epoch;
    r->issued = now();
    r->operand = t->sent << 7 | bytes;  // where in the buffer the response goes
    if (t->write && !t->committed) std::memcpy(r->data.data() + first, t->data.data() + t->sent, bytes);
    t->sent += bytes;
    ++t->pending;
    ++m_outstanding;
    ++(t->write ? lines_written : lines_read);
    if (r->at_service) {
        ++m_unacknowledged;
        m_posted.push_back(r);
    }
    m_memory.send(r);
}

void gpu_memory_port::commit_posted_writes(
    const std::function<void(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask)>& store) {
    while (!m_posted.empty()) {
        const auto r = m_posted.take_front();
        if (!r->committed) store(r->line, r->data.data(), r->byte_mask);
        r->committed = true;
    }
    for (std::size_t left = m_queue.size(); left; --left) {  // once around
        const transfer_ptr t = m_queue.take_front();
        m_queue.push_back(t);
        if (!t->at_service) continue;
        t->at_service = false;
        t->committed = true;
        const auto sent = t->sent;
        while (t->sent < t->bytes) {
            const auto [line, first, bytes] = next_part(*t);
            std::array<std::uint8_t, line_bytes> data{};
            std::memcpy(data.data() + first, t->data.data() + t->sent, bytes);
            store(line, data.data(), bytes_of(first, bytes));
            t->sent += bytes;
        }
        t->sent = sent;
    }
}

void gpu_memory_port::line_done(line_request& r) {
    if (r.cookie != m_epoch) return;
    const transfer_ptr t(static_cast<transfer*>(r.context));
    --m_outstanding;
    if (r.at_service) {
        --m_unacknowledged;
        while (!m_posted.empty() && m_posted.front()->committed) m_posted.pop_front();
    }
    if (r.fault != memory_fault::none) {
        if (t->fault == memory_fault::none) t->fault = r.fault;
    } else if (!t->write) {
        std::memcpy(t->data.data() + (r.operand >> 7), r.data.data() + r.offset, r.operand & 0x7f);
    }
    if (!m_queue.empty() && !m_next.scheduled()) schedule_in(m_next, 0);
    if (--t->pending || t->sent < t->bytes) return;
    m_active.erase(std::find(m_active.begin(), m_active.end(), t));
    latency.add(now() - t->begin);
    faults += t->fault != memory_fault::none;
    t->client->transfer_done(t->cookie, t->fault);
}

void gpu_memory_port::reset() {
    cancel(m_next);
    m_queue.clear();
    m_active.clear();
    m_posted.clear();
    m_outstanding = m_unacknowledged = 0;
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu
