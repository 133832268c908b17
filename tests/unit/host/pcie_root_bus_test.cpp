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
constexpr ticks store_time = 50'000;

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
        pcie.mmio32.attach(root, window, store_time);
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

TEST_CASE("a store to a device takes its hart time, unless it goes on where one of the last eight streams ends") {
    auto& b = fresh();
    b.hart.write32(window + 0x800, 0);
    const auto alone = b.hart.last_latency;
    b.hart.write32(window + 0x804, 0);
    CHECK(alone - b.hart.last_latency == store_time);
    const auto combined = b.hart.last_latency;
    b.hart.write32(window + 0x804, 0);  // the same register again is a store of its own
    CHECK(b.hart.last_latency == alone);

    // Eight streams side by side are combined in any order; a ninth drives out the one that was not used longest.
    for (unsigned stream = 0; stream < 8; ++stream) b.hart.write64(window + 0x100 * stream, 0);
    for (unsigned stream = 8; stream-- > 0;) {
        b.hart.write64(window + 0x100 * stream + 8, 0);
        CHECK(b.hart.last_latency == combined);
    }
    b.hart.write64(window + 0x900, 0);
    b.hart.write64(window + 0x100 * 7 + 16, 0);
    CHECK(b.hart.last_latency == alone);
    b.hart.write64(window + 0x100 * 5 + 16, 0);
    CHECK(b.hart.last_latency == combined);
    b.run();
}
