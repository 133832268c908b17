// SPDX-License-Identifier: Apache-2.0
// The port's subnet management and performance agents: answers management datagrams (MADs), whether software hands them
// over by MAD_IFC or the network brings them. Attributes stand here as the InfiniBand Architecture Specification numbers
// them (volume 1, chapters 13, 14, 16).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/model.h"
#include "base/statistics.h"

namespace fabricvp::hca {

/// What PortInfo and its companions say of one port.
struct port_attributes {
    std::uint64_t system_guid = 0, node_guid = 0, m_key = 0, gid_prefix = 0xfe80'0000'0000'0000;
    std::vector<std::uint64_t> guids;   ///< the first is the port's own
    std::vector<std::uint16_t> pkeys;
    std::uint16_t lid = 0, sm_lid = 0, m_key_lease = 0;
    std::uint32_t capabilities = 0;
    unsigned lmc = 0, sm_sl = 0, subnet_timeout = 18;
    unsigned state = 1, physical_state = 2;  ///< Down, Polling
    unsigned width_supported = 3, width_enabled = 3, width_active = 2;
    unsigned speed_supported = 1, speed_enabled = 1, speed_active = 1;  // 1 SDR, 2 DDR, 4 QDR
    unsigned extended_supported = 0, extended_active = 0;               // 1 FDR, 2 EDR, 4 HDR, 8 NDR
    unsigned mtu_supported = 4, mtu_active = 4, lanes_supported = 1, lanes_operational = 1;
    std::uint16_t pkey_violations = 0, qkey_violations = 0;
    std::string description;
};

/// Traffic counters that the performance agent shows.
struct port_traffic {
    std::uint64_t bytes_sent = 0, bytes_received = 0, packets_sent = 0, packets_received = 0;
};

class management final : public model {
public:
    counter mads{*this, "mads", "1", "management datagrams answered"};
    counter unknown{*this, "unknown_mads", "1", "management datagrams of unknown class, method or attribute"};

    port_attributes port;
    /// Brings what the port itself knows up to date before it is shown.
    std::function<void()> refresh;
    std::function<port_traffic()> traffic;
    /// Software or a subnet manager has set PortInfo: LID, states and so on are in `port`. `wanted_state` 0: as it is.
    std::function<void(unsigned wanted_state)> on_port_set;

    explicit management(const sc_core::sc_module_name& name) : model(name) {}

    /// \param request, response 256 bytes each \returns false if there is no answer to it (a response, a trap)
    bool answer(const std::uint8_t* request, std::uint8_t* response, bool check_m_key);

private:
    unsigned subnet(bool set, unsigned attribute, std::uint32_t modifier, std::uint8_t* data);
    unsigned performance(bool set, unsigned attribute, std::uint8_t* mad);
    void get_port(std::uint8_t* data) const;
    unsigned set_port(const std::uint8_t* data);
};

}  // namespace fabricvp::hca
