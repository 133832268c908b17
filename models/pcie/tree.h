// SPDX-License-Identifier: Apache-2.0
// A whole PCIe tree from a description: a root complex, switches below it or below each other, endpoints anywhere.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "base/rejection.h"
#include "pcie/copy_engine.h"
#include "pcie/device_kind.h"
#include "pcie/root_complex.h"
#include "pcie/switch.h"

namespace fabricvp::pcie {

struct tree_params {
    struct switch_node {
        std::string name, below = "root";
        parameter_origin where;  ///< not described
        port_params upstream_port, downstream_port;
        bool hot_plug = false;
        std::uint64_t arbitration_weight = 1, upstream_arbitration_weight = 1;
        void describe(parameter_visitor& v);
    };
    struct endpoint_node {
        std::string name, below = "root";
        parameter_origin where;
        chosen_device device;
        std::uint64_t arbitration_weight = 1;
        void describe(parameter_visitor& v);
    };

    /// Where a device that is not this tree's is plugged in (a GPU, an RDMA adapter).
    struct slot_node {
        std::string name, below = "root";
        parameter_origin where;
        endpoint_params device{};
    };

    root_complex_params root;
    parameter_origin where;
    std::vector<switch_node> switches;
    std::vector<endpoint_node> endpoints;
    std::vector<slot_node> slots;  ///< filled in by the builder of the devices, so not described

    bool empty() const { return endpoints.empty() && switches.empty() && slots.empty(); }
    void describe(parameter_visitor& v);
};

class tree final : public model {
public:
    const tree_params params;

    root_complex root;
    std::vector<std::unique_ptr<pcie_switch>> switches;
    std::vector<std::unique_ptr<endpoint>> endpoints;  ///< in the order of their description

    /// \throws std::invalid_argument if a name is taken, missing or not that of something to plug into
    tree(const sc_core::sc_module_name& name, const tree_params& params);

    /// The port that waits for the device of a slot.
    port& slot(std::size_t index) { return *m_slots[index]; }
    /// The copy engines among the endpoints, in their order.
    std::vector<copy_engine*> copy_engines() const;

private:
    /// \param turns what comes from there gets at every egress, one after the other
    port& next_port_below(const std::string& where, std::uint64_t arbitration_weight = 1);

    std::map<std::string, unsigned> m_plugged;  // children so far
    std::vector<port*> m_slots;
};

}  // namespace fabricvp::pcie
