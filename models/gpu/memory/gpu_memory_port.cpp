// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/gpu_memory_port.h"

#include <algorithm>
#include <cstring>

#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

void gpu_memory_port_params::describe(parameter_visitor& v) {
    v.field("outstanding", outstanding, between{1, 4096}, "lines under way at a time");
}

gpu_memory_port::gpu_memory_port(const sc_core::sc_module_name& name, const gpu_memory_port_params& p, const clock_domain& clock,
                                 line_target& memory)
    : model(name), params(p), m_cycle(clock.span(1)), m_memory(memory) {}

void gpu_memory_port::start(std::uint64_t physical, const buffer_slice& data, transfer_client& client, std::uint64_t cookie, bool write) {
    auto t = m_pool.make();
    t->physical = physical;
    t->cookie = cookie;
    t->data = data;
    t->bytes = data.length;
    t->client = &client;
    t->write = write;
    t->committed = false;
    enqueue(t);
}

void gpu_memory_port::account_write(std::uint64_t physical, std::size_t bytes, transfer_client& client, std::uint64_t cookie) {
    auto t = m_pool.make();
    t->physical = physical;
    t->cookie = cookie;
    t->bytes = bytes;
    t->client = &client;
    t->write = t->committed = true;
    enqueue(t);
}

void gpu_memory_port::enqueue(const transfer_ptr& t) {
    t->sent = 0;
    t->pending = 0;
    t->fault = memory_fault::none;
    t->begin = now();
    ++transfers;
    (t->write ? bytes_written : bytes_read) += t->bytes;
    m_queue.push(t);
    m_active.push_back(t);
    if (!m_next.scheduled()) schedule_in(m_next, 0);
}

void gpu_memory_port::advance() {
    if (m_queue.empty() || m_outstanding >= params.outstanding) return;
    const transfer_ptr t = m_queue.front();
    send_line(t);
    if (t->sent == t->bytes) m_queue.pop();
    if (!m_queue.empty()) schedule_in(m_next, m_cycle);
}

void gpu_memory_port::send_line(const transfer_ptr& t) {
    const std::uint64_t address = t->physical + t->sent;
    const auto first = static_cast<unsigned>(address % line_bytes);
    const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(line_bytes - first, t->bytes - t->sent));
    auto r = m_requests.make();
    r->kind = t->write ? access_kind::write : access_kind::read;
    r->committed = t->committed;
    r->line = address - first;
    r->owner = 0;
    r->byte_mask = bytes_of(first, bytes);
    r->offset = static_cast<std::uint8_t>(first);
    r->client = this;
    r->context = t.get();
    r->cookie = m_epoch;
    r->issued = now();
    r->operand = t->sent << 7 | bytes;  // where in the buffer the answer goes
    if (t->write && !t->committed) std::memcpy(r->data.data() + first, t->data.data() + t->sent, bytes);
    t->sent += bytes;
    ++t->pending;
    ++m_outstanding;
    ++(t->write ? lines_written : lines_read);
    m_memory.send(r);
}

void gpu_memory_port::line_done(line_request& r) {
    if (r.cookie != m_epoch) return;
    const transfer_ptr t(static_cast<transfer*>(r.context));
    --m_outstanding;
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
    m_outstanding = 0;
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu
