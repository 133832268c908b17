// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bus.h"
#include "base/statistics.h"

namespace fabricvp::host {

/// A window of an empty root bus. A root complex answers a read that no function claims with all ones, in configuration
/// space so that software sees no function there, and drops the write (PCI Express Base Specification 6.0, 2.3.2).
class pcie_window final : public bus_target {
public:
    counter unclaimed_reads{*this, "unclaimed_reads", "1", "reads answered with all ones"};
    counter unclaimed_writes{*this, "unclaimed_writes", "1", "writes dropped"};

    explicit pcie_window(const sc_core::sc_module_name& name) : bus_target(name) {}

private:
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
};

/// PCI Express host bridge (generic ECAM) with nothing on its root bus.
class pcie_root_bus final : public model {
public:
    pcie_window ecam{"ecam"};
    pcie_window pio{"pio"};
    pcie_window mmio32{"mmio32"};
    pcie_window mmio64{"mmio64"};

    explicit pcie_root_bus(const sc_core::sc_module_name& name) : model(name) {}
};

}  // namespace fabricvp::host
