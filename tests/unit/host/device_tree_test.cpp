// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>
#include <vector>

extern "C" {
#include <libfdt.h>
}

#include "abi/memory_map.h"
#include "host/device_tree.h"

using namespace fabricvp;

namespace {

struct tree {
    explicit tree(const host::device_tree_description& d) : blob(host::make_device_tree(d)) {}
    std::vector<std::uint8_t> blob;

    std::vector<std::uint32_t> cells(const char* path, const char* property) const {
        int length = 0;
        const auto* p = static_cast<const fdt32_t*>(
            fdt_getprop(blob.data(), fdt_path_offset(blob.data(), path), property, &length));
        std::vector<std::uint32_t> v;
        for (int i = 0; p && i < length / 4; ++i) v.push_back(fdt32_to_cpu(p[i]));
        return v;
    }
    std::string text(const char* path, const char* property) const {
        int length = 0;
        const auto* p =
            static_cast<const char*>(fdt_getprop(blob.data(), fdt_path_offset(blob.data(), path), property, &length));
        return p ? p : "(absent)";
    }
    bool has(const char* path) const { return fdt_path_offset(blob.data(), path) >= 0; }
};

host::device_tree_description two_harts() {
    host::device_tree_description d;
    d.isa = {"rv64imac", "rv64imafdc"};
    d.memory_base = VIRT_DRAM_BASE;
    d.memory_size = 0x1'2000'0000;
    d.pcie_mmio64_base = VIRT_PCIE_MMIO64_BASE;
    d.pcie_mmio64_size = VIRT_PCIE_MMIO64_SIZE;
    d.bootargs = "quiet";
    d.initrd_start = 0x8800'0000;
    d.initrd_end = 0x8810'0000;
    return d;
}

}  // namespace

TEST_CASE("the blob is well formed") {
    const tree t(two_harts());
    CHECK(fdt_check_header(t.blob.data()) == 0);
    CHECK(fdt_check_full(t.blob.data(), t.blob.size()) == 0);
    CHECK(fdt_totalsize(t.blob.data()) == t.blob.size());
}

TEST_CASE("harts, memory and chosen") {
    const tree t(two_harts());
    CHECK(t.cells("/cpus", "timebase-frequency") == std::vector<std::uint32_t>{10'000'000});
    CHECK(t.text("/cpus/cpu@1", "riscv,isa") == "rv64imafdc");
    CHECK(t.text("/cpus/cpu@0", "mmu-type") == "riscv,sv48");
    CHECK_FALSE(t.has("/cpus/cpu@2"));
    CHECK(t.cells("/memory@80000000", "reg") == std::vector<std::uint32_t>{0, 0x8000'0000, 1, 0x2000'0000});
    CHECK(t.text("/chosen", "bootargs") == "quiet");
    CHECK(t.cells("/chosen", "linux,initrd-start") == std::vector<std::uint32_t>{0, 0x8800'0000});
    CHECK(t.cells("/chosen", "linux,initrd-end") == std::vector<std::uint32_t>{0, 0x8810'0000});
    CHECK(t.text(t.text("/chosen", "stdout-path").c_str(), "compatible") == "ns16550a");
}

TEST_CASE("the number of nodes of the machine") {
    auto d = two_harts();
    CHECK(tree(d).cells("/", "fabricvp,nodes") == std::vector<std::uint32_t>{1});
    d.node_count = 8;
    CHECK(tree(d).cells("/", "fabricvp,nodes") == std::vector<std::uint32_t>{8});
}

TEST_CASE("the random seed is the same for the same seed only") {
    auto d = two_harts();
    const auto first = tree(d).cells("/chosen", "rng-seed");
    CHECK(first.size() == 8);
    CHECK(tree(d).cells("/chosen", "rng-seed") == first);
    d.rng_seed = 2;
    CHECK(tree(d).cells("/chosen", "rng-seed") != first);
}

TEST_CASE("interrupts point where they should") {
    const tree t(two_harts());
    const auto plic = t.cells("/soc/plic@c000000", "phandle").at(0);
    const auto intc0 = t.cells("/cpus/cpu@0/interrupt-controller", "phandle").at(0);
    const auto intc1 = t.cells("/cpus/cpu@1/interrupt-controller", "phandle").at(0);
    CHECK(t.cells("/soc/plic@c000000", "interrupts-extended") ==
          std::vector<std::uint32_t>{intc0, 11, intc0, 9, intc1, 11, intc1, 9});
    CHECK(t.cells("/soc/clint@2000000", "interrupts-extended") ==
          std::vector<std::uint32_t>{intc0, 3, intc0, 7, intc1, 3, intc1, 7});
    CHECK(t.cells("/soc/serial@10000000", "interrupt-parent") == std::vector<std::uint32_t>{plic});
    CHECK(t.cells("/soc/serial@10000000", "interrupts") == std::vector<std::uint32_t>{10});
    CHECK(t.cells("/soc/rtc@101000", "interrupts") == std::vector<std::uint32_t>{11});
    CHECK(t.cells("/poweroff", "regmap") == t.cells("/soc/test@100000", "phandle"));
    const auto map = t.cells("/soc/pci@30000000", "interrupt-map");
    REQUIRE(map.size() == 16 * 6);
    for (std::size_t device = 0; device < 4; ++device)
        for (std::size_t pin = 1; pin <= 4; ++pin) {
            const auto* row = &map[(device * 4 + pin - 1) * 6];
            CHECK(row[0] == device << 11);
            CHECK(row[3] == pin);
            CHECK(row[4] == plic);
            CHECK(row[5] == 32 + (pin - 1 + device) % 4);
        }
}

TEST_CASE("optional things are left out") {
    auto d = two_harts();
    d.bootargs.clear();
    d.initrd_end = d.initrd_start = 0;
    d.supervisor = false;
    const tree t(d);
    CHECK(t.text("/chosen", "bootargs") == "(absent)");
    CHECK(t.cells("/chosen", "linux,initrd-start").empty());
    CHECK(t.text("/cpus/cpu@0", "mmu-type") == "riscv,none");
    CHECK(t.cells("/soc/plic@c000000", "interrupts-extended").at(3) == 0xffff'ffff);
}

TEST_CASE("the blob grows with what it holds, up to a limit") {
    auto d = two_harts();
    for (std::uint64_t i = 0; i < 20'000; ++i)
        d.devices.push_back({{"serial", {"ns16550a"}, {}}, 0x1'0000'0000 + i * 0x1000, 0x100, 0});
    d.bootargs = std::string(std::size_t{15} << 20, 'a');
    const tree t(d);
    CHECK(fdt_check_full(t.blob.data(), t.blob.size()) == 0);
    CHECK(t.has("/soc/serial@104e1f000"));
    CHECK(t.text("/chosen", "bootargs") == d.bootargs);
    d.bootargs = std::string(std::size_t{65} << 20, 'a');
    CHECK_THROWS_WITH(host::make_device_tree(d), Catch::Contains("the device tree is larger than 64 MiB"));
}
