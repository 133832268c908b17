// SPDX-License-Identifier: Apache-2.0
// The devices of a node and what each kind of them has: the one place that tells GPUs from RDMA adapters and other
// endpoints. All else of the platform asks for ports, harts, memory and energy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ethernet/segment.h"
#include "fabric/interconnect.h"
#include "gpu/debugging/gpu_debugger.h"
#include "gpu/gpu_unit.h"
#include "hca/hca_device.h"
#include "host/host_complex.h"
#include "pcie/tree.h"
#include "platform/params/device_params.h"

namespace fabricvp {

class node_devices {
public:
    std::vector<std::unique_ptr<gpu::gpu_unit>> gpus;
    std::vector<std::unique_ptr<hca::hca_device>> hcas;

    /// Builds the devices, and plugs them in. \param tree null: nothing is on PCIe
    void build(const device_params& params, host::host_complex& host, pcie::tree* tree);
    void attach(fabric::interconnect& fabric);

    /// A device with what its kind declares.
    struct entry {
        std::string path;
        const pcie::device_capabilities* capabilities;
        bool on_pcie;
    };
    /// All of them, endpoints of the PCIe tree included.
    const std::vector<entry>& all() const { return m_all; }

    /// Harts of the devices' processors, by device.
    const std::vector<riscv::hart*>& harts() const { return m_harts; }
    std::vector<ethernet::segment::adapter> ethernet_adapters() const;
    network::port& network_port(const std::string& device);

    using other_memory = std::function<bool(std::uint64_t physical, void* data, std::size_t size, bool write)>;
    /// Debuggers of the devices that run kernels, and appends the threads of these devices. \param others reaches
    /// memory that is not the device's
    std::vector<std::unique_ptr<gpu::gpu_debugger>> debuggers(std::vector<riscv::debug_target*>& threads,
                                                              const other_memory& others);
    /// Reads or writes memory of a device at a physical address as GPUs have them. \returns false if none has it
    bool debug_access(std::uint64_t physical, void* data, std::size_t size, bool write);
    bool have_queue_pairs() const { return !hcas.empty(); }
    /// The state of queue pairs with this number, a line each.
    std::string describe_queue_pair(std::uint32_t number) const;
    /// All of them, a line each.
    std::string list_queue_pairs() const;
    /// Queues of a GPU, or of all if the name is empty: one in full, or all that are open, a line each. \param
    /// debuggers what debuggers() gave \throws input_error if there is no such GPU
    std::string describe_queues(const std::vector<std::unique_ptr<gpu::gpu_debugger>>& debuggers,
                                const std::string& gpu, std::optional<unsigned> number) const;

private:
    std::unique_ptr<gpu::gpu_unit> make_apu(const gpu_node_params& p, unsigned number, host::host_complex& host);

    std::vector<entry> m_all;
    std::vector<riscv::hart*> m_harts;
    std::vector<ethernet::segment::adapter> m_ethernet;
    std::uint64_t m_apu_memory = 0;  // end of what APUs have of the host's addresses
};

}  // namespace fabricvp
