// SPDX-License-Identifier: Apache-2.0
// The AIA firmware on our platform and on QEMU's `virt` machine, against the same text; and the hello firmware on every
// interrupt controller.
#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "firmware/host/mmio_audit.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"

using namespace fabricvp;

namespace {

std::string without_returns(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return text;
}

std::string golden() {
    std::ifstream in(GOLDEN);
    REQUIRE(in.good());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::unique_ptr<platform> machine_with(const char* interrupts, const char* image) {
    auto p = platform::from_text(
        fmt::format("node: {{host: {{harts: 2, memory: 128 MiB, interrupts: {}}}}}\n", interrupts), "aia_test");
    image_set images;
    images.firmware = std::string(FIRMWARE) + "/" + image;
    p->load_images(0, images);
    return p;
}

}  // namespace

TEST_CASE("interrupt files and interrupt domains behave as specified, through registers that abi names", "[platform]") {
    auto p = machine_with("aplic_imsic", "aia.elf");
    auto& host = p->hardware().nodes[0]->host;
    host.bus.record_touched(true);
    CHECK(p->run_until(ticks_per_second).outcome == run_outcome::power_off);
    CHECK(without_returns(p->serial(0).output()) == golden());
    CHECK(host.imsic_m->messages.total() == 15);
    CHECK(host.imsic_m->ignored.total() == 3);
    CHECK(host.imsic_s->messages.total() == 4);
    CHECK(host.aplic_msi->errors.total() == 0);
    auto touched = host.bus.touched();
    touched["imsic_m"].erase({8, 4});  // the firmware tries what is no register
    CHECK(test::unexplained(touched) == std::vector<std::string>{});
}

void hello_with(const char* interrupts) {
    auto p = machine_with(interrupts, "hello.elf");
    CHECK(p->run_until(ticks_per_second).outcome == run_outcome::power_off);
    CHECK(p->serial(0).output().find("alarm      ok") != std::string::npos);
    CHECK(p->serial(0).output().find("all ok, powering off") != std::string::npos);
}

TEST_CASE("the hello firmware finds its way with an APLIC", "[hello_aplic]") { hello_with("aplic"); }
TEST_CASE("the hello firmware finds its way with an APLIC and IMSICs", "[hello_aplic_imsic]") {
    hello_with("aplic_imsic");
}

TEST_CASE("the AIA firmware says the same on QEMU", "[qemu]") {
    const auto command = fmt::format(
        "timeout 60 {} -M virt,aia=aplic-imsic -smp 2 -m 128 -nographic -monitor none -serial stdio "
        "-bios {}/aia.elf </dev/null 2>&1",
        QEMU, FIRMWARE);
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe);
    std::string output;
    char block[4096];
    for (std::size_t n; (n = std::fread(block, 1, sizeof block, pipe.get())) > 0;) output.append(block, n);
    const int status = pclose(pipe.release());
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(without_returns(output) == golden());
}
