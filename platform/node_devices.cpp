// SPDX-License-Identifier: Apache-2.0
#include "platform/node_devices.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "abi/memory_map.h"
#include "base/rejection.h"
#include "ethernet/adapter.h"
#include "gpu/apu.h"
#include "gpu/debugging/queue_state.h"
#include "gpu/gpu_device.h"
#include "hca/queues/debug_text.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/loader/processor_image.h"

namespace fabricvp {
namespace {

constexpr unsigned max_apus = (VIRT_PLIC_BASE - VIRT_APU_BASE) / VIRT_APU_STRIDE < VIRT_PLIC_SOURCES + 1 - VIRT_APU_IRQ
                                  ? (VIRT_PLIC_BASE - VIRT_APU_BASE) / VIRT_APU_STRIDE
                                  : VIRT_PLIC_SOURCES + 1 - VIRT_APU_IRQ;

/// The file that a configuration names.
void install_firmware(gpu::command_processor& processor) {
    const auto& p = processor.params;
    if (p.firmware.empty()) return;
    try {
        processor.install(read_processor_firmware(p.firmware));
    } catch (const std::exception& why) {
        reject_at(p.origin.of("firmware"), fmt::format("{}.firmware: {}", processor.name(), why.what()));
    }
}

}  // namespace

void node_devices::build(const device_params& params, host::host_complex& host, pcie::tree* tree) {
    register_device_kinds();
    std::size_t slot = 0;
    for (std::size_t i = 0; i < params.gpus.size(); ++i) {
        const auto& p = params.gpus[i];
        const auto number = static_cast<unsigned>(i);
        if (p.is_apu()) {
            gpus.push_back(make_apu(p, number, host));
        } else {
            auto device = std::make_unique<gpu::gpu_device>(p.name.c_str(), p, number);
            pcie::connect(tree->slot(slot++), device->link);
            gpus.push_back(std::move(device));
        }
        auto& core = gpus.back()->core;
        install_firmware(core.processor);
        core.memory.read_peers = [this](std::uint64_t physical, void* to, std::size_t size) {
            return debug_access(physical, to, size, false);
        };
        m_all.push_back({core.owner.name(), &pcie::capabilities_of("gpu"), !p.is_apu()});
        for (auto& hart : core.processor.harts) m_harts.push_back(hart.get());
    }
    for (const auto& p : params.hcas) {
        hcas.push_back(std::make_unique<hca::hca_device>(p.name.c_str(), p));
        pcie::connect(tree->slot(slot++), hcas.back()->link);
        m_all.push_back({hcas.back()->name(), &pcie::capabilities_of("hca"), true});
    }
    if (!tree) return;
    for (std::size_t i = 0; i < tree->endpoints.size(); ++i) {
        auto& endpoint = *tree->endpoints[i];
        const auto& capabilities = pcie::capabilities_of(tree->params.endpoints[i].device.kind());
        m_all.push_back({endpoint.name(), &capabilities, true});
        if (!capabilities.ethernet_port) continue;
        auto* adapter = dynamic_cast<ethernet::adapter*>(&endpoint);
        if (!adapter) throw std::invalid_argument(m_all.back().path + ": its kind declares an Ethernet port it lacks");
        m_ethernet.push_back({endpoint.name(), adapter->station(), &adapter->ethernet_port()});
    }
}

/// Its registers lie where they have a place each; its memory above all else, one after the other.
std::unique_ptr<gpu::gpu_unit> node_devices::make_apu(const gpu_node_params& p, unsigned number,
                                                      host::host_complex& host) {
    const auto size = p.memory_bar();
    const auto registers = VIRT_APU_BASE + number * VIRT_APU_STRIDE, doorbells = registers + VIRT_APU_DOORBELLS;
    const auto memory =
        (std::max(m_apu_memory, host.pcie_mmio64_base() + host.pcie_mmio64_size()) + size - 1) & ~(size - 1);
    const auto line = VIRT_APU_IRQ + number;
    m_apu_memory = memory + size;
    if (number >= max_apus)
        reject_at(p.where.own(),
                  fmt::format("{}: an APU must be one of the first {} GPUs of its node", p.name, max_apus));
    auto apu =
        std::make_unique<gpu::apu>(p.name.c_str(), p.apu, p.core, p.host_interface, number, host.coherent_port());
    host.bus.map(p.name + ".registers", registers, GPU_REGISTERS_SIZE, apu->register_window.bus);
    host.bus.map(p.name + ".doorbells", doorbells, GPU_DOORBELLS_SIZE, apu->doorbell_window.bus);
    host.bus.map(p.name + ".memory", memory, size, apu->memory_window.bus);
    apu->devices.bus.bind(host.bus.from_devices);
    apu->interrupt.connect([&host, line](bool level) { host.set_interrupt_source(line, level); });
    host.add_device_tree_node({{"gpu", {"fabricvp,apu"}, {}},
                               registers,
                               GPU_REGISTERS_SIZE,
                               line,
                               {{doorbells, GPU_DOORBELLS_SIZE}, {memory, p.core.memory.capacity}}});
    return apu;
}

void node_devices::attach(fabric::interconnect& fabric) {
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (auto& terminal = *fabric.terminals[i]; terminal.link) gpus[i]->core.fabric.attach(terminal);
}

std::vector<ethernet::segment::adapter> node_devices::ethernet_adapters() const { return m_ethernet; }

network::port& node_devices::network_port(const std::string& device) {
    for (auto& h : hcas)
        if (h->basename() == device) return h->network.link;
    throw std::logic_error(device + " has no port to the network");
}

std::vector<std::unique_ptr<gpu::gpu_debugger>> node_devices::debuggers(std::vector<riscv::debug_target*>& threads,
                                                                        const other_memory& others) {
    std::vector<std::unique_ptr<gpu::gpu_debugger>> all;
    for (auto& gpu : gpus) {
        for (auto& hart : gpu->core.processor.harts) threads.push_back(hart.get());
        all.push_back(std::make_unique<gpu::gpu_debugger>(gpu->core, others));
        for (auto* wavefront : all.back()->threads()) threads.push_back(wavefront);
    }
    return all;
}

bool node_devices::debug_access(std::uint64_t physical, void* data, std::size_t size, bool write) {
    for (auto& gpu : gpus)
        if (gpu->core.router().is_local(physical)) return gpu->core.memory.debug_access(physical, data, size, write);
    return false;
}

std::string node_devices::describe_queue_pair(std::uint32_t number) const {
    std::string text;
    for (const auto& hca : hcas)
        if (const auto* q = hca->queue_pairs.find(number))
            text += fmt::format("{} qp {:#x}: {}", hca->name(), number, hca::text_of(*q));
    return text;
}

std::string node_devices::list_queue_pairs() const {
    std::string text;
    for (const auto& hca : hcas)
        hca->queue_pairs.for_each([&](const hca::queue_pair& q) {
            text += fmt::format("{} qp {:#x}: {}\n", hca->name(), q.attributes.number, hca::summary_of(q));
        });
    return text;
}

std::string node_devices::describe_queues(const std::vector<std::unique_ptr<gpu::gpu_debugger>>& debuggers,
                                          const std::string& gpu, std::optional<unsigned> number) const {
    std::string text;
    std::vector<std::string> names;
    bool found = gpu.empty();
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const auto& core = gpus[i]->core;
        names.emplace_back(core.owner.basename());
        if (!gpu.empty() && gpu != core.owner.basename() && gpu != core.owner.name()) continue;
        found = true;
        if (number && *number < GPU_QUEUES) text += gpu::text_of_queue(core, debuggers[i]->memory, *number);
        for (unsigned q = 0; !number && q < GPU_QUEUES; ++q)
            text += gpu::summary_of_queue(core, debuggers[i]->memory, q);
    }
    if (found) return text;
    const auto near = nearest_name(gpu, names);
    throw input_error(fmt::format(
        "there is no GPU '{}'; {}", gpu,
        near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near)));
}

}  // namespace fabricvp
