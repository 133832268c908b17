// SPDX-License-Identifier: Apache-2.0
// A node's host: harts, memory and devices on a memory map compatible with QEMU's `virt` machine (abi/memory_map.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/address_map.h"
#include "base/parameters.h"
#include "host/address_bus.h"
#include "host/aplic_domain.h"
#include "host/boot_rom.h"
#include "host/cache_hierarchy.h"
#include "host/clint.h"
#include "host/coherent_dram.h"
#include "host/device_kind.h"
#include "host/device_tree.h"
#include "host/dram.h"
#include "host/finisher.h"
#include "host/hart_imsic.h"
#include "host/imsic.h"
#include "host/interrupt_controllers.h"
#include "host/marker.h"
#include "host/memory_error_record.h"
#include "host/msi_writer.h"
#include "host/pcie_root_bus.h"
#include "host/plic.h"
#include "host/rtc.h"
#include "host/uart.h"
#include "riscv/hart.h"

namespace fabricvp::host {

/// What loads and stores take beyond their instruction's cycles: nothing, or what misses in tags-only caches cost.
enum class memory_timing_kind { flat, caches };

struct host_params {
    std::uint64_t harts = 1;
    byte_size memory{std::uint64_t{128} << 20};
    std::string bootargs;
    riscv::hart_params hart;
    address_bus_params bus;
    dram_params dram;
    duration device_store{50'000};
    memory_timing_kind memory_timing = memory_timing_kind::flat;
    cache_hierarchy_params caches;
    clint_params clint;
    interrupt_controllers interrupts = interrupt_controllers::plic;
    imsic_params imsic;
    uart_params uart;
    rtc_params rtc;
    marker_params marker;
    std::vector<device_params> devices;
    // These belong to the whole machine, not to a host, and are not described here.
    std::uint64_t device_memory = 0;  ///< bytes of the large BARs that are plugged in, each a power of two
    duration quantum{1'000'000};      ///< longest time a hart runs ahead of the others
    std::uint64_t seed =
        0;  ///< 0: from simulation and path; of the random numbers that the device tree offers to kernels
    void describe(parameter_visitor& v);
};

class host_complex final : public model {
public:
    const host_params params;

    direct_memory_map direct_memory;  ///< what harts reach without the bus: boot ROM and DRAM
    address_bus bus;
    host::boot_rom boot_rom{"boot_rom"};
    host::dram dram;
    host::clint clint;
    host::uart uart;
    host::rtc rtc;
    host::finisher finisher{"finisher"};
    host::marker marker;
    pcie_root_bus pcie{"pcie"};
    std::vector<std::unique_ptr<host_device>> devices;   ///< as `devices` of the parameters lists them
    std::vector<std::unique_ptr<riscv::hart>> harts;     ///< hart0, hart1, …
    std::unique_ptr<cache_hierarchy> caches;             ///< null with flat memory timing
    std::unique_ptr<memory_error_record> memory_errors;  ///< null unless memory has ECC
    std::unique_ptr<coherent_dram> coherent;             ///< null unless a block shares memory with the harts

    // As `interrupts` says; the others are null. Those at supervisor level need harts that have it.
    std::unique_ptr<host::plic> plic;
    std::unique_ptr<aplic_domain> aplic_m, aplic_s;
    std::unique_ptr<host::imsic> imsic_m, imsic_s;
    std::unique_ptr<msi_writer> aplic_msi;

    /// The guest powered off (0: clean). Called inside the callback of its access; end the run there.
    std::function<void(int status)> on_power_off;
    /// The guest asks for a reset. Called the same way; end the run, then call reset() and start().
    std::function<void()> on_system_reset;

    host_complex(const sc_core::sc_module_name& name, const host_params& params);

    /// Puts a root complex behind the PCIe windows. Its devices reach memory and interrupt files over the bus; their
    /// INTx go to the PLIC or APLIC. Without interrupt files, an MSI is an unsupported request at the root port.
    void attach(pcie::root_complex& root);

    /// Memory for a block that shares it with the harts. To be called while the machine is built. \pre there are caches
    coherent_memory& coherent_port();
    /// Puts another module's block into the device tree. Its ranges are mapped on `bus` by the caller.
    void add_device_tree_node(const device_tree_device& device) { m_external_nodes.push_back(device); }

    /// Drives interrupt line `source` (1 … VIRT_PLIC_SOURCES) of the PLIC or APLIC.
    void set_interrupt_source(unsigned source, bool level);

    /// Where the boot ROM jumps (default: start of DRAM).
    void set_entry(std::uint64_t address) { m_boot.entry = address; }
    /// What fw_dynamic firmware starts next, in supervisor mode.
    void set_next_stage(std::uint64_t address) { m_boot.next_stage = address; }
    void set_bootargs(std::string arguments) { m_bootargs = std::move(arguments); }
    /// How many nodes the machine has, this one included (1 unless told): what the device tree says of it.
    void set_node_count(std::size_t count) { m_node_count = count; }
    /// Initial RAM disk in memory at [start, end).
    void set_initrd(std::uint64_t start, std::uint64_t end);
    std::pair<std::uint64_t, std::uint64_t> initrd() const { return {m_initrd_start, m_initrd_end}; }

    /// Writes boot ROM and device tree and starts all harts at the reset vector.
    void start();
    /// Resets all of it; harts that were started begin again at the reset vector. Memory keeps its contents.
    void reset() override;

    /// Address of the device tree blob: as high as memory below 3 GiB allows, on a 2 MiB boundary.
    std::uint64_t device_tree_address() const;
    std::vector<std::uint8_t> device_tree() const;
    /// The PCIe window above 4 GiB: a power of two that holds all BARs in whatever order they are placed, at a multiple
    /// of it.
    std::uint64_t pcie_mmio64_base() const;
    std::uint64_t pcie_mmio64_size() const;

private:
    void connect();
    void add_devices();
    void make_interrupt_controllers();
    void connect_interrupts();

    std::vector<std::unique_ptr<hart_imsic>> m_interrupt_files;  // by hart
    std::vector<device_tree_device> m_external_nodes;
    boot_information m_boot;
    std::string m_bootargs;
    std::size_t m_node_count = 1;
    std::uint64_t m_initrd_start = 0, m_initrd_end = 0;
};

}  // namespace fabricvp::host

namespace fabricvp {
template <>
struct choice_traits<host::memory_timing_kind> {
    static constexpr std::pair<host::memory_timing_kind, const char*> names[] = {
        {host::memory_timing_kind::flat, "flat"}, {host::memory_timing_kind::caches, "caches"}};
};
}  // namespace fabricvp
