// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "base/log.h"
#include "host/address_bus.h"
#include "host/dram.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

constexpr std::uint64_t memory_base = 0x8000'0000, memory_size = 0x10000;
constexpr std::uint64_t slow_base = 0x1000, slow_size = 0x100;

/// Answers 5 us later; what it saw is kept.
class slow_target : public bus_target {
public:
    explicit slow_target(const sc_core::sc_module_name& name) : bus_target(name) {}
    std::vector<std::uint64_t> offsets;
    void reset() override {
        if (m_response.scheduled()) {
            cancel(m_response);
            abandon(*m_payload);
        }
        bus_target::reset();
    }

private:
    outcome access(bus_payload& payload, ticks&) override {
        offsets.push_back(payload.get_address());
        m_payload = &payload;
        schedule_in(m_response, 5_us);
        return outcome::pending;
    }
    unsigned debug_access(bus_payload& payload) override { return payload.get_data_length(); }
    void answer() {
        m_payload->set_response_status(tlm::TLM_OK_RESPONSE);
        *m_payload->get_data_ptr() = 0x5a;
        complete(*m_payload);
    }
    bus_payload* m_payload = nullptr;
    calendar_event m_response{method<&slow_target::answer>, this};
};

struct bench {
    calendar cal{"calendar"};
    host::address_bus bus{"bus", host::address_bus_params{{30_ns}}};
    host::dram dram{"dram", host::dram_params{{60_ns}, {10'000'000'000}}, memory_size};
    slow_target slow{"slow"};
    test::bus_master hart0{"hart0"}, hart1{"hart1"}, dma{"dma"};
    std::vector<std::string> log;

    bench() {
        hart0.socket.bind(bus.from_harts);
        hart1.socket.bind(bus.from_harts);
        dma.socket.bind(bus.from_devices);
        bus.map("slow", slow_base, slow_size, slow.bus);
        bus.map("dram", memory_base, memory_size, dram.bus, &dram.memory);
        set_log_sink(
            [this](log_level, const std::string& source, const std::string& m) { log.push_back(source + ": " + m); });
        // Loaders work before elaboration.
        const std::uint32_t early = 0x1234'5678;
        before_elaboration = bus.debug_write(memory_base + 0x800, &early, 4);
        cal.run_until(0);
    }
    std::size_t before_elaboration = 0;
};

bench& fresh() {
    static bench b;
    b.bus.reset();
    b.log.clear();
    b.slow.offsets.clear();
    return b;
}

}  // namespace

TEST_CASE("decodes to targets, with its latency on top of theirs") {
    auto& b = fresh();
    CHECK(b.before_elaboration == 4);
    CHECK(b.hart0.read32(memory_base + 0x800) == 0x1234'5678);
    CHECK(b.hart0.last_latency == 60_ns + 400_ps + 30_ns);  // 4 B at 10 GB/s
    CHECK(b.hart0.last_address == memory_base + 0x800);
    b.hart1.write64(memory_base + memory_size - 8, 77);
    CHECK(b.hart0.read64(memory_base + memory_size - 8) == 77);
    CHECK(b.log.empty());
}

TEST_CASE("unmapped addresses answer an address error, logged once an initiator and cause") {
    auto& b = fresh();
    const auto before = b.bus.errors.value();
    b.hart0.read32(0x4000);
    CHECK(b.hart0.last_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(b.hart0.last_completed);
    b.hart0.read32(0x4ffc);
    REQUIRE(b.log.size() == 1);
    CHECK(b.log[0] ==
          "bus: hart0: read of 4 bytes at 0x4000 reaches nothing; "
          "its further ones are only counted (bus.errors)");
    b.hart1.write32(0x4000, 0);
    b.hart0.write32(0x4000, 0);
    CHECK(b.log.size() == 3);
    b.hart0.read32(0x5000);
    CHECK(b.log.size() == 3);
    CHECK(b.bus.errors.value() == before + 5);
    b.hart0.read64(memory_base + memory_size - 4);  // reaches over the end
    CHECK(b.hart0.last_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    b.hart0.read64(~0ull - 7);
    CHECK(b.hart0.last_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("pending responses are routed back to their requesters") {
    auto& b = fresh();
    const auto responses = b.hart1.responses;
    const auto others = b.hart0.responses;
    std::uint32_t data = 0;
    const auto start = b.cal.now();
    b.hart1.transfer(tlm::TLM_READ_COMMAND, slow_base + 0x20, &data, 4);
    CHECK_FALSE(b.hart1.last_completed);
    CHECK(b.slow.offsets == std::vector<std::uint64_t>{0x20});
    b.cal.run_until(start + 4_us);
    CHECK(b.hart1.responses == responses);
    b.cal.run_until(start + 6_us);
    CHECK(b.hart1.responses == responses + 1);
    CHECK(b.hart0.responses == others);
    CHECK(b.hart1.last_status == tlm::TLM_OK_RESPONSE);
    CHECK(b.hart1.last_address == slow_base + 0x20);
    CHECK(b.hart1.last_latency == 30_ns);
    CHECK((data & 0xff) == 0x5a);
}

TEST_CASE("reset ends what is under way, and its initiator hears of it") {
    auto& b = fresh();
    const auto responses = b.hart0.responses;
    std::uint32_t data = 0;
    b.hart0.transfer(tlm::TLM_READ_COMMAND, slow_base, &data, 4);
    b.bus.reset();
    CHECK(b.hart0.responses == responses);
    b.slow.reset();
    CHECK(b.hart0.responses == responses + 1);
    CHECK(b.hart0.last_status == tlm::TLM_INCOMPLETE_RESPONSE);
    CHECK(b.hart0.last_address == slow_base);
    CHECK(b.log.empty());
    b.cal.run_until(b.cal.now() + 10_us);
    CHECK(b.hart0.responses == responses + 1);
}

TEST_CASE("devices mark the pages they touch, harts do not") {
    auto& b = fresh();
    b.hart0.write32(memory_base + 0x3000, 1);
    CHECK(b.dram.memory.marks(3) == 0);
    b.dma.write32(memory_base + 0x3ffc, 2);
    CHECK((b.dram.memory.marks(3) & sparse_memory::device));
    CHECK((b.dram.memory.marks(4) & sparse_memory::device) == 0);
    std::uint8_t block[64] = {};
    b.dma.transfer(tlm::TLM_READ_COMMAND, memory_base + 0x5fe0, block, 64);
    CHECK((b.dram.memory.marks(5) & sparse_memory::device));
    CHECK((b.dram.memory.marks(6) & sparse_memory::device));
}

TEST_CASE("debug access crosses ranges, stops at holes and leaves no mark") {
    auto& b = fresh();
    std::uint8_t bytes[32];
    CHECK(b.bus.debug_read(memory_base + memory_size - 16, bytes, 32) == 16);
    CHECK(b.bus.debug_read(0x4000, bytes, 4) == 0);
    const std::uint64_t value = 0xfeed;
    CHECK(b.dma.debug(tlm::TLM_WRITE_COMMAND, memory_base + 0x7000, const_cast<std::uint64_t*>(&value), 8) == 8);
    CHECK(b.hart0.read64(memory_base + 0x7000) == 0xfeed);
    CHECK(b.dram.memory.marks(7) == 0);
    CHECK(b.log.empty());
}

TEST_CASE("touched device offsets are recorded on request, memory is not") {
    auto& b = fresh();
    b.bus.record_touched(true);
    std::uint8_t byte = 0;
    b.hart0.transfer(tlm::TLM_READ_COMMAND, slow_base + 0x44, &byte, 1);
    b.cal.run_until(b.cal.now() + 10_us);
    b.hart0.read32(memory_base);
    b.bus.record_touched(false);
    REQUIRE(b.bus.touched().size() == 1);
    CHECK(b.bus.touched().at("slow") == std::set<std::pair<std::uint64_t, unsigned>>{{0x44, 1}});
}

TEST_CASE("overlapping ranges are refused with both names") {
    auto& b = fresh();
    CHECK_THROWS_WITH(b.bus.map("intruder", memory_base + 0x1000, 0x1000, b.slow.bus),
                      Catch::Contains("intruder") && Catch::Contains("dram"));
}
