// SPDX-License-Identifier: Apache-2.0
#include "pcie/switch.h"

#include <fmt/format.h>

#include "base/log.h"
#include "pcie/completion.h"
#include "pcie/configuration_access.h"

namespace fabricvp::pcie {

namespace {

express_settings settings(const port_params& p, port_type type, unsigned number) {
    express_settings s;
    s.type = type;
    s.generation = static_cast<unsigned>(p.generation);
    s.width = static_cast<unsigned>(p.width);
    s.max_payload = static_cast<unsigned>(p.max_payload);
    s.port_number = number;
    s.atomic_routing = true;
    s.ari_forwarding = type == port_type::switch_downstream;
    s.slot_number = number;
    return s;
}

}  // namespace

void switch_params::describe(parameter_visitor& v) {
    v.field("downstream_ports", downstream_ports, between{1, 31}, "downstream ports");
    v.group("upstream", upstream, "the port towards the root");
    v.group("downstream", downstream, "every port away from the root");
    v.field("configuration_latency", configuration_latency, between{0, 1e9}, "time to answer a configuration request");
}

pcie_switch::pcie_switch(const sc_core::sc_module_name& name, const switch_params& p)
    : router(name), params(p), upstream(fabricvp_vendor, 0x1050, settings(p.upstream, port_type::switch_upstream, 0)) {
    add_port("upstream_port", p.upstream);
    for (unsigned i = 0; i < p.downstream_ports; ++i) {
        add_port(fmt::format("downstream_port{}", i).c_str(), p.downstream);
        downstream.push_back(std::make_unique<bridge>(fabricvp_vendor, std::uint16_t{0x1051},
                                                      settings(p.downstream, port_type::switch_downstream, i)));
    }
}

unsigned pcie_switch::route_by_bus(unsigned bus) const {
    for (unsigned i = 0; i < downstream.size(); ++i)
        if (downstream[i]->has_bus(bus)) return 1 + i;
    return here;
}

unsigned pcie_switch::route_by_address(std::uint64_t address, unsigned ingress) const {
    const bool redirected = ingress >= 1 && ingress <= downstream.size() && downstream[ingress - 1]->redirects_requests();
    if (!redirected)
        for (unsigned i = 0; i < downstream.size(); ++i)
            if (1 + i != ingress && downstream[i]->has_address(address)) return 1 + i;
    if (ingress == 0 || ingress > downstream.size()) return here;
    // What lies in the switch's own window but behind no port must not go up: it would come back.
    if (!redirected && upstream.has_address(address)) return here;
    return upstream.bus_master() && downstream[ingress - 1]->bus_master() ? 0 : here;
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
    router::forward(t, ingress, egress);
}

configuration_space* pcie_switch::own_space(const tlp& t) {
    const auto id = static_cast<unsigned>(t.address >> 16) & 0xffff;
    if (!t.type_1) return (id & 0xff) == 0 ? &upstream.space : nullptr;
    const auto device = id >> 3 & 0x1f;
    if (id >> 8 != upstream.secondary() || id & 7 || device >= downstream.size()) return nullptr;
    return &downstream[device]->space;
}

void pcie_switch::accept(const tlp_ptr& t, unsigned) {
    if (t->kind == tlp_kind::configuration_read || t->kind == tlp_kind::configuration_write) {
        const auto id = static_cast<std::uint16_t>(t->address >> 16);
        if (auto* space = own_space(*t)) inject(access_configuration(*space, *t, id));
        else inject(make_completion(*t, id, completion_status::unsupported_request));
        return;
    }
    ++unsupported;
    if (t->is_completion()) {
        upstream.report_uncorrectable(aer::unexpected_completion);
        return;
    }
    log(log_level::warning, *this, "nothing claims {:#x}", t->address);
    upstream.report_uncorrectable(aer::unsupported_request);
    if (t->flow() == flow_class::non_posted)
        inject(make_completion(*t, static_cast<std::uint16_t>(upstream.primary() << 8), completion_status::unsupported_request));
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
    upstream.space.reset(true);
    for (auto& d : downstream) d->space.reset(true);
    router::reset();
}

}  // namespace fabricvp::pcie
