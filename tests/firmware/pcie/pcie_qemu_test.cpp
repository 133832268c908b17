// SPDX-License-Identifier: Apache-2.0
// The same image numbers and assigns the trees of QEMU's `virt` machine; QEMU's own view of its registers must agree.
#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
extern "C" {
#include <libfdt.h>
}

namespace {

struct finished {
    int status;
    std::string output;
};

finished shell(const std::string& command) {
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("exec 2>&1; " + command).c_str(), "r"), pclose);
    REQUIRE(pipe);
    finished f;
    char block[4096];
    for (std::size_t n; (n = std::fread(block, 1, sizeof block, pipe.get())) > 0;) f.output.append(block, n);
    const int status = pclose(pipe.release());
    f.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return f;
}

std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string qemu(const std::string& machine) {
    return fmt::format("timeout 60 {} -M {} -m 128 -display none -bios {} ", QEMU, machine, DEMO_IMAGE);
}

/// The machine's device tree without the device that ends the process.
void write_device_tree(const std::string& to, const std::string& devices) {
    REQUIRE(shell(qemu("virt,dumpdtb=" + to) + "-serial null -monitor none " + devices).status == 0);
    auto blob = contents(to);
    const int node = fdt_node_offset_by_compatible(blob.data(), -1, "sifive,test0");
    REQUIRE(node >= 0);
    REQUIRE(fdt_nop_node(blob.data(), node) == 0);
    std::ofstream(to, std::ios::binary) << blob;
}

using facts = std::set<std::string>;

std::string memory(const std::string& function, const std::string& what, std::uint64_t first, std::uint64_t size) {
    return fmt::format("{} {} {:#x}+{:#x}", function, what, first, size);
}

/// What our listing says.
facts said_by_firmware(const std::string& text) {
    static const std::map<std::string, std::uint64_t> units{
        {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    const std::regex head(
        R"(^ *([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([0-9a-f]{4}:[0-9a-f]{4}) (?:.*buses ([0-9a-f]{2})-([0-9a-f]{2}))?)");
    const std::regex range(R"(^ *(BAR [0-5]|memory window|prefetchable window) (0x[0-9a-f]+), ([0-9]+) ([KMG]?i?B))");
    facts all;
    std::istringstream in(text);
    std::string function;
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (std::regex_search(line, m, head)) {
            function = m[1];
            all.insert(function + " is " + std::string(m[2]));
            if (m[3].matched)
                all.insert(fmt::format("{} leads to {}-{}", function, std::stoi(m[3], nullptr, 16),
                                       std::stoi(m[4], nullptr, 16)));
        } else if (std::regex_search(line, m, range)) {
            all.insert(memory(function, m[1], std::stoull(m[2], nullptr, 16), std::stoull(m[3]) * units.at(m[4])));
        }
    }
    return all;
}

/// What QEMU's `info pci` says.
facts said_by_qemu(const std::string& text) {
    const std::regex place(R"(Bus +([0-9]+), device +([0-9]+), function ([0-7]))"),
        id(R"(PCI device ([0-9a-f]{4}:[0-9a-f]{4}))"), secondary(R"(secondary bus ([0-9]+))"),
        subordinate(R"(subordinate bus ([0-9]+))"),
        window(R"(^ *(prefetchable )?memory range \[(0x[0-9a-f]+), (0x[0-9a-f]+)\])"),
        bar(R"(BAR([0-5]): (?:32|64) bit (?:prefetchable )?memory at (0x[0-9a-f]+) \[(0x[0-9a-f]+)\])");
    facts all;
    std::istringstream in(text);
    std::string function, first_bus;
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (std::regex_search(line, m, place))
            function = fmt::format("{:02x}:{:02x}.{}", std::stoi(m[1]), std::stoi(m[2]), std::string(m[3]));
        else if (std::regex_search(line, m, id))
            all.insert(function + " is " + std::string(m[1]));
        else if (std::regex_search(line, m, secondary))
            first_bus = m[1];
        else if (std::regex_search(line, m, subordinate))
            all.insert(function + " leads to " + first_bus + "-" + std::string(m[1]));
        else if (std::regex_search(line, m, window)) {
            const auto from = std::stoull(m[2], nullptr, 16), last = std::stoull(m[3], nullptr, 16);
            if (from <= last)
                all.insert(
                    memory(function, m[1].matched ? "prefetchable window" : "memory window", from, last - from + 1));
        } else if (std::regex_search(line, m, bar)) {
            const auto from = std::stoull(m[2], nullptr, 16), last = std::stoull(m[3], nullptr, 16);
            all.insert(memory(function, "BAR " + std::string(m[1]), from, last - from + 1));
        }
    }
    return all;
}

void compare(const std::string& name, const std::string& devices, std::size_t functions) {
    INFO(name);
    const auto tree = fmt::format("{}/{}.dtb", SCRATCH, name), console = fmt::format("{}/{}.console", SCRATCH, name);
    write_device_tree(tree, devices);
    std::remove(console.c_str());
    const auto wait = fmt::format(
        "for i in $(seq 400); do grep -q -e 'powering off' -e '^FAILED' {} && break; sleep 0.05; done", console);
    const auto run =
        shell(fmt::format("( {}; echo info pci; echo quit ) | {} -dtb {} -serial file:{} -monitor stdio {}", wait,
                          qemu("virt"), tree, console, devices));
    CHECK(run.status == 0);
    const auto text = contents(console);
    CHECK(text.find("all ok, powering off") != std::string::npos);
    CHECK(text.find(fmt::format("functions  {} on", functions)) != std::string::npos);
    const auto ours = said_by_firmware(text), theirs = said_by_qemu(run.output);
    CHECK(theirs.size() >= 2 * functions);
    CHECK(ours == theirs);
}

}  // namespace

TEST_CASE("QEMU's machine with nothing plugged in") {
    const auto run = shell(qemu("virt") + "-serial stdio -monitor none </dev/null");
    CHECK(run.status == 0);
    CHECK(run.output.find("engines    0") != std::string::npos);
    CHECK(run.output.find("all ok, powering off") != std::string::npos);
}

TEST_CASE("switches, several functions in a device, conventional bridges") {
    compare(
        "zoo",
        "-device pcie-root-port,id=a,chassis=1,slot=1,multifunction=on,addr=2.0 -device "
        "pcie-root-port,id=b,chassis=2,slot=2,addr=2.1 "
        "-device pcie-pci-bridge,id=c,bus=a -device pci-bridge,id=d,bus=c,chassis_nr=9,addr=1 "
        "-device pci-testdev,bus=d,addr=3,membar=1M -device e1000,bus=d,addr=7,romfile= -device nvme,serial=x,bus=b "
        "-device pcie-root-port,id=r,chassis=3,slot=3 -device x3130-upstream,id=u,bus=r "
        "-device xio3130-downstream,id=p,bus=u,chassis=4,slot=4 -device xio3130-downstream,id=q,bus=u,chassis=5,slot=5 "
        "-device pci-testdev,bus=p,membar=64M -device virtio-net-pci,bus=q,romfile= "
        "-device pci-testdev,membar=256M -device edu",
        16);
}

TEST_CASE("a chain of switches twelve deep") {
    std::string devices = "-device pcie-root-port,id=d0,chassis=1,slot=1 ";
    for (int i = 1; i <= 12; ++i)
        devices += fmt::format(
            "-device x3130-upstream,id=u{0},bus=d{1} -device xio3130-downstream,id=d{0},bus=u{0},chassis={2},slot={2} ",
            i, i - 1, i + 1);
    compare("chain", devices + "-device pci-testdev,bus=d12,membar=8M", 1 + 1 + 24 + 1);
}

TEST_CASE("a BAR larger than its window stays off, and is named") {
    const auto run =
        shell(qemu("virt") + "-serial stdio -monitor none -device pci-testdev,membar=32G -device edu </dev/null");
    CHECK(run.status == 1);
    CHECK(run.output.find("BAR 2 no room for 32 GiB") != std::string::npos);
    CHECK(run.output.find("no room for 1 BARs") != std::string::npos);
    CHECK(run.output.find("BAR 0 0x40000000, 1 MiB") != std::string::npos);  // others get theirs
}
