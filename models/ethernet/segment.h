// SPDX-License-Identifier: Apache-2.0
// The Ethernet between nodes from a description: switches, and cables between them and the ports of network adapters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "ethernet/switch.h"

namespace fabricvp::ethernet {

struct segment_params {
    struct switch_node : switch_params {
        std::string name, origin;  ///< and where it is written, not described
        void describe(parameter_visitor& v);
    };
    struct link_node : link_params {
        std::string from, to, origin;
        void describe(parameter_visitor& v);
    };
    std::vector<switch_node> switches;
    std::vector<link_node> links;

    bool empty() const { return switches.empty() && links.empty(); }
    void describe(parameter_visitor& v);
};

class segment final : public model {
public:
    const segment_params params;

    std::vector<std::unique_ptr<ethernet_switch>> switches;

    /// The port of a network adapter, by the name that links call it.
    struct adapter {
        std::string name;
        ethernet::address address;
        ethernet::port* port;
    };

    /// \throws std::invalid_argument if names, links and addresses do not fit each other
    segment(const sc_core::sc_module_name& name, const segment_params& params, const std::vector<adapter>& adapters);

    const std::vector<adapter>& adapters() const { return m_adapters; }

    void reset() override;

private:
    void connect_links();
    void rank_ports();

    arrival_order m_order;
    const std::vector<adapter> m_adapters;
};

}  // namespace fabricvp::ethernet
