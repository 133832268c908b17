// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <vector>

#include "abi/finisher.h"
#include "abi/marker.h"
#include "base/log.h"
#include "host/boot_rom.h"
#include "host/finisher.h"
#include "host/marker.h"
#include "host/pcie_root_bus.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;

namespace {

struct bench {
    calendar cal{"calendar"};
    host::finisher finisher{"finisher"};
    host::marker marker{"marker", {{}, {}, byte_size{64 << 10}}};
    host::pcie_root_bus pcie{"pcie"};
    host::boot_rom rom{"rom"};
    test::bus_master to_finisher{"to_finisher"}, to_marker{"to_marker"}, to_rom{"to_rom"};
    test::bus_master to_ecam{"to_ecam"}, to_pio{"to_pio"}, to_mmio32{"to_mmio32"}, to_mmio64{"to_mmio64"};
    std::vector<int> statuses;
    unsigned resets = 0;
    unsigned log_lines = 0;
    std::string last_line;

    bench() {
        to_finisher.socket.bind(finisher.bus);
        to_marker.socket.bind(marker.bus);
        to_rom.socket.bind(rom.bus);
        to_ecam.socket.bind(pcie.ecam.bus);
        to_pio.socket.bind(pcie.pio.bus);
        to_mmio32.socket.bind(pcie.mmio32.bus);
        to_mmio64.socket.bind(pcie.mmio64.bus);
        finisher.on_power_off = [this](int s) { statuses.push_back(s); };
        finisher.on_reset = [this] { ++resets; };
        set_log_sink([this](log_level, const std::string&, const std::string& message) {
            ++log_lines;
            last_line = message;
        });
        cal.run_until(0);
    }
    void label(const std::string& text) {
        to_marker.write8(MARKER_LABEL, 0);
        for (char c : text) to_marker.write8(MARKER_LABEL, static_cast<std::uint8_t>(c));
    }
};

bench& fresh() {
    static bench b;
    b.finisher.reset();
    b.marker.reset();
    b.statuses.clear();
    b.resets = 0;
    b.log_lines = 0;
    return b;
}

}  // namespace

TEST_CASE("finisher") {
    auto& b = fresh();
    b.to_finisher.write32(FINISHER_COMMAND, FINISHER_PASS);
    b.to_finisher.write32(FINISHER_COMMAND, FINISHER_FAIL | 7u << 16);
    b.to_finisher.write32(FINISHER_COMMAND, FINISHER_FAIL);
    CHECK(b.statuses == std::vector<int>{0, 7, 1});
    CHECK(b.resets == 0);
    b.to_finisher.write32(FINISHER_COMMAND, FINISHER_RESET);
    CHECK(b.resets == 1);
    CHECK(b.log_lines == 0);
    b.to_finisher.write32(FINISHER_COMMAND, 0x1234);
    CHECK(b.statuses.size() == 3);
    CHECK(b.log_lines == 1);
    CHECK(b.to_finisher.read32(FINISHER_COMMAND) == 0);
    for (int i = 0; i < 2000; ++i) b.to_finisher.write32(FINISHER_COMMAND, 0x4321);  // a guest in a loop
    CHECK(b.log_lines == 1);
    CHECK(b.last_line == "unknown command 0x1234 ignored; further ones are only counted (finisher.unknown_commands)");
    CHECK(b.finisher.unknown_commands.value() == 2001);
    // Half a word carries a command too, as drivers of syscon do on 16-bit buses.
    b.to_finisher.write<std::uint16_t>(FINISHER_COMMAND, FINISHER_PASS);
    CHECK(b.statuses.back() == 0);
    CHECK(b.statuses.size() == 4);
}

TEST_CASE("register devices refuse odd sizes and atomics") {
    auto& b = fresh();
    std::uint8_t bytes[16] = {};
    b.to_finisher.transfer(tlm::TLM_READ_COMMAND, 0, bytes, 3);
    CHECK(b.to_finisher.last_status == tlm::TLM_BURST_ERROR_RESPONSE);
    b.to_finisher.transfer(tlm::TLM_READ_COMMAND, 0, bytes, 16);
    CHECK(b.to_finisher.last_status == tlm::TLM_BURST_ERROR_RESPONSE);
    b.to_finisher.atomic(atomic_extension::operation::swap, 0, 4, FINISHER_PASS);
    CHECK(b.to_finisher.last_status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK_FALSE(b.to_finisher.last_atomic.performed);
    CHECK(b.statuses.empty());
    b.to_finisher.read32(0x1000);
    CHECK(b.to_finisher.last_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("marker: reset opens a region, dump closes it under its label") {
    auto& b = fresh();
    CHECK(b.to_marker.read32(MARKER_ID) == MARKER_MAGIC);
    counter work(b.marker, "work", "1", "something to count");
    work += 5;
    std::vector<std::pair<host::marker::kind, std::string>> marks;
    b.marker.on_mark = [&](host::marker::kind k, const std::string& l) { marks.emplace_back(k, l); };
    b.label("loop");
    b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_RESET);
    work += 3;
    test::stopwatch().run_for(1'000);
    b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_DUMP);
    b.label("note");
    b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_NOTE);
    REQUIRE(b.marker.regions().size() == 1);
    const auto& region = b.marker.regions()[0];
    CHECK(region.label == "loop");
    CHECK(region.to - region.from == 1'000);
    CHECK(region.values.at("marker.work") == 3);
    CHECK(b.to_marker.read32(MARKER_REGIONS) == 1);
    using kind = host::marker::kind;
    CHECK(marks == decltype(marks){{kind::reset, "loop"}, {kind::dump, "loop"}, {kind::note, "note"}});
    b.marker.on_mark = nullptr;

    b.label(std::string(200, 'x'));
    b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_DUMP);
    CHECK(b.marker.regions().back().label == std::string(MARKER_LABEL_LENGTH, 'x'));
    for (int i = 0; i < 2000; ++i) b.to_marker.write32(MARKER_COMMAND, 99);
    CHECK(b.log_lines == 1);
    CHECK(b.marker.unknown_commands.value() == 2000);
    b.marker.reset();
    CHECK(b.marker.regions().empty());
    CHECK(b.to_marker.read32(MARKER_REGIONS) == 0);
}

TEST_CASE("an empty root bus answers all ones and drops writes") {
    auto& b = fresh();
    CHECK(b.to_ecam.read32(0) == 0xffff'ffff);
    CHECK(b.to_ecam.last_status == tlm::TLM_OK_RESPONSE);
    b.to_ecam.write32(0x10, 0);
    CHECK(b.to_ecam.last_status == tlm::TLM_OK_RESPONSE);
    CHECK(b.to_ecam.read32(0x10) == 0xffff'ffff);
    CHECK(b.to_ecam.read32((1 << 20) - 4) == 0xffff'ffff);
    CHECK(b.to_pio.read8(0x60) == 0xff);
    CHECK(b.to_mmio32.read64(0x1000) == ~0ull);
    CHECK(b.to_mmio64.read64(0) == ~0ull);
    CHECK(b.pcie.ecam.unclaimed_reads.value() == 3);
    CHECK(b.pcie.ecam.unclaimed_writes.value() == 1);
    b.to_mmio32.atomic(atomic_extension::operation::add, 0, 4, 1);
    CHECK_FALSE(b.to_mmio32.last_atomic.performed);
}

TEST_CASE("boot ROM holds the reset code and the fw_dynamic information, and cannot be written") {
    auto& b = fresh();
    b.rom.program({0x8000'0000, 0x87e0'0000, 0x8020'0000});
    CHECK(b.to_rom.read32(0) == 0x297);
    CHECK(b.to_rom.read64(24) == 0x8000'0000);
    CHECK(b.to_rom.read64(32) == 0x87e0'0000);
    CHECK(b.to_rom.read64(40) == 0x4942534f);
    CHECK(b.to_rom.read64(40 + 16) == 0x8020'0000);
    CHECK(b.to_rom.read64(40 + 24) == 1);
    b.to_rom.write32(0, 0);
    CHECK(b.to_rom.last_status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(b.to_rom.read32(0) == 0x297);
}

TEST_CASE("marker: a guest that dumps in a loop fills its part of the memory and no more") {
    auto& b = fresh();
    for (int i = 0; i < 2000; ++i) b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_DUMP);
    const auto kept = b.marker.regions().size();
    CHECK(kept > 1);
    CHECK(kept < 1000);
    CHECK(b.marker.regions_lost.value() == 2000 - kept);
    CHECK(b.to_marker.read32(MARKER_REGIONS) == kept);
    CHECK(b.log_lines == 1);
    CHECK(b.last_line.find("region_memory 64 KiB") != std::string::npos);
    b.marker.reset();  // there is room again
    b.to_marker.write32(MARKER_COMMAND, MARKER_COMMAND_DUMP);
    CHECK(b.marker.regions().size() == 1);
}
