// SPDX-License-Identifier: Apache-2.0
#include "pcie/endpoint.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/log.h"
#include "pcie/bridge.h"
#include "pcie/completion.h"
#include "pcie/configuration_access.h"

namespace fabricvp::pcie {

void endpoint_params::describe(parameter_visitor& v) {
    v.group("link", link, "the link's end at the device");
    v.group("dma", dma, "the device's own reads and writes");
    v.field("read_latency", read_latency, between{0, 1e9},
            "from the arrival of a read to its first completion, beyond what the device's memory takes");
    v.field("resizable_from", resizable_from, between{0, 1024.0 * (1ull << 30)},
            "first size of the large memory BAR, which software may resize up to all of the memory; a power of two "
            "from 1 MiB on; 0: fixed");
    v.field("completion_boundary", completion_boundary, between{64, 128},
            "completions end on multiples of these bytes: 64 or 128");
    v.field("ready_after_reset", ready_after_reset, between{0, 1e12},
            "time after a reset in which configuration requests are answered with Configuration Request Retry Status");
}

void endpoint::not_ready_arguments::describe(parameter_visitor& v) {
    v.field("lasting", lasting, between{0, 1e15}, "for how long");
}

endpoint::endpoint(const sc_core::sc_module_name& name, const endpoint_params& p, const function_identity& identity)
    : model(name),
      endpoint_parameters(p),
      link("link", p.link, *this),
      config(identity),
      dma("dma", p.dma, [this](const tlp_ptr& t) { transmit(t); }),
      m_ready_at(p.ready_after_reset) {
    dma.on_timeout = [this](tlp_kind, std::uint64_t) { config.errors.uncorrectable(aer::completion_timeout); };
    config.errors.on_message = [this](message_code code) {
        auto t = make_tlp();
        t->kind = tlp_kind::message;
        t->code = code;
        t->requester = dma.id;
        transmit(t);
    };
    dma.allowed = [this] { return config.bus_master(); };
}

void endpoint::add_memory_bar(unsigned bar, std::uint64_t bytes) {
    const auto first = endpoint_parameters.resizable_from.bytes;
    if (first == 0 || first >= bytes) {
        config.add_bar(bar, bytes, true, true);
        return;
    }
    if (first < 1 << 20 || first & (first - 1))
        throw std::invalid_argument(
            fmt::format("{}: resizable_from is {}: give a power of two from 1 MiB on", name(), first));
    config.add_resizable_bar(bar, first, bytes);
}

void endpoint::add_common_capabilities(bool atomics) {
    const auto& p = link.params;
    add_power_management(config.space);
    express_settings s;
    s.generation = static_cast<unsigned>(p.generation);
    s.width = static_cast<unsigned>(p.width);
    s.max_payload = static_cast<unsigned>(p.max_payload);
    s.function_level_reset = true;
    s.atomic_completer = atomics;
    add_express(config.space, s);
    add_aer(config.space, false);
    add_ari(config.space, 0);
    // An EUI-64 of the locally administered kind, from the name, so that it stays the same from run to run.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char* c = name(); *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
    add_serial_number(config.space, (hash & ~(std::uint64_t{3} << 56)) | std::uint64_t{2} << 56);
}

void endpoint::add_msi_x(unsigned vectors, unsigned bar, std::uint32_t offset) {
    m_msix_bar = bar;
    m_msix_offset = offset;
    m_msix = std::make_unique<msix_table>(vectors, [this](std::uint64_t address, std::uint32_t data) {
        auto message = allocate_slice(4);
        std::memcpy(message.data(), &data, 4);
        dma.write(address, message);
    });
    const auto at = pcie::add_msi_x(config.space, vectors, bar, offset, offset + msix_table::pending_offset);
    config.space.on_write(at + 2, 2, [this, at] {
        const auto control = config.space.get(at + 2, 2);
        m_msix->set_control(control & 0x8000, control & 0x4000);
        send_intx();
    });
}

bool endpoint::msi_x_enabled() const { return m_msix && m_msix->enabled(); }

void endpoint::raise(unsigned vector) {
    if (m_msix) m_msix->raise(vector);
}

void endpoint::set_intx(bool level) {
    m_intx_wanted = level;
    config.set_interrupt_status(level);
    send_intx();
}

void endpoint::send_intx() {
    const auto pin = static_cast<unsigned>(config.space.get(0x3d, 1));
    const bool level = m_intx_wanted && !msi_x_enabled() && !config.interrupts_disabled();
    if (pin == 0 || level == m_intx) return;
    m_intx = level;
    auto t = make_tlp();
    t->kind = tlp_kind::message;
    t->code = static_cast<message_code>((level ? 0x20 : 0x24) + pin - 1);
    t->requester = dma.id;
    transmit(t);
}

void endpoint::transmit(const tlp_ptr& t) {
    m_outbox.push(t, 0, nullptr);
    send_queued();
}

void endpoint::transmitter_ready(port&) { send_queued(); }

void endpoint::send_queued() {
    for (bool sent = true; sent && !m_outbox.empty();) {
        if (!link.idle()) {
            link.call_when_idle();
            return;
        }
        sent = false;
        // Oldest first; a class that waits for credits does not hold up the others.
        const ingress_buffer::entry* best = nullptr;
        unsigned flow = 0;
        for (unsigned f = 0; f < flow_classes; ++f) {
            const auto* head = m_outbox.eligible(f);
            if (!head || (best && static_cast<std::int32_t>(head->packet->order - best->packet->order) > 0)) continue;
            if (!link.can_send(*head->packet)) continue;
            best = head;
            flow = f;
        }
        if (!best) return;
        const auto packet = best->packet;
        m_outbox.pop(flow);
        if (const auto* next = span_recorder::on() ? m_outbox.front(flow) : nullptr)
            next->packet->pass(outbox_span, span_kind::queueing, now());
        link.send(packet, now());
        sent = true;
        if (flow == static_cast<unsigned>(flow_class::posted) && !posted_requests_wait()) posted_requests_sent();
        if (m_outbox.empty()) outbox_empty();
    }
}

void endpoint::tlp_arrived(port&, const tlp_ptr& t) {
    if (m_arrived.empty() && t->tail <= now() && can_accept()) {
        link.release(*t, now());
        process(t);
        return;
    }
    m_arrived.push_back(t);
    if (!m_take.scheduled()) schedule(m_take, std::max(t->tail, now()));
}

void endpoint::resume_accepting() {
    if (!m_arrived.empty() && !m_take.scheduled()) schedule(m_take, std::max(m_arrived.front()->tail, now()));
}

void endpoint::take_arrived() {
    if (!can_accept()) return;
    const auto t = m_arrived.front();
    m_arrived.pop_front();
    if (!m_arrived.empty()) schedule(m_take, std::max(m_arrived.front()->tail, now()));
    link.release(*t, now());
    process(t);
}

void endpoint::process(const tlp_ptr& t) {
    t->pass(link.tail_span, span_kind::service, now());
    if (t->is_completion()) {
        if (t->poisoned) {
            ++poisoned;
            config.errors.uncorrectable(aer::poisoned, t.get());
        }
        if (!dma.complete(*t))
            config.errors.uncorrectable(aer::unexpected_completion, t.get(), error_reporter::weight::advisory);
        return;
    }
    switch (t->kind) {
        case tlp_kind::configuration_read:
        case tlp_kind::configuration_write: configuration_request(t); break;
        case tlp_kind::message: break;
        default: memory_request(t);
    }
}

void endpoint::send_completion(const tlp_ptr& completion, ticks when) {
    m_completions.push_back({when, completion});
    if (!m_send_completions.scheduled()) schedule(m_send_completions, when);
}

void endpoint::send_due_completions() {
    while (!m_completions.empty() && m_completions.front().when <= now()) {
        const auto t = m_completions.front().packet;
        m_completions.pop_front();
        t->pass(service_span, span_kind::service, now());
        transmit(t);
    }
    if (!m_completions.empty()) schedule(m_send_completions, m_completions.front().when);
}

void endpoint::configuration_request(const tlp_ptr& t) {
    const auto when = now() + endpoint_parameters.read_latency;
    const auto id = static_cast<std::uint16_t>(t->address >> 16);
    if (id & 0xff) {  // one function, and a link leads to device 0 alone
        send_completion(make_completion(*t, dma.id, completion_status::unsupported_request), when);
        return;
    }
    if (now() < m_ready_at) {
        ++retries;
        send_completion(make_completion(*t, id, completion_status::configuration_retry), when);
        return;
    }
    if (t->kind == tlp_kind::configuration_write) dma.id = id;  // tells a device its bus and device number
    const auto completion = access_configuration(config.space, *t, id);
    apply_control();
    send_completion(completion, when);
}

void endpoint::apply_control() {
    dma.max_payload =
        std::min<std::uint32_t>(config.max_payload(), static_cast<std::uint32_t>(link.params.max_payload));
    dma.max_read_request = config.max_read_request();
    send_intx();
    const auto at = config.space.find_capability(express_id);
    if (!at) return;
    const auto control = config.space.get(at + express::device_control, 2);
    dma.relaxed_ordering = control & 0x10;
    const bool resettable = config.space.get(at + express::device_capabilities, 4) & 1u << 28;
    if (control & 0x8000) {
        config.space.clear_bits(at + express::device_control, 2, 0x8000);
        if (resettable) begin_function_reset();
    }
}

/// What a reset of the function takes with it, whatever its cause.
void endpoint::clear_function_state() {
    config.reset(false);
    show_link(config.space, link);
    if (m_msix) m_msix->reset();
    dma.abandon();
    m_outbox.clear();
    link.clear_wait_times();
    m_completions.clear();
    cancel(m_send_completions);
    m_ready_at = std::max(m_not_ready_until, now() + endpoint_parameters.ready_after_reset);
}

void endpoint::begin_function_reset() {
    log(log_level::info, *this, "function-level reset");
    // What belongs to the link and its hierarchy stays (PCI Express Base Specification, 6.6.2).
    const auto at = config.space.find_capability(express_id);
    const auto payload = config.space.get(at + express::device_control, 2) & 0x00e0;
    const auto link_settings = config.space.get(at + express::link_control, 2),
               target_speed = config.space.get(at + express::link_control_2, 2);
    clear_function_state();
    const auto reset_to = config.space.get(at + express::device_control, 2) & ~std::uint64_t{0x00e0};
    config.space.set(at + express::device_control, 2, reset_to | payload);
    config.space.set(at + express::link_control, 2, link_settings);
    config.space.set(at + express::link_control_2, 2, target_speed);
    set_intx(false);
    apply_control();
    function_reset();
}

void endpoint::link_changed(port&, link_event what) {
    if (what == link_event::down) {
        log(log_level::info, *this, "hot reset");
        clear_function_state();
        m_arrived.clear();
        cancel(m_take);
        m_intx = m_intx_wanted = false;  // the port above lets the line go
        dma.id = 0;
        function_reset();
        m_outbox.clear();
        apply_control();
    } else if (what == link_event::up) {
        m_ready_at = std::max(m_not_ready_until, now() + endpoint_parameters.ready_after_reset);
    }
    show_link(config.space, link);
}

void endpoint::memory_request(const tlp_ptr& t) {
    const auto hit = config.decode(t->address, t->target_bytes());
    const bool posted = t->flow() == flow_class::posted;
    if (t->poisoned) {
        ++poisoned;
        reject(t, aer::poisoned, completion_status::unsupported_request);  // the data are discarded
        return;
    }
    if (!hit) {
        count_warning(unsupported, *this, "no BAR claims {:#x} + {}", t->address, t->target_bytes());
        reject(t, aer::unsupported_request, completion_status::unsupported_request);
        return;
    }
    const auto when = now() + endpoint_parameters.read_latency;
    if (posted) {
        m_written = t.get();
        write_bar(*hit, *t);
        m_written = nullptr;
        end_write(*t, now(), *this);
    } else if (t->kind == tlp_kind::memory_read) {
        auto data = allocate_slice(t->bytes);
        if (bar_read_later(*hit, t, data)) return;
        read_bar(*hit, data.data(), t->bytes);
        finish_read(t, data);
    } else {
        auto old = allocate_slice(t->target_bytes());
        if (bar_atomic(*hit, *t, old.data())) {
            send_completion(make_data_completion(*t, dma.id, old), when);
        } else {
            reject(t, aer::unsupported_request, completion_status::unsupported_request);
        }
    }
}

void endpoint::finish_read(const tlp_ptr& t, const buffer_slice& data) {
    const auto when = now() + endpoint_parameters.read_latency;
    make_read_completions(*t, dma.id, data, dma.max_payload,
                          static_cast<std::uint32_t>(endpoint_parameters.completion_boundary),
                          [&](const tlp_ptr& c) { send_completion(c, when); });
}

/// The requester decides how bad a missing completion is; nothing else reports that a posted request was lost.
void endpoint::reject(const tlp_ptr& t, std::uint32_t aer_bit, completion_status status) {
    const bool posted = t->flow() == flow_class::posted;
    config.errors.uncorrectable(aer_bit, t.get(),
                                posted ? error_reporter::weight::full : error_reporter::weight::advisory);
    if (!posted) send_completion(make_completion(*t, dma.id, status), now() + endpoint_parameters.read_latency);
}

void endpoint::write_bar(const bar_hit& at, const tlp& t) {
    if (m_msix && at.bar == m_msix_bar && at.offset >= m_msix_offset &&
        m_msix->claims(at.offset - m_msix_offset, t.bytes))
        m_msix->write(at.offset - m_msix_offset, t.data.data(), t.bytes);
    else
        bar_write(at, t.data.data(), t.bytes);
}

span_trail endpoint::take_spans() {
    span_trail taken;
    taken.resume(now());
    if (m_written) {
        taken.follow(m_written->spans);
        m_written->spans.clear();
    }
    return taken;
}

void endpoint::read_bar(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    if (m_msix && at.bar == m_msix_bar && at.offset >= m_msix_offset &&
        m_msix->claims(at.offset - m_msix_offset, bytes))
        m_msix->read(at.offset - m_msix_offset, to, bytes);
    else
        bar_read(at, to, bytes);
}

unsigned endpoint::debug_request(port&, tlp& t) {
    const bool write = t.kind == tlp_kind::configuration_write;
    const auto id = static_cast<std::uint16_t>(t.address >> 16);
    if ((!write && t.kind != tlp_kind::configuration_read) || id & 0xff) return 0;
    if (write) dma.id = id;
    const auto done = debug_access(config.space, t);
    if (write) apply_control();
    return done;
}

void endpoint::reset() {
    config.reset(true);
    show_link(config.space, link);
    m_ready_at = std::max(m_not_ready_until, now() + endpoint_parameters.ready_after_reset);
    if (m_msix) m_msix->reset();
    m_intx = m_intx_wanted = false;
    m_arrived.clear();
    m_completions.clear();
    m_outbox.clear();
    cancel(m_take);
    cancel(m_send_completions);
    dma.id = 0;
    apply_control();
    function_reset();
    model::reset();
}

}  // namespace fabricvp::pcie
