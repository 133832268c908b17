// SPDX-License-Identifier: Apache-2.0
// Devices of a node that are more than endpoints of its PCIe tree: GPUs and RDMA adapters. Only this file and
// platform/node_devices.h know the lists; all else asks for what the devices have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "base/rejection.h"
#include "gpu/apu.h"
#include "gpu/gpu_device.h"
#include "hca/hca_params.h"
#include "pcie/tree.h"

namespace fabricvp {

/// A GPU of a node, plugged into the PCIe tree, or an APU on the host's bus.
struct gpu_node_params : gpu::gpu_device_params {
    static constexpr const char* on_host = "host";

    std::string name, below = "root";
    gpu::apu_params apu;  ///< where it is one
    bool is_apu() const { return below == on_host; }
    parameter_origin where;  ///< not described
    void describe(parameter_visitor& v);
};

/// An RDMA adapter of a node, plugged into the PCIe tree.
struct hca_node_params : hca::hca_params {
    std::string name, below = "root";
    parameter_origin where;
    void describe(parameter_visitor& v);
};

struct device_params {
    /// A device's port to the InfiniBand network.
    struct network_end {
        std::string name;  ///< of the device
        const hca::network_port_params* port;
        std::uint64_t guid;  ///< 0: it follows from the name
    };

    std::vector<gpu_node_params> gpus;
    std::vector<hca_node_params> hcas;

    void describe(parameter_visitor& v);
    /// Fills in the names that are not given.
    void complete();
    /// Where devices are plugged into the PCIe tree: GPUs, then adapters.
    std::vector<pcie::tree_params::slot_node> slots() const;
    /// Addresses that the devices' memory takes in the host's PCIe window.
    std::uint64_t memory_windows() const;
    /// Names of the devices with a port to the fabric, by number.
    std::vector<std::string> fabric_ports() const;
    /// Where the description of such a device stands.
    const parameter_origin& origin_of_fabric_port(std::size_t number) const { return gpus[number].where; }
    std::vector<network_end> network_ends() const;
    /// Whether a cable is plugged in there.
    void set_plugged(const std::string& device, bool plugged);
    std::vector<gpu::gpu_core_params> gpu_cores() const;
    /// Memory of the first `count` GPUs; an APU's is half of the host's.
    double gpu_memory(std::size_t count, std::uint64_t host_memory) const;
    /// The first device on the host's bus; null if there is none.
    const gpu_node_params* on_host_bus() const;
};

/// Registers the kinds of devices that come along, and what they have. Before this, PCIe knows its copy engine alone.
void register_device_kinds();

}  // namespace fabricvp
