// SPDX-License-Identifier: Apache-2.0
#include "network/switch_agent.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/hca_mad.h"

namespace fabricvp::network {

namespace {

constexpr unsigned hop_pointer = 6, hop_count = 7, initial_path = 128, return_path = 192, most_hops = 63;
constexpr unsigned local_dlid = 34;                                        // DrDLID
constexpr unsigned switch_info_attribute = 0x12, sl_to_vl_attribute = 0x17, arbitration_attribute = 0x18, forwarding_attribute = 0x19;
constexpr unsigned forwarding_capacity = first_multicast_lid, block_entries = 64, arbitration_entries = 32;
constexpr unsigned switch_node = 2, device = 0xb924;                       // as an InfiniScale III says

unsigned width_code(link_width w) {
    switch (w) {
        case link_width::x1: return 1;
        case link_width::x2: return 16;
        case link_width::x4: return 2;
        case link_width::x8: return 4;
        case link_width::x12: return 8;
    }
    return 0;
}

/// Of all widths up to one: a port can do with fewer lanes.
unsigned widths_up_to(link_width most) {
    unsigned codes = 0;
    for (const auto w : {link_width::x1, link_width::x2, link_width::x4, link_width::x8, link_width::x12})
        if (w <= most) codes |= width_code(w);
    return codes;
}

/// FDR and faster stand in a field of their own; this one then says QDR.
unsigned speed_code(link_rate r) { return r == link_rate::sdr ? 1 : r == link_rate::ddr ? 2 : 4; }
unsigned speeds_up_to(link_rate r) { return 2 * speed_code(r) - 1; }
unsigned extended_code(link_rate r) {
    switch (r) {
        case link_rate::fdr: return 1;
        case link_rate::edr: return 2;
        case link_rate::hdr: return 4;
        case link_rate::ndr: return 8;
        default: return 0;
    }
}

unsigned mtu_code(std::uint64_t bytes) {
    unsigned code = 1;
    for (; bytes > 256; bytes /= 2) ++code;
    return code;
}

unsigned lanes_code(std::uint64_t lanes) { return lanes == 1 ? 1 : lanes == 2 ? 2 : lanes == 4 ? 3 : lanes == 8 ? 4 : 5; }

void put16(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}
unsigned get16(const std::uint8_t* at) { return static_cast<unsigned>(at[0] << 8 | at[1]); }

}  // namespace

switch_agent::switch_agent(const sc_core::sc_module_name& name, network_switch& owner, std::uint64_t guid, duration latency)
    : model(name), m_switch(owner), m_guid(guid), m_latency(latency) {
    m_switch.on_management = [this](unsigned input, const packet_ptr& p) { take(input, p); };
}

void switch_agent::take(unsigned input, const packet_ptr& p) {
    task t{std::max(now(), p->tail) + m_latency, input, p, {}};
    const bool good = p->damaged == damage::none && p->payload.length == t.data.size() && transport_of(p->bth.opcode) == transport::ud &&
                      p->bth.destination_qp == 0 && p->lrh.vl == management_lane;
    if (good) std::copy_n(p->payload.data(), t.data.size(), t.data.begin());
    m_switch.ports[input - 1]->release(*p, std::max(now(), p->tail));
    if (!good) {
        ++discarded;
        ++m_switch.managed;
        return;
    }
    m_tasks.push_back(std::move(t));
    if (!m_work.scheduled()) schedule(m_work, m_tasks.front().when);
}

void switch_agent::work() {
    auto t = std::move(m_tasks.front());
    m_tasks.pop_front();
    if (!m_tasks.empty()) schedule(m_work, std::max(now(), m_tasks.front().when));
    if (m_switch.alive()) handle(t);
    else m_switch.ports[t.input - 1]->drop(*t.packet, drop_reason::switch_dead);
}

void switch_agent::handle(task& t) {
    const auto type = t.data[1];
    bool here = true;
    unsigned output = t.input;
    bool sensible = type == HCA_MAD_SUBNET || type == HCA_MAD_SUBNET_DIRECTED;
    if (sensible && type == HCA_MAD_SUBNET_DIRECTED) sensible = directed(t, here, output);
    if (sensible && !here) {
        ++passed_on;
        return send(output, t.packet, t.data);
    }
    ++m_switch.managed;
    if (!sensible || t.data[3] & HCA_MAD_RESPONSE) ++discarded;
    else answer(t, t.input);
}

/// Chapter 14.2.2. \returns false if the packet is to be discarded
bool switch_agent::directed(task& t, bool& here, unsigned& output) {
    auto& d = t.data;
    auto& pointer = d[hop_pointer];
    const unsigned count = d[hop_count], ports = static_cast<unsigned>(m_switch.ports.size());
    if (count > most_hops || pointer > count + 1u) return false;
    here = false;
    if (!(get16(&d[4]) & HCA_MAD_DIRECTION)) {
        if (pointer == 0) return false;  // whoever sends it counts the first hop; none of count 0 comes by a link
        if (pointer > count) return false;
        d[return_path + pointer] = static_cast<std::uint8_t>(t.input);
        ++pointer;
        if (pointer == count + 1u) {
            here = true;
            return get16(&d[local_dlid]) == permissive_lid;
        }
        output = d[initial_path + pointer];
        return output >= 1 && output <= ports;
    }
    if (pointer < 2 || pointer > count) return false;
    --pointer;
    output = d[return_path + pointer];
    return output >= 1 && output <= ports;
}

void switch_agent::answer(task& t, unsigned output) {
    auto& d = t.data;
    const bool set = d[3] == HCA_MAD_SET;
    if (!set && d[3] != HCA_MAD_GET) {
        ++discarded;
        return;
    }
    ++requests;
    const auto status = subnet(set, hca_get(d.data(), HCA_MAD_ATTRIBUTE), hca_get(d.data(), HCA_MAD_MODIFIER), t.input, &d[HCA_MAD_DATA]);
    d[3] = HCA_MAD_GET_RESPONSE;
    unsigned flags = status;
    if (d[1] == HCA_MAD_SUBNET_DIRECTED) {
        flags |= HCA_MAD_DIRECTION;
        --d[hop_pointer];
        output = d[return_path + d[hop_pointer]];
    }
    put16(&d[4], flags);
    const auto p = make_packet();
    p->bth.opcode = opcode_of(transport::ud, operation::send_only);
    p->bth.pkey = t.packet->bth.pkey;
    p->deth = {0, 0};
    if (d[1] == HCA_MAD_SUBNET_DIRECTED) {
        p->lrh.dlid = p->lrh.slid = permissive_lid;
    } else {
        p->lrh.dlid = t.packet->lrh.slid;
        p->lrh.slid = m_lid;
        output = m_switch.route_of(p->lrh.dlid);
    }
    if (output < 1 || output > m_switch.ports.size()) {
        ++discarded;
        return;
    }
    send(output, p, d);
}

void switch_agent::send(unsigned output, const packet_ptr& p, const mad& data) {
    p->payload = allocate_slice(data.size());
    std::copy(data.begin(), data.end(), p->payload.data());
    m_switch.send_management(output, p);
}

unsigned switch_agent::subnet(bool set, unsigned attribute, std::uint32_t modifier, unsigned input, std::uint8_t* data) {
    const auto ports = static_cast<unsigned>(m_switch.ports.size());
    switch (attribute) {
        case HCA_MAD_NODE_DESCRIPTION: {
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            const std::string text = m_switch.name();
            std::memset(data, 0, HCA_MAD_DATA_SIZE);
            std::memcpy(data, text.data(), std::min<std::size_t>(text.size(), HCA_MAD_DATA_SIZE - 1));
            return 0;
        }
        case HCA_MAD_NODE_INFO:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            node_info(input, data);
            return 0;
        case switch_info_attribute: return switch_info(set, data);
        case HCA_MAD_GUID_INFO:
            std::memset(data, 0, HCA_MAD_DATA_SIZE);
            if (modifier == 0) hca_set_long(data, 0, m_guid);
            return modifier == 0 ? 0 : HCA_MAD_BAD_FIELD;
        case HCA_MAD_PORT_INFO:
            if (modifier > ports) return HCA_MAD_BAD_FIELD;
            return port_info(set, modifier, data);
        case HCA_MAD_PKEY_TABLE:
            if ((modifier & 0xffff) != 0 || modifier >> 16 > ports) return HCA_MAD_BAD_FIELD;
            std::memset(data, 0, HCA_MAD_DATA_SIZE);
            put16(data, 0xffff);  // nothing is filtered here
            return 0;
        case sl_to_vl_attribute: return lanes(set, modifier >> 8 & 0xff, modifier & 0xff, data);
        case arbitration_attribute: return arbitration(set, modifier >> 16, modifier & 0xffff, data);
        case forwarding_attribute: return forwarding(set, modifier, data);
        default: return HCA_MAD_BAD_ATTRIBUTE;
    }
}

void switch_agent::node_info(unsigned input, std::uint8_t* data) const {
    std::memset(data, 0, HCA_MAD_DATA_SIZE);
    hca_set(data, HCA_NODE_BASE_VERSION, 1);
    hca_set(data, HCA_NODE_CLASS_VERSION, 1);
    hca_set(data, HCA_NODE_TYPE, switch_node);
    hca_set(data, HCA_NODE_PORTS, static_cast<std::uint32_t>(m_switch.ports.size()));
    hca_set_long(data, HCA_NODE_SYSTEM_GUID, m_guid);
    hca_set_long(data, HCA_NODE_GUID, m_guid);
    hca_set_long(data, HCA_NODE_PORT_GUID, m_guid);
    hca_set(data, HCA_NODE_PKEYS, 1);
    hca_set(data, HCA_NODE_DEVICE, device);
    hca_set(data, HCA_NODE_LOCAL_PORT, input);
    hca_set(data, HCA_NODE_VENDOR, HCA_OUI);
}

unsigned switch_agent::switch_info(bool set, std::uint8_t* data) {
    constexpr unsigned top = 6, life_time = 11, changed_bit = 0x04;
    if (set) {
        m_top = static_cast<std::uint16_t>(get16(data + top));
        m_life_time = data[life_time] >> 3;
        if (data[life_time] & changed_bit) m_changed = false;
    }
    std::memset(data, 0, HCA_MAD_DATA_SIZE);
    put16(data, forwarding_capacity);
    put16(data + top, m_top);
    data[life_time] = static_cast<std::uint8_t>(m_life_time << 3 | (m_changed ? changed_bit : 0));
    put16(data + 14, 1);  // P_Keys of a port
    return 0;
}

unsigned switch_agent::port_info(bool set, unsigned number, std::uint8_t* d) {
    constexpr unsigned extended_speeds = 62, extended_enabled = 63, high_limit = 38;
    auto* p = number ? m_switch.ports[number - 1].get() : nullptr;
    unsigned status = 0;
    if (set && p) {
        const auto wanted = hca_get(d, HCA_PORT_STATE);
        const auto now_in = static_cast<unsigned>(p->state());
        if (wanted > 4 || (wanted == 3 && now_in != 2 && now_in != 3) || (wanted == 4 && now_in != 3 && now_in != 4)) status = HCA_MAD_BAD_FIELD;
        else if (wanted == 1) {
            p->hold_down();
            p->let_train();
        } else if (wanted > 2 && wanted != now_in) p->set_state(static_cast<port_state>(wanted));
        if (!status) p->arbiter.set_limit(d[high_limit]);
    } else if (set) {
        const auto lid = hca_get(d, HCA_PORT_LID);
        if (lid == 0 || lid >= first_multicast_lid) status = HCA_MAD_BAD_FIELD;
        else {
            m_lid = static_cast<std::uint16_t>(lid);
            m_manager_lid = static_cast<std::uint16_t>(hca_get(d, HCA_PORT_SM_LID));
            m_m_key = hca_get_long(d, HCA_PORT_M_KEY);
        }
    }
    std::memset(d, 0, HCA_MAD_DATA_SIZE);
    hca_set_long(d, HCA_PORT_GID_PREFIX, 0xfe80'0000'0000'0000);
    hca_set(d, HCA_PORT_LOCAL_PORT, number);
    if (!p) {  // the switch's own
        hca_set_long(d, HCA_PORT_M_KEY, m_m_key);
        hca_set(d, HCA_PORT_LID, m_lid);
        hca_set(d, HCA_PORT_SM_LID, m_manager_lid);
        hca_set(d, HCA_PORT_STATE, 4);
        hca_set(d, HCA_PORT_PHYSICAL_STATE, 5);
        hca_set(d, HCA_PORT_MTU_SUPPORTED, mtu_code(m_switch.params.port.mtu));
        hca_set(d, HCA_PORT_MTU_ACTIVE, mtu_code(m_switch.params.port.mtu));
        hca_set(d, HCA_PORT_LANES, 1);
        hca_set(d, HCA_PORT_LANES_OPERATIONAL, 1);
        hca_set(d, HCA_PORT_WIDTH_ENABLED, 3);
        hca_set(d, HCA_PORT_WIDTH_SUPPORTED, 3);
        hca_set(d, HCA_PORT_WIDTH_ACTIVE, 2);
        hca_set(d, HCA_PORT_SPEED_SUPPORTED, 1);
        hca_set(d, HCA_PORT_SPEED_ENABLED, 1);
        hca_set(d, HCA_PORT_SPEED_ACTIVE, 1);
        hca_set(d, HCA_PORT_GUIDS, 1);
        hca_set(d, HCA_PORT_RESPONSE_TIME, 16);
        return status;
    }
    hca_set(d, HCA_PORT_STATE, static_cast<unsigned>(p->state()));
    hca_set(d, HCA_PORT_PHYSICAL_STATE, p->up() ? 5 : 2);  // LinkUp, Polling
    hca_set(d, HCA_PORT_DOWN_DEFAULT, 2);
    hca_set(d, HCA_PORT_WIDTH_ENABLED, widths_up_to(p->params.width));
    hca_set(d, HCA_PORT_WIDTH_SUPPORTED, widths_up_to(p->params.width));
    hca_set(d, HCA_PORT_WIDTH_ACTIVE, width_code(p->width()));
    hca_set(d, HCA_PORT_SPEED_SUPPORTED, speeds_up_to(p->params.rate));
    hca_set(d, HCA_PORT_SPEED_ENABLED, speeds_up_to(p->params.rate));
    hca_set(d, HCA_PORT_SPEED_ACTIVE, speed_code(p->rate()));
    d[extended_speeds] = static_cast<std::uint8_t>(extended_code(p->rate()) << 4 | (2 * extended_code(p->params.rate) - (extended_code(p->params.rate) != 0)));
    d[extended_enabled] = d[extended_speeds] & 15;
    hca_set(d, HCA_PORT_CAPABILITIES, extended_code(p->params.rate) ? 1u << 14 : 0);  // extended speeds are there
    hca_set(d, HCA_PORT_MTU_SUPPORTED, mtu_code(p->params.mtu));
    hca_set(d, HCA_PORT_MTU_ACTIVE, mtu_code(p->mtu()));
    hca_set(d, HCA_PORT_LANES, lanes_code(p->params.data_lanes));
    hca_set(d, HCA_PORT_LANES_OPERATIONAL, lanes_code(p->data_lanes()));
    d[high_limit] = p->arbiter.limit();
    d[39] = d[40] = arbitration_entries;  // capacity of the high-priority and low-priority tables
    hca_set(d, HCA_PORT_RESPONSE_TIME, 16);
    return status;
}

unsigned switch_agent::forwarding(bool set, std::uint32_t block, std::uint8_t* data) {
    if (block >= forwarding_capacity / block_entries) return HCA_MAD_BAD_FIELD;
    for (unsigned i = 0; i < block_entries; ++i) {
        const auto lid = static_cast<std::uint16_t>(block * block_entries + i);
        if (set && (data[i] != network_switch::no_port || m_switch.route_of(lid) != data[i])) m_switch.set_route(lid, data[i]);
        data[i] = m_switch.route_of(lid);
    }
    return 0;
}

unsigned switch_agent::lanes(bool set, unsigned input, unsigned output, std::uint8_t* data) {
    if (input > m_switch.ports.size() || output > m_switch.ports.size()) return HCA_MAD_BAD_FIELD;
    for (unsigned sl = 0; sl < 16; ++sl) {
        const unsigned shift = sl & 1 ? 0 : 4;
        if (set) m_switch.set_lane(input, output, sl, data[sl / 2] >> shift & 15);
        else data[sl / 2] = static_cast<std::uint8_t>((data[sl / 2] & ~(15u << shift)) | unsigned{m_switch.lane(input, output, sl)} << shift);
    }
    return 0;
}

/// Blocks 1 and 2 are the two halves of the low-priority table, 3 and 4 those of the other; only first halves are there.
unsigned switch_agent::arbitration(bool set, unsigned block, unsigned number, std::uint8_t* data) {
    if (number < 1 || number > m_switch.ports.size() || (block != 1 && block != 3)) return HCA_MAD_BAD_FIELD;
    auto& arbiter = m_switch.ports[number - 1]->arbiter;
    if (set) {
        std::vector<lane_arbiter::entry> entries;
        for (unsigned i = 0; i < arbitration_entries; ++i) entries.push_back({static_cast<std::uint8_t>(data[2 * i] & 15), data[2 * i + 1]});
        if (block == 1) arbiter.configure(arbiter.high(), std::move(entries), arbiter.limit());
        else arbiter.configure(std::move(entries), arbiter.low(), arbiter.limit());
    }
    const auto& table = block == 1 ? arbiter.low() : arbiter.high();
    std::memset(data, 0, HCA_MAD_DATA_SIZE);
    for (unsigned i = 0; i < table.size() && i < arbitration_entries; ++i) {
        data[2 * i] = table[i].lane;
        data[2 * i + 1] = table[i].weight;
    }
    return 0;
}

void switch_agent::reset() {
    m_tasks.clear();
    cancel(m_work);
    m_lid = m_manager_lid = m_top = 0;
    m_m_key = 0;
    m_life_time = 0;
    m_changed = false;
    model::reset();
}

}  // namespace fabricvp::network
