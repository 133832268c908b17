// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/bus_port.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::gpu {

bus_port::bus_port(const sc_core::sc_module_name& name, ticks bus_latency, line_request_scheduler& scheduler)
    : model(name), m_bus_latency(bus_latency), m_scheduler(scheduler) {
    bus.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    m_self.initiator = this;
}

void bus_port::send(const line_request_ptr& request) {
    if (span_recorder::on()) request->spans.mark(span_reach::host);
    m_scheduler.schedule<&bus_port::arrive>(request, now() + m_bus_latency, *this);
}

bus_port::bus_access& bus_port::allocate_access() {
    for (auto& v : m_bus_accesses)
        if (!v->open) return *v;
    m_bus_accesses.push_back(std::make_unique<bus_access>());
    return *m_bus_accesses.back();
}

void bus_port::arrive(const line_request_ptr& request) {
    bus_access& v = allocate_access();
    v.open = true;
    v.request = request;
    v.left = request->kind == access_kind::write ? request->byte_mask : 0;
    begin(v, 0);
}

/// The next access. \returns false if the bus has none for what is asked
bool bus_port::prepare(bus_access& v) {
    const line_request& r = *v.request;
    auto& p = *v.payload;
    unsigned bytes = 0;
    switch (r.kind) {
        case access_kind::read: {
            ++reads;
            const auto sectors = r.needed_sectors ? r.needed_sectors : (1u << line_sectors) - 1;
            v.first = r.exact ? static_cast<unsigned>(__builtin_ctzll(r.byte_mask))
                              : static_cast<unsigned>(__builtin_ctz(sectors)) * sector_bytes;
            bytes = r.exact ? static_cast<unsigned>(__builtin_popcountll(r.byte_mask))
                            : (32u - static_cast<unsigned>(__builtin_clz(sectors))) * sector_bytes - v.first;
            p.set_command(tlm::TLM_READ_COMMAND);
            break;
        }
        case access_kind::write: {
            ++writes;
            v.first = static_cast<unsigned>(__builtin_ctzll(v.left));
            const auto rest = ~(v.left >> v.first);
            bytes = rest ? static_cast<unsigned>(__builtin_ctzll(rest)) : line_bytes;
            std::memcpy(v.data.data(), r.data.data() + v.first, bytes);
            v.left = v.first + bytes >= line_bytes ? 0 : v.left & (~std::uint64_t{0} << (v.first + bytes));
            p.set_command(tlm::TLM_WRITE_COMMAND);
            break;
        }
        case access_kind::atomic:
            ++atomics;
            v.first = r.offset;
            bytes = r.size;
            std::memcpy(v.data.data(), &r.operand, bytes);
            std::memcpy(v.data.data() + bytes, &r.compare, bytes);
            v.atomic = {};
            v.atomic.op = r.operation;
            p.set_command(tlm::TLM_IGNORE_COMMAND);
            p.set_extension(&v.atomic);
            break;
        default: return false;  // reservations and locks are for memory
    }
    p.set_address(offset_of(r.line) + v.first);
    p.set_data_ptr(v.data.data());
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return true;
}

void bus_port::begin(bus_access& v, ticks delay) {
    v.payload = allocate_payload();
    v.payload->acquire();
    v.payload->set_extension(&m_self);
    if (!prepare(v)) {
        v.left = 0;
        v.payload->set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return access_done(v, delay);
    }
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    auto time = sc_core::sc_time::from_value(delay);
    if (bus->nb_transport_fw(*v.payload, phase, time) == tlm::TLM_COMPLETED) access_done(v, time.value());
}

tlm::tlm_sync_enum bus_port::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const auto at = std::find_if(m_bus_accesses.begin(), m_bus_accesses.end(),
                                 [&](const auto& v) { return v->open && v->payload == &payload; });
    if (at != m_bus_accesses.end()) access_done(**at, delay.value());
    return tlm::TLM_COMPLETED;
}

void bus_port::access_done(bus_access& v, ticks delay) {
    const bool ok = v.payload->get_response_status() == tlm::TLM_OK_RESPONSE &&
                    (v.payload->get_command() != tlm::TLM_IGNORE_COMMAND || v.atomic.performed);
    const auto bytes = v.payload->get_data_length();
    v.payload->release();
    v.payload = nullptr;
    if (v.request && ok && v.left) return begin(v, delay);
    v.open = false;
    const auto request = std::move(v.request);
    v.request = nullptr;
    if (!request) return;
    line_request& r = *request;
    r.fault = ok ? memory_fault::none : memory_fault::bus_error;
    if (!ok) ++rejected;
    if (ok && r.kind == access_kind::read) {
        std::memcpy(r.data.data() + v.first, v.data.data(), bytes);
        r.valid_sectors = 0;
        for (unsigned s = v.first / sector_bytes; s * sector_bytes < v.first + bytes; ++s)
            r.valid_sectors |= static_cast<std::uint8_t>(1u << s);
    } else if (ok && r.kind == access_kind::atomic) {
        r.operand = 0;
        std::memcpy(&r.operand, v.data.data(), bytes);
    }
    m_scheduler.respond(request, now() + delay + m_bus_latency);
}

void bus_port::reset() {
    for (auto& v : m_bus_accesses) {
        v->request = nullptr;
        v->left = 0;
    }
    model::reset();
}

}  // namespace fabricvp::gpu
