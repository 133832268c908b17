// SPDX-License-Identifier: Apache-2.0
// The same image on our platform and on QEMU's `virt` machine, against the same text.
#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "firmware/host/mmio_audit.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"

using namespace fabricvp;

namespace {

constexpr ticks max_time = ticks_per_second;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.rfind("# ", 0) != 0) lines.push_back(line);  // measured figures
    }
    return lines;
}

std::vector<std::string> golden() {
    std::ifstream in(HELLO_GOLDEN);
    REQUIRE(in.good());
    std::stringstream text;
    text << in.rdbuf();
    return lines_of(text.str());
}

image_set hello() {
    image_set images;
    images.firmware = HELLO_IMAGE;
    return images;
}

}  // namespace

TEST_CASE("hello on the platform prints what it should, and touches only registers that abi names", "[platform]") {
    auto machine = platform::from_text("node: {host: {harts: 4, memory: 128 MiB}}\n", "hello_test");
    machine->load_images(0, hello());
    auto& host = machine->hardware().nodes[0]->host;
    host.bus.record_touched(true);
    const auto result = machine->run_until(max_time);
    CHECK(result.outcome == run_outcome::power_off);
    CHECK(lines_of(machine->serial(0).output()) == golden());

    // The regions hold what ran in them, nothing else.
    const auto& regions = host.marker.regions();
    REQUIRE(regions.size() == 2);
    CHECK(regions[0].label == "sieve");
    CHECK(regions[1].label == "mix");
    const auto mix = regions[1].values.at("node0.host.hart0.instructions");
    CHECK(mix > 20'000 * 8);  // rounds of the loop
    CHECK(mix < 20'000 * 12);
    CHECK(regions[1].values.at("node0.host.uart.transmitted") == 0);

    auto touched = host.bus.touched();
    for (const auto* device : {"uart", "clint", "plic", "rtc", "marker", "finisher"}) {
        INFO(device);
        CHECK(touched.count(device) == 1);
    }
    // The one access outside of all devices is the fault that the firmware provokes.
    CHECK(touched["unmapped"] == std::set<std::pair<std::uint64_t, unsigned>>{{0x700'0000, 4}});
    touched.erase("unmapped");
    CHECK(test::unexplained(touched) == std::vector<std::string>{});
}

TEST_CASE("caches change the time of the same program, not its result", "[caches]") {
    auto machine =
        platform::from_text("node: {host: {harts: 2, memory: 128 MiB, memory_timing: caches}}\n", "hello_test");
    machine->load_images(0, hello());
    CHECK(machine->run_until(max_time).outcome == run_outcome::power_off);
    CHECK(machine->serial(0).output().find("all ok, powering off") != std::string::npos);
    const auto& regions = machine->hardware().nodes[0]->host.marker.regions();
    REQUIRE(regions.size() == 2);
    const auto sieve = regions[0].values, mix = regions[1].values;
    // 20,000 bytes fit L1: each line misses once. The other loop has its values in registers.
    const auto misses = sieve.at("node0.host.caches.l1_misses");
    CHECK(misses >= 20'000 / 64);
    CHECK(misses < 20'000 / 64 + 100);
    CHECK(sieve.at("node0.host.caches.l1_hits") > 60'000);
    CHECK(sieve.at("node0.host.caches.stall") >= misses * 2'000);
    CHECK(mix.at("node0.host.caches.l1_misses") < 50);
}

TEST_CASE("the audit notices what abi does not name", "[audit]") {
    CHECK(test::abi_register_at("uart", 5, 1) == "UART_LSR");
    CHECK(test::abi_register_at("plic", 0x20'1004, 4) == "PLIC_CLAIM");
    CHECK(test::abi_register_at("clint", 0x4008, 8) == "CLINT_MTIMECMP");
    CHECK(test::unexplained({{"uart", {{8, 1}, {5, 4}}}, {"clint", {{0xc000, 4}}}, {"nothing", {{0, 4}}}}).size() == 4);
}

TEST_CASE("hello on QEMU says the same, without the marker device", "[qemu]") {
    const auto command = fmt::format(
        "timeout 60 {} -M virt -smp 4 -m 128 -nographic -monitor none -serial stdio "
        "-bios {} </dev/null 2>&1",
        QEMU, HELLO_IMAGE);
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe);
    std::string output;
    char block[4096];
    for (std::size_t n; (n = std::fread(block, 1, sizeof block, pipe.get())) > 0;) output.append(block, n);
    const int status = pclose(pipe.release());
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);

    std::vector<std::string> expected;
    for (const auto& line : golden())
        if (line.find("marker") == std::string::npos && line.find("regions") == std::string::npos)
            expected.push_back(line);
    CHECK(lines_of(output) == expected);
}
