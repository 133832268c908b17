// SPDX-License-Identifier: Apache-2.0
// The host as a whole, with programs of a few instructions.
#include <catch2/catch.hpp>

#include <vector>

#include "abi/clint.h"
#include "abi/finisher.h"
#include "abi/memory_map.h"
#include "host/host_complex.h"
#include "unit/host/bus_master.h"
#include "unit/riscv/assembler.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

host::host_params params_of(std::uint64_t harts, std::uint64_t memory) {
    host::host_params p;
    p.harts = harts;
    p.memory.bytes = memory;
    return p;
}

/// With a second serial port and a second clock, by name of their kinds.
chosen_kind<host::device_settings> chosen(const char* kind) {
    struct visitor final : parameter_visitor {
        const char* kind;
        explicit visitor(const char* k) : kind(k) {}
        void visit(parameter& p) override {
            if (p.name == std::string("kind")) p.parse(kind);
        }
        bool enter(const char*, const char*) override { return true; }
        void leave() override {}
        std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
        void enter_item(std::size_t) override {}
        void leave_list() override {}
    } v(kind);
    chosen_kind<host::device_settings> device;
    device.describe(v);
    return device;
}

host::host_params with_devices() {
    auto p = params_of(1, 1ull << 20);
    p.devices.resize(2);
    p.devices[0].name = "modem";
    p.devices[0].base = 0x1000'1000;
    p.devices[0].interrupt = 12;
    p.devices[1].name = "calendar_clock";
    p.devices[1].base = 0x1000'2000;
    p.devices[1].device = chosen("rtc");
    return p;
}

/// With caches and ECC in memory whose checks take so long; never: without ECC.
host::host_params with_checks(ticks latency) {
    auto p = params_of(1, 1ull << 20);
    p.memory_timing = host::memory_timing_kind::caches;
    if (latency == never) return p;
    p.dram.ecc = true;
    p.dram.ecc_latency.value = latency;
    return p;
}

std::string refusal(const char* host, const char* device, std::uint64_t base, std::uint64_t interrupt) {
    auto p = with_devices();
    p.devices.resize(1);
    p.devices[0].name = device;
    p.devices[0].base = base;
    p.devices[0].interrupt = interrupt;
    try {
        host::host_complex wrong(host, p);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "nothing";
}

struct bench {
    calendar cal{"calendar"};
    host::host_complex host{"host", params_of(2, 128ull << 20)};
    host::host_complex large{"large", params_of(1, 64ull << 30)};
    host::host_complex small{"small", params_of(1, 1ull << 20)};
    host::host_complex more{"more", with_devices()};
    host::host_complex unchecked{"unchecked", with_checks(never)}, checked{"checked", with_checks(3'750)},
        slowly_checked{"slowly_checked", with_checks(12'345)};
    std::vector<int> power_offs;
    unsigned resets = 0;
    std::vector<std::pair<std::string, std::string>> refusals;  // what was said, and what it should say

    bench() {
        refusals = {
            {refusal("wrong0", "modem", VIRT_UART_BASE, 0),
             "host: device modem: address range of modem (0x10000000, 0x100 bytes) overlaps that of uart"},
            {refusal("wrong1", "modem", 0x2000'0000, VIRT_RTC_IRQ), "host: device modem: interrupt source 11 is taken"},
            {refusal("wrong2", "plic", 0x2000'0000, 0), "host: device plic: the name is taken"}};
        host.on_power_off = [this](int status) {
            power_offs.push_back(status);
            cal.stop();
        };
        host.on_system_reset = [this] {
            ++resets;
            cal.stop();
        };
    }
    void load(const std::vector<std::uint32_t>& program) {
        REQUIRE(host.bus.debug_write(VIRT_DRAM_BASE, program.data(), 4 * program.size()) == 4 * program.size());
    }
    void run(ticks t) { cal.run_until(cal.now() + t); }
};

bench& the_bench() {
    static bench b;
    return b;
}

// Keeps what the boot ROM passed in s0 … s2. Hart 0 stores its command into the finisher; the others sleep.
std::vector<std::uint32_t> finish_with(std::uint32_t command) {
    return {
        0x00050413,                                  // mv   s0, a0
        0x00058493,                                  // mv   s1, a1
        0x00060913,                                  // mv   s2, a2
        0x00051a63,                                  // bnez a0, +20
        0x00100337,                                  // lui  t1, 0x100
        0x000002b7 | (command + 0x800) >> 12 << 12,  // lui  t0, high
        0x00028293 | (command & 0xfff) << 20,        // addi t0, t0, low
        0x00532023,                                  // sw   t0, 0(t1)
        0x10500073,                                  // wfi
        0xffdff06f,                                  // j    -4
    };
}

}  // namespace

TEST_CASE("the boot ROM hands over, the finisher ends the run, reset starts it again") {
    auto& b = the_bench();
    b.load(finish_with(FINISHER_PASS));
    b.host.start();
    b.run(1_ms);
    CHECK(b.power_offs == std::vector<int>{0});
    CHECK(b.host.harts[0]->x(8) == 0);
    CHECK(b.host.harts[1]->x(8) == 1);
    CHECK(b.host.harts[1]->waiting());
    for (auto& hart : b.host.harts) {
        CHECK(hart->x(9) == b.host.device_tree_address());
        CHECK(hart->x(18) == VIRT_BOOT_ROM_BASE + 40);
    }
    std::uint32_t magic = 0;
    b.host.bus.debug_read(b.host.device_tree_address(), &magic, 4);
    CHECK(magic == 0xedfe0dd0);

    // The same machine again, now asking for a reset.
    b.host.uart.push_input('x');
    b.host.clint.software_interrupt[1].drive(true);
    b.load(finish_with(FINISHER_RESET));
    b.host.reset();
    CHECK_FALSE(b.host.clint.software_interrupt[1].level());
    CHECK(b.host.clint.time_at(b.cal.now()) == 0);
    b.host.start();
    b.run(1_ms);
    CHECK(b.resets == 1);
    CHECK(b.power_offs.size() == 1);
}

TEST_CASE("a hart that sets mtime moves every hart's timer of Sstc") {
    using namespace assembler;
    constexpr int others = 17 * 4 + 4;  // from the branch to what the other hart does
    constexpr unsigned time = 0xc01, stimecmp = 0x14d, menvcfg = 0x30a, mie = 0x304, mip = 0x344;
    auto& b = the_bench();
    program p(VIRT_DRAM_BASE);
    const auto far_ahead = [&] {  // t1: when both timers expire, a second from now
        p << li(t0, 1) << slli(t0, t0, 63) << csrw(menvcfg, t0) << csrr(s2, time) << lui(t1, 2441) << add(t1, s2, t1)
          << csrw(stimecmp, t1);
    };
    far_ahead();
    p << lui(t2, (VIRT_CLINT_BASE + CLINT_MTIME + 0x800) >> 12)
      << addi(t2, t2, static_cast<int>((VIRT_CLINT_BASE + CLINT_MTIME) << 52 >> 52)) << bne(a0, zero, others);
    const auto branch = p.here() - 4;
    p << lui(t3, 16) << addi(t3, t3, -1) << bne(t3, zero, -4);  // until the other one sleeps
    p << csrr(s3, mip) << sd(t1, t2, 0) << csrr(s4, mip) << sd(zero, t2, 0) << csrr(s5, mip) << j(0);
    while (p.here() < branch + others) p << nop;
    p << li(t0, 1 << 5) << csrw(mie, t0) << wfi << csrr(s4, mip) << li(s6, 1) << j(0);
    b.load(p.words());
    b.host.reset();
    b.host.start();
    b.run(20_ms);
    constexpr std::uint64_t timer = 1 << 5;
    const auto& first = *b.host.harts[0];
    CHECK((first.x(s3) & timer) == 0);
    CHECK((first.x(s4) & timer) == timer);
    CHECK((first.x(s5) & timer) == 0);
    CHECK(b.host.harts[1]->x(s6) == 1);  // long before its second was over
}

TEST_CASE("the device tree lies where firmware looks for it") {
    auto& b = the_bench();
    CHECK(b.host.device_tree_address() == 0x87e0'0000);
    CHECK(b.large.device_tree_address() == 0xbfe0'0000);  // below 3 GiB
    CHECK(b.small.device_tree_address() > VIRT_DRAM_BASE + (1 << 19));
    CHECK(b.small.device_tree_address() + b.small.device_tree().size() <= VIRT_DRAM_BASE + (1 << 20));
}

TEST_CASE("the 64-bit PCIe window makes room for memory") {
    auto& b = the_bench();
    CHECK(b.host.pcie_mmio64_base() == VIRT_PCIE_MMIO64_BASE);
    CHECK(b.large.pcie_mmio64_base() == 0x14'0000'0000);
    const auto* last = b.large.bus.ranges().find(VIRT_DRAM_BASE + (64ull << 30) - 1);
    REQUIRE(last);
    CHECK(last->value.name == "dram");
}

TEST_CASE("interrupt lines reach the PLIC") {
    auto& b = the_bench();
    b.load({0x10500073, 0xffdff06f});  // harts that ran start over after a reset: wfi, j -4
    b.host.reset();
    const std::uint8_t enable = 1;
    b.host.plic->priority.set(7, VIRT_UART_IRQ);
    b.host.plic->enable.set(1u << VIRT_UART_IRQ, 1 * 32);
    b.host.uart.ier.bus_write(0, enable, false);
    test::stopwatch watch;
    b.host.uart.push_input('y');
    watch.run_for(10_us);
    CHECK(b.host.plic->external_interrupt[1].level());
    CHECK_FALSE(b.host.plic->external_interrupt[0].level());
}

TEST_CASE("devices of the configuration are on the bus, at the PLIC and in the device tree") {
    auto& b = the_bench();
    b.more.reset();
    REQUIRE(b.more.devices.size() == 2);
    CHECK(std::string(b.more.devices[0]->name()) == "more.modem");
    const auto* where = b.more.bus.ranges().find(0x1000'10ff);
    REQUIRE(where);
    CHECK(where->value.name == "modem");
    CHECK_FALSE(b.more.bus.ranges().find(0x1000'1100));

    auto& port = dynamic_cast<host::uart&>(*b.more.devices[0]);
    b.more.plic->priority.set(7, 12);
    b.more.plic->enable.set(1u << 12, 1 * 32);
    port.ier.bus_write(0, 1, false);
    test::stopwatch watch;
    port.push_input('y');
    watch.run_for(10_us);
    CHECK(b.more.plic->external_interrupt[1].level());

    const auto blob = b.more.device_tree();
    const std::string tree(blob.begin(), blob.end());
    for (const char* node : {"serial@10000000", "serial@10001000", "rtc@101000", "rtc@10002000"})
        CHECK(tree.find(node) != std::string::npos);
}

TEST_CASE("devices that cannot be where they are wanted") {
    for (const auto& [told, wanted] : the_bench().refusals) CHECK_THAT(told, Catch::Contains(wanted));
    CHECK(the_bench().refusals.size() == 3);
}

TEST_CASE("with caches, the checks of ECC count for what misses all of them") {
    auto& b = the_bench();
    using use = riscv::memory_timing::use;
    const auto load = [](host::host_complex& h) {
        return h.caches->access(0, VIRT_DRAM_BASE + 0x8000, 8, use::load, 0);
    };
    const auto miss = load(b.unchecked), hit = load(b.unchecked);
    CHECK(load(b.checked) == miss + 3'750);
    CHECK(load(b.slowly_checked) == miss + 12'345);
    CHECK(load(b.checked) == hit);
    CHECK(load(b.slowly_checked) == hit);
}
