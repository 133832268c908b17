// SPDX-License-Identifier: Apache-2.0
// One image on every topology: what it prints, what it moves, which registers it touches.
#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include "firmware/pcie/pci_audit.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"

using namespace fabricvp;

namespace {

constexpr ticks max_time = 10 * ticks_per_second;

/// Without the lines that carry measured figures.
std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.rfind("# ", 0) != 0) lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> golden(const std::string& name, const std::string& delivery) {
    std::ifstream in(std::string(GOLDEN_FOLDER) + "/" + name + ".golden");
    REQUIRE(in.good());
    std::stringstream text;
    text << in.rdbuf();
    return lines_of(std::regex_replace(text.str(), std::regex("DELIVERY"), delivery));
}

std::string run(platform& machine) {
    image_set images;
    images.firmware = DEMO_IMAGE;
    machine.load_images(0, images);
    CHECK(machine.run_until(max_time).outcome == run_outcome::power_off);
    const auto text = machine.serial(0).output();
    return text;
}

/// Rates in GB/s behind a text, in the order of the output.
std::vector<double> rates(const std::string& text, const std::string& before) {
    std::vector<double> list;
    const std::regex pattern(before + R"( ([0-9]+\.[0-9]+) GB/s)");
    for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i)
        list.push_back(std::stod((*i)[1]));
    return list;
}

const std::string direct = R"(
node:
  host: {memory: 128 MiB}
  pcie:
    endpoints:
      - {name: only, below: root, channels: 4, memory: 2 MiB}
      - {name: other, below: root, link: {generation: 4}}
)";

// Three levels of switches, ports of different speeds and payloads, memories from 4 KiB to 256 MiB, a function that is
// not ready at first, and more vectors than there are interrupt identities.
const std::string deep = R"(
node:
  host: {memory: 128 MiB, interrupts: aplic_imsic}
  pcie:
    root: {root_port: {max_payload: 512}}
    switches:
      - {name: outer, below: root, upstream_port: {generation: 5}, downstream_port: {max_payload: 512}}
      - {name: middle, below: outer, upstream_port: {width: 8}}
      - {name: inner, below: middle, downstream_port: {generation: 4, width: 4}}
    endpoints:
      - {name: near, below: root, memory: 256 MiB, channels: 32}
      - {name: first, below: outer, memory: 4 KiB, channels: 1}
      - {name: second, below: inner, memory: 1 MiB, channels: 32, ready_after_reset: 150 ms}
      - {name: third, below: inner, channels: 32, link: {max_payload: 128, width: 1}}
      - {name: fourth, below: inner, channels: 32}
)";

std::unique_ptr<platform> storm(const std::string& interrupts) {
    return platform::from_config(std::string(CONFIGS) + "/cs_storm.yaml",
                                 {{"node.images.kernel", ""}, {"node.host.interrupts", interrupts}});
}

}  // namespace

TEST_CASE("a CS-Storm socket with pins", "[storm]") {
    auto machine = storm("plic");
    auto& node = *machine->hardware().nodes[0];
    node.host.bus.record_touched(true);
    const auto text = run(*machine);
    CHECK(lines_of(text) == golden("storm", "INTx"));

    // 128 Gb/s less coding, headers and credits: a link carries so much of 256-byte payloads, and no more.
    for (const auto* direction : {"to device", "to host"}) {
        const auto found = rates(text, direction);
        REQUIRE(found.size() == 8);
        for (const auto r : found) {
            CHECK(r > 11);
            CHECK(r < 15.75);
        }
    }
    const auto together = rates(text, "together:");
    REQUIRE(together.size() == 1);
    CHECK(together[0] > 4 * 11);  // boards do not wait for each other
    // Engines got what the program says: in the second region a quarter MiB from each of the others, in the third one
    // MiB.
    const auto& regions = node.host.marker.regions();
    REQUIRE(regions.size() == 3);
    for (unsigned i = 0; i < 8; ++i) {
        const auto received = fmt::format("node0.pcie.gpu{}.bytes_received", i);
        CHECK(regions[1].label == "peers");
        CHECK(regions[1].values.at(received) == 7 << 18);
        CHECK(regions[2].values.at(received) == 1 << 20);
    }

    auto touched = node.host.bus.touched();
    test::pci_audit audit(*node.pcie);
    CHECK(touched.at("pcie.ecam").size() > 500);
    CHECK(touched.at("pcie.mmio32").size() > 100);
    CHECK(audit.unexplained_configuration(touched.at("pcie.ecam")) == std::vector<std::string>{});
    CHECK(audit.unexplained_memory(touched.at("pcie.mmio32"), VIRT_PCIE_MMIO32_BASE) == std::vector<std::string>{});
    CHECK(audit.unexplained_memory(touched.at("pcie.mmio64"), VIRT_PCIE_MMIO64_BASE) == std::vector<std::string>{});
    // What the audit must not explain: a hole of the header, a place without a function, a register that no engine has.
    CHECK(audit.unexplained_configuration({{1 << 15 | 0x30, 4}, {3 << 15 | 4, 2}, {5 << 20 | 0x41, 2}}).size() == 3);
    CHECK(audit.unexplained_memory({{0x40, 4}, {0x800000, 4}, {0x2002, 4}}, VIRT_PCIE_MMIO32_BASE).size() == 3);
}

TEST_CASE("a CS-Storm socket with messages", "[storm_messages]") {
    auto machine = storm("aplic_imsic");
    auto& host = machine->hardware().nodes[0]->host;
    host.bus.record_touched(true);
    CHECK(lines_of(run(*machine)) == golden("storm", "MSI-X"));
    test::pci_audit audit(*machine->hardware().nodes[0]->pcie);
    CHECK(audit.unexplained_memory(host.bus.touched().at("pcie.mmio32"), VIRT_PCIE_MMIO32_BASE) ==
          std::vector<std::string>{});
}

TEST_CASE("engines directly below the root", "[direct]") {
    CHECK(lines_of(run(*platform::from_text(direct, "direct"))) == golden("direct", "INTx"));
}

TEST_CASE("engines directly below the root, pins through an APLIC", "[direct_aplic]") {
    CHECK(lines_of(run(*platform::from_text(direct, "direct", {{"node.host.interrupts", "aplic"}}))) ==
          golden("direct", "INTx"));
}

TEST_CASE("three levels of switches, mixed links", "[deep]") {
    auto machine = platform::from_text(deep, "deep");
    CHECK(lines_of(run(*machine)) == golden("deep", "MSI-X"));
    // The least payload that any port of the tree supports.
    for (const auto& e : machine->hardware().nodes[0]->pcie->endpoints) CHECK(e->config.max_payload() == 128);
}

TEST_CASE("a machine without PCI Express devices", "[none]") {
    CHECK(lines_of(run(*platform::from_text("node: {host: {memory: 128 MiB}}\n", "none"))) == golden("none", "INTx"));
}
