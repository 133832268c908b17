// SPDX-License-Identifier: Apache-2.0
#include "platform/params/device_params.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "pcie/device_kind.h"
#include "virtio/virtio_blk.h"
#include "virtio/virtio_net.h"

namespace fabricvp {

void register_device_kinds() {
    static const bool once = [] {
        using namespace pcie;
        device_capabilities ethernet, gpu, hca;
        ethernet.ethernet_port = true;
        gpu.fabric_port = true;
        gpu.energy = {{"gpu_lanes", ".compute_unit", ".lane_instructions"},
                      {"gpu_l1", ".memory.", ".l1.hits"},
                      {"gpu_l1", ".memory.", ".l1.misses"},
                      {"gpu_l2", ".memory.l2.bank", ".reads"},
                      {"gpu_l2", ".memory.l2.bank", ".writes"},
                      {"gpu_l2", ".memory.l2.bank", ".atomics"},
                      {"gpu_memory", ".memory.", ".hbm.bytes"}};
        hca.network_port = true;
        hca.energy = {{"network", ".network.", ".transmitter.bytes"}};
        add_device_kind(
            make_device_kind<virtio::virtio_blk, virtio::virtio_blk_params>("virtio_blk", "a virtio block device"));
        add_device_kind(
            make_device_kind<virtio::virtio_net, virtio::virtio_net_params>("virtio_net", "a virtio network adapter"),
            ethernet);
        declare_capabilities("gpu", gpu);
        declare_capabilities("hca", hca);
        return true;
    }();
    static_cast<void>(once);
}

void gpu_node_params::describe(parameter_visitor& v) {
    where.note(v, {"below", "link", "completion_boundary"});
    v.field("name", name, "name of the GPU: its path in statistics; gpu0, gpu1, … unless given");
    v.field(
        "below", below,
        "where it is plugged in: root, or a switch of the PCIe tree; host: on the host's bus, which makes it an APU");
    if (!is_apu()) gpu::gpu_device_params::describe(v);
    if (!is_apu() && !v.wants_kinds()) return;
    if (is_apu()) {
        core.describe(v);
        v.group("host_interface", host_interface, "what the host sees of the GPU");
    }
    apu.describe(v);
}

void hca_node_params::describe(parameter_visitor& v) {
    where.note(v, {"below", "link", "completion_boundary"});
    v.field("name", name, "name of the adapter: its path in statistics; hca0, hca1, … unless given");
    v.field("below", below, "where it is plugged in: root, or a switch of the PCIe tree");
    hca::hca_params::describe(v);
}

void device_params::describe(parameter_visitor& v) {
    describe_blocks(v, "gpus", gpus, "gpu", "GPUs, numbered in this order");
    describe_blocks(v, "hcas", hcas, "hca", "RDMA adapters, numbered in this order");
}

void device_params::complete() {
    const auto name = [](auto& devices, const char* word) {
        for (std::size_t i = 0; i < devices.size(); ++i)
            if (devices[i].name.empty()) devices[i].name = fmt::format("{}{}", word, i);
    };
    name(gpus, "gpu");
    name(hcas, "hca");
}

std::vector<pcie::tree_params::slot_node> device_params::slots() const {
    std::vector<pcie::tree_params::slot_node> all;
    for (const auto& g : gpus)
        if (!g.is_apu()) all.push_back({g.name, g.below, g.where, g});
    for (const auto& h : hcas) all.push_back({h.name, h.below, h.where, h});
    return all;
}

std::uint64_t device_params::memory_windows() const {
    std::uint64_t bytes = 0;
    for (const auto& g : gpus)
        if (!g.is_apu()) bytes += g.memory_bar();
    for (const auto& h : hcas) bytes += h.memory_bar();
    return bytes;
}

std::vector<std::string> device_params::fabric_ports() const {
    std::vector<std::string> names;
    for (const auto& g : gpus) names.push_back(g.name);
    return names;
}

std::vector<device_params::network_end> device_params::network_ends() const {
    std::vector<network_end> ends;
    for (const auto& h : hcas) ends.push_back({h.name, &h.network, h.guid});
    return ends;
}

void device_params::set_plugged(const std::string& device, bool plugged) {
    for (auto& h : hcas)
        if (h.name == device) h.network.plugged = plugged;
}

std::vector<gpu::gpu_core_params> device_params::gpu_cores() const {
    std::vector<gpu::gpu_core_params> cores;
    for (const auto& g : gpus) cores.push_back(g.core);
    return cores;
}

double device_params::gpu_memory(std::size_t count, std::uint64_t host_memory) const {
    double bytes = 0;
    for (std::size_t i = 0; i < std::min(count, gpus.size()); ++i)
        bytes += static_cast<double>(gpus[i].is_apu() ? host_memory / 2 : gpus[i].core.memory.capacity.bytes);
    return bytes;
}

const gpu_node_params* device_params::on_host_bus() const {
    const auto apu = std::find_if(gpus.begin(), gpus.end(), [](const auto& g) { return g.is_apu(); });
    return apu == gpus.end() ? nullptr : &*apu;
}

}  // namespace fabricvp
