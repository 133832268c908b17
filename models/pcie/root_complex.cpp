// SPDX-License-Identifier: Apache-2.0
#include "pcie/root_complex.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/log.h"
#include "pcie/completion.h"
#include "pcie/configuration_access.h"

namespace fabricvp::pcie {

/// A configuration access of a hart, until a function that was not ready has answered.
struct root_complex::configuration_job {
    std::uint64_t offset;
    bool write;
    buffer_slice data;
    requester::done finished;
    ticks deadline;
};

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
    v.group("root_port", root_port, "every root port");
    v.group("host_requests", host_requests, "requests of harts");
    v.field("peer_to_peer_payload", peer_to_peer_payload, between{16, 4096},
            "largest payload of a write from one root port to another");
    v.field("completion_boundary", completion_boundary, between{64, 128},
            "completions end on multiples of these bytes: 64 or 128");
    v.field(
        "read_latency", read_latency, between{0, 1e9},
        "time from a device's read or AtomicOp at a root port until it is performed on the host's bus; after earlier "
        "writes of the root port");
    v.field("completion_latency", completion_latency, between{0, 1e9},
            "time from the response of the host's bus until the completion may leave");
    v.field("write_latency", write_latency, between{0, 1e9},
            "time from a device's write at a root port until it is performed, and seen by harts");
    v.field("configuration_latency", configuration_latency, between{0, 1e9},
            "time to answer a configuration request itself");
    v.field("configuration_retry_interval", configuration_retry_interval, between{1e3, 1e12},
            "time after which a request is issued again that a function answered with a retry status");
    v.field("configuration_retry_limit", configuration_retry_limit, between{0, 1e14},
            "time after which that ends with an error");
    v.field("hot_plug", hot_plug,
            "devices below may be pulled out and plugged in: their going is an event, not an error");
}

root_complex::root_complex(const sc_core::sc_module_name& name, const root_complex_params& p)
    : router(name),
      params(p),
      host_requests("host_requests", p.host_requests, [this](const tlp_ptr& t) { inject(t); }),
      m_last_write(p.root_ports),
      m_intx_counts(4 * 32) {
    host_requests.on_timeout = [this](tlp_kind kind, std::uint64_t address) {
        const auto egress =
            is_configuration(kind) ? route_by_bus(address >> 24 & 0xff) : route_by_address(address, ports());
        if (egress != here) bridges[egress]->errors.uncorrectable(aer::completion_timeout);
    };
    memory.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    for (unsigned i = 0; i < p.root_ports; ++i) {
        add_port(fmt::format("root_port{}", i).c_str(), p.root_port);
        express_settings s;
        s.type = port_type::root_port;
        s.generation = static_cast<unsigned>(p.root_port.generation);
        s.width = static_cast<unsigned>(p.root_port.width);
        s.max_payload = static_cast<unsigned>(p.root_port.max_payload);
        s.completion_boundary = static_cast<unsigned>(p.completion_boundary);
        s.port_number = i;
        s.slot_number = i;
        s.atomic_routing = s.ari_forwarding = true;
        s.hot_plug_surprise = p.hot_plug;
        bridges.push_back(std::make_unique<bridge>(fabricvp_vendor, std::uint16_t{0x1052}, s));
    }
    for (unsigned i = 0; i < p.root_ports; ++i) prepare(i);
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
        case tlp_kind::completion_with_data:
            return t.requester == host_requests.id ? here : route_by_bus(t.requester >> 8);
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
        reject(*t, ingress, completion_status::unsupported_request);
        return;
    }
    ++peer_to_peer;
    const auto limit = static_cast<std::uint32_t>(params.peer_to_peer_payload);
    if (t->kind != tlp_kind::memory_write || t->payload_bytes() <= limit) {
        enqueue(t, ingress, egress, t);
        return;
    }
    for (std::uint32_t at = 0; at < t->bytes;) {
        const auto address = t->address + at;
        const auto bytes = std::min<std::uint64_t>(t->bytes - at, limit - address % limit);
        auto segment = make_tlp();
        static_cast<tlp_fields&>(*segment) = *t;
        segment->address = address;
        segment->bytes = static_cast<std::uint32_t>(bytes);
        segment->data = t->data.part(at, bytes);
        segment->inherit_access(*t);
        at += static_cast<std::uint32_t>(bytes);
        enqueue(segment, ingress, egress, at == t->bytes ? t : nullptr);
    }
}

/// What a root port receives behind a write is not seen before it, such as the completion of a hart's read.
void root_complex::accept(const tlp_ptr& t, unsigned ingress) {
    const bool pushes =
        ingress < ports() && ((t->is_completion() && !t->relaxed_ordering) || t->kind == tlp_kind::message);
    if (pushes && m_last_write[ingress] > now())
        deliver_at(m_last_write[ingress], t, ingress);
    else
        deliver(t, ingress);
}

void root_complex::deliver(const tlp_ptr& t, unsigned ingress) {
    if (t->is_completion()) {
        if (t->requester != host_requests.id || !host_requests.complete(*t))
            bridges[std::min<std::size_t>(ingress, bridges.size() - 1)]->errors.uncorrectable(
                aer::unexpected_completion, t.get(), error_reporter::weight::advisory);
    } else if (ingress >= ports()) {  // of a hart, and nothing behind the root ports claims it
        if (t->kind == tlp_kind::configuration_read || t->kind == tlp_kind::configuration_write) {
            const auto id = static_cast<std::uint16_t>(t->address >> 16);
            const unsigned device = id >> 3 & 0x1f;
            const bool own = id >> 8 == 0 && !(id & 7) && device >= 1 && device <= bridges.size();
            send_later(own ? access_configuration(bridges[device - 1]->space, *t, id)
                           : make_completion(*t, id, completion_status::unsupported_request),
                       now() + params.configuration_latency);
        } else if (t->flow() == flow_class::non_posted) {
            send_later(make_completion(*t, 0, completion_status::unsupported_request),
                       now() + params.configuration_latency);
        }
    } else if (t->kind == tlp_kind::message) {
        if (t->code < message_code::error_correctable)
            interrupt_message(*t, ingress);
        else if (bridges[ingress]->passes_error(t->code))
            receive_error(ingress, t->code, t->requester);
    } else if (!bridges[ingress]->bus_master()) {
        reject(*t, ingress, completion_status::unsupported_request);
    } else {
        memory_request(t, ingress);
    }
}

void root_complex::reject(const tlp& t, unsigned ingress, completion_status status) {
    count_warning(unsupported, *this, "root port {}: {:#x} of {:04x} is rejected", ingress, t.address, t.requester);
    const bool posted = t.flow() == flow_class::posted;
    bridges[ingress]->errors.uncorrectable(
        status == completion_status::completer_abort ? aer::completer_abort : aer::unsupported_request, &t,
        posted ? error_reporter::weight::full : error_reporter::weight::advisory);
    if (t.flow() == flow_class::non_posted) inject(make_completion(t, 0, status));
}

void root_complex::memory_request(const tlp_ptr& t, unsigned ingress) {
    if (t->poisoned) {
        const bool posted = t->flow() == flow_class::posted;
        bridges[ingress]->errors.uncorrectable(
            aer::poisoned, t.get(), posted ? error_reporter::weight::full : error_reporter::weight::advisory);
        if (!posted) inject(make_completion(*t, 0, completion_status::unsupported_request));
        return;
    }
    // Writes of a root port stay in order, since all take the same time. What comes behind them waits for them,
    // whatever its attributes: relaxed ordering is for writes and completions.
    auto when = now() + (t->flow() == flow_class::posted ? params.write_latency : params.read_latency);
    if (t->flow() == flow_class::posted)
        m_last_write[ingress] = when;
    else
        when = std::max(when, m_last_write[ingress]);
    if (when <= now())
        perform(t, ingress);
    else
        deliver_at(when, t, ingress);
}

void root_complex::deliver_at(ticks when, const tlp_ptr& t, unsigned ingress) {
    m_inbound.emplace(when, inbound_tlp{t, ingress});
    if (!m_deliver.scheduled() || m_deliver.when() > when) schedule(m_deliver, when);
}

void root_complex::deliver_due() {
    while (!m_inbound.empty() && m_inbound.begin()->first <= now()) {
        const auto due = std::move(m_inbound.begin()->second);
        m_inbound.erase(m_inbound.begin());
        due.packet->pass(inbound_span, span_kind::service, now());
        if (due.packet->is_completion() || due.packet->kind == tlp_kind::message)
            deliver(due.packet, due.ingress);
        else
            perform(due.packet, due.ingress);
    }
    if (!m_inbound.empty()) schedule(m_deliver, m_inbound.begin()->first);
}

void root_complex::perform(const tlp_ptr& t, unsigned ingress) {
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
        a->atomic.op = compare                     ? atomic_extension::operation::compare_swap
                       : t->kind == tlp_kind::swap ? atomic_extension::operation::swap
                                                   : atomic_extension::operation::add;
        a->payload->set_extension(&a->atomic);
        a->payload->set_command(tlm::TLM_IGNORE_COMMAND);
        a->data.length = size;
    }
    a->payload->set_data_ptr(a->data.data());
    a->payload->set_data_length(static_cast<unsigned>(a->data.length));
    a->payload->set_streaming_width(static_cast<unsigned>(a->data.length));
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (memory->nb_transport_fw(*a->payload, phase, delay) == tlm::TLM_COMPLETED)
        memory_done(*a, now() + delay.value());
    else
        m_accesses.push_back(std::move(a));
}

tlm::tlm_sync_enum root_complex::nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const auto at =
        std::find_if(m_accesses.begin(), m_accesses.end(), [&](const auto& a) { return a->payload == &payload; });
    if (at != m_accesses.end()) {
        const auto a = std::move(*at);
        m_accesses.erase(at);
        memory_done(*a, now() + delay.value());
    } else {
        m_abandoned.erase(std::remove_if(m_abandoned.begin(), m_abandoned.end(),
                                         [&](const auto& a) { return a->payload == &payload; }),
                          m_abandoned.end());
    }
    return tlm::TLM_COMPLETED;
}

void root_complex::memory_done(const memory_access& a, ticks when) {
    const auto& t = *a.request;
    const bool atomic = t.kind != tlp_kind::memory_read && t.kind != tlp_kind::memory_write;
    if (!a.payload->is_response_ok() || (atomic && !a.atomic.performed)) {
        reject(t, a.ingress,
               atomic && a.payload->is_response_ok() ? completion_status::completer_abort
                                                     : completion_status::unsupported_request);
        return;
    }
    if (t.kind == tlp_kind::memory_write) {
        a.request->pass(memory_span, span_kind::service, when);
        end_write(*a.request, when, *this);
        return;
    }
    const auto hold = [&](const tlp_ptr& c) {
        c->pass(memory_span, span_kind::service, when);
        send_later(c, when + params.completion_latency);
    };
    if (atomic)
        hold(make_data_completion(t, 0, a.data));
    else
        make_read_completions(
            t, 0, a.data,
            std::min(bridges[a.ingress]->max_payload(), static_cast<std::uint32_t>(params.root_port.max_payload)),
            static_cast<std::uint32_t>(params.completion_boundary), hold);
}

void root_complex::send_later(const tlp_ptr& completion, ticks when) {
    completion->pass(completion_span, span_kind::service, when);  // what came from memory says itself what it took
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
    drive(line, ingress, code < 0x24);
}

void root_complex::drive(unsigned line, unsigned ingress, bool level) {
    auto* counts = &m_intx_counts[32 * line];
    if (level)
        ++counts[ingress];
    else if (counts[ingress] > 0)
        --counts[ingress];
    intx[line].drive(std::any_of(counts, counts + 32, [](unsigned c) { return c > 0; }));
}

/// What a root port does by itself.
void root_complex::prepare(unsigned index) {
    auto& b = *bridges[index];
    b.errors.on_message = [this, index](message_code code) {
        receive_error(index, code, static_cast<std::uint16_t>((index + 1) << 3));
    };
    b.on_hold = [this, index](bool held) { at(index).hold(held); };
    b.on_retrain = [this, index](unsigned generation) { at(index).train(generation); };
    b.on_intx = [this, index](bool level) {
        drive((index + 1) % 4, 31, level);
    };  // INTA of device index + 1; 31: of the root ports
    b.on_msi = [this, index](std::uint64_t address, std::uint16_t data) {
        auto t = make_tlp();
        t->kind = tlp_kind::memory_write;
        t->requester = static_cast<std::uint16_t>((index + 1) << 3);
        t->address = address;
        t->bytes = 4;
        t->data = allocate_slice(4);
        const std::uint32_t word = data;
        std::memcpy(t->data.data(), &word, 4);
        memory_request(t, index);
    };
}

void root_complex::receive_error(unsigned index, message_code code, std::uint16_t source) {
    ++error_messages;
    auto& b = *bridges[index];
    const auto control = b.space.get(b.space.find_capability(express_id) + express::root_control, 2);
    const unsigned enable = code == message_code::error_correctable ? 1 : code == message_code::error_nonfatal ? 2 : 4;
    if (control & enable)
        count_message(log_level::error, system_errors, *this, "root port {}: system error, reported by {:04x}", index,
                      source);
    b.receive_error(code, source);
}

void root_complex::port_changed(unsigned index, link_event what) {
    auto& b = *bridges[index];
    b.link_changed(at(index), what, b.holds_link());
    if (what != link_event::down) return;
    for (unsigned line = 0; line < 4; ++line) {  // no device is left that could release them
        m_intx_counts[32 * line + index] = 0;
        drive(line, index, false);
    }
}

void root_complex::undeliverable(const tlp_ptr& t, unsigned egress) {
    if (t->flow() != flow_class::non_posted) return;
    send_later(
        make_completion(*t, static_cast<std::uint16_t>((egress + 1) << 3), completion_status::unsupported_request),
        now() + params.configuration_latency);
}

requester::done root_complex::counted(requester::done finished) {
    return [this, finished = std::move(finished)](request_status s) {
        if (s != request_status::ok) ++host_errors;
        finished(s);
    };
}

void root_complex::host_read(std::uint64_t address, const buffer_slice& into, requester::done finished) {
    host_requests.read(address, into, counted(std::move(finished)));
}

void root_complex::host_write(std::uint64_t address, const buffer_slice& from) { host_requests.write(address, from); }

void root_complex::host_atomic(tlp_kind kind, std::uint64_t address, unsigned bytes, std::uint64_t operand,
                               std::uint64_t compare, const buffer_slice& result, requester::done finished) {
    host_requests.atomic(kind, address, bytes, operand, compare, result, counted(std::move(finished)));
}

void root_complex::host_configuration(std::uint64_t ecam_offset, bool write, const buffer_slice& data,
                                      requester::done finished) {
    configure(std::make_shared<configuration_job>(configuration_job{ecam_offset, write, data, std::move(finished),
                                                                    now() + ticks{params.configuration_retry_limit}}));
}

void root_complex::configure(const std::shared_ptr<configuration_job>& job) {
    host_requests.configuration(job->offset, job->write, job->data, [this, job](request_status s) {
        if (s != request_status::configuration_retry) {
            job->finished(s);
            return;
        }
        // Software that asked to see it polls the vendor ID, and gets one that no function has; other requests are
        // issued again until the function is ready (PCI Express Base Specification, 2.3.2).
        const auto egress = route_by_bus(job->offset >> 20 & 0xff);
        const bool visible =
            egress != here &&
            bridges[egress]->space.get(bridges[egress]->space.find_capability(express_id) + express::root_control, 2) &
                0x10;
        if (visible && !job->write && (job->offset & 0xfff) == 0 && job->data.length >= 2) {
            std::memset(job->data.data(), 0xff, job->data.length);
            job->data.data()[0] = 0x01;
            job->data.data()[1] = 0x00;
            job->finished(request_status::ok);
            return;
        }
        if (now() >= job->deadline) {
            job->finished(request_status::unsupported_request);
            return;
        }
        ++configuration_retries;
        const auto when = now() + params.configuration_retry_interval;
        m_retries.emplace(when, job);
        if (!m_retry.scheduled() || m_retry.when() > when) schedule(m_retry, when);
    });
}

void root_complex::configure_again() {
    while (!m_retries.empty() && m_retries.begin()->first <= now()) {
        const auto job = m_retries.begin()->second;
        m_retries.erase(m_retries.begin());
        configure(job);
    }
    if (!m_retries.empty()) schedule(m_retry, m_retries.begin()->first);
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

unsigned root_complex::debug_configure(std::uint64_t ecam_offset, std::uint32_t value, std::uint8_t enabled) {
    auto t = make_tlp();
    t->kind = tlp_kind::configuration_write;
    t->address = (ecam_offset >> 12) << 16 | (ecam_offset & 0xffc);
    t->data = allocate_slice(4);
    t->first_be = enabled;
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
    for (auto& b : bridges) b->reset(true);
    m_retries.clear();
    cancel(m_retry);
    m_inbound.clear();
    cancel(m_deliver);
    std::fill(m_last_write.begin(), m_last_write.end(), ticks{0});
    // The bus still reads and writes what they point to, until it responds.
    std::move(m_accesses.begin(), m_accesses.end(), std::back_inserter(m_abandoned));
    m_accesses.clear();
    m_due.clear();
    cancel(m_send);
    std::fill(m_intx_counts.begin(), m_intx_counts.end(), 0);
    for (auto& line : intx) line.drive(false);
    router::reset();
}

}  // namespace fabricvp::pcie
