// SPDX-License-Identifier: Apache-2.0
// The host's windows into an empty PCI Express tree: what becomes of requests without a target.
#include <catch2/catch.hpp>

#include "host/address_bus.h"
#include "host/dram.h"
#include "host/pcie_root_bus.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using op = atomic_extension::operation;

namespace {

pcie::root_complex_params no_ports() {
    pcie::root_complex_params p;
    p.root_ports = 0;
    return p;
}

constexpr std::uint64_t window = 0x10000, window_size = 0x1000;

struct bench {
    calendar cal{"calendar"};
    host::address_bus bus{"bus"};
    host::dram dram{"dram", host::dram_params{}, 0x4000};
    host::pcie_root_bus pcie{"pcie"};
    pcie::root_complex root{"root", no_ports()};
    test::bus_master hart{"hart"};

    bench() {
        hart.socket.bind(bus.from_harts);
        root.memory.bind(bus.from_devices);
        bus.map("dram", 0, 0x4000, dram.bus, &dram.memory);
        bus.map("mmio32", window, window_size, pcie.mmio32.bus);
        bus.map("mmio64", window + 1 * window_size, window_size, pcie.mmio64.bus);
        bus.map("ecam", window + 2 * window_size, window_size, pcie.ecam.bus);
        bus.map("pio", window + 3 * window_size, window_size, pcie.pio.bus);
        pcie.mmio32.attach(root, window);
        cal.run_until(0);
    }
    void run() {
        while (cal.next_event_time() != never) cal.run_until(cal.next_event_time());
    }
};

bench& fresh() {
    static bench b;
    restart_statistics();
    return b;
}

}  // namespace

TEST_CASE("a read that nothing claims gives all ones, and counts as an error of the root complex") {
    auto& b = fresh();
    std::uint32_t value = 0;
    b.hart.transfer(tlm::TLM_READ_COMMAND, window + 0x10, &value, 4);
    b.run();
    CHECK(value == ~0u);
    CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
    CHECK(b.pcie.mmio32.unclaimed_reads.value() == 1);
    CHECK(b.root.host_errors.value() == 1);
}

TEST_CASE("an atomic that nothing claims fails, and counts as an error of the root complex") {
    auto& b = fresh();
    for (const auto what : {op::add, op::swap, op::compare_swap}) {
        b.hart.atomic(what, window + 0x20, 8, 5, 6);
        b.run();
        CHECK_FALSE(b.hart.last_atomic.performed);
        CHECK(b.hart.last_status == tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    CHECK(b.root.host_errors.value() == 3);
    CHECK(b.pcie.mmio32.unclaimed_reads.value() == 3);
    // What PCI Express has no AtomicOp for does not even reach it.
    b.hart.atomic(op::max, window + 0x20, 8, 5);
    CHECK(b.hart.last_status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(b.root.host_errors.value() == 3);
}
