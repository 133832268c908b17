// SPDX-License-Identifier: Apache-2.0
#include "host/host_complex.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "abi/memory_map.h"
#include "base/described_blocks.h"
#include "base/random_streams.h"
#include "base/rejection.h"

namespace fabricvp::host {

namespace {
constexpr std::uint64_t device_tree_alignment = std::uint64_t{2} << 20;
// Firmware and kernels map the blob early, when they reach little memory: as QEMU, stay below 3 GiB.
constexpr std::uint64_t device_tree_limit = std::uint64_t{3} << 30;

constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t alignment) { return value & ~(alignment - 1); }
}  // namespace

void host_params::describe(parameter_visitor& v) {
    v.field("harts", harts, between{1, VIRT_MAX_HARTS}, "number of harts");
    v.field("memory", memory, between{1 << 20, 64.0 * (1ull << 30)},
            "DRAM; a multiple of 4 KiB; costs what the guest touches");
    v.field("bootargs", bootargs, "/chosen bootargs: the kernel's command line");
    v.group("hart", hart, "every hart");
    v.group("bus", bus, "interconnect");
    v.group("dram", dram, "memory, as devices see it");
    v.field(
        "device_store", device_store, between{0, 1e6},
        "what a store to a PCIe device's memory takes its hart; one that goes on where one of the hart's last eight "
        "streams of such stores ends is combined with it and takes nothing more");
    v.choice(
        "memory_timing", memory_timing,
        "flat: loads and stores take their instruction's cycles; caches: plus what misses cost (slower to simulate)");
    v.group("caches", caches, "tags-only caches and memory channels, with memory_timing: caches");
    v.group("clint", clint, "core-local interruptor");
    v.choice("interrupts", interrupts,
             "controllers of device interrupts; aplic_imsic: harts have Smaia and Ssaia, and devices may use MSI-X");
    v.group("imsic", imsic, "incoming MSI controller of each hart, with interrupts: aplic_imsic");
    v.group("uart", uart, "console");
    v.group("rtc", rtc, "real-time clock");
    v.group("marker", marker, "marker device (regions of interest)");
    describe_blocks(v, "devices", devices, "device",
                    "further devices on the bus; firmware finds them in the device tree");
}

host_complex::host_complex(const sc_core::sc_module_name& name, const host_params& p)
    : model(name),
      params(p),
      bus("bus", p.bus),
      dram("dram", p.dram, p.memory),
      clint("clint", p.clint, p.harts),
      uart("uart", p.uart),
      rtc("rtc", p.rtc),
      marker("marker", p.marker),
      m_bootargs(p.bootargs) {
    m_boot.entry = VIRT_DRAM_BASE;
    direct_memory.add(VIRT_BOOT_ROM_BASE, VIRT_BOOT_ROM_SIZE, {&boot_rom.memory, 0, false});
    direct_memory.add(VIRT_DRAM_BASE, params.memory, {&dram.memory, 0, true});
    for (std::uint64_t i = 0; i < params.harts; ++i) {
        harts.push_back(std::make_unique<riscv::hart>(fmt::format("hart{}", i).c_str(), params.hart, i, direct_memory,
                                                      clint, params.quantum));
        harts.back()->set_reset_vector(VIRT_BOOT_ROM_BASE);
    }
    if (params.memory_timing == memory_timing_kind::caches) {
        auto with_memory = params.caches;
        if (params.dram.ecc) with_memory.memory.latency.value += params.dram.ecc_latency;
        caches = std::make_unique<cache_hierarchy>("caches", with_memory, params.harts);
        for (auto& hart : harts) hart->attach_memory_timing(caches.get());
        bus.on_device_write = [this](std::uint64_t address, std::uint64_t size) { caches->invalidate(address, size); };
    }
    make_interrupt_controllers();
    connect();
    connect_interrupts();
    add_devices();
}

void host_complex::connect() {
    for (auto& hart : harts) hart->bus.bind(bus.from_harts);

    bus.map("boot_rom", VIRT_BOOT_ROM_BASE, VIRT_BOOT_ROM_SIZE, boot_rom.bus, &boot_rom.memory);
    bus.map("finisher", VIRT_FINISHER_BASE, VIRT_FINISHER_SIZE, finisher.bus);
    bus.map("rtc", VIRT_RTC_BASE, VIRT_RTC_SIZE, rtc.bus);
    bus.map("marker", VIRT_MARKER_BASE, VIRT_MARKER_SIZE, marker.bus);
    bus.map("clint", VIRT_CLINT_BASE, VIRT_CLINT_SIZE, clint.bus);
    bus.map("uart", VIRT_UART_BASE, VIRT_UART_SIZE, uart.bus);
    bus.map("pcie.pio", VIRT_PCIE_PIO_BASE, VIRT_PCIE_PIO_SIZE, pcie.pio.bus);
    bus.map("pcie.ecam", VIRT_PCIE_ECAM_BASE, VIRT_PCIE_ECAM_SIZE, pcie.ecam.bus);
    bus.map("pcie.mmio32", VIRT_PCIE_MMIO32_BASE, VIRT_PCIE_MMIO32_SIZE, pcie.mmio32.bus);
    bus.map("pcie.mmio64", pcie_mmio64_base(), pcie_mmio64_size(), pcie.mmio64.bus);
    if (params.dram.ecc) {
        memory_errors = std::make_unique<memory_error_record>("memory_errors");
        bus.map("memory_errors", VIRT_MEMORY_ERRORS_BASE, VIRT_MEMORY_ERRORS_SIZE, memory_errors->bus);
        dram.code.on_error = [this](std::uint64_t offset, bool corrected) {
            memory_errors->note(VIRT_DRAM_BASE + offset, corrected);
        };
    }
    bus.map("dram", VIRT_DRAM_BASE, params.memory, dram.bus, &dram.memory);

    using line = riscv::interrupt_line;
    for (std::size_t i = 0; i < harts.size(); ++i) {
        auto& hart = *harts[i];
        clint.software_interrupt[i].connect([&hart](bool level) { hart.set_interrupt(line::machine_software, level); });
        clint.timer_interrupt[i].connect([&hart](bool level) { hart.set_interrupt(line::machine_timer, level); });
    }
    clint.on_time_set = [this] {
        for (const auto& hart : harts) hart->time_changed();
    };
    uart.interrupt.connect([this](bool level) { set_interrupt_source(VIRT_UART_IRQ, level); });
    rtc.interrupt.connect([this](bool level) { set_interrupt_source(VIRT_RTC_IRQ, level); });

    finisher.on_power_off = [this](int status) {
        if (on_power_off) on_power_off(status);
    };
    finisher.on_reset = [this] {
        if (on_system_reset) on_system_reset();
    };
}

void host_complex::add_devices() {
    std::set<std::uint64_t> used_interrupts{VIRT_UART_IRQ, VIRT_RTC_IRQ};
    for (std::uint64_t line = 0; line < 4; ++line) used_interrupts.insert(VIRT_PCIE_IRQ + line);
    for (const auto& d : params.devices) {
        try {
            if (!d.base) throw std::invalid_argument("base is missing: the physical address of its registers");
            if (sc_core::sc_find_object((std::string(name()) + "." + d.name).c_str()))
                throw std::invalid_argument("the name is taken");
            if (d.interrupt && !used_interrupts.insert(d.interrupt).second)
                throw std::invalid_argument(fmt::format("interrupt source {} is taken", d.interrupt));
            devices.push_back(d.device.settings().make(d.name));
            auto& device = *devices.back();
            bus.map(d.name, d.base, device.registers.size(), device.bus);
            if (d.interrupt)
                device.interrupt.connect(
                    [this, &d](bool level) { set_interrupt_source(static_cast<unsigned>(d.interrupt), level); });
        } catch (const std::invalid_argument& refused) {
            reject_at(d.origin, fmt::format("host: device {}: {}", d.name, refused.what()));
        }
    }
}

void host_complex::attach(pcie::root_complex& root) {
    root.memory.bind(bus.from_devices);
    pcie.ecam.attach(root, 0);
    pcie.mmio32.attach(root, VIRT_PCIE_MMIO32_BASE, params.device_store);
    pcie.mmio64.attach(root, pcie_mmio64_base(), params.device_store);
    for (unsigned line = 0; line < 4; ++line)
        root.intx[line].connect([this, line](bool level) { set_interrupt_source(VIRT_PCIE_IRQ + line, level); });
}

coherent_memory& host_complex::coherent_port() {
    if (!coherent) {
        coherent = std::make_unique<coherent_dram>(dram, *caches, VIRT_DRAM_BASE);
        caches->on_line_acquired = [this](std::uint64_t line, std::uint64_t size) { coherent->written(line, size); };
        bus.on_device_write = [this](std::uint64_t address, std::uint64_t size) {
            caches->invalidate(address, size);
            coherent->written(address, size);
        };
    }
    return *coherent;
}

std::uint64_t host_complex::pcie_mmio64_size() const {
    // Each BAR wastes less than its own size where it is aligned.
    auto size = VIRT_PCIE_MMIO64_SIZE;
    while (size < 2 * params.device_memory) size *= 2;
    return size;
}

std::uint64_t host_complex::pcie_mmio64_base() const {
    const auto size = pcie_mmio64_size(), memory_end = VIRT_DRAM_BASE + params.memory;
    return std::max<std::uint64_t>(VIRT_PCIE_MMIO64_BASE, align_down(memory_end + size - 1, size));
}

void host_complex::set_initrd(std::uint64_t start, std::uint64_t end) {
    if (start > end) throw std::invalid_argument("initrd ends before it starts");
    m_initrd_start = start;
    m_initrd_end = end;
}

std::vector<std::uint8_t> host_complex::device_tree() const {
    device_tree_description d;
    if (memory_errors)
        d.devices.push_back(
            {{"memory-errors", {"fabricvp,memory-errors"}, {}}, VIRT_MEMORY_ERRORS_BASE, VIRT_MEMORY_ERRORS_SIZE, 0});
    for (const auto& hart : harts) d.isa.push_back(hart->isa_string());
    d.supervisor = params.hart.supervisor;
    d.timebase = params.clint.timebase;
    d.memory_base = VIRT_DRAM_BASE;
    d.memory_size = params.memory;
    d.pcie_mmio64_base = pcie_mmio64_base();
    d.pcie_mmio64_size = pcie_mmio64_size();
    d.interrupts = params.interrupts;
    d.imsic_identities = params.imsic.identities;
    d.uart_clock = params.uart.clock;
    for (std::size_t i = 0; i < devices.size(); ++i)
        d.devices.push_back({devices[i]->tree_node(), params.devices[i].base, devices[i]->registers.size(),
                             params.devices[i].interrupt});
    d.devices.insert(d.devices.end(), m_external_nodes.begin(), m_external_nodes.end());
    d.node_count = m_node_count;
    d.bootargs = m_bootargs;
    d.rng_seed = block_seed(*this, params.seed);
    d.initrd_start = m_initrd_start;
    d.initrd_end = m_initrd_end;
    return make_device_tree(d);
}

std::uint64_t host_complex::device_tree_address() const {
    const auto size = device_tree().size();
    const auto end = std::min<std::uint64_t>(VIRT_DRAM_BASE + params.memory, device_tree_limit);
    const auto aligned = align_down(end - size, device_tree_alignment);
    // Memories smaller than the alignment have only its start, where the firmware is.
    return aligned > VIRT_DRAM_BASE ? aligned : align_down(end - size, sparse_memory::page_size);
}

void host_complex::start() {
    const auto blob = device_tree();
    m_boot.device_tree = device_tree_address();
    dram.memory.write(m_boot.device_tree - VIRT_DRAM_BASE, blob.data(), blob.size());
    boot_rom.program(m_boot);
    for (auto& hart : harts) hart->start();
}

void host_complex::reset() { model::reset(); }

}  // namespace fabricvp::host
