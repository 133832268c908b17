// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/memory_router.h"

namespace fabricvp::gpu {

void memory_router_params::describe(parameter_visitor& v) {
    v.field("request_latency", request_latency, between{0, 10000},
            "from a cache that misses to a bank of L2, in GPU cycles");
    v.field("response_latency", response_latency, between{0, 10000}, "from a bank of L2 back, in GPU cycles");
    v.field("system_latency", system_latency, between{0, 10000},
            "from a cache that misses, or the command processor, to the PCIe port, and the same back, in GPU cycles");
}

memory_router::memory_router(const sc_core::sc_module_name& name, const memory_router_params& p, unsigned where,
                             const memory_router_wiring& to)
    : model(name),
      params(p),
      m_where(where),
      m_request_latency(to.clock.span(p.request_latency)),
      m_response_latency(to.clock.span(p.response_latency)),
      m_system_latency(to.clock.span(p.system_latency)),
      m_l2(to.l2),
      m_memory(to.memory),
      m_scheduler(to.scheduler) {}

void memory_router::send_at(const line_request_ptr& request, ticks departure) {
    ++requests;
    line_request& r = *request;
    if (is_local(r.line)) {
        const std::uint64_t offset = offset_of(r.line);
        if (!m_memory.bytes.contains(offset, line_bytes)) return reject(request, memory_fault::bus_error, departure);
        if (r.kind == access_kind::read) ++(r.page_table ? page_table_reads : reads);
        m_memory.prefetch(offset);
        r.spans.add(m_span, span_kind::service, departure, departure + m_request_latency);
        if (span_recorder::on()) r.spans.mark(span_reach::own_memory);
        l2_bank& bank = m_l2.bank_of(offset);
        bank.prefetch(offset);
        return m_scheduler.schedule<&l2_bank::arrive>(request, departure + m_request_latency, bank);
    }
    if (m_shared && m_shared->holds(r.line)) {
        r.spans.add(m_span, span_kind::service, departure, departure + m_request_latency);
        if (span_recorder::on()) r.spans.mark(span_reach::host);
        return m_scheduler.schedule<&l2_bank::arrive>(request, departure + m_request_latency,
                                                      m_l2.bank_of(offset_of(r.line)));
    }
    ++remote;
    const auto where = gpu::where(r.line);  // of a command processor's address it has 16 bits
    if (where >= m_apertures.size() || !m_apertures[where]) return reject(request, memory_fault::bus_error, departure);
    if (where == GPU_PA_SYSTEM && m_fence) {
        r.spans.add(m_span, span_kind::service, departure, departure + m_system_latency);
        departure += m_system_latency;
    }
    if (departure > now()) return m_scheduler.schedule<&memory_router::leave>(request, departure, *this);
    leave(request);
}

bool memory_router::holds(std::uint64_t physical) const {
    return is_local(physical) &&
           m_memory.bytes.contains(offset_of(physical & ~std::uint64_t{line_bytes - 1}), line_bytes);
}

void memory_router::leave(const line_request_ptr& request) { m_apertures[gpu::where(request->line)]->send(request); }

void memory_router::reject(const line_request_ptr& request, memory_fault fault, ticks departure) {
    ++errors;
    request->fault = fault;
    m_scheduler.respond(request, departure + m_request_latency + m_response_latency);
}

void memory_router::reset() {
    m_scheduler.cancel();
    model::reset();
}

}  // namespace fabricvp::gpu
