// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/fabric_port.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "gpu/memory/observer.h"

namespace fabricvp::gpu {

namespace {

static_assert(fabric::line_bytes == line_bytes);

/// Bytes of operands that go with a request.
std::uint32_t operand_bytes(const line_request& r) {
    if (r.operands) return line_bytes;
    if (r.kind == access_kind::atomic) return r.operation == atomic_extension::operation::compare_swap ? 16 : 8;
    return r.kind == access_kind::store_conditional ? 8 : 0;
}

}  // namespace

fabric_port::traffic::traffic(const sc_core::sc_object& owner, const std::string& name, const std::string& words)
    : reads(owner, name + ".reads", "1", "reads of lines of " + words + ", page tables apart"),
      writes(owner, name + ".writes", "1", "writes to " + words),
      atomics(owner, name + ".atomics", "1",
              "requests with atomics, load-reserved, store-conditional or locks at " + words),
      page_table_reads(owner, name + ".page_table_reads", "1", "reads of page tables that lie with " + words),
      needing{counter(owner, name + ".reads_needing_16", "1", "reads that need 16 bytes of the line"),
              counter(owner, name + ".reads_needing_32", "1", "reads that need two sectors of 16 bytes"),
              counter(owner, name + ".reads_needing_48", "1", "reads that need three sectors of 16 bytes"),
              counter(owner, name + ".reads_needing_64", "1", "reads that need the whole line")},
      read_latency(owner, name + ".read_latency", "ps",
                   "of a read of " + words + ", from the crossbar and back to it") {}

fabric_port::fabric_port(const sc_core::sc_module_name& name, memory_router& router) : model(name), m_router(router) {}

void fabric_port::attach(fabric::terminal& at) {
    m_terminal = &at;
    at.attach(*this);
    for (unsigned peer = 0; peer < std::min(at.terminals(), fabric::max_devices); ++peer)
        if (peer != at.number && at.reaches(peer)) {
            m_router.set_aperture(GPU_PA_GPU0 + peer, this);
            m_peers |= std::uint64_t{1} << peer;
        }
}

void fabric_port::send(const line_request_ptr& request) {
    const line_request& r = *request;
    const unsigned peer = gpu::where(r.line) - GPU_PA_GPU0;
    if (!m_terminal || !m_terminal->reaches(peer)) return reject(request);
    auto& to = m_terminal->cluster_of(peer) == m_terminal->cluster() ? same_cluster : other_cluster;
    const auto tag = m_waiting.insert(request);
    const auto p = fabric::make_packet();
    p->set_operation(r);
    p->destination = static_cast<std::uint16_t>(peer);
    p->tag = tag;
    p->epoch = m_epoch;
    switch (r.kind) {
        case access_kind::read:
            ++(r.page_table ? to.page_table_reads : to.reads);
            if (!r.page_table && r.needed_sectors)
                ++to.needing[static_cast<unsigned>(__builtin_popcount(r.needed_sectors)) - 1];
            break;
        case access_kind::write:
            ++to.writes;
            p->data = r.data;
            break;
        default:
            ++to.atomics;
            if (r.operands) p->data = r.data;
            break;
    }
    if (span_recorder::on())
        request->spans.mark(&to == &same_cluster ? span_reach::same_cluster : span_reach::other_cluster);
    if (auto* o = memory_observer::attached()) o->sent(m_terminal->number, tag, r, operand_bytes(r), now());
    p->set_request(m_terminal->format, r.page_table, operand_bytes(r));
    m_terminal->send(p);
}

void fabric_port::reject(const line_request_ptr& request) {
    ++rejected;
    if (m_rejected.empty()) schedule(m_respond_rejected, now());
    m_rejected.push_back(request);
}

void fabric_port::respond_rejected() {
    for (const auto& request : std::exchange(m_rejected, {})) {
        request->fault = memory_fault::bus_error;
        if (request->client) request->client->line_done(*request);
    }
}

void fabric_port::packet_received(const fabric::packet_ptr& p) {
    if (fabric::is_response(p->type)) {
        finish(p);
    } else {
        serve(p);
    }
}

/// A peer's request.
void fabric_port::serve(const fabric::packet_ptr& p) {
    if (p->status != fabric::access_status::ok) return respond(*p, memory_fault::poisoned);
    auto request = m_requests.make();
    line_request& r = *request;
    r.set_operation(*p);
    r.page_table = p->type == fabric::packet_class::page_table_request;
    if (r.kind == access_kind::read) {
        ++(r.page_table ? incoming_page_table_reads : incoming_reads);
    } else {
        ++incoming_writes;
        if (r.kind == access_kind::write || r.operands) r.data = p->data;
    }
    if (auto* o = memory_observer::attached()) o->arrived(p->source, p->tag, now());
    r.client = this;
    r.cookie = m_epoch << 32 | m_serving.insert(p);
    r.issued = now();
    m_router.send(request);
}

/// This GPU's L2 has answered a peer's request.
void fabric_port::line_done(line_request& r) {
    if (r.cookie >> 32 != m_epoch) return;
    const auto p = m_serving.remove(static_cast<std::uint32_t>(r.cookie));
    if (auto* o = memory_observer::attached()) o->served(p->source, p->tag, now());
    if (r.kind == access_kind::read || r.operands) {
        p->data = r.data;
        p->valid_sectors = r.valid_sectors;
    } else {
        p->operand = r.operand;
        p->succeeded = r.succeeded;
    }
    if (span_recorder::on()) p->spans.append(r.spans);
    p->spans.resume(now());
    respond(*p, r.fault);
}

void fabric_port::respond(fabric::packet& p, memory_fault fault) {
    p.status = fault == memory_fault::none       ? fabric::access_status::ok
               : fault == memory_fault::poisoned ? fabric::access_status::poisoned
                                                 : fabric::access_status::refused;
    p.make_response(m_terminal->format);
    m_terminal->send(fabric::packet_ptr(&p));
}

/// The response to a request of this GPU's.
void fabric_port::finish(const fabric::packet_ptr& p) {
    if (p->epoch != m_epoch) {
        ++late;
        return;
    }
    if (!m_waiting.contains(p->tag)) {
        ++unexpected;
        return;
    }
    const auto request = m_waiting.remove(p->tag);
    if (auto* o = memory_observer::attached()) o->responded(m_terminal->number, p->tag, now());
    line_request& r = *request;
    if (p->status != fabric::access_status::ok) {
        r.fault = p->status == fabric::access_status::poisoned ? memory_fault::poisoned : memory_fault::bus_error;
    } else if (r.kind == access_kind::read) {
        r.data = p->data;
        r.valid_sectors = p->valid_sectors;
        if (!r.page_table)
            (m_terminal->cluster_of(p->source) == m_terminal->cluster() ? same_cluster : other_cluster)
                .read_latency.add(now() - p->injected_at);
    } else if (r.operands) {
        r.data = p->data;
    } else {
        r.operand = p->operand;
        r.succeeded = p->succeeded;
    }
    if (span_recorder::on()) r.spans.append(p->spans);
    if (r.client) r.client->line_done(r);
}

/// Its own requests are forgotten; peers that wait for this GPU hear that it has failed them.
void fabric_port::reset() {
    m_waiting.clear();
    ++m_epoch;
    m_rejected.clear();
    cancel(m_respond_rejected);
    std::exchange(m_serving, {}).for_each([this](const auto& p) { respond(*p, memory_fault::bus_error); });
    model::reset();
}

}  // namespace fabricvp::gpu
