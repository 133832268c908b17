// SPDX-License-Identifier: Apache-2.0
#include "hca/transport/management.h"

#include <algorithm>
#include <cstring>

#include "abi/hca.h"
#include "hca/transport/network_port.h"

namespace fabricvp::hca {

management::management(const sc_core::sc_module_name& name, const wiring& w)
    : model(name), m_adapter(w.adapter), m_network(w.network) {}

bool management::process_mad(const std::uint8_t* request, std::uint8_t* response, bool check_m_key) {
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
        m_adapter.update_port_info();
        if (method == HCA_MAD_GET || set) status = subnet(set, attribute, modifier, response + HCA_MAD_DATA);
    } else if (management_class == HCA_MAD_PERFORMANCE) {
        if (method == HCA_MAD_GET || set)
            status = m_network.performance.process(set, attribute, response + HCA_MAD_DATA);
    } else {
        status = HCA_MAD_BAD_CLASS;
    }
    if (status) ++unknown;
    hca_set(response, HCA_MAD_METHOD, HCA_MAD_GET_RESPONSE);
    hca_set(response, HCA_MAD_STATUS, status | (directed ? HCA_MAD_DIRECTION : 0));
    return true;
}

unsigned management::subnet(bool set, unsigned attribute, std::uint32_t modifier, std::uint8_t* data) {
    switch (attribute) {
        case HCA_MAD_NODE_DESCRIPTION:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            network::write_description(data, node.description);
            return 0;
        case HCA_MAD_NODE_INFO:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            node.port_guid = port.guids[0];
            network::write_node_info(data, node, port.pkeys.size(), 1);
            return 0;
        case HCA_MAD_GUID_INFO: return network::guid_table(set, modifier, port.guids, data);
        case HCA_MAD_PKEY_TABLE: return network::pkey_table(set, modifier & 0xffff, port.pkeys, data);
        case HCA_MAD_PORT_INFO: {
            if ((modifier & 0xff) > 1) return HCA_MAD_BAD_FIELD;
            const auto status = set ? set_port(data) : 0;
            m_adapter.update_port_info();
            network::write_port_info(data, port, 1);
            return status;
        }
        case HCA_MAD_SL_TO_VL:
            return network::lane_table(
                set, data, [this](unsigned sl) { return m_network.link.sl_to_vl[sl]; },
                [this](unsigned sl, std::uint8_t lane) { m_network.link.sl_to_vl[sl] = lane; });
        case HCA_MAD_ARBITRATION: return network::arbitration_table(set, modifier >> 16, m_network.link.arbiter, data);
        default: return HCA_MAD_BAD_ATTRIBUTE;
    }
}

unsigned management::set_port(const std::uint8_t* data) {
    auto tried = port;
    if (const auto status = network::set_addresses(tried, data)) return status;
    if (const auto status = network::set_link(port, m_network.link, data)) return status;
    network::set_addresses(port, data);
    m_network.link.set_lid(port.lid, static_cast<std::uint8_t>(port.lmc));
    return 0;
}

network::packet_ptr management::process_mad(const network::packet& request) {
    if (!network::holds_mad(request)) return nullptr;
    network::mad data, response;
    std::copy_n(request.payload.data(), data.size(), data.begin());
    unsigned output = 0;
    const bool directed = hca_get(data.data(), HCA_MAD_CLASS) == HCA_MAD_SUBNET_DIRECTED;
    if (directed && network::follow_route(data.data(), 1, 0, output) != network::route_step::here) return nullptr;
    if (!process_mad(data.data(), response.data(), true)) return nullptr;
    return network::make_response(request, response, hca_get(response.data(), HCA_MAD_STATUS), port.lid, output);
}

}  // namespace fabricvp::hca
