// SPDX-License-Identifier: Apache-2.0
#include "network/administration.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::network {

namespace {

constexpr unsigned life_time = 12;  // of packets: 4.096 us × 2^12 = 17 ms, which no queue here outlasts
constexpr std::size_t max_transfers = 16, max_groups = 1024, max_paths = 1 << 14;
constexpr std::uint64_t gid_prefix = 0xfe80'0000'0000'0000;
constexpr unsigned default_pkey = 0xffff, ip_qkey = 0x0b1b;

/// What a selector (0: more than, 1: less than, 2: exactly, 3: the most) makes of what there is; 0: there is none.
unsigned select(unsigned selector, unsigned wanted, unsigned available) {
    switch (selector) {
        case 0: return available > wanted ? available : 0;
        case 1: return available < wanted ? available : wanted > 0 ? wanted - 1 : 0;
        case 2: return wanted <= available ? wanted : 0;
        default: return available;
    }
}

/// Codes of rates, by speed in units of 100 Mb/s.
constexpr std::pair<unsigned, unsigned> rates[] = {
    {25, 2},    {50, 5},    {100, 3},   {140, 11},  {200, 6},   {250, 15},  {280, 19},  {300, 4},
    {400, 7},   {500, 20},  {560, 12},  {600, 8},   {800, 9},   {1000, 16}, {1120, 13}, {1200, 10},
    {1680, 14}, {2000, 17}, {3000, 18}, {4000, 21}, {6000, 22}, {8000, 23}, {12000, 24}};

/// Of the fastest rate that is not above a speed; 0: there is none.
unsigned rate_code(unsigned speed) {
    unsigned code = 0;
    for (const auto& [of, number] : rates)
        if (of <= speed) code = number;
    return code;
}

unsigned speed_of(unsigned code) {
    for (const auto& [speed, number] : rates)
        if (number == code) return speed;
    return 0;
}

/// A group of IP over InfiniBand, IPv4 or IPv6 (RFC 4391, section 4).
bool is_of_ip(const std::uint8_t* mgid) {
    return mgid[0] == 0xff && ((mgid[2] == 0x40 && mgid[3] == 0x1b) || (mgid[2] == 0x60 && mgid[3] == 0x1b));
}

}  // namespace

bool subnet_administration::concerns(const packet& p) {
    return holds_mad(p) && p.bth.destination_qp == 1 && hca_get(p.payload.data(), HCA_MAD_CLASS) == HCA_SA_CLASS &&
           !(hca_get(p.payload.data(), HCA_MAD_METHOD) & HCA_MAD_RESPONSE &&
             hca_get(p.payload.data(), HCA_SA_RMPP_TYPE) <= HCA_SA_RMPP_DATA);
}

std::vector<packet_ptr> subnet_administration::process(const packet& request, std::uint16_t lid) {
    mad data;
    std::copy_n(request.payload.data(), data.size(), data.begin());
    const auto type = hca_get(data.data(), HCA_SA_RMPP_TYPE);
    if (hca_get(data.data(), HCA_SA_RMPP_FLAGS) & HCA_SA_RMPP_ACTIVE && type > HCA_SA_RMPP_DATA)
        return acknowledged(request, data);
    const auto method = hca_get(data.data(), HCA_MAD_METHOD);
    if (method & HCA_MAD_RESPONSE || method == HCA_MAD_TRAP || method == HCA_MAD_TRAP_REPRESS) {
        ++discarded;
        return {};
    }
    ++requests;
    std::vector<record> found;
    const auto attribute = hca_get(data.data(), HCA_MAD_ATTRIBUTE);
    auto status = answer(method, attribute, data, found);
    const bool table = method == HCA_SA_GET_TABLE;
    if (!status && !table) status = found.empty() ? HCA_SA_NO_RECORDS : found.size() > 1 ? HCA_SA_TOO_MANY : 0;
    if (status) ++refused;
    if (!status && table) return send_table(request, data, lid, found);
    if (!status) {
        std::memset(data.data() + HCA_SA_DATA, 0, HCA_SA_DATA_SIZE);
        std::copy(found[0].begin(), found[0].end(), data.begin() + HCA_SA_DATA);
        if (attribute != HCA_SA_CLASS_PORT_INFO)
            hca_set(data.data(), HCA_SA_OFFSET, static_cast<std::uint32_t>((found[0].size() + 7) / 8));
    }
    unsigned output = 0;
    const auto p = make_response(request, data, status, lid, output);
    hca_set(p->payload.data(), HCA_MAD_METHOD,
            method == HCA_MAD_SET ? unsigned{HCA_MAD_GET_RESPONSE} : method | HCA_MAD_RESPONSE);
    return {p};
}

unsigned subnet_administration::answer(unsigned method, unsigned attribute, const mad& request,
                                       std::vector<record>& found) {
    const auto given = hca_get_long(request.data(), HCA_SA_COMPONENTS);
    const auto* data = request.data() + HCA_SA_DATA;
    const bool table = method == HCA_SA_GET_TABLE;
    if (method == HCA_MAD_GET || table) {
        switch (attribute) {
            case HCA_SA_CLASS_PORT_INFO:
                if (table) return HCA_MAD_BAD_ATTRIBUTE;
                found.emplace_back(72);
                hca_set(found[0].data(), HCA_SA_INFO_BASE, 1);
                hca_set(found[0].data(), HCA_SA_INFO_CLASS, 2);
                hca_set(found[0].data(), HCA_SA_INFO_TIME, 16);
                return 0;
            case HCA_SA_NODE: find_nodes(given, data, found); return 0;
            case HCA_SA_PORT_INFO: find_ports(given, data, found); return 0;
            case HCA_SA_PATH: return find_paths(table, given, data, found);
            case HCA_SA_MEMBER:
                find_members(hca_get_long(request.data(), HCA_SA_KEY) != 0, given, data, found);
                return 0;
            default: return HCA_MAD_BAD_ATTRIBUTE;
        }
    }
    if (attribute == HCA_SA_MEMBER && method == HCA_MAD_SET) return join(given, data, found);
    if (attribute == HCA_SA_MEMBER && method == HCA_SA_DELETE) return leave(given, data, found);
    return HCA_MAD_BAD_ATTRIBUTE;  // ServiceRecord, InformInfo and others: there is no such service
}

std::optional<std::size_t> subnet_administration::node_of(const std::uint8_t* gid) const {
    if (hca_get64(gid) != gid_prefix) return std::nullopt;
    for (std::size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n].attributes.port_guid == hca_get64(gid + 8)) return n;
    return std::nullopt;
}

void subnet_administration::set_gid(std::uint8_t* to, std::size_t node) const {
    hca_put64(to, gid_prefix);
    hca_put64(to + 8, nodes[node].attributes.port_guid);
}

void subnet_administration::find_nodes(std::uint64_t given, const std::uint8_t* data,
                                       std::vector<record>& found) const {
    const auto* info = data + HCA_SA_NODE_INFO;
    for (const auto& n : nodes) {
        const auto& a = n.attributes;
        if ((given & HCA_SA_NODE_BY_LID && hca_get(data, HCA_SA_NODE_LID) != n.lid) ||
            (given & HCA_SA_NODE_BY_TYPE && hca_get(info, HCA_NODE_TYPE) != a.type) ||
            (given & HCA_SA_NODE_BY_GUID && hca_get_long(info, HCA_NODE_GUID) != a.node_guid) ||
            (given & HCA_SA_NODE_BY_PORT_GUID && hca_get_long(info, HCA_NODE_PORT_GUID) != a.port_guid))
            continue;
        std::uint8_t attribute[HCA_MAD_DATA_SIZE];
        record r(HCA_SA_NODE_SIZE);
        hca_set(r.data(), HCA_SA_NODE_LID, n.lid);
        write_node_info(attribute, a, 1, a.type == HCA_NODE_SWITCH ? 0 : 1);
        std::copy_n(attribute, 40, r.begin() + HCA_SA_NODE_INFO);
        write_description(attribute, a.description);
        std::copy_n(attribute, HCA_MAD_DATA_SIZE, r.begin() + HCA_SA_NODE_DESCRIPTION);
        found.push_back(std::move(r));
    }
}

void subnet_administration::find_ports(std::uint64_t given, const std::uint8_t* data,
                                       std::vector<record>& found) const {
    for (const auto& n : nodes) {
        const unsigned number = n.attributes.type == HCA_NODE_SWITCH ? 0 : 1;
        if ((given & HCA_SA_PORT_BY_LID && hca_get(data, HCA_SA_PORT_LID) != n.lid) ||
            (given & HCA_SA_PORT_BY_NUMBER && hca_get(data, HCA_SA_PORT_NUMBER) != number))
            continue;
        record r(HCA_SA_PORT_SIZE);
        hca_set(r.data(), HCA_SA_PORT_LID, n.lid);
        hca_set(r.data(), HCA_SA_PORT_NUMBER, number);
        write_port_info(r.data() + HCA_SA_PORT_ATTRIBUTES, n.port(), number);
        found.push_back(std::move(r));
    }
}

unsigned subnet_administration::find_paths(bool table, std::uint64_t given, const std::uint8_t* data,
                                           std::vector<record>& found) const {
    const bool by_source = given & (HCA_SA_PATH_BY_SGID | HCA_SA_PATH_BY_SLID),
               by_destination = given & (HCA_SA_PATH_BY_DGID | HCA_SA_PATH_BY_DLID);
    if (!table && !(by_source && by_destination)) return HCA_SA_INSUFFICIENT;
    if (!by_source && !by_destination && nodes.size() * nodes.size() > max_paths) return HCA_SA_NO_RESOURCES;
    if ((given & HCA_SA_PATH_BY_SGID && !node_of(data + HCA_SA_PATH_SGID)) ||
        (given & HCA_SA_PATH_BY_DGID && !node_of(data + HCA_SA_PATH_DGID)))
        return HCA_SA_INVALID_GID;
    const auto fits = [&](std::size_t n, unsigned by_gid, unsigned gid_at, unsigned by_lid, unsigned lid_at) {
        return (!(given & by_gid) || node_of(data + gid_at) == n) &&
               (!(given & by_lid) || hca_get(data, lid_at) == nodes[n].lid);
    };
    if (given & HCA_SA_PATH_BY_PKEY && (hca_get(data, HCA_SA_PATH_PKEY) | 0x8000) != default_pkey) return 0;
    if (given & HCA_SA_PATH_BY_SL && hca_get(data, HCA_SA_PATH_SL) != 0) return 0;
    for (std::size_t from = 0; from < nodes.size(); ++from) {
        if (!fits(from, HCA_SA_PATH_BY_SGID, HCA_SA_PATH_SGID, HCA_SA_PATH_BY_SLID, HCA_SA_PATH_SLID)) continue;
        for (std::size_t to = 0; to < nodes.size(); ++to) {
            if (!fits(to, HCA_SA_PATH_BY_DGID, HCA_SA_PATH_DGID, HCA_SA_PATH_BY_DLID, HCA_SA_PATH_DLID)) continue;
            auto way = path_between(from, to);
            if (!way) continue;
            if ((given & HCA_SA_PATH_BY_MTU) == HCA_SA_PATH_BY_MTU)
                way->mtu = select(hca_get(data, HCA_SA_PATH_MTU_SELECTOR), hca_get(data, HCA_SA_PATH_MTU), way->mtu);
            if ((given & HCA_SA_PATH_BY_RATE) == HCA_SA_PATH_BY_RATE)
                way->speed = select(hca_get(data, HCA_SA_PATH_RATE_SELECTOR), speed_of(hca_get(data, HCA_SA_PATH_RATE)),
                                    way->speed);
            if (!way->mtu || !rate_code(way->speed)) continue;
            record r(HCA_SA_PATH_SIZE);
            set_gid(r.data() + HCA_SA_PATH_DGID, to);
            set_gid(r.data() + HCA_SA_PATH_SGID, from);
            const std::pair<unsigned, unsigned> fields[] = {{HCA_SA_PATH_DLID, nodes[to].lid},
                                                            {HCA_SA_PATH_SLID, nodes[from].lid},
                                                            {HCA_SA_PATH_REVERSIBLE, 1},
                                                            {HCA_SA_PATH_COUNT, 1},
                                                            {HCA_SA_PATH_PKEY, default_pkey},
                                                            {HCA_SA_PATH_MTU_SELECTOR, 2},
                                                            {HCA_SA_PATH_MTU, way->mtu},
                                                            {HCA_SA_PATH_RATE_SELECTOR, 2},
                                                            {HCA_SA_PATH_RATE, rate_code(way->speed)},
                                                            {HCA_SA_PATH_LIFE_SELECTOR, 2},
                                                            {HCA_SA_PATH_LIFE, life_time}};
            for (const auto& [field, value] : fields) hca_set(r.data(), field, value);
            found.push_back(std::move(r));
        }
    }
    return 0;
}

subnet_administration::record subnet_administration::member_record(const group& g, std::size_t node) const {
    auto r = g.common;
    set_gid(r.data() + HCA_SA_MEMBER_GID, node);
    const auto at = g.state.find(node);
    hca_set(r.data(), HCA_SA_MEMBER_STATE, at == g.state.end() ? 0 : at->second);
    return r;
}

/// Who has no key is told of groups, not of their members (15.4.1.2).
void subnet_administration::find_members(bool trusted, std::uint64_t given, const std::uint8_t* data,
                                         std::vector<record>& found) const {
    for (const auto& [name, g] : m_groups) {
        if ((given & HCA_SA_MEMBER_BY_MGID && !std::equal(name.begin(), name.end(), data + HCA_SA_MEMBER_MGID)) ||
            (given & HCA_SA_MEMBER_BY_LID && hca_get(data, HCA_SA_MEMBER_LID) != g.lid))
            continue;
        if (!trusted && !(given & HCA_SA_MEMBER_BY_GID)) {
            found.push_back(g.common);
            continue;
        }
        for (const auto& [node, state] : g.state)
            if (!(given & HCA_SA_MEMBER_BY_GID) || node_of(data + HCA_SA_MEMBER_GID) == node)
                found.push_back(member_record(g, node));
    }
}

/// A group begins with its first full member, whose request says what the group is; groups of IP, whose first request
/// may be short, with what RFC 4391 says of them.
unsigned subnet_administration::make_group(std::uint64_t given, const std::uint8_t* data, gid& name) {
    constexpr std::uint64_t needed = HCA_SA_MEMBER_BY_QKEY | HCA_SA_MEMBER_BY_PKEY | HCA_SA_MEMBER_BY_SL |
                                     HCA_SA_MEMBER_BY_FLOW | HCA_SA_MEMBER_BY_CLASS;
    const bool of_ip = is_of_ip(name.data());
    if (!(hca_get(data, HCA_SA_MEMBER_STATE) & HCA_SA_MEMBER_FULL)) return HCA_SA_INVALID;
    if ((given & needed) != needed && !of_ip) return HCA_SA_INSUFFICIENT;
    if (given & HCA_SA_MEMBER_BY_PKEY && (hca_get(data, HCA_SA_MEMBER_PKEY) | 0x8000) != default_pkey)
        return HCA_SA_INVALID;
    if (std::all_of(name.begin(), name.end(), [](auto byte) { return byte == 0; })) {
        name = {0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80};
        hca_put64(name.data() + 8, ++m_made);
    }
    if (name[0] != 0xff) return HCA_SA_INVALID;
    // What every node can receive.
    path common{of_ip ? 4u : 5u, ~0u};  // RFC 4391 leaves more to who makes the group
    for (std::size_t from = 0; from < nodes.size(); ++from)
        if (const auto way = path_between(from, 0)) {
            common.mtu = std::min(common.mtu, way->mtu);
            common.speed = std::min(common.speed, way->speed);
        }
    if ((given & HCA_SA_MEMBER_BY_MTU) == HCA_SA_MEMBER_BY_MTU)
        common.mtu = select(hca_get(data, HCA_SA_MEMBER_MTU_SELECTOR), hca_get(data, HCA_SA_MEMBER_MTU), common.mtu);
    if (!common.mtu) return HCA_SA_INVALID;
    std::uint16_t lid = first_multicast_lid;
    const auto used = [this](std::uint16_t l) {
        return is_taken(l) ||
               std::any_of(m_groups.begin(), m_groups.end(), [l](const auto& g) { return g.second.lid == l; });
    };
    while (lid < first_multicast_lid + max_groups && used(lid)) ++lid;
    if (lid == first_multicast_lid + max_groups) return HCA_SA_NO_RESOURCES;
    record r(HCA_SA_MEMBER_SIZE);
    std::copy(name.begin(), name.end(), r.begin() + HCA_SA_MEMBER_MGID);
    const auto told = [&](std::uint64_t bit, unsigned field, unsigned otherwise) {
        return given & bit ? hca_get(data, field) : otherwise;
    };
    const std::pair<unsigned, unsigned> fields[] = {
        {HCA_SA_MEMBER_QKEY, told(HCA_SA_MEMBER_BY_QKEY, HCA_SA_MEMBER_QKEY, ip_qkey)},
        {HCA_SA_MEMBER_LID, lid},
        {HCA_SA_MEMBER_MTU_SELECTOR, 2},
        {HCA_SA_MEMBER_MTU, common.mtu},
        {HCA_SA_MEMBER_CLASS, told(HCA_SA_MEMBER_BY_CLASS, HCA_SA_MEMBER_CLASS, 0)},
        {HCA_SA_MEMBER_PKEY, default_pkey},
        {HCA_SA_MEMBER_RATE_SELECTOR, 2},
        {HCA_SA_MEMBER_RATE, rate_code(common.speed)},
        {HCA_SA_MEMBER_LIFE_SELECTOR, 2},
        {HCA_SA_MEMBER_LIFE, life_time},
        {HCA_SA_MEMBER_FLOW, told(HCA_SA_MEMBER_BY_FLOW, HCA_SA_MEMBER_FLOW, 0) & 0x0fff'ffffu},  // service level 0
        {HCA_SA_MEMBER_SCOPE, name[1] & 15u}};
    for (const auto& [field, value] : fields) hca_set(r.data(), field, value);
    auto& g = m_groups[name];
    g.lid = lid;
    g.common = std::move(r);
    return 0;
}

unsigned subnet_administration::join(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) {
    constexpr std::uint64_t needed = HCA_SA_MEMBER_BY_MGID | HCA_SA_MEMBER_BY_GID | HCA_SA_MEMBER_BY_STATE;
    const auto state = hca_get(data, HCA_SA_MEMBER_STATE);
    if ((given & needed) != needed) return HCA_SA_INSUFFICIENT;
    const auto node = node_of(data + HCA_SA_MEMBER_GID);
    if (!node) return HCA_SA_INVALID_GID;
    if (!state) return HCA_SA_INVALID;
    gid name;
    std::copy_n(data + HCA_SA_MEMBER_MGID, name.size(), name.begin());
    if (!m_groups.count(name))
        if (const auto status = make_group(given, data, name)) return status;
    auto& g = m_groups.at(name);
    if ((given & HCA_SA_MEMBER_BY_QKEY &&
         hca_get(data, HCA_SA_MEMBER_QKEY) != hca_get(g.common.data(), HCA_SA_MEMBER_QKEY)) ||
        (given & HCA_SA_MEMBER_BY_PKEY && (hca_get(data, HCA_SA_MEMBER_PKEY) | 0x8000) != default_pkey))
        return HCA_SA_INVALID;
    auto& now = g.state[*node];
    const bool received = now & (HCA_SA_MEMBER_FULL | HCA_SA_MEMBER_NONE);
    now |= state;
    ++joins;
    if (!received && now & (HCA_SA_MEMBER_FULL | HCA_SA_MEMBER_NONE)) set_member(g.lid, *node, true);
    found.push_back(member_record(g, *node));
    return 0;
}

unsigned subnet_administration::leave(std::uint64_t given, const std::uint8_t* data, std::vector<record>& found) {
    constexpr std::uint64_t needed = HCA_SA_MEMBER_BY_MGID | HCA_SA_MEMBER_BY_GID | HCA_SA_MEMBER_BY_STATE;
    if ((given & needed) != needed) return HCA_SA_INSUFFICIENT;
    gid name;
    std::copy_n(data + HCA_SA_MEMBER_MGID, name.size(), name.begin());
    const auto node = node_of(data + HCA_SA_MEMBER_GID);
    const auto at = m_groups.find(name);
    if (!node || at == m_groups.end() || !at->second.state.count(*node)) return HCA_SA_INVALID;
    auto& g = at->second;
    auto& now = g.state[*node];
    const auto left = now & ~hca_get(data, HCA_SA_MEMBER_STATE);
    if (left == now) return HCA_SA_INVALID;
    constexpr unsigned receives = HCA_SA_MEMBER_FULL | HCA_SA_MEMBER_NONE;
    if (now & receives && !(left & receives)) set_member(g.lid, *node, false);
    ++leaves;
    now = left;
    if (!left) g.state.erase(*node);
    found.push_back(member_record(g, *node));
    // Without full members there is no group.
    if (std::any_of(g.state.begin(), g.state.end(), [](const auto& m) { return m.second & HCA_SA_MEMBER_FULL; }))
        return 0;
    for (const auto& [other, state] : g.state)
        if (state & receives) set_member(g.lid, other, false);
    m_groups.erase(at);
    return 0;
}

/// A table goes by RMPP: a first segment, and the others as the requester acknowledges.
std::vector<packet_ptr> subnet_administration::send_table(const packet& request, mad& data, std::uint16_t lid,
                                                          const std::vector<record>& found) {
    record all;
    const std::size_t step = found.empty() ? 0 : (found[0].size() + 7) / 8 * 8;
    for (const auto& r : found) {
        all.insert(all.end(), r.begin(), r.end());
        all.resize(all.size() + step - r.size());
    }
    hca_set(data.data(), HCA_SA_OFFSET, static_cast<std::uint32_t>(step / 8));
    transfer t{request.lrh.slid, request.deth.source_qp, hca_get_long(data.data(), HCA_MAD_TRANSACTION), {}};
    const auto count = std::max<std::size_t>(1, (all.size() + HCA_SA_DATA_SIZE - 1) / HCA_SA_DATA_SIZE);
    for (std::size_t i = 0; i < count; ++i) {
        const auto begin = i * HCA_SA_DATA_SIZE, bytes = std::min<std::size_t>(HCA_SA_DATA_SIZE, all.size() - begin);
        auto segment = data;
        std::memset(segment.data() + HCA_SA_DATA, 0, HCA_SA_DATA_SIZE);
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), bytes, segment.begin() + HCA_SA_DATA);
        const bool first = i == 0, last = i == count - 1;
        const auto length = last && !first ? HCA_SA_HEADER + bytes : first ? HCA_SA_HEADER * count + all.size() : 0;
        const std::pair<unsigned, unsigned> fields[] = {
            {HCA_SA_RMPP_VERSION, 1},
            {HCA_SA_RMPP_TYPE, HCA_SA_RMPP_DATA},
            {HCA_SA_RMPP_FLAGS, HCA_SA_RMPP_ACTIVE | (first ? HCA_SA_RMPP_FIRST : 0) | (last ? HCA_SA_RMPP_LAST : 0)},
            {HCA_SA_RMPP_STATUS, 0},
            {HCA_SA_RMPP_SEGMENT, static_cast<unsigned>(i + 1)},
            {HCA_SA_RMPP_LENGTH, static_cast<unsigned>(length)}};
        for (const auto& [field, value] : fields) hca_set(segment.data(), field, value);
        unsigned output = 0;
        t.segments.push_back(make_response(request, segment, 0, lid, output));
        hca_set(t.segments.back()->payload.data(), HCA_MAD_METHOD, HCA_SA_GET_TABLE_RESPONSE);
    }
    t.sent = 1;
    std::vector<packet_ptr> first{std::move(t.segments[0])};
    if (count > 1) {
        m_transfers.push_back(std::move(t));
        if (m_transfers.size() > max_transfers) m_transfers.pop_front();
    }
    return first;
}

/// A requester that has lost a segment asks again.
std::vector<packet_ptr> subnet_administration::acknowledged(const packet& by, const mad& data) {
    const auto transaction = hca_get_long(data.data(), HCA_MAD_TRANSACTION);
    const auto at = std::find_if(m_transfers.rbegin(), m_transfers.rend(), [&](const transfer& t) {
        return t.transaction == transaction && t.lid == by.lrh.slid && t.qp == by.deth.source_qp;
    });
    if (at == m_transfers.rend()) return {};
    std::vector<packet_ptr> next;
    if (hca_get(data.data(), HCA_SA_RMPP_TYPE) == HCA_SA_RMPP_ACKNOWLEDGE) {
        const auto limit = std::min<std::size_t>(hca_get(data.data(), HCA_SA_RMPP_LENGTH), at->segments.size());
        for (; at->sent < limit; ++at->sent) next.push_back(std::move(at->segments[at->sent]));
        if (hca_get(data.data(), HCA_SA_RMPP_SEGMENT) < at->segments.size()) return next;
    }
    m_transfers.erase(std::next(at).base());
    return next;
}

void subnet_administration::reset() {
    m_groups.clear();
    m_transfers.clear();
    m_made = 0;
    model::reset();
}

}  // namespace fabricvp::network
