// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/parameters.h"
#include "base/statistics.h"
#include "pcie/bridge.h"
#include "pcie/router.h"

namespace fabricvp::pcie {

struct switch_params {
    std::uint64_t downstream_ports = 2;
    port_params upstream_port, downstream_port;
    duration configuration_latency{100'000};
    bool hot_plug = false;  ///< devices may be pulled out of the downstream ports and plugged in
    void describe(parameter_visitor& v);
};

/// A PCIe switch: an upstream port, an internal bus, and downstream ports that are bridges on it. Routes by address, by
/// ID and to the root; peer-to-peer below it unless access control redirects requests upwards.
class pcie_switch final : public router {
public:
    const switch_params params;

    bridge upstream;
    std::vector<std::unique_ptr<bridge>> downstream;  ///< device 0, 1, … of the internal bus

    counter unsupported{*this, "unsupported_requests", "1", "requests that nothing behind the switch claims"};

    pcie_switch(const sc_core::sc_module_name& name, const switch_params& params);

    port& upstream_port() { return at(0); }
    port& downstream_port(unsigned i) { return at(1 + i); }

    void reset() override;

private:
    unsigned route(const tlp& t, unsigned ingress) override;
    void accept(const tlp_ptr& t, unsigned ingress) override;
    void forward(const tlp_ptr& t, unsigned ingress, unsigned egress) override;
    unsigned debug_request(port& from, tlp& t) override;

    unsigned route_by_bus(unsigned bus) const;
    unsigned route_by_address(std::uint64_t address, unsigned ingress) const;
    configuration_space* own_space(const tlp& t);
    void port_changed(unsigned index, link_event what) override;
    void port_errors(unsigned index, std::uint32_t correctable) override {
        bridge_at(index).errors.correctable(correctable);
    }
    void undeliverable(const tlp_ptr& t, unsigned egress) override;
    void prepare(unsigned index);
    void hot_reset();
    bridge& bridge_at(unsigned port) { return port == 0 ? upstream : *downstream[port - 1]; }
    std::uint16_t id_of(unsigned port) const;
    void send_message(message_code code, std::uint16_t requester);

    bool m_in_reset = false;  // from above: what happens below is no surprise
    struct intx_wires {
        unsigned asserted[4] = {};  // on INTA to INTD, by what is below a port
    };
    std::vector<intx_wires> m_intx;  // by port
};

}  // namespace fabricvp::pcie
