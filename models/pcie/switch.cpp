// SPDX-License-Identifier: Apache-2.0
#include "pcie/switch.h"

#include <cstring>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/log.h"
#include "pcie/completion.h"
#include "pcie/configuration_access.h"

namespace fabricvp::pcie {

namespace {

express_settings settings(const port_params& p, port_type type, unsigned number, bool hot_plug) {
    express_settings s;
    s.type = type;
    s.generation = static_cast<unsigned>(p.generation);
    s.width = static_cast<unsigned>(p.width);
    s.max_payload = static_cast<unsigned>(p.max_payload);
    s.port_number = number;
    s.atomic_routing = true;
    s.ari_forwarding = type == port_type::switch_downstream;
    s.hot_plug_surprise = hot_plug && type == port_type::switch_downstream;
    s.slot_number = number;
    return s;
}

}  // namespace

void switch_params::describe(parameter_visitor& v) {
    v.field("downstream_ports", downstream_ports, between{1, 31}, "downstream ports");
    v.group("upstream_port", upstream_port, "the port towards the root");
    v.group("downstream_port", downstream_port, "every port away from the root");
    v.field("configuration_latency", configuration_latency, between{0, 1e9}, "time to answer a configuration request");
    v.field("hot_plug", hot_plug,
            "devices below may be pulled out and plugged in: their going is an event, not an error");
}

pcie_switch::pcie_switch(const sc_core::sc_module_name& name, const switch_params& p)
    : router(name),
      params(p),
      upstream(fabricvp_vendor, 0x1050, settings(p.upstream_port, port_type::switch_upstream, 0, false)) {
    add_port("upstream_port", p.upstream_port);
    for (unsigned i = 0; i < p.downstream_ports; ++i) {
        add_port(fmt::format("downstream_port{}", i).c_str(), p.downstream_port);
        downstream.push_back(
            std::make_unique<bridge>(fabricvp_vendor, std::uint16_t{0x1051},
                                     settings(p.downstream_port, port_type::switch_downstream, i, p.hot_plug)));
    }
    m_intx.resize(ports());
    for (unsigned i = 0; i < ports(); ++i) prepare(i);
}

unsigned pcie_switch::route_by_bus(unsigned bus) const {
    for (unsigned i = 0; i < downstream.size(); ++i)
        if (downstream[i]->has_bus(bus)) return 1 + i;
    return here;
}

unsigned pcie_switch::route_by_address(std::uint64_t address, unsigned ingress) const {
    const bool from_below = ingress >= 1 && ingress <= downstream.size();
    const bool redirected = from_below && downstream[ingress - 1]->redirects_requests();
    // Memory Space Enable and the windows of the port above rule what comes down, Bus Master Enable of a port below
    // what comes up from it.
    if (from_below ? !downstream[ingress - 1]->bus_master() : ingress == 0 && !upstream.has_address(address))
        return here;
    if (!redirected)
        for (unsigned i = 0; i < downstream.size(); ++i)
            if (1 + i != ingress && downstream[i]->has_address(address)) return 1 + i;
    if (!from_below) return here;
    // What lies in the switch's own window but behind no port must not go up: it would come back.
    if (!redirected && upstream.has_address(address)) return here;
    return upstream.bus_master() ? 0 : here;
}

unsigned pcie_switch::route(const tlp& t, unsigned ingress) {
    switch (t.kind) {
        case tlp_kind::completion:
        case tlp_kind::completion_with_data: {
            const auto below = route_by_bus(t.requester >> 8);
            return below != here ? below : ingress == 0 ? here : 0;
        }
        case tlp_kind::configuration_read:
        case tlp_kind::configuration_write:
            if (ingress != 0 || !t.type_1) return here;
            return route_by_bus(static_cast<unsigned>(t.address >> 24) & 0xff);
        case tlp_kind::message: return ingress == 0 ? here : 0;
        default: return route_by_address(t.address, ingress);
    }
}

void pcie_switch::forward(const tlp_ptr& t, unsigned ingress, unsigned egress) {
    if (t->type_1 && egress != 0 && (t->address >> 24 & 0xff) == downstream[egress - 1]->secondary()) t->type_1 = false;
    // INTx: what device n of the bus below asserts on a pin, the switch passes on n pins further.
    const auto code = static_cast<unsigned>(t->code);
    if (t->kind == tlp_kind::message && ingress != 0 && code >= 0x20 && code <= 0x27)
        t->code = static_cast<message_code>((code & ~3u) | ((code + ingress - 1) & 3));
    if (t->kind == tlp_kind::message && ingress != 0 && ingress < ports()) {
        if (code >= 0x20 && code <= 0x27) {
            auto& wire = m_intx[ingress].asserted[static_cast<unsigned>(t->code) & 3];
            if (code < 0x24)
                ++wire;
            else if (wire > 0)
                --wire;
        } else if (code >= 0x30 && code <= 0x33) {
            const bool passes = downstream[ingress - 1]->passes_error(t->code);
            if (!passes || !upstream.passes_error(t->code)) {
                at(ingress).release(*t, t->tail);
                return;
            }
        }
    }
    router::forward(t, ingress, egress);
}

/// What a port's bridge does by itself.
void pcie_switch::prepare(unsigned index) {
    auto& b = bridge_at(index);
    b.errors.on_message = [this, index](message_code code) {
        if (index != 0 && !upstream.passes_error(code)) return;  // it comes from the internal bus
        send_message(code, id_of(index));
    };
    if (index == 0) {
        b.on_hold = [this](bool held) {
            for (auto& d : downstream)
                if (held) d->reset(false);
            for (unsigned i = 1; i < ports(); ++i) at(i).hold(held);
        };
        return;
    }
    b.on_hold = [this, index](bool held) { at(index).hold(held); };
    b.on_retrain = [this, index](unsigned generation) { at(index).train(generation); };
    b.on_msi = [this, index](std::uint64_t address, std::uint16_t data) {
        auto t = make_tlp();
        t->kind = tlp_kind::memory_write;
        t->requester = id_of(index);
        t->address = address;
        t->bytes = 4;
        t->last_be = 0;
        t->data = allocate_slice(4);
        const std::uint32_t word = data;
        std::memcpy(t->data.data(), &word, 4);
        if (upstream.bus_master()) enqueue(t, ports(), 0, t);
    };
    b.on_intx = [this, index](bool level) {
        const auto pin = (index - 1) & 3;  // INTA of device index - 1 on the internal bus
        send_message(static_cast<message_code>((level ? 0x20u : 0x24u) + pin),
                     static_cast<std::uint16_t>(upstream.secondary() << 8));
    };
}

std::uint16_t pcie_switch::id_of(unsigned port) const {
    return static_cast<std::uint16_t>(port == 0 ? upstream.primary() << 8
                                                : upstream.secondary() << 8 | (port - 1) << 3);
}

void pcie_switch::send_message(message_code code, std::uint16_t requester) {
    auto t = make_tlp();
    t->kind = tlp_kind::message;
    t->code = code;
    t->requester = requester;
    enqueue(t, ports(), 0, t);
}

void pcie_switch::port_changed(unsigned index, link_event what) {
    if (index == 0) {
        show_link(upstream.space, at(0));
        if (what == link_event::down) hot_reset();
        if (what == link_event::up) {
            m_in_reset = false;
            for (unsigned i = 1; i < ports(); ++i) at(i).hold(false);
        }
        return;
    }
    auto& b = *downstream[index - 1];
    b.link_changed(at(index), what, m_in_reset || b.holds_link() || upstream.holds_link());
    if (what != link_event::down) return;
    for (unsigned pin = 0; pin < 4; ++pin)  // no device is left that could release its interrupt lines
        for (auto& wire = m_intx[index].asserted[pin]; wire > 0; --wire)
            send_message(static_cast<message_code>(0x24 + pin), static_cast<std::uint16_t>(upstream.secondary() << 8));
}

void pcie_switch::hot_reset() {
    log(log_level::info, *this, "hot reset");
    m_in_reset = true;
    clear_queues();
    for (auto& w : m_intx) w = {};
    upstream.reset(false);
    for (auto& d : downstream) d->reset(false);
    for (unsigned i = 1; i < ports(); ++i) at(i).hold(true);
    clear_queues();
    show_link(upstream.space, at(0));
}

void pcie_switch::undeliverable(const tlp_ptr& t, unsigned egress) {
    if (t->flow() == flow_class::non_posted)
        inject(make_completion(*t, id_of(egress), completion_status::unsupported_request));
}

configuration_space* pcie_switch::own_space(const tlp& t) {
    const auto id = static_cast<unsigned>(t.address >> 16) & 0xffff;
    if (!t.type_1) return (id & 0xff) == 0 ? &upstream.space : nullptr;
    const auto device = id >> 3 & 0x1f;
    if (id >> 8 != upstream.secondary() || id & 7 || device >= downstream.size()) return nullptr;
    return &downstream[device]->space;
}

void pcie_switch::accept(const tlp_ptr& t, unsigned ingress) {
    if (t->kind == tlp_kind::configuration_read || t->kind == tlp_kind::configuration_write) {
        const auto id = static_cast<std::uint16_t>(t->address >> 16);
        if (auto* space = own_space(*t))
            inject(access_configuration(*space, *t, id));
        else
            inject(make_completion(*t, id, completion_status::unsupported_request));
        return;
    }
    auto& reporter = bridge_at(ingress < ports() ? ingress : 0).errors;
    const bool posted = t->flow() == flow_class::posted;
    const auto weight = posted ? error_reporter::weight::full : error_reporter::weight::advisory;
    if (t->is_completion()) {
        ++unsupported;
        reporter.uncorrectable(aer::unexpected_completion, t.get(), weight);
        return;
    }
    count_warning(unsupported, *this, "nothing claims {:#x}", t->address);
    reporter.uncorrectable(aer::unsupported_request, t.get(), weight);
    if (t->flow() == flow_class::non_posted)
        inject(make_completion(*t, static_cast<std::uint16_t>(upstream.primary() << 8),
                               completion_status::unsupported_request));
}

unsigned pcie_switch::debug_request(port&, tlp& t) {
    if (t.kind != tlp_kind::configuration_read && t.kind != tlp_kind::configuration_write) {
        const auto egress = route_by_address(t.address, 0);
        return egress == here ? 0 : at(egress).debug(t);
    }
    const auto egress = route(t, 0);
    if (egress == here) {
        auto* space = own_space(t);
        return space ? debug_access(*space, t) : 0;
    }
    t.type_1 = (t.address >> 24 & 0xff) != downstream[egress - 1]->secondary();
    return at(egress).debug(t);
}

void pcie_switch::reset() {
    m_in_reset = false;
    for (auto& w : m_intx) w = {};
    upstream.reset(true);
    for (auto& d : downstream) d->reset(true);
    router::reset();
}

}  // namespace fabricvp::pcie
