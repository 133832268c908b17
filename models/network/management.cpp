// SPDX-License-Identifier: Apache-2.0
#include "network/management.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/random_streams.h"

namespace fabricvp::network {

namespace {

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
unsigned widths_up_to(link_width max_width) {
    unsigned codes = 0;
    for (const auto w : {link_width::x1, link_width::x2, link_width::x4, link_width::x8, link_width::x12})
        if (w <= max_width) codes |= width_code(w);
    return codes;
}

/// FDR and faster stand in a field of their own; this one then says QDR.
unsigned speed_code(link_rate r) { return r == link_rate::sdr ? 1 : r == link_rate::ddr ? 2 : 4; }
unsigned extended_code(link_rate r) {
    switch (r) {
        case link_rate::fdr: return 1;
        case link_rate::edr: return 2;
        case link_rate::hdr: return 4;
        case link_rate::ndr: return 8;
        default: return 0;
    }
}
/// All speeds up to one.
unsigned up_to(unsigned code) { return code ? 2 * code - 1 : 0; }

constexpr std::uint32_t extended_speeds = 1u << 14;  // capability: the field of fast speeds is there

void put16(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}
unsigned get16(const std::uint8_t* at) { return static_cast<unsigned>(at[0] << 8 | at[1]); }

}  // namespace

std::uint64_t adapter_guid(const std::string& path) {
    return std::uint64_t{HCA_OUI} << 40 | (stream_seed(0, path.c_str()) & 0xff'ffff'fff0);
}

std::uint64_t switch_guid(unsigned number) { return 0x0002'c902'00f0'0000 + number; }

unsigned mtu_code(std::uint64_t bytes) {
    unsigned code = 1;
    for (; bytes > 256; bytes /= 2) ++code;
    return code;
}

unsigned lanes_code(std::uint64_t lanes) {
    return lanes == 1 ? 1 : lanes == 2 ? 2 : lanes == 4 ? 3 : lanes == 8 ? 4 : 5;
}

void set_capability_fields(port_attributes& a, const port_params& p) {
    a.width_supported = a.width_enabled = widths_up_to(p.width);
    a.speed_supported = a.speed_enabled = up_to(speed_code(p.rate));
    a.extended_supported = up_to(extended_code(p.rate));
    a.mtu_supported = mtu_code(p.mtu);
    a.lanes_supported = lanes_code(p.data_lanes);
    a.arbitration_entries = arbitration_entries;
    if (a.extended_supported) a.capabilities |= extended_speeds;
}

void show_link(port_attributes& a, const port& p) {
    a.state = static_cast<unsigned>(p.state());
    a.physical_state = p.up() ? HCA_PORT_LINK_UP : HCA_PORT_POLLING;
    a.width_active = width_code(p.width());
    a.speed_active = speed_code(p.rate());
    a.extended_active = extended_code(p.rate());
    a.high_limit = p.arbiter.limit();
}

void show_shared(port_attributes& a, const port& p) {
    a.mtu_active = mtu_code(p.mtu());
    a.lanes_operational = lanes_code(p.data_lanes());
}

void write_node_info(std::uint8_t* d, const node_attributes& n, std::size_t pkeys, unsigned local_port) {
    std::memset(d, 0, HCA_MAD_DATA_SIZE);
    hca_set(d, HCA_NODE_BASE_VERSION, 1);
    hca_set(d, HCA_NODE_CLASS_VERSION, 1);
    hca_set(d, HCA_NODE_TYPE, n.type);
    hca_set(d, HCA_NODE_PORTS, n.ports);
    hca_set_long(d, HCA_NODE_SYSTEM_GUID, n.system_guid);
    hca_set_long(d, HCA_NODE_GUID, n.node_guid);
    hca_set_long(d, HCA_NODE_PORT_GUID, n.port_guid);
    hca_set(d, HCA_NODE_PKEYS, static_cast<std::uint32_t>(pkeys));
    hca_set(d, HCA_NODE_DEVICE, n.device);
    hca_set(d, HCA_NODE_REVISION, n.revision);
    hca_set(d, HCA_NODE_LOCAL_PORT, local_port);
    hca_set(d, HCA_NODE_VENDOR, HCA_OUI);
}

void write_description(std::uint8_t* d, const std::string& text) {
    std::memset(d, 0, HCA_MAD_DATA_SIZE);
    std::memcpy(d, text.data(), std::min<std::size_t>(text.size(), HCA_MAD_DATA_SIZE - 1));
}

void write_port_info(std::uint8_t* d, const port_attributes& a, unsigned local_port) {
    const std::pair<unsigned, std::uint32_t> fields[] = {{HCA_PORT_LID, a.lid},
                                                         {HCA_PORT_SM_LID, a.sm_lid},
                                                         {HCA_PORT_CAPABILITIES, a.capabilities},
                                                         {HCA_PORT_M_KEY_LEASE, a.m_key_lease},
                                                         {HCA_PORT_LOCAL_PORT, local_port},
                                                         {HCA_PORT_WIDTH_ENABLED, a.width_enabled},
                                                         {HCA_PORT_WIDTH_SUPPORTED, a.width_supported},
                                                         {HCA_PORT_WIDTH_ACTIVE, a.width_active},
                                                         {HCA_PORT_SPEED_SUPPORTED, a.speed_supported},
                                                         {HCA_PORT_STATE, a.state},
                                                         {HCA_PORT_PHYSICAL_STATE, a.physical_state},
                                                         {HCA_PORT_DOWN_DEFAULT, HCA_PORT_POLLING},
                                                         {HCA_PORT_LMC, a.lmc},
                                                         {HCA_PORT_SPEED_ACTIVE, a.speed_active},
                                                         {HCA_PORT_SPEED_ENABLED, a.speed_enabled},
                                                         {HCA_PORT_MTU_ACTIVE, a.mtu_active},
                                                         {HCA_PORT_SM_SL, a.sm_sl},
                                                         {HCA_PORT_VLS_SUPPORTED, a.lanes_supported},
                                                         {HCA_PORT_HIGH_LIMIT, a.high_limit},
                                                         {HCA_PORT_ARBITRATION_HIGH, a.arbitration_entries},
                                                         {HCA_PORT_ARBITRATION_LOW, a.arbitration_entries},
                                                         {HCA_PORT_MTU_SUPPORTED, a.mtu_supported},
                                                         {HCA_PORT_VLS_OPERATIONAL, a.lanes_operational},
                                                         {HCA_PORT_PKEY_VIOLATIONS, a.pkey_violations},
                                                         {HCA_PORT_QKEY_VIOLATIONS, a.qkey_violations},
                                                         {HCA_PORT_GUIDS, static_cast<std::uint32_t>(a.guids.size())},
                                                         {HCA_PORT_SUBNET_TIMEOUT, a.subnet_timeout},
                                                         {HCA_PORT_RESPONSE_TIME, 16},
                                                         {HCA_PORT_EXTENDED_SPEED_ACTIVE, a.extended_active},
                                                         {HCA_PORT_EXTENDED_SPEED_SUPPORTED, a.extended_supported},
                                                         {HCA_PORT_EXTENDED_SPEED_ENABLED, a.extended_supported}};
    std::memset(d, 0, HCA_MAD_DATA_SIZE);
    hca_set_long(d, HCA_PORT_M_KEY, a.m_key);
    hca_set_long(d, HCA_PORT_GID_PREFIX, a.gid_prefix);
    for (const auto& [field, value] : fields) hca_set(d, field, value);
}

unsigned set_addresses(port_attributes& a, const std::uint8_t* d) {
    const auto lid = hca_get(d, HCA_PORT_LID);
    if (lid == 0 || lid >= first_multicast_lid) return HCA_MAD_BAD_FIELD;
    a.lid = static_cast<std::uint16_t>(lid);
    a.lmc = hca_get(d, HCA_PORT_LMC);
    a.sm_lid = static_cast<std::uint16_t>(hca_get(d, HCA_PORT_SM_LID));
    a.sm_sl = hca_get(d, HCA_PORT_SM_SL);
    a.m_key = hca_get_long(d, HCA_PORT_M_KEY);
    a.gid_prefix = hca_get_long(d, HCA_PORT_GID_PREFIX);
    a.m_key_lease = static_cast<std::uint16_t>(hca_get(d, HCA_PORT_M_KEY_LEASE));
    a.subnet_timeout = hca_get(d, HCA_PORT_SUBNET_TIMEOUT);
    a.pkey_violations = a.qkey_violations = 0;
    return 0;
}

unsigned set_link(port_attributes& a, port& p, const std::uint8_t* d) {
    const auto wanted = hca_get(d, HCA_PORT_STATE), mtu = hca_get(d, HCA_PORT_MTU_ACTIVE),
               lanes = hca_get(d, HCA_PORT_VLS_OPERATIONAL);
    const auto width = hca_get(d, HCA_PORT_WIDTH_ENABLED), speed = hca_get(d, HCA_PORT_SPEED_ENABLED);
    const auto now_in = static_cast<unsigned>(p.state());
    constexpr unsigned down = 1, initialize = 2, armed = 3, active = 4;
    const bool arms = wanted == armed && (now_in == initialize || now_in == armed),
               activates = wanted == active && (now_in == armed || now_in == active);
    if (mtu > a.mtu_supported || (wanted > initialize && !arms && !activates)) return HCA_MAD_BAD_FIELD;
    if (mtu) a.mtu_active = mtu;
    if (lanes && lanes <= a.lanes_supported) a.lanes_operational = lanes;
    if (width && width <= a.width_supported) a.width_enabled = width;
    if (speed && speed <= a.speed_supported) a.speed_enabled = speed;
    p.arbiter.set_limit(static_cast<std::uint8_t>(hca_get(d, HCA_PORT_HIGH_LIMIT)));
    if (wanted == down) {
        p.hold_down();
        p.start_training();
    } else if (wanted > initialize && wanted != now_in) {
        p.set_state(static_cast<port_state>(wanted));
    }
    return 0;
}

unsigned guid_table(bool set, std::uint32_t block, std::vector<std::uint64_t>& guids, std::uint8_t* data) {
    if (block >= (guids.size() + 7) / 8) return HCA_MAD_BAD_FIELD;
    for (std::size_t i = std::size_t{8} * block, at = 0; at < HCA_MAD_DATA_SIZE; ++i, at += 8) {
        if (set && i > 0 && i < guids.size()) guids[i] = hca_get64(data + at);
        hca_put64(data + at, i < guids.size() ? guids[i] : 0);
    }
    return 0;
}

unsigned pkey_table(bool set, std::uint32_t block, std::vector<std::uint16_t>& keys, std::uint8_t* data) {
    if (block >= (keys.size() + 31) / 32) return HCA_MAD_BAD_FIELD;
    for (std::size_t i = std::size_t{32} * block, at = 0; at < HCA_MAD_DATA_SIZE; ++i, at += 2) {
        if (set && i < keys.size()) keys[i] = static_cast<std::uint16_t>(get16(data + at));
        put16(data + at, i < keys.size() ? keys[i] : 0);
    }
    return 0;
}

unsigned arbitration_table(bool set, unsigned block, lane_arbiter& arbiter, std::uint8_t* data) {
    if (block != 1 && block != 3) return HCA_MAD_BAD_FIELD;
    if (set) {
        std::vector<lane_arbiter::entry> entries;
        for (unsigned i = 0; i < arbitration_entries; ++i)
            entries.push_back({static_cast<std::uint8_t>(data[2 * i] & 15), data[2 * i + 1]});
        if (block == 1)
            arbiter.configure(arbiter.high(), std::move(entries), arbiter.limit());
        else
            arbiter.configure(std::move(entries), arbiter.low(), arbiter.limit());
    }
    const auto& table = block == 1 ? arbiter.low() : arbiter.high();
    std::memset(data, 0, HCA_MAD_DATA_SIZE);
    for (unsigned i = 0; i < table.size() && i < arbitration_entries; ++i) {
        data[2 * i] = table[i].lane;
        data[2 * i + 1] = table[i].weight;
    }
    return 0;
}

unsigned lane_table(bool set, std::uint8_t* data, const std::function<std::uint8_t(unsigned)>& lane,
                    const std::function<void(unsigned, std::uint8_t)>& set_lane) {
    for (unsigned sl = 0; sl < 16; ++sl) {
        const unsigned shift = sl & 1 ? 0 : 4;
        auto& byte = data[sl / 2];
        if (set)
            set_lane(sl, byte >> shift & 15);
        else
            byte = static_cast<std::uint8_t>((byte & ~(15u << shift)) | unsigned{lane(sl)} << shift);
    }
    if (!set) std::memset(data + 8, 0, HCA_MAD_DATA_SIZE - 8);
    return 0;
}

route_step follow_route(std::uint8_t* d, unsigned input, unsigned ports, unsigned& output) {
    auto& pointer = d[HCA_MAD_HOP_POINTER];
    const unsigned count = d[HCA_MAD_HOP_COUNT];
    if (count > HCA_MAD_MAX_HOPS || pointer > count + 1u) return route_step::nowhere;
    if (!(hca_get(d, HCA_MAD_STATUS) & HCA_MAD_DIRECTION)) {
        if (pointer == 0 || pointer > count)
            return route_step::nowhere;  // the sender counts the first hop; none of count 0 comes by a link
        d[HCA_MAD_RETURN_PATH + pointer] = static_cast<std::uint8_t>(input);
        ++pointer;
        if (pointer == count + 1u)
            return hca_get(d, HCA_MAD_DIRECTED_DLID) == permissive_lid ? route_step::here : route_step::nowhere;
        output = d[HCA_MAD_INITIAL_PATH + pointer];
    } else {
        if (pointer < 2 || pointer > count) return route_step::nowhere;
        --pointer;
        output = d[HCA_MAD_RETURN_PATH + pointer];
    }
    return output >= 1 && output <= ports ? route_step::onward : route_step::nowhere;
}

bool holds_mad(const packet& p) {
    return p.corrupted == corruption::none && p.payload.length == HCA_MAD_SIZE &&
           transport_of(p.bth.opcode) == transport::ud && p.bth.destination_qp < 2;
}

packet_ptr make_response(const packet& request, mad& data, unsigned status, std::uint16_t lid, unsigned& output) {
    const bool directed = data[1] == HCA_MAD_SUBNET_DIRECTED;
    hca_set(data.data(), HCA_MAD_METHOD, HCA_MAD_GET_RESPONSE);
    hca_set(data.data(), HCA_MAD_STATUS, status | (directed ? HCA_MAD_DIRECTION : 0));
    const auto p = make_packet();
    p->bth.opcode = opcode_of(transport::ud, operation::send_only);
    p->bth.pkey = request.bth.pkey;
    p->lrh.sl = request.lrh.sl;
    if (request.bth.destination_qp) {  // else it is from one QP 0 to another
        p->bth.destination_qp = request.deth.source_qp;
        p->deth = {request.deth.qkey, request.bth.destination_qp};
    }
    if (directed) {
        output = data[HCA_MAD_RETURN_PATH + --data[HCA_MAD_HOP_POINTER]];
        p->lrh.dlid = p->lrh.slid = permissive_lid;
    } else {
        p->lrh.dlid = request.lrh.slid;
        p->lrh.slid = lid;
    }
    p->payload = allocate_slice(data.size());
    std::copy(data.begin(), data.end(), p->payload.data());
    return p;
}

}  // namespace fabricvp::network
