// SPDX-License-Identifier: Apache-2.0
// The hardware as a whole. Names follow members: node0.host.hart0 is `nodes[0]->host.harts[0]`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "base/fault.h"
#include "base/model.h"
#include "ethernet/segment.h"
#include "fabric/interconnect.h"
#include "gpu/replay/player.h"
#include "host/host_complex.h"
#include "network/subnet.h"
#include "platform/energy_meter.h"
#include "platform/node_devices.h"
#include "platform/params/machine_params.h"

namespace fabricvp {

/// One computer of the machine.
class node final : public model {
public:
    const node_params params;

    host::host_complex host;
    std::unique_ptr<pcie::tree> pcie;               ///< none where nothing is plugged in
    std::unique_ptr<gpu::kernel_activity> kernels;  ///< none where there are no GPUs
    node_devices devices;
    std::unique_ptr<fabric::interconnect> fabric;  ///< none where no GPUs are linked
    std::unique_ptr<gpu::replay::player> replay;   ///< none unless a recording is played; then there are no GPUs
    std::unique_ptr<energy_meter> energy;

    fault_kind<> power_off{*this, "power_off",
                           "the node loses its power for good: harts stop, its GPUs and adapters are gone, and so are "
                           "their links",
                           [this](const auto&) { cut_power(); }};
    /// Called when the node has lost its power.
    std::function<void()> on_power_lost;

    node(const sc_core::sc_module_name& name, const node_params& params);

    /// Halts the harts, those of command processors too; registers and memory stay for inspection. What
    /// devices have under way comes to its end.
    void power_down();
    /// After power_down(): reset, with harts that may run again.
    void power_up();

private:
    void link_up();
    void cut_power();
};

/// Which part of a machine is built here, where the others are in other processes. Without functions, all is.
struct machine_partition {
    std::function<bool(std::size_t node)> has;
    network::subnet_cut network;
};

/// Calendar and nodes. One a process.
class machine {
public:
    const machine_params params;

    calendar timeline;
    std::vector<std::unique_ptr<node>> nodes;     ///< null: in another process
    std::unique_ptr<network::subnet> network;     ///< none where nothing is linked
    std::unique_ptr<ethernet::segment> ethernet;  ///< the same

    /// \throws std::invalid_argument where parameters contradict each other
    explicit machine(const machine_params& params, const machine_partition& partition = {});

    void reset();
    /// Instructions retired by all harts since construction.
    std::uint64_t instructions() const;
    /// What all harts, those of command processors included, did of polls since construction.
    riscv::hart::poll_counts polls() const;

private:
    void lay_network(const network::subnet_cut& cut);
    void lay_ethernet();
};

}  // namespace fabricvp
