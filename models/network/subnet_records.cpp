// SPDX-License-Identifier: Apache-2.0
// What subnet administration knows of a subnet that its configuration manages.
#include <algorithm>

#include "abi/hca.h"
#include "network/subnet.h"

namespace fabricvp::network {

namespace {

unsigned link_mtu(const port_params& a, const port_params& b) { return mtu_code(std::min(a.mtu, b.mtu)); }

/// Signalled, as the records number it: of all lanes, in Gb/s and tenths.
unsigned nominal_speed(link_rate rate, link_width width) {
    constexpr unsigned tenths[] = {25, 50, 100, 100, 140, 250, 500, 1000};
    return tenths[static_cast<unsigned>(rate)] * static_cast<unsigned>(lanes_of(width));
}

}  // namespace

const port_params& subnet::port_of(std::size_t vertex) const {
    if (vertex < m_adapters.size())
        return m_adapters[vertex].second ? m_adapters[vertex].second->params
                                         : m_cut.adapter_port(m_adapters[vertex].first);
    if (vertex < ends()) return params.generators[vertex - m_adapters.size()].port;
    return params.switches[(vertex - ends()) % switches.size()].port;
}

/// What the links of the way have in common.
std::optional<subnet_administration::path> subnet::path_between(std::size_t from, std::size_t to) const {
    subnet_administration::path way{mtu_code(port_of(from).mtu), nominal_speed(link_rate::ndr, link_width::x12)};
    for (auto at = from; at != to;) {
        const auto number = m_table[at][to];
        if (number == link::no_link) return std::nullopt;
        if (number >= m_links_up.size()) {  // between a switch and its own port
            const auto s = at < switch_vertex(0) ? at - ends() : at - switch_vertex(0);
            at = at < switch_vertex(0) ? switch_vertex(s) : ends() + s;
            continue;
        }
        const auto link = m_links_up[number];
        const auto [first, second] = m_vertices[link];
        const auto next = first == at ? second : first;
        const auto &a = port_of(at), &b = port_of(next);
        const auto& cable = params.links[link];
        way.mtu = std::min(way.mtu, link_mtu(a, b));
        way.speed = std::min(way.speed, nominal_speed(std::min({a.rate, b.rate, cable.rate}),
                                                      std::min({a.width, b.width, cable.width})));
        at = next;
    }
    return way;
}

port_attributes subnet::attributes_of(std::size_t end) const {
    port_attributes a;
    set_capability_fields(a, port_of(end));
    a.guids = {administration->nodes[end].attributes.port_guid};
    a.pkeys = {0xffff};
    a.lid = m_ends[end].lid;
    a.sm_lid = manager_lid();
    if (a.lid == a.sm_lid) a.capabilities |= HCA_PORT_IS_MANAGER;
    a.lanes_operational = a.lanes_supported;
    a.mtu_active = a.mtu_supported;
    a.state = static_cast<unsigned>(port_state::active);
    a.physical_state = HCA_PORT_LINK_UP;
    const auto* here = end < m_adapters.size() ? m_adapters[end].second
                       : end < ends() && generators[end - m_adapters.size()]
                           ? &generators[end - m_adapters.size()]->link
                           : nullptr;
    if (here) {
        show_link(a, *here);
        a.mtu_active = mtu_code(here->mtu());
    }
    return a;
}

/// The first switch stands in for the subnet manager; without switches, the first adapter does.
std::uint16_t subnet::manager_lid() const {
    if (!switches.empty()) return m_ends[ends()].lid;
    return m_adapters.empty() ? std::uint16_t{0} : m_ends[0].lid;
}

void subnet::administer(const std::vector<std::uint64_t>& guids) {
    administration = std::make_unique<subnet_administration>("administration");
    auto& a = *administration;
    for (std::size_t end = 0; end < m_ends.size(); ++end) {
        node_attributes n;
        n.description = end < ends() ? m_ends[end].name : std::string(name()) + "." + m_ends[end].name;
        if (end >= ends()) {
            const auto& ports = m_ends_of[end - ends()];
            n.type = HCA_NODE_SWITCH;
            n.device = switch_device;
            n.ports = static_cast<unsigned>(ports.size());
            n.system_guid = n.node_guid = n.port_guid = switch_guid(static_cast<unsigned>(end - ends()));
        } else {
            n.system_guid = n.node_guid =
                end < guids.size() && guids[end] ? guids[end] : adapter_guid(m_ends[end].name);
            n.port_guid = n.node_guid + 1;
            if (end < m_adapters.size()) {
                n.device = HCA_DEVICE;
                n.revision = HCA_REVISION;
            }
        }
        a.nodes.push_back({n, m_ends[end].lid, [this, end] { return attributes_of(end); }});
    }
    a.path_between = [this](std::size_t from, std::size_t to) { return path_between(from, to); };
    a.is_taken = [this](std::uint16_t lid) {
        return std::any_of(params.multicast.begin(), params.multicast.end(),
                           [lid](const auto& group) { return group.lid == lid; });
    };
    a.set_member = [this](std::uint16_t lid, std::size_t end, bool member) {
        link_message m;
        m.membership = lid;
        m.signal = member;
        m.end = static_cast<std::uint32_t>(end);
        announce(m);
    };
    if (!switches.empty()) {
        if (switches[0]) switches[0]->agent->administration = &a;
    } else if (!m_adapters.empty() && m_adapters[0].second) {
        m_adapters[0].second->administration = &a;
    }
}

}  // namespace fabricvp::network
