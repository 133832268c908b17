// SPDX-License-Identifier: Apache-2.0
#include "pcie/root_complex.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/log.h"
#include "pcie/completion.h"
#include "pcie/configuration_access.h"

namespace fabricvp::pcie {

/// A device's request on its way through the host's bus.
struct root_complex::memory_access {
    tlp_ptr request;
    unsigned ingress = 0;
    bus_payload* payload = nullptr;
    atomic_extension atomic;
    initiator_extension initiator;
    buffer_slice data;

    ~memory_access() {
        if (!payload) return;
        payload->clear_extension(&atomic);
        payload->clear_extension(&initiator);
        payload->release();
    }
};

void root_complex_params::describe(parameter_visitor& v) {
    v.group("port", port, "every root port");
    v.group("requester", requester, "requests of harts");
    v.field("peer_to_peer_payload", peer_to_peer_payload, between{16, 4096},
            "largest payload of a write from one root port to another");
    v.field("completion_boundary", completion_boundary, between{64, 128}, "completions end on multiples of these bytes");
    v.field("configuration_latency", configuration_latency, between{0, 1e9}, "time to answer a configuration request itself");
}

root_complex::root_complex(const sc_core::sc_module_name& name, const root_complex_params& p)
    : router(name),
      params(p),
      host_requests("host_requests", p.requester, [this](const tlp_ptr& t) { inject(t); }),
      m_intx_counts(4 * 32) {
    memory.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    for (unsigned i = 0; i < p.root_ports; ++i) {
        add_port(fmt::format("root_port{}", i).c_str(), p.port);
        express_settings s;
        s.type = port_type::root_port;
        s.generation = static_cast<unsigned>(p.port.generation);
        s.width = static_cast<unsigned>(p.port.width);
        s.max_payload = static_cast<unsigned>(p.port.max_payload);
        s.port_number = i;
        s.slot_number = i;
        s.atomic_routing = s.ari_forwarding = s.hot_plug_surprise = true;
        bridges.push_back(std::make_unique<bridge>(fabricvp_vendor, std::uint16_t{0x1052}, s));
    }
    host_requests.id = 0;
}

root_complex::~root_complex() = default;

unsigned root_complex::route_by_bus(unsigned bus) const {
    for (unsigned i = 0; i < bridges.size(); ++i)
        if (bridges[i]->has_bus(bus)) return i;
    return here;
}

unsigned root_complex::route_by_address(std::uint64_t address, unsigned ingress) const {
    for (unsigned i = 0; i < bridges.size(); ++i)
        if (bridges[i]->has_address(address)) return i == ingress ? here : i;
    return here;
}

unsigned root_complex::route(const tlp& t, unsigned ingress) {
    switch (t.kind) {
        case tlp_kind::completion:
        case tlp_kind::completion_with_data: return t.requester == host_requests.id ? here : route_by_bus(t.requester >> 8);
        case tlp_kind::configuration_read:
        case tlp_kind::configuration_write: return ingress < ports() ? here : route_by_bus(t.address >> 24 & 0xff);
        case tlp_kind::message: return here;
        default: return route_by_address(t.address, ingress);
    }
}

void root_complex::forward(const tlp_ptr& t, unsigned ingress, unsigned egress) {
    if (t->type_1 && (t->address >> 24 & 0xff) == bridges[egress]->secondary()) t->type_1 = false;
    if (ingress >= ports()) {
        enqueue(t, ingress, egress, t);
        return;
    }
    if (!t->is_completion() && !bridges[ingress]->bus_master()) {
        at(ingress).release(*t, now());
        refuse(*t, ingress, completion_status::unsupported_request);
        return;
    }
    ++peer_to_peer;
    const auto limit = static_cast<std::uint32_t>(params.peer_to_peer_payload);
    if (t->kind != tlp_kind::memory_write || t->bytes <= limit) {
        enqueue(t, ingress, egress, t);
        return;
    }
    for (std::uint32_t at = 0; at < t->bytes;) {
        const auto address = t->address + at;
        const auto bytes = std::min<std::uint64_t>(t->bytes - at, limit - address % limit);
        auto piece = make_tlp();
        static_cast<tlp_fields&>(*piece) = *t;
        piece->address = address;
        piece->bytes = static_cast<std::uint32_t>(bytes);
        piece->data = t->data.part(at, bytes);
        at += static_cast<std::uint32_t>(bytes);
        enqueue(piece, ingress, egress, at == t->bytes ? t : nullptr);
    }
}

void root_complex::accept(const tlp_ptr& t, unsigned ingress) {
    if (t->is_completion()) {
        if (t->requester != host_requests.id || !host_requests.complete(*t))
            bridges[std::min<std::size_t>(ingress, bridges.size() - 1)]->report_uncorrectable(aer::unexpected_completion);
    } else if (ingress >= ports()) {  // of a hart, and nothing behind the root ports claims it
        if (t->kind == tlp_kind::configuration_read || t->kind == tlp_kind::configuration_write) {
            const auto id = static_cast<std::uint16_t>(t->address >> 16);
            const unsigned device = id >> 3 & 0x1f;
            const bool own = id >> 8 == 0 && !(id & 7) && device >= 1 && device <= bridges.size();
            send_later(own ? access_configuration(bridges[device - 1]->space, *t, id)
                           : make_completion(*t, id, completion_status::unsupported_request),
                       now() + params.configuration_latency);
        } else if (t->flow() == flow_class::non_posted) {
            send_later(make_completion(*t, 0, completion_status::unsupported_request), now() + params.configuration_latency);
        }
    } else if (t->kind == tlp_kind::message) {
        interrupt_message(*t, ingress);
    } else if (!bridges[ingress]->bus_master()) {
        refuse(*t, ingress, completion_status::unsupported_request);
    } else {
        memory_request(t, ingress);
    }
}

void root_complex::refuse(const tlp& t, unsigned ingress, completion_status status) {
    ++unsupported;
    log(log_level::warning, *this, "root port {}: {:#x} of {:04x} is refused", ingress, t.address, t.requester);
    bridges[ingress]->report_uncorrectable(status == completion_status::completer_abort ? aer::completer_abort
                                                                                        : aer::unsupported_request);
    if (t.flow() == flow_class::non_posted) inject(make_completion(t, 0, status));
}

void root_complex::memory_request(const tlp_ptr& t, unsigned ingress) {
    if (t->poisoned) {
        bridges[ingress]->report_uncorrectable(aer::poisoned);
        if (t->flow() == flow_class::posted) return;
    }
    auto a = std::make_unique<memory_access>();
    a->request = t;
    a->ingress = ingress;
    a->payload = allocate_payload();
    a->payload->acquire();
    a->initiator.initiator = this;
    a->payload->set_extension(&a->initiator);
    a->payload->set_address(t->address);
    if (t->kind == tlp_kind::memory_write) {
        a->data = t->data;
        a->payload->set_command(tlm::TLM_WRITE_COMMAND);
    } else if (t->kind == tlp_kind::memory_read) {
        a->data = allocate_slice(t->bytes);
        a->payload->set_command(tlm::TLM_READ_COMMAND);
    } else {
        const bool compare = t->kind == tlp_kind::compare_swap;
        const auto size = compare ? t->bytes / 2 : t->bytes;
        // The bus wants the operand first and the compare operand behind it, PCI Express the other way round.
        a->data = allocate_slice(2 * size);
        std::memcpy(a->data.data(), t->data.data() + (compare ? size : 0), size);
        if (compare) std::memcpy(a->data.data() + size, t->data.data(), size);
        a->atomic.op = compare ? atomic_extension::operation::compare_swap
                               : t->kind == tlp_kind::swap ? atomic_extension::operation::swap : atomic_extension::operation::add;
        a->payload->set_extension(&a->atomic);
        a->payload->set_command(tlm::TLM_IGNORE_COMMAND);
        a->data.length = size;
    }
    a->payload->set_data_ptr(a->data.data());
    a->payload->set_data_length(static_cast<unsigned>(a->data.length));
    a->payload->set_streaming_width(static_cast<unsigned>(a->data.length));
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (memory->nb_transport_fw(*a->payload, phase, delay) == tlm::TLM_COMPLETED) memory_done(*a, now() + delay.value());
    else m_accesses.push_back(std::move(a));
}

tlm::tlm_sync_enum root_complex::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const auto at = std::find_if(m_accesses.begin(), m_accesses.end(), [&](const auto& a) { return a->payload == &payload; });
    if (at != m_accesses.end()) {
        const auto a = std::move(*at);
        m_accesses.erase(at);
        memory_done(*a, now() + delay.value());
    }
    return tlm::TLM_COMPLETED;
}

void root_complex::memory_done(const memory_access& a, ticks when) {
    const auto& t = *a.request;
    const bool atomic = t.kind != tlp_kind::memory_read && t.kind != tlp_kind::memory_write;
    if (!a.payload->is_response_ok() || (atomic && !a.atomic.performed)) {
        refuse(t, a.ingress, atomic && a.payload->is_response_ok() ? completion_status::completer_abort
                                                                   : completion_status::unsupported_request);
        return;
    }
    if (t.kind == tlp_kind::memory_write) return;
    const auto hold = [&](const tlp_ptr& c) { send_later(c, when); };
    if (atomic) hold(make_data_completion(t, 0, a.data));
    else make_read_completions(t, 0, a.data, static_cast<std::uint32_t>(params.port.max_payload),
                               static_cast<std::uint32_t>(params.completion_boundary), hold);
}

void root_complex::send_later(const tlp_ptr& completion, ticks when) {
    m_due.emplace(when, completion);
    if (!m_send.scheduled() || m_send.when() > when) schedule(m_send, std::max(when, now()));
}

void root_complex::send_due() {
    while (!m_due.empty() && m_due.begin()->first <= now()) {
        const auto t = m_due.begin()->second;
        m_due.erase(m_due.begin());
        inject(t);
    }
    if (!m_due.empty()) schedule(m_send, m_due.begin()->first);
}

void root_complex::interrupt_message(const tlp& t, unsigned ingress) {
    const auto code = static_cast<unsigned>(t.code);
    if (code < 0x20 || code > 0x27) return;
    // Bridges swizzle by device number on the way; the requester's device and the root port's give the line.
    const unsigned pin = code & 3, line = (pin + (t.requester >> 3 & 0x1f) + ingress + 1) % 4;
    const bool level = code < 0x24;
    auto& count = m_intx_counts[line];
    if (level) ++count;
    else if (count > 0) --count;
    intx[line].drive(count > 0);
}

void root_complex::host_read(std::uint64_t address, const buffer_slice& into, requester::done finished) {
    host_requests.read(address, into, [this, finished = std::move(finished)](request_status s) {
        if (s != request_status::ok) ++host_errors;
        finished(s);
    });
}

void root_complex::host_write(std::uint64_t address, const buffer_slice& from) { host_requests.write(address, from); }

void root_complex::host_configuration(std::uint64_t ecam_offset, bool write, const buffer_slice& data, requester::done finished) {
    host_requests.configuration(ecam_offset, write, data, std::move(finished));
}

unsigned root_complex::debug_configuration(std::uint64_t ecam_offset, void* to) {
    auto t = make_tlp();
    t->kind = tlp_kind::configuration_read;
    t->address = (ecam_offset >> 12) << 16 | (ecam_offset & 0xffc);
    t->data = allocate_slice(4);
    const auto done = debug_configuration(*t);
    std::memcpy(to, t->data.data(), done);
    return done;
}

unsigned root_complex::debug_configure(std::uint64_t ecam_offset, std::uint32_t value) {
    auto t = make_tlp();
    t->kind = tlp_kind::configuration_write;
    t->address = (ecam_offset >> 12) << 16 | (ecam_offset & 0xffc);
    t->data = allocate_slice(4);
    std::memcpy(t->data.data(), &value, 4);
    return debug_configuration(*t);
}

unsigned root_complex::debug_configuration(tlp& t) {
    const unsigned bus = t.address >> 24 & 0xff, device = t.address >> 19 & 0x1f, function = t.address >> 16 & 7;
    if (bus == 0)
        return function || device < 1 || device > bridges.size() ? 0 : debug_access(bridges[device - 1]->space, t);
    const auto egress = route_by_bus(bus);
    if (egress == here) return 0;
    t.type_1 = bus != bridges[egress]->secondary();
    return at(egress).debug(t);
}

void root_complex::reset() {
    for (auto& b : bridges) b->space.reset(true);
    m_accesses.clear();
    m_due.clear();
    cancel(m_send);
    std::fill(m_intx_counts.begin(), m_intx_counts.end(), 0);
    for (auto& line : intx) line.drive(false);
    router::reset();
}

}  // namespace fabricvp::pcie
