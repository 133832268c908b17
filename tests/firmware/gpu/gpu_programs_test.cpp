// SPDX-License-Identifier: Apache-2.0
// Host programs that drive a GPU: what they say, on machines of several kinds, and which registers they and the command
// processor's firmware touch.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "abi/gpu.h"
#include "abi/gpu_links.h"
#include "firmware/host/mmio_audit.h"
#include "firmware/pcie/pci_audit.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"

using namespace fabricvp;

namespace {

std::unique_ptr<platform> machine_with(const char* image, const platform::overrides& set = {}, const char* append = "",
                                       const char* config = "gpu") {
    auto p = platform::from_config(fmt::format("{}/{}.yaml", CONFIGS, config), set);
    image_set images;
    images.firmware = std::string(FIRMWARE) + "/" + image;
    images.append = append;
    p->load_images(0, images);
    return p;
}

/// Addresses are not compared.
std::string without_addresses(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x*");
}

std::string golden(const char* name) {
    std::ifstream in(std::string(GOLDEN_FOLDER) + "/" + name + ".golden");
    REQUIRE(in.good());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string run(platform& p) {
    CHECK(p.run_until(ticks_per_second).outcome == run_outcome::power_off);
    return without_addresses(p.serial(0).output());
}

std::string with(std::string text, const std::string& what) {
    return std::regex_replace(text, std::regex("DELIVERY"), what);
}

bool holds(const std::vector<abi_register>& registers, std::uint64_t offset, unsigned size) {
    for (const auto& r : registers) {
        if (offset < r.offset) continue;
        const auto from = offset - r.offset, index = r.count > 1 ? from / r.stride : 0;
        if (index < r.count && from - index * r.stride + size <= r.bytes) return true;
    }
    return false;
}

/// What programs of firmware/lib find at the registers and in the memory of a GPU.
bool explained(const gpu::gpu_device& gpu, const pcie::bar_hit& at, unsigned size) {
    switch (at.bar) {
        case GPU_BAR_MEMORY: return true;
        case GPU_BAR_DOORBELLS: return at.offset % 8 == 0 && size == 8 && at.offset < 8 * GPU_QUEUES;
        case GPU_BAR_REGISTERS: break;
        default: return false;
    }
    if (at.offset - GPU_SDMA_REGISTERS < GPU_SDMA_REGISTERS_SIZE)
        return holds({COPY_ENGINE_REGISTERS(ABI_ROW)}, at.offset - GPU_SDMA_REGISTERS, size);
    if (at.offset >= GPU_SRAM_WINDOW) return at.offset - GPU_SRAM_WINDOW + size <= gpu.core.processor.params.memory;
    if (at.offset < GPU_MSIX_TABLE)
        return holds({GPU_HOST_REGISTERS(ABI_ROW) GPU_LINK_REGISTERS(ABI_ROW)}, at.offset, size);
    return at.offset < GPU_MSIX_TABLE + GPU_VECTORS * PCI_MSIX_ENTRY_SIZE &&
           holds({PCI_MSIX_ENTRY_REGISTERS(ABI_ROW)}, (at.offset - GPU_MSIX_TABLE) % PCI_MSIX_ENTRY_SIZE, size);
}

std::vector<std::string> unexplained_memory(const std::vector<std::unique_ptr<gpu::gpu_unit>>& gpus,
                                            const test::pci_audit::accesses& all, std::uint64_t base) {
    std::vector<std::string> list;
    for (const auto& [offset, size] : all) {
        bool good = false;
        for (const auto& g : gpus) {
            const auto& device = dynamic_cast<const gpu::gpu_device&>(*g);
            if (const auto hit = device.config.decode(base + offset, size))
                good = good || explained(device, *hit, size);
        }
        if (!good) list.push_back(fmt::format("{:#x}/{}", base + offset, size));
    }
    return list;
}

std::vector<std::string> unexplained_processor(const std::set<std::pair<std::uint64_t, unsigned>>& all) {
    const std::vector<abi_register> registers{GPU_CP_REGISTERS(ABI_ROW) GPU_CP_FAULT_REGISTERS(ABI_ROW)};
    std::vector<std::string> list;
    for (const auto& [offset, size] : all)
        if (!holds(registers, offset, size)) list.push_back(fmt::format("cp+{:#x}/{}", offset, size));
    return list;
}

}  // namespace

TEST_CASE("whatever goes wrong ends in a record, an error for the host, and a GPU that goes on", "[bad_input]") {
    auto p = machine_with("gpu_bad_input.elf");
    CHECK(run(*p) == golden("bad_input"));
    auto& core = p->hardware().nodes[0]->devices.gpus[0]->core;
    CHECK(core.dispatcher.faults.total() == 10);
    CHECK(core.launches.rejected.total() == 3);
    CHECK(core.launches.faults_dropped.total() == 0);
    CHECK(core.dispatcher.in_flight() == 0);
}

TEST_CASE("the same where several harts share the queues", "[bad_input_harts]") {
    auto p = machine_with("gpu_bad_input.elf",
                          {{"node.gpus.0.processor.harts", "3"}, {"node.host.interrupts", "aplic_imsic"}});
    CHECK(run(*p) == golden("bad_input"));
}

TEST_CASE("queues: places, barriers, order, priorities, scopes, interrupts by messages", "[queues]") {
    auto p =
        machine_with("gpu_queues.elf", {{"node.gpus.0.compute_units", "1"}, {"node.host.interrupts", "aplic_imsic"}});
    CHECK(run(*p) == with(golden("queues"), "MSI-X"));
    auto& gpu = *p->hardware().nodes[0]->devices.gpus[0];
    CHECK(dynamic_cast<gpu::gpu_device&>(gpu).system.atomics.total() > 40);  // completion signals in host memory
    CHECK(gpu.core.launches.doorbell_to_instruction.count() > 10);
}

TEST_CASE("queues with pins", "[queues_pins]") {
    CHECK(run(*machine_with("gpu_queues.elf")) == with(golden("queues"), "INTx"));
}

TEST_CASE("queues shared by several harts", "[queues_harts]") {
    CHECK(run(*machine_with("gpu_queues.elf", {{"node.gpus.0.processor.harts", "4"}})) ==
          with(golden("queues"), "INTx"));
}

TEST_CASE("copies: sizes, virtual addresses, faults, interrupts by messages", "[copies]") {
    auto p = machine_with("gpu_copies.elf", {{"node.host.interrupts", "aplic_imsic"}});
    CHECK(run(*p) == with(golden("copies"), "MSI-X"));
    auto& gpu = *p->hardware().nodes[0]->devices.gpus[0];
    CHECK(gpu.host_interface.sdma.faults.total() == 7);
    CHECK(gpu.host_interface.sdma.stops.total() == 1);
    CHECK(gpu.host_interface.sdma.bytes_copied.total() > 4 << 20);
}

TEST_CASE("copies with pins", "[copies_pins]") {
    CHECK(run(*machine_with("gpu_copies.elf")) == with(golden("copies"), "INTx"));
}

TEST_CASE("copies by a single channel, a descriptor and a piece at a time", "[copies_one_channel]") {
    CHECK(run(*machine_with("gpu_copies.elf", {{"node.gpus.0.host_interface.sdma.channels", "1"},
                                               {"node.gpus.0.host_interface.sdma.chunks", "1"},
                                               {"node.gpus.0.host_interface.sdma.fetches", "1"}})) ==
          with(golden("copies"), "INTx"));
}

/// The same GPU on the host's bus: memory is the host's, interrupts have a line, and programs do not know the
/// difference.
std::string run_on_apu(const char* image, const char* controllers) {
    return run(*machine_with(image, {{"node.host.interrupts", controllers}}, "", "apu"));
}

TEST_CASE("queues of an APU", "[apu_queues]") {
    CHECK(run_on_apu("gpu_queues.elf", "plic") == with(golden("queues"), "INTx"));
}
TEST_CASE("queues of an APU with an APLIC", "[apu_queues_aplic]") {
    CHECK(run_on_apu("gpu_queues.elf", "aplic") == with(golden("queues"), "INTx"));
}
TEST_CASE("copies of an APU", "[apu_copies]") {
    CHECK(run_on_apu("gpu_copies.elf", "plic") == with(golden("copies"), "INTx"));
}
TEST_CASE("bad input for an APU", "[apu_bad_input]") {
    CHECK(run_on_apu("gpu_bad_input.elf", "plic") == golden("bad_input"));
}

/// \param each GiB of each of `count` GPUs
void touch_high_memory(const char* config, unsigned count, unsigned each) {
    auto p = platform::from_config(
        fmt::format("{}/{}.yaml", CONFIGS, config),
        {{"node.gpus.*.memory.capacity", fmt::format("{} GiB", each)}, {"node.gpus.*.compute_units", "1"}});
    image_set images;
    images.firmware = std::string(FIRMWARE) + "/gpu_high_memory.elf";
    p->load_images(0, images);
    const auto text = run(*p);
    INFO(text);
    for (unsigned i = 0; i < count; ++i) {
        CHECK(text.find(fmt::format("gpu{}       1 compute units at 1000 MHz, {} MiB", i, each * 1024)) !=
              std::string::npos);
        CHECK(text.find(fmt::format("gpu{}       BAR above 4 GiB, its end ok", i)) != std::string::npos);
        CHECK(text.find(fmt::format("gpu{}       works at the end of {} memories: ok", i, count)) != std::string::npos);
    }
    auto& node = *p->hardware().nodes[0];
    REQUIRE(node.devices.gpus.size() == count);
    for (auto& g : node.devices.gpus) CHECK(g->core.memory.memory.size() == std::uint64_t{each} << 30);
}

TEST_CASE("a GPU of 24 GiB", "[high_memory_24]") { touch_high_memory("gpu", 1, 24); }
TEST_CASE("a GPU of 80 GiB", "[high_memory_80]") { touch_high_memory("gpu", 1, 80); }
TEST_CASE("four GPUs of 80 GiB", "[high_memory_4x80]") { touch_high_memory("netcrafter_quad", 4, 80); }

/// Host and command processor touch registers that abi names, and no others.
void audit(const char* program, const char* append) {
    auto p =
        machine_with(program, {{"node.gpus.0.processor.harts", "2"}, {"node.host.interrupts", "aplic_imsic"}}, append);
    auto& node = *p->hardware().nodes[0];
    node.host.bus.record_touched(true);
    for (auto& bus : node.devices.gpus[0]->core.processor.bus) bus->record_touched(true);
    run(*p);
    auto touched = node.host.bus.touched();
    test::pci_audit configuration(*node.pcie);
    CHECK(configuration.unexplained_configuration(touched.at("pcie.ecam")) == std::vector<std::string>{});
    CHECK(touched.at("pcie.mmio32").size() > 100);
    CHECK(unexplained_memory(node.devices.gpus, touched["pcie.mmio32"], VIRT_PCIE_MMIO32_BASE) ==
          std::vector<std::string>{});
    CHECK(unexplained_memory(node.devices.gpus, touched["pcie.mmio64"], VIRT_PCIE_MMIO64_BASE) ==
          std::vector<std::string>{});
    for (const auto* name : {"pcie.ecam", "pcie.mmio32", "pcie.mmio64"}) touched.erase(name);
    CHECK(test::unexplained(touched) == std::vector<std::string>{});
    for (auto& bus : node.devices.gpus[0]->core.processor.bus) {
        CHECK(bus->touched().size() > 10);
        CHECK(unexplained_processor(bus->touched()) == std::vector<std::string>{});
    }
    CHECK(unexplained_processor({{CP_TIME_NS + 8, 4}, {0x2000, 4}}).size() == 2);
}

TEST_CASE("registers that an application touches", "[audit_app]") { audit("gpu_apps.elf", "app=vectoradd size=1024"); }
TEST_CASE("registers that queues touch", "[audit_queues]") { audit("gpu_queues.elf", ""); }
TEST_CASE("registers that copies touch", "[audit_copies]") { audit("gpu_copies.elf", ""); }
TEST_CASE("registers that bad input touches", "[audit_bad_input]") { audit("gpu_bad_input.elf", ""); }
