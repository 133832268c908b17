// SPDX-License-Identifier: Apache-2.0
#include "host/device_tree.h"

#include <stdexcept>

#include <fmt/format.h>
extern "C" {
#include <libfdt.h>
}

#include "abi/finisher.h"
#include "abi/memory_map.h"
#include "base/random_streams.h"
#include "host/imsic.h"
#include "host/rtc.h"
#include "host/uart.h"

namespace fabricvp::host {

namespace {

class writer {
public:
    writer() : m_blob(std::size_t{1} << 20) {
        check(fdt_create(m_blob.data(), static_cast<int>(m_blob.size())));
        put([](void* tree) { return fdt_finish_reservemap(tree); });
    }

    template <class Body>
    void node(const std::string& name, Body body) {
        put([&](void* tree) { return fdt_begin_node(tree, name.c_str()); });
        body();
        put([](void* tree) { return fdt_end_node(tree); });
    }
    void flag(const char* name) { property(name, nullptr, 0); }
    void text(const char* name, const std::string& value) { property(name, value.c_str(), value.size() + 1); }
    /// Strings, each with its terminator.
    void texts(const char* name, const std::vector<std::string>& values) {
        std::string all;
        for (const auto& v : values) all += v + '\0';
        property(name, all.data(), all.size());
    }
    void cells(const char* name, const std::vector<std::uint32_t>& values) {
        std::vector<fdt32_t> big_endian;
        for (auto v : values) big_endian.push_back(cpu_to_fdt32(v));
        property(name, big_endian.data(), 4 * big_endian.size());
    }
    void cell(const char* name, std::uint32_t value) { cells(name, {value}); }
    /// Pairs of (address, size) or single addresses, two cells each.
    void wide(const char* name, const std::vector<std::uint64_t>& values) {
        std::vector<std::uint32_t> halves;
        for (auto v : values) {
            halves.push_back(static_cast<std::uint32_t>(v >> 32));
            halves.push_back(static_cast<std::uint32_t>(v));
        }
        cells(name, halves);
    }

    std::vector<std::uint8_t> finish() {
        put([](void* tree) { return fdt_finish(tree); });
        m_blob.resize(fdt_totalsize(m_blob.data()));
        return std::move(m_blob);
    }

private:
    static constexpr std::size_t max_bytes = std::size_t{64} << 20;

    void property(const char* name, const void* value, std::size_t size) {
        if (size > max_bytes) throw_too_large();
        put([&](void* tree) { return fdt_property(tree, name, value, static_cast<int>(size)); });
    }

    /// Writes in the order of the tree, with as much room as it needs.
    template <class Write>
    void put(Write write) {
        int error = write(m_blob.data());
        for (; error == -FDT_ERR_NOSPACE; error = write(m_blob.data())) {
            if (m_blob.size() >= max_bytes) throw_too_large();
            std::vector<std::uint8_t> larger(2 * m_blob.size());
            check(fdt_resize(m_blob.data(), larger.data(), static_cast<int>(larger.size())));
            m_blob = std::move(larger);
        }
        check(error);
    }

    [[noreturn]] static void throw_too_large() {
        throw std::invalid_argument(fmt::format(
            "the device tree is larger than {} MiB: give the host fewer devices or a shorter command line (append)",
            max_bytes >> 20));
    }
    static void check(int error) {
        if (error) throw std::runtime_error(fmt::format("device tree: {}", fdt_strerror(error)));
    }
    std::vector<std::uint8_t> m_blob;
};

constexpr std::uint32_t finisher_handle = 1;
constexpr std::uint32_t wired_handle = 2;  // what interrupt lines of devices lead to
constexpr std::uint32_t cpu_handle(std::size_t hart) { return static_cast<std::uint32_t>(3 + 2 * hart); }
constexpr std::uint32_t interrupt_handle(std::size_t hart) { return static_cast<std::uint32_t>(4 + 2 * hart); }
constexpr std::uint32_t software_interrupt = 3, timer_interrupt = 7, supervisor_external = 9, machine_external = 11;
constexpr std::uint32_t no_interrupt = 0xffff'ffff;

std::string unit(const char* name, std::uint64_t address) { return fmt::format("{}@{:x}", name, address); }

/// Entropy that a kernel may credit: the same in every run of the same seed.
std::vector<std::uint32_t> random_cells(std::uint64_t seed) {
    std::vector<std::uint32_t> cells;
    while (cells.size() < 8) {
        const auto z = splitmix64(seed);
        seed += 0x9e37'79b9'7f4a'7c15;
        cells.push_back(static_cast<std::uint32_t>(z >> 32));
        cells.push_back(static_cast<std::uint32_t>(z));
    }
    return cells;
}

void write_cpus(writer& w, const device_tree_description& d) {
    w.cell("#address-cells", 1);
    w.cell("#size-cells", 0);
    w.cell("timebase-frequency", static_cast<std::uint32_t>(d.timebase));
    for (std::size_t i = 0; i < d.isa.size(); ++i) {
        w.node(unit("cpu", i), [&] {
            w.text("device_type", "cpu");
            w.cell("reg", static_cast<std::uint32_t>(i));
            w.text("status", "okay");
            w.text("compatible", "riscv");
            w.text("riscv,isa", d.isa[i]);
            w.text("mmu-type", d.supervisor ? "riscv,sv48" : "riscv,none");
            w.cell("phandle", cpu_handle(i));
            w.node("interrupt-controller", [&] {
                w.cell("#interrupt-cells", 1);
                w.flag("interrupt-controller");
                w.text("compatible", "riscv,cpu-intc");
                w.cell("phandle", interrupt_handle(i));
            });
        });
    }
    w.node("cpu-map", [&] {
        w.node("cluster0", [&] {
            for (std::size_t i = 0; i < d.isa.size(); ++i)
                w.node(fmt::format("core{}", i), [&] { w.cell("cpu", cpu_handle(i)); });
        });
    });
}

void write_plic(writer& w, const std::vector<std::uint32_t>& external) {
    w.node(unit("plic", VIRT_PLIC_BASE), [&] {
        w.texts("compatible", {"sifive,plic-1.0.0", "riscv,plic0"});
        w.wide("reg", {VIRT_PLIC_BASE, VIRT_PLIC_SIZE});
        w.cells("interrupts-extended", external);
        w.cell("#address-cells", 0);
        w.cell("#interrupt-cells", 1);
        w.flag("interrupt-controller");
        w.cell("riscv,ndev", VIRT_PLIC_SOURCES);
        w.cell("phandle", wired_handle);
    });
}

// Handles behind those of the harts.
std::uint32_t imsic_m_handle(const device_tree_description& d) { return cpu_handle(d.isa.size()); }
std::uint32_t imsic_s_handle(const device_tree_description& d) { return imsic_m_handle(d) + 1; }
std::uint32_t root_domain_handle(const device_tree_description& d) {
    return d.supervisor ? imsic_m_handle(d) + 2 : wired_handle;
}
/// Where devices send MSIs: to the harts' highest level below machine mode that they have.
std::uint32_t msi_handle(const device_tree_description& d) {
    return d.supervisor ? imsic_s_handle(d) : imsic_m_handle(d);
}

void write_imsic(writer& w, const device_tree_description& d, std::uint64_t base, std::uint32_t line,
                 std::uint32_t handle) {
    std::vector<std::uint32_t> harts;
    for (std::size_t i = 0; i < d.isa.size(); ++i) harts.insert(harts.end(), {interrupt_handle(i), line});
    w.node(unit("imsics", base), [&] {
        w.text("compatible", "riscv,imsics");
        w.cell("#interrupt-cells", 0);
        w.flag("interrupt-controller");
        w.flag("msi-controller");
        w.cell("#msi-cells", 0);
        w.cells("interrupts-extended", harts);
        w.wide("reg", {base, imsic::size(d.isa.size())});
        w.cell("riscv,num-ids", static_cast<std::uint32_t>(d.imsic_identities));
        w.cell("phandle", handle);
    });
}

void write_aplic(writer& w, const device_tree_description& d, std::uint64_t base, std::uint32_t line,
                 std::uint32_t msi_parent, std::uint32_t handle) {
    const bool delegates = d.supervisor && handle != wired_handle;
    std::vector<std::uint32_t> harts;
    for (std::size_t i = 0; i < d.isa.size(); ++i) harts.insert(harts.end(), {interrupt_handle(i), line});
    w.node(unit("aplic", base), [&] {
        w.text("compatible", "riscv,aplic");
        w.cell("#address-cells", 0);
        w.cell("#interrupt-cells", 2);
        w.flag("interrupt-controller");
        if (d.interrupts == interrupt_controllers::aplic_imsic)
            w.cell("msi-parent", msi_parent);
        else
            w.cells("interrupts-extended", harts);
        w.wide("reg", {base, VIRT_APLIC_SIZE});
        w.cell("riscv,num-sources", VIRT_PLIC_SOURCES);
        if (delegates) {
            w.cell("riscv,children", wired_handle);
            // The name of the binding, and the one that firmware knew before it.
            for (const auto* name : {"riscv,delegation", "riscv,delegate"})
                w.cells(name, {wired_handle, 1, VIRT_PLIC_SOURCES});
        }
        w.cell("phandle", handle);
    });
}

void write_aia(writer& w, const device_tree_description& d) {
    if (d.interrupts == interrupt_controllers::aplic_imsic) {
        write_imsic(w, d, VIRT_IMSIC_M_BASE, machine_external, imsic_m_handle(d));
        if (d.supervisor) write_imsic(w, d, VIRT_IMSIC_S_BASE, supervisor_external, imsic_s_handle(d));
    }
    write_aplic(w, d, VIRT_APLIC_M_BASE, machine_external, imsic_m_handle(d), root_domain_handle(d));
    if (d.supervisor) write_aplic(w, d, VIRT_APLIC_S_BASE, supervisor_external, imsic_s_handle(d), wired_handle);
}

/// An interrupt line as the controller wants it: an APLIC wants its type too.
std::vector<std::uint32_t> line_cells(const device_tree_description& d, std::uint32_t line) {
    constexpr std::uint32_t level_high = 4;
    if (d.interrupts == interrupt_controllers::plic) return {line};
    return {line, level_high};
}

void write_interrupt_controllers(writer& w, const device_tree_description& d) {
    std::vector<std::uint32_t> local, external;
    for (std::size_t i = 0; i < d.isa.size(); ++i) {
        local.insert(local.end(), {interrupt_handle(i), software_interrupt, interrupt_handle(i), timer_interrupt});
        external.insert(external.end(), {interrupt_handle(i), machine_external, interrupt_handle(i),
                                         d.supervisor ? supervisor_external : no_interrupt});
    }
    w.node(unit("clint", VIRT_CLINT_BASE), [&] {
        w.texts("compatible", {"sifive,clint0", "riscv,clint0"});
        w.wide("reg", {VIRT_CLINT_BASE, VIRT_CLINT_SIZE});
        w.cells("interrupts-extended", local);
    });
    if (d.interrupts == interrupt_controllers::plic)
        write_plic(w, external);
    else
        write_aia(w, d);
}

void write_pcie(writer& w, const device_tree_description& d) {
    constexpr std::uint32_t space_io = 0x0100'0000, space_memory32 = 0x0200'0000, space_memory64 = 0x0300'0000;
    const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto wide_range = [&](std::uint32_t space, std::uint64_t bus, std::uint64_t cpu, std::uint64_t size) {
        return std::vector<std::uint32_t>{space, high(bus), low(bus), high(cpu), low(cpu), high(size), low(size)};
    };
    std::vector<std::uint32_t> ranges;
    for (const auto& r :
         {wide_range(space_io, 0, VIRT_PCIE_PIO_BASE, VIRT_PCIE_PIO_SIZE),
          wide_range(space_memory32, VIRT_PCIE_MMIO32_BASE, VIRT_PCIE_MMIO32_BASE, VIRT_PCIE_MMIO32_SIZE),
          wide_range(space_memory64, d.pcie_mmio64_base, d.pcie_mmio64_base, d.pcie_mmio64_size)})
        ranges.insert(ranges.end(), r.begin(), r.end());
    // INTx swizzle: interrupt = (pin - 1 + device) modulo 4.
    std::vector<std::uint32_t> interrupts;
    for (std::uint32_t device = 0; device < 4; ++device)
        for (std::uint32_t pin = 1; pin <= 4; ++pin)
            for (const auto& cells : {std::vector<std::uint32_t>{device << 11, 0, 0, pin, wired_handle},
                                      line_cells(d, VIRT_PCIE_IRQ + (pin - 1 + device) % 4)})
                interrupts.insert(interrupts.end(), cells.begin(), cells.end());

    w.node(unit("pci", VIRT_PCIE_ECAM_BASE), [&] {
        w.text("compatible", "pci-host-ecam-generic");
        w.text("device_type", "pci");
        w.cell("#address-cells", 3);
        w.cell("#size-cells", 2);
        w.cell("#interrupt-cells", 1);
        w.cell("linux,pci-domain", 0);
        w.cells("bus-range", {0, 255});
        w.flag("dma-coherent");
        w.wide("reg", {VIRT_PCIE_ECAM_BASE, VIRT_PCIE_ECAM_SIZE});
        w.cells("ranges", ranges);
        if (d.interrupts == interrupt_controllers::aplic_imsic) w.cell("msi-parent", msi_handle(d));
        w.cells("interrupt-map-mask", {0x1800, 0, 0, 7});
        w.cells("interrupt-map", interrupts);
    });
}

void write_device(writer& w, std::uint64_t base, std::uint64_t size, const std::vector<std::string>& compatible) {
    w.texts("compatible", compatible);
    w.wide("reg", {base, size});
}

void write_line(writer& w, const device_tree_description& d, std::uint32_t line) {
    w.cell("interrupt-parent", wired_handle);
    w.cells("interrupts", line_cells(d, line));
}

void write_known(writer& w, const device_tree_description& d, const device_tree_device& known) {
    w.node(unit(known.node.name.c_str(), known.base), [&] {
        std::vector<std::uint64_t> ranges{known.base, known.size};
        for (const auto& [base, size] : known.additional_ranges) ranges.insert(ranges.end(), {base, size});
        w.texts("compatible", known.node.compatible);
        w.wide("reg", ranges);
        if (known.interrupt) write_line(w, d, static_cast<std::uint32_t>(known.interrupt));
        for (const auto& [property, cells] : known.node.cells) w.cells(property.c_str(), cells);
    });
}

void write_soc(writer& w, const device_tree_description& d) {
    w.cell("#address-cells", 2);
    w.cell("#size-cells", 2);
    w.text("compatible", "simple-bus");
    w.flag("ranges");
    write_known(w, d, {uart::tree_node_of(d.uart_clock), VIRT_UART_BASE, VIRT_UART_SIZE, VIRT_UART_IRQ});
    w.node(unit("test", VIRT_FINISHER_BASE), [&] {
        write_device(w, VIRT_FINISHER_BASE, VIRT_FINISHER_SIZE, {"sifive,test1", "sifive,test0", "syscon"});
        w.cell("phandle", finisher_handle);
    });
    write_known(w, d, {rtc::rtc_node(), VIRT_RTC_BASE, VIRT_RTC_SIZE, VIRT_RTC_IRQ});
    w.node(unit("marker", VIRT_MARKER_BASE),
           [&] { write_device(w, VIRT_MARKER_BASE, VIRT_MARKER_SIZE, {"fabricvp,marker"}); });
    for (const auto& device : d.devices) write_known(w, d, device);
    write_interrupt_controllers(w, d);
    write_pcie(w, d);
}

void write_syscon_command(writer& w, const char* compatible, std::uint32_t value) {
    w.text("compatible", compatible);
    w.cell("regmap", finisher_handle);
    w.cell("offset", FINISHER_COMMAND);
    w.cell("value", value);
}

}  // namespace

std::vector<std::uint8_t> make_device_tree(const device_tree_description& d) {
    writer w;
    w.node("", [&] {
        w.cell("#address-cells", 2);
        w.cell("#size-cells", 2);
        w.text("compatible", "riscv-virtio");
        w.text("model", "FabricVP host");
        w.cell("fabricvp,nodes", static_cast<std::uint32_t>(d.node_count));
        w.node("chosen", [&] {
            w.text("stdout-path", "/soc/" + unit("serial", VIRT_UART_BASE));
            if (!d.bootargs.empty()) w.text("bootargs", d.bootargs);
            w.cells("rng-seed", random_cells(d.rng_seed));
            if (d.initrd_end > d.initrd_start) {
                w.wide("linux,initrd-start", {d.initrd_start});
                w.wide("linux,initrd-end", {d.initrd_end});
            }
        });
        w.node("aliases", [&] { w.text("serial0", "/soc/" + unit("serial", VIRT_UART_BASE)); });
        w.node(unit("memory", d.memory_base), [&] {
            w.text("device_type", "memory");
            w.wide("reg", {d.memory_base, d.memory_size});
        });
        w.node("cpus", [&] { write_cpus(w, d); });
        w.node("soc", [&] { write_soc(w, d); });
        w.node("poweroff", [&] { write_syscon_command(w, "syscon-poweroff", FINISHER_PASS); });
        w.node("reboot", [&] { write_syscon_command(w, "syscon-reboot", FINISHER_RESET); });
    });
    return w.finish();
}

}  // namespace fabricvp::host
