// SPDX-License-Identifier: Apache-2.0
// An endpoint's MSI-X message on its whole way: TLP, root complex, host bus, interrupt file, hart.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "abi/copy_engine.h"
#include "abi/imsic.h"
#include "abi/memory_map.h"
#include "host/host_complex.h"
#include "pcie/tree.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

constexpr std::uint64_t registers = VIRT_PCIE_MMIO32_BASE, ring = VIRT_DRAM_BASE + 0x10000,
                        from = VIRT_DRAM_BASE + 0x20000, to = VIRT_DRAM_BASE + 0x30000;
constexpr unsigned length = 3000, register_csr0 = 65, mip = 0x344;

/// A host with one copy engine below a root port, as enumeration software leaves it.
struct machine {
    host::host_complex host;
    pcie::tree tree;

    machine(const std::string& name, host::interrupt_controllers interrupts)
        : host((name + "_host").c_str(), host_params(interrupts)), tree((name + "_pcie").c_str(), tree_params()) {
        host.attach(tree.root);
        auto& port = tree.root.bridges[0]->space;
        port.set(0x18, 3, 0x010100);
        port.set(0x20, 4, (registers >> 16 & 0xfff0) * 0x10001);  // a window of 1 MiB
        port.set(0x04, 2, 0x6);
        engine().dma.id = 0x100;
        auto& space = engine().config.space;
        space.set(0x10, 4, registers | (space.get(0x10, 4) & 0xf));
        space.set(0x04, 2, 0x6);
        space.write(space.find_capability(pcie::msi_x_id) + 2, 2, 0x8000);
    }
    pcie::endpoint& engine() { return *tree.endpoints[0]; }

    static host::host_params host_params(host::interrupt_controllers interrupts) {
        host::host_params p;
        p.harts = 2;
        p.memory.bytes = 16 << 20;
        p.interrupts = interrupts;
        return p;
    }
    static pcie::tree_params tree_params() {
        pcie::tree_params p;
        p.endpoints.emplace_back();
        p.endpoints[0].name = "engine";
        return p;
    }

    void write(std::uint64_t offset, std::uint64_t value, unsigned bytes = 4) {
        auto data = allocate_slice(bytes);
        std::memcpy(data.data(), &value, bytes);
        tree.root.host_write(registers + offset, data);
    }
    /// One copy in memory, whose end is told by a message of `data` to `address`.
    void copy(std::uint64_t address, std::uint32_t data) {
        std::vector<std::uint8_t> bytes(length);
        for (unsigned i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 1);
        host.bus.debug_write(from, bytes.data(), length);
        const copy_engine_descriptor d{from, to, length, COPY_ENGINE_FLAG_INTERRUPT, 0, 0};
        host.bus.debug_write(ring, &d, sizeof d);
        write(COPY_ENGINE_MSIX_TABLE, address, 8);
        write(COPY_ENGINE_MSIX_TABLE + 8, data);
        write(COPY_ENGINE_MSIX_TABLE + 12, 0);
        write(COPY_ENGINE_RING_BASE, ring, 8);
        write(COPY_ENGINE_RING_SIZE, 2);
        write(COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE);
        write(COPY_ENGINE_DOORBELL, 1);
        test::stopwatch().run_for(100_us);
    }
    bool copied() {
        std::uint8_t a[length], b[length];
        host.bus.debug_read(from, a, length);
        host.bus.debug_read(to, b, length);
        return std::memcmp(a, b, length) == 0;
    }
    std::uint64_t pending(unsigned hart) {
        std::uint64_t value = 0;
        REQUIRE(host.harts[hart]->read_register(register_csr0 + mip, value));
        return value;
    }
};

struct bench {
    calendar cal{"calendar"};
    machine files{"files", host::interrupt_controllers::aplic_imsic};
    machine none{"none", host::interrupt_controllers::plic};
    bench() { cal.run_until(0); }
};

bench& the_bench() {
    static bench b;
    return b;
}

}  // namespace

TEST_CASE("a message of an endpoint interrupts the hart that its address names, after the data") {
    auto& m = the_bench().files;
    auto& file = m.host.imsic_s->files[1];
    file.write(IMSIC_EIE0, 1ull << 33);
    file.write(IMSIC_EIDELIVERY, 1);
    bool data_first = false;
    file.external_interrupt.connect([&](bool level) { data_first = level && m.copied(); });
    m.copy(VIRT_IMSIC_S_BASE + IMSIC_FILE_STRIDE, 33);
    CHECK(file.top() == (33u << 16 | 33));
    CHECK(data_first);
    CHECK(m.pending(1) == 1 << 9);
    CHECK(m.pending(0) == 0);
    CHECK(m.host.imsic_s->messages.total() == 1);
    CHECK(m.host.imsic_m->messages.total() == 0);
    CHECK(m.tree.root.unsupported.total() == 0);
    file.claim();
    CHECK(m.pending(1) == 0);
}

TEST_CASE("without interrupt files a message is an unsupported request, and nothing else happens") {
    auto& m = the_bench().none;
    CHECK_FALSE(m.host.imsic_s);
    m.copy(VIRT_IMSIC_S_BASE, 33);
    CHECK(m.copied());
    CHECK(m.tree.root.unsupported.total() == 1);
    CHECK(m.host.bus.errors.total() == 1);
    CHECK(m.pending(0) == 0);
}

TEST_CASE("only where there are interrupt files do harts have the AIA, and the bus their pages") {
    auto& b = the_bench();
    CHECK(b.files.host.harts[0]->isa_string().find("_smaia_ssaia") != std::string::npos);
    CHECK(b.none.host.harts[0]->isa_string().find("aia") == std::string::npos);
    CHECK(b.files.host.bus.ranges().find(VIRT_IMSIC_M_BASE + IMSIC_FILE_STRIDE)->value.name == "imsic_m");
    CHECK(b.none.host.bus.ranges().find(VIRT_IMSIC_M_BASE) == nullptr);
}
