// SPDX-License-Identifier: Apache-2.0
#include "hca/management.h"

#include <algorithm>
#include <cstring>

#include "abi/hca.h"
#include "abi/hca_mad.h"

namespace fabricvp::hca {

bool management::answer(const std::uint8_t* request, std::uint8_t* response, bool check_m_key) {
    std::memcpy(response, request, HCA_MAD_SIZE);
    const auto method = hca_get(request, HCA_MAD_METHOD), management_class = hca_get(request, HCA_MAD_CLASS);
    const bool directed = management_class == HCA_MAD_SUBNET_DIRECTED;
    if (method & HCA_MAD_RESPONSE || method == HCA_MAD_TRAP || method == HCA_MAD_TRAP_REPRESS) return false;
    ++mads;
    unsigned status = HCA_MAD_BAD_METHOD;
    const bool set = method == HCA_MAD_SET;
    const auto attribute = hca_get(request, HCA_MAD_ATTRIBUTE), modifier = hca_get(request, HCA_MAD_MODIFIER);
    if (management_class == HCA_MAD_SUBNET || directed) {
        if (check_m_key && port.m_key != 0 && hca_get_long(request, HCA_MAD_M_KEY) != port.m_key) return false;
        if (refresh) refresh();
        if (method == HCA_MAD_GET || set) status = subnet(set, attribute, modifier, response + HCA_MAD_DATA);
    } else if (management_class == HCA_MAD_PERFORMANCE) {
        if (method == HCA_MAD_GET || set) status = performance(set, attribute, response);
    } else {
        status = HCA_MAD_BAD_CLASS;
    }
    if (status) ++unknown;
    hca_set(response, HCA_MAD_METHOD, HCA_MAD_GET_RESPONSE);
    hca_set(response, HCA_MAD_STATUS, status | (directed ? HCA_MAD_DIRECTION : 0));
    return true;
}

unsigned management::subnet(bool set, unsigned attribute, std::uint32_t modifier, std::uint8_t* data) {
    if (attribute != HCA_MAD_GUID_INFO && attribute != HCA_MAD_PKEY_TABLE && attribute != HCA_MAD_PORT_INFO && set) return HCA_MAD_BAD_ATTRIBUTE;
    switch (attribute) {
        case HCA_MAD_NODE_DESCRIPTION:
            std::memset(data, 0, HCA_MAD_DATA_SIZE);
            std::memcpy(data, port.description.data(), std::min<std::size_t>(port.description.size(), HCA_MAD_DATA_SIZE - 1));
            return 0;
        case HCA_MAD_NODE_INFO:
            std::memset(data, 0, HCA_MAD_DATA_SIZE);
            hca_set(data, HCA_NODE_BASE_VERSION, 1);
            hca_set(data, HCA_NODE_CLASS_VERSION, 1);
            hca_set(data, HCA_NODE_TYPE, HCA_NODE_CHANNEL_ADAPTER);
            hca_set(data, HCA_NODE_PORTS, 1);
            hca_set_long(data, HCA_NODE_SYSTEM_GUID, port.system_guid);
            hca_set_long(data, HCA_NODE_GUID, port.node_guid);
            hca_set_long(data, HCA_NODE_PORT_GUID, port.guids[0]);
            hca_set(data, HCA_NODE_PKEYS, static_cast<std::uint32_t>(port.pkeys.size()));
            hca_set(data, HCA_NODE_DEVICE, HCA_DEVICE);
            hca_set(data, HCA_NODE_REVISION, HCA_REVISION);
            hca_set(data, HCA_NODE_LOCAL_PORT, 1);
            hca_set(data, HCA_NODE_VENDOR, HCA_OUI);
            return 0;
        case HCA_MAD_GUID_INFO:
            if (modifier >= (port.guids.size() + 7) / 8) return HCA_MAD_BAD_FIELD;
            for (std::size_t i = 8 * modifier, at = 0; at < 64; ++i, at += 8) {
                if (set && i > 0 && i < port.guids.size()) port.guids[i] = hca_get64(data + at);
                hca_put64(data + at, i < port.guids.size() ? port.guids[i] : 0);
            }
            return 0;
        case HCA_MAD_PKEY_TABLE: {
            const auto block = modifier & 0xffff;
            if (block >= (port.pkeys.size() + 31) / 32) return HCA_MAD_BAD_FIELD;
            for (std::size_t i = 32 * block, at = 0; at < 64; ++i, at += 2) {
                if (set && i < port.pkeys.size()) port.pkeys[i] = static_cast<std::uint16_t>(data[at] << 8 | data[at + 1]);
                const unsigned key = i < port.pkeys.size() ? port.pkeys[i] : 0;
                data[at] = static_cast<std::uint8_t>(key >> 8);
                data[at + 1] = static_cast<std::uint8_t>(key);
            }
            return 0;
        }
        case HCA_MAD_PORT_INFO:
            if (modifier > 1) return HCA_MAD_BAD_FIELD;
            if (set)
                if (const auto status = set_port(data)) return status;
            get_port(data);
            return 0;
        default: return HCA_MAD_BAD_ATTRIBUTE;
    }
}

void management::get_port(std::uint8_t* d) const {
    std::memset(d, 0, HCA_MAD_DATA_SIZE);
    hca_set_long(d, HCA_PORT_M_KEY, port.m_key);
    hca_set_long(d, HCA_PORT_GID_PREFIX, port.gid_prefix);
    hca_set(d, HCA_PORT_LID, port.lid);
    hca_set(d, HCA_PORT_SM_LID, port.sm_lid);
    hca_set(d, HCA_PORT_CAPABILITIES, port.capabilities);
    hca_set(d, HCA_PORT_M_KEY_LEASE, port.m_key_lease);
    hca_set(d, HCA_PORT_LOCAL_PORT, 1);
    hca_set(d, HCA_PORT_WIDTH_ENABLED, port.width_enabled);
    hca_set(d, HCA_PORT_WIDTH_SUPPORTED, port.width_supported);
    hca_set(d, HCA_PORT_WIDTH_ACTIVE, port.width_active);
    hca_set(d, HCA_PORT_SPEED_SUPPORTED, port.speed_supported);
    hca_set(d, HCA_PORT_STATE, port.state);
    hca_set(d, HCA_PORT_PHYSICAL_STATE, port.physical_state);
    hca_set(d, HCA_PORT_DOWN_DEFAULT, 2);
    hca_set(d, HCA_PORT_LMC, port.lmc);
    hca_set(d, HCA_PORT_SPEED_ACTIVE, port.speed_active);
    hca_set(d, HCA_PORT_SPEED_ENABLED, port.speed_enabled);
    hca_set(d, HCA_PORT_MTU_ACTIVE, port.mtu_active);
    hca_set(d, HCA_PORT_SM_SL, port.sm_sl);
    hca_set(d, HCA_PORT_LANES, port.lanes_supported);
    hca_set(d, HCA_PORT_MTU_SUPPORTED, port.mtu_supported);
    hca_set(d, HCA_PORT_LANES_OPERATIONAL, port.lanes_operational);
    hca_set(d, HCA_PORT_PKEY_VIOLATIONS, port.pkey_violations);
    hca_set(d, HCA_PORT_QKEY_VIOLATIONS, port.qkey_violations);
    hca_set(d, HCA_PORT_GUIDS, static_cast<std::uint32_t>(port.guids.size()));
    hca_set(d, HCA_PORT_SUBNET_TIMEOUT, port.subnet_timeout);
    hca_set(d, HCA_PORT_RESPONSE_TIME, 16);
    hca_set(d, HCA_PORT_EXTENDED_SPEED_ACTIVE, port.extended_active);
    hca_set(d, HCA_PORT_EXTENDED_SPEED_SUPPORTED, port.extended_supported);
    hca_set(d, HCA_PORT_EXTENDED_SPEED_ENABLED, port.extended_supported);
}

/// Fields that have no place in hardware's hands, or whose value 0 means "as it is", are left alone.
unsigned management::set_port(const std::uint8_t* d) {
    const auto lid = hca_get(d, HCA_PORT_LID), state = hca_get(d, HCA_PORT_STATE), mtu = hca_get(d, HCA_PORT_MTU_ACTIVE);
    const auto width = hca_get(d, HCA_PORT_WIDTH_ENABLED), speed = hca_get(d, HCA_PORT_SPEED_ENABLED);
    if (lid == 0 || lid >= 0xc000 || state > 4 || mtu > port.mtu_supported) return HCA_MAD_BAD_FIELD;
    port.lid = static_cast<std::uint16_t>(lid);
    port.lmc = hca_get(d, HCA_PORT_LMC);
    port.sm_lid = static_cast<std::uint16_t>(hca_get(d, HCA_PORT_SM_LID));
    port.sm_sl = hca_get(d, HCA_PORT_SM_SL);
    port.m_key = hca_get_long(d, HCA_PORT_M_KEY);
    port.gid_prefix = hca_get_long(d, HCA_PORT_GID_PREFIX);
    port.m_key_lease = static_cast<std::uint16_t>(hca_get(d, HCA_PORT_M_KEY_LEASE));
    port.subnet_timeout = hca_get(d, HCA_PORT_SUBNET_TIMEOUT);
    if (mtu) port.mtu_active = mtu;
    if (const auto lanes = hca_get(d, HCA_PORT_LANES_OPERATIONAL); lanes && lanes <= port.lanes_supported) port.lanes_operational = lanes;
    if (width && width <= port.width_supported) port.width_enabled = width;
    if (speed && speed <= port.speed_supported) port.speed_enabled = speed;
    port.pkey_violations = port.qkey_violations = 0;
    if (on_port_set) on_port_set(state);
    return 0;
}

unsigned management::performance(bool set, unsigned attribute, std::uint8_t* mad) {
    auto* d = mad + HCA_MAD_DATA;
    if (attribute == HCA_MAD_CLASS_PORT_INFO && !set) {
        std::memset(d, 0, HCA_MAD_SIZE - HCA_MAD_DATA);
        d[0] = d[1] = 1;                   // base and class version
        hca_put32(d + 4, 18);              // response time
        return 0;
    }
    if (attribute != HCA_MAD_PORT_COUNTERS || !traffic) return HCA_MAD_BAD_ATTRIBUTE;
    if (set) return HCA_MAD_BAD_METHOD;    // counters are those of the statistics, which nobody clears from outside
    const auto t = traffic();
    const auto saturated = [](std::uint64_t n) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 0xffff'ffff)); };
    std::memset(d, 0, HCA_MAD_SIZE - HCA_MAD_DATA);
    d[1] = 1;  // port
    hca_set(d, HCA_COUNTER_SENT, saturated(t.bytes_sent / 4));
    hca_set(d, HCA_COUNTER_RECEIVED, saturated(t.bytes_received / 4));
    hca_set(d, HCA_COUNTER_PACKETS_SENT, saturated(t.packets_sent));
    hca_set(d, HCA_COUNTER_PACKETS_RECEIVED, saturated(t.packets_received));
    return 0;
}

}  // namespace fabricvp::hca
