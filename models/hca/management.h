// SPDX-License-Identifier: Apache-2.0
// The port's subnet management and performance agents: answers management datagrams (MADs), whether software hands them
// over by MAD_IFC or the network brings them. Attributes stand here as the InfiniBand Architecture Specification
// numbers them (volume 1, chapters 13, 14, 16).
#pragma once

#include <cstdint>
#include <functional>

#include "base/model.h"
#include "base/statistics.h"
#include "network/management.h"

namespace fabricvp::hca {

using network::port_attributes;

/// Traffic counters that the performance agent shows.
struct port_traffic {
    std::uint64_t bytes_sent = 0, bytes_received = 0, packets_sent = 0, packets_received = 0;
};

class management final : public model {
public:
    counter mads{*this, "mads", "1", "management datagrams answered"};
    counter unknown{*this, "unknown_mads", "1", "management datagrams of unknown class, method or attribute"};

    network::node_attributes node;
    port_attributes port;
    /// Brings what the port itself knows up to date before it is shown.
    std::function<void()> refresh;
    std::function<port_traffic()> traffic;
    /// A subnet manager has given the port its addresses, which are in `port`.
    std::function<void()> on_addresses;

    /// \param link the port's end of its link, which is not looked at before it is there
    management(const sc_core::sc_module_name& name, network::port& link) : model(name), m_link(link) {}

    /// \param request, response 256 bytes each \returns false if there is no response to it (a response, a trap)
    bool process_mad(const std::uint8_t* request, std::uint8_t* response, bool check_m_key);
    /// The response to a datagram from the network; null if it gets none.
    network::packet_ptr process_mad(const network::packet& request);

private:
    unsigned subnet(bool set, unsigned attribute, std::uint32_t modifier, std::uint8_t* data);
    unsigned performance(bool set, unsigned attribute, std::uint8_t* mad);
    unsigned set_port(const std::uint8_t* data);

    network::port& m_link;
};

}  // namespace fabricvp::hca
