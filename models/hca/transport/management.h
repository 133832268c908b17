// SPDX-License-Identifier: Apache-2.0
// The port's subnet management and performance agents: answers management datagrams (MADs), whether software hands them
// over by MAD_IFC or the network brings them. Attributes stand here as the InfiniBand Architecture Specification
// numbers them (volume 1, chapters 13, 14, 16).
#pragma once

#include <cstdint>

#include "base/model.h"
#include "base/statistics.h"
#include "hca/wiring.h"
#include "network/management.h"

namespace fabricvp::hca {

using network::port_attributes;

class management final : public model {
public:
    counter mads{*this, "mads", "1", "management datagrams answered"};
    counter unknown{*this, "unknown_mads", "1", "management datagrams of unknown class, method or attribute"};

    network::node_attributes node;
    port_attributes port;
    management(const sc_core::sc_module_name& name, const wiring& w);

    /// \param request, response 256 bytes each \returns false if there is no response to it (a response, a trap)
    bool process_mad(const std::uint8_t* request, std::uint8_t* response, bool check_m_key);
    /// The response to a datagram from the network; null if it gets none.
    network::packet_ptr process_mad(const network::packet& request);

private:
    unsigned subnet(bool set, unsigned attribute, std::uint32_t modifier, std::uint8_t* data);
    unsigned set_port(const std::uint8_t* data);

    adapter& m_adapter;
    network_port& m_network;
};

}  // namespace fabricvp::hca
