// SPDX-License-Identifier: Apache-2.0
#include "network/switch_agent.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "network/administration.h"

namespace fabricvp::network {

namespace {

constexpr unsigned forwarding_capacity = first_multicast_lid, block_entries = 64;
constexpr unsigned multicast_capacity = 1024, multicast_entries = 32, position_ports = 16;

std::vector<const port*> ports_of(const network_switch& s) {
    std::vector<const port*> all;
    for (const auto& p : s.ports) all.push_back(p.get());
    return all;
}

}  // namespace

switch_agent::switch_agent(const sc_core::sc_module_name& name, network_switch& owner, std::uint64_t guid,
                           duration latency)
    : model(name),
      m_switch(owner),
      m_latency(latency),
      m_node{HCA_NODE_SWITCH, 0, switch_device, 0, guid, guid, guid, owner.name()},
      m_performance(ports_of(owner), true) {
    m_switch.on_management = [this](unsigned input, const packet_ptr& p) { receive(input, p); };
    clear();
}

void switch_agent::receive(unsigned input, const packet_ptr& p) {
    task t{std::max(now(), p->tail) + m_latency, input, p, {}};
    const bool good = holds_mad(*p) && (p->bth.destination_qp == 0) == (p->lrh.vl == management_lane);
    if (good) std::copy_n(p->payload.data(), t.data.size(), t.data.begin());
    m_switch.ports[input - 1]->release(*p, std::max(now(), p->tail));
    if (!good) {
        ++discarded;
        ++m_switch.local_packets;
        return;
    }
    m_tasks.push_back(std::move(t));
    if (!m_work.scheduled()) schedule(m_work, m_tasks.front().when);
}

void switch_agent::work() {
    auto t = std::move(m_tasks.front());
    m_tasks.pop_front();
    if (!m_tasks.empty()) schedule(m_work, std::max(now(), m_tasks.front().when));
    if (m_switch.alive())
        handle(t);
    else
        m_switch.ports[t.input - 1]->drop(*t.packet, drop_reason::switch_dead);
}

void switch_agent::handle(task& t) {
    if (t.packet->bth.destination_qp == 1) return handle_general(t);
    const auto type = hca_get(t.data.data(), HCA_MAD_CLASS);
    auto step = type == HCA_MAD_SUBNET ? route_step::here : route_step::nowhere;
    unsigned output = t.input;
    if (type == HCA_MAD_SUBNET_DIRECTED)
        step = follow_route(t.data.data(), t.input, static_cast<unsigned>(m_switch.ports.size()), output);
    if (step == route_step::onward) {
        ++forwarded;
        t.packet->payload = allocate_slice(t.data.size());
        std::copy(t.data.begin(), t.data.end(), t.packet->payload.data());
        m_switch.send_management(output, t.packet);
        return;
    }
    ++m_switch.local_packets;
    const auto method = hca_get(t.data.data(), HCA_MAD_METHOD);
    if (step == route_step::nowhere || (method != HCA_MAD_GET && method != HCA_MAD_SET))
        ++discarded;
    else
        send_response(t, subnet(method == HCA_MAD_SET, hca_get(t.data.data(), HCA_MAD_ATTRIBUTE),
                                hca_get(t.data.data(), HCA_MAD_MODIFIER), t.input, t.data.data() + HCA_MAD_DATA));
}

/// Queue pair 1: performance management, and a status for all else, so that who asks need not wait.
void switch_agent::handle_general(task& t) {
    auto* d = t.data.data();
    const auto method = hca_get(d, HCA_MAD_METHOD);
    ++m_switch.local_packets;
    if (administration && subnet_administration::concerns(*t.packet)) {
        ++requests;
        for (const auto& p : administration->process(*t.packet, m_own.lid))
            send_back(p, m_switch.route_of(t.packet->lrh.slid));
        return;
    }
    if (method & HCA_MAD_RESPONSE || method == HCA_MAD_TRAP || method == HCA_MAD_TRAP_REPRESS) {
        ++discarded;
        return;
    }
    unsigned status = HCA_MAD_BAD_CLASS;
    if (hca_get(d, HCA_MAD_CLASS) == HCA_MAD_PERFORMANCE)
        status = method == HCA_MAD_GET || method == HCA_MAD_SET
                     ? m_performance.process(method == HCA_MAD_SET, hca_get(d, HCA_MAD_ATTRIBUTE), d + HCA_MAD_DATA)
                     : unsigned{HCA_MAD_BAD_METHOD};
    send_response(t, status);
}

void switch_agent::send_response(task& t, unsigned status) {
    ++requests;
    unsigned output = m_switch.route_of(t.packet->lrh.slid);
    const auto p = make_response(*t.packet, t.data, status, m_own.lid, output);
    send_back(p, output);
}

void switch_agent::send_back(const packet_ptr& p, unsigned output) {
    if (output < 1 || output > m_switch.ports.size()) {
        ++discarded;
        return;
    }
    m_switch.send_management(output, p);
}

unsigned switch_agent::subnet(bool set, unsigned attribute, std::uint32_t modifier, unsigned input,
                              std::uint8_t* data) {
    const auto ports = static_cast<unsigned>(m_switch.ports.size());
    switch (attribute) {
        case HCA_MAD_NODE_DESCRIPTION:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            write_description(data, m_node.description);
            return 0;
        case HCA_MAD_NODE_INFO:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            m_node.ports = ports;
            write_node_info(data, m_node, m_own.pkeys.size(), input);
            return 0;
        case HCA_MAD_SWITCH_INFO: return switch_info(set, data);
        case HCA_MAD_GUID_INFO: return guid_table(set, modifier, m_own.guids, data);
        case HCA_MAD_PORT_INFO: {
            const auto number = modifier & 0xff;  // its highest bit says that the manager knows fast speeds
            return number > ports ? unsigned{HCA_MAD_BAD_FIELD} : port_info(set, number, input, data);
        }
        case HCA_MAD_PKEY_TABLE:
            return modifier >> 16 > ports ? unsigned{HCA_MAD_BAD_FIELD}
                                          : pkey_table(set, modifier & 0xffff, of_port(modifier >> 16).pkeys, data);
        case HCA_MAD_SL_TO_VL: return lanes(set, modifier >> 8 & 0xff, modifier & 0xff, data);
        case HCA_MAD_ARBITRATION: {
            const auto number = modifier & 0xffff;
            return number < 1 || number > ports
                       ? unsigned{HCA_MAD_BAD_FIELD}
                       : arbitration_table(set, modifier >> 16, m_switch.ports[number - 1]->arbiter, data);
        }
        case HCA_MAD_FORWARDING: return forwarding(set, modifier, data);
        case HCA_MAD_MULTICAST: return multicast(set, modifier, data);
        default: return HCA_MAD_BAD_ATTRIBUTE;
    }
}

unsigned switch_agent::switch_info(bool set, std::uint8_t* data) {
    if (set) {
        m_top = static_cast<std::uint16_t>(hca_get(data, HCA_SWITCH_FORWARDING_TOP));
        m_life_time = hca_get(data, HCA_SWITCH_LIFE_TIME);
        if (hca_get(data, HCA_SWITCH_STATE_CHANGE)) m_changed = false;
    }
    std::memset(data, 0, HCA_MAD_DATA_SIZE);
    hca_set(data, HCA_SWITCH_FORWARDING_CAPACITY, forwarding_capacity);
    hca_set(data, HCA_SWITCH_MULTICAST_CAPACITY, multicast_capacity);
    hca_set(data, HCA_SWITCH_FORWARDING_TOP, m_top);
    hca_set(data, HCA_SWITCH_LIFE_TIME, m_life_time);
    hca_set(data, HCA_SWITCH_STATE_CHANGE, m_changed);
    return 0;
}

/// LocalPortNum is the port that the request came in by, not the one that it asks for: software goes on through all
/// others.
unsigned switch_agent::port_info(bool set, unsigned number, unsigned input, std::uint8_t* data) {
    auto& a = of_port(number);
    unsigned status = 0;
    if (number == 0) {
        if (administration) {
            a.capabilities |= HCA_PORT_IS_MANAGER;
            a.sm_lid = a.lid;
        }
        if (set) status = set_addresses(a, data);
    } else {
        auto& p = *m_switch.ports[number - 1];
        if (set) status = set_link(a, p, data);
        show_link(a, p);
    }
    write_port_info(data, a, input);
    return status;
}

unsigned switch_agent::forwarding(bool set, std::uint32_t block, std::uint8_t* data) {
    if (block >= forwarding_capacity / block_entries) return HCA_MAD_BAD_FIELD;
    for (unsigned i = 0; i < block_entries; ++i) {
        const auto lid = static_cast<std::uint16_t>(block * block_entries + i);
        if (set && (data[i] != network_switch::no_port || m_switch.route_of(lid) != data[i]))
            m_switch.set_route(lid, data[i]);
        data[i] = m_switch.route_of(lid);
    }
    return 0;
}

/// A block has the masks of 16 ports, from 16 times `position` on, for 32 LIDs.
unsigned switch_agent::multicast(bool set, std::uint32_t modifier, std::uint8_t* data) {
    const auto block = modifier & 0x1ff, first = position_ports * (modifier >> 28);
    if (block >= multicast_capacity / multicast_entries || first > m_switch.ports.size()) return HCA_MAD_BAD_FIELD;
    for (unsigned i = 0; i < multicast_entries; ++i) {
        const auto lid = static_cast<std::uint16_t>(first_multicast_lid + block * multicast_entries + i);
        auto ports = m_switch.multicast_of(lid);
        std::uint32_t mask = hca_get(data, HCA_HALF(2 * i, 0, 16)), now = 0;
        for (unsigned n = 0; n < position_ports; ++n) {
            const auto port = first + n;
            const bool there = port >= 1 && port <= m_switch.ports.size();
            if (set && there) ports.set(port, mask >> n & 1);
            if (there && ports[port]) now |= 1u << n;
        }
        if (set) m_switch.set_multicast(lid, ports);
        hca_set(data, HCA_HALF(2 * i, 0, 16), now);
    }
    return 0;
}

unsigned switch_agent::lanes(bool set, unsigned input, unsigned output, std::uint8_t* data) {
    if (input > m_switch.ports.size() || output > m_switch.ports.size()) return HCA_MAD_BAD_FIELD;
    return lane_table(
        set, data, [&](unsigned sl) { return m_switch.lane(input, output, sl); },
        [&](unsigned sl, std::uint8_t lane) { m_switch.set_lane(input, output, sl, lane); });
}

/// A port's attributes, which follow its link until a manager sets them.
port_attributes& switch_agent::of_port(unsigned number) {
    if (number == 0) return m_own;
    while (m_ports.size() < m_switch.ports.size()) {
        const auto& p = *m_switch.ports[m_ports.size()];
        m_ports.emplace_back();
        auto& a = m_ports.back();
        set_capability_fields(a, p.params);
        a.pkeys = {0xffff};  // nothing is filtered here
        show_shared(a, p);
    }
    return m_ports[number - 1];
}

void switch_agent::clear() {
    m_own = {};
    m_own.guids = {m_node.port_guid};
    m_own.pkeys = {0xffff};
    m_own.state = static_cast<unsigned>(port_state::active);
    m_own.physical_state = HCA_PORT_LINK_UP;
    m_own.mtu_supported = m_own.mtu_active = mtu_code(m_switch.params.port.mtu);
    m_ports.clear();
    m_performance.clear();
    m_top = 0;
    m_life_time = 0;
    m_changed = false;
}

void switch_agent::reset() {
    m_tasks.clear();
    cancel(m_work);
    clear();
    model::reset();
}

}  // namespace fabricvp::network
