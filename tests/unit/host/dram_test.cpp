// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <array>
#include <string>

#include "host/address_bus.h"
#include "host/dram.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using op = atomic_extension::operation;

namespace {

host::dram_params with_ecc(ticks latency) {
    host::dram_params p;
    p.ecc = true;
    p.ecc_latency.value = latency;
    return p;
}

/// A memory of its own, which a device reaches without a bus.
struct lone_memory {
    host::dram dram;
    test::bus_master dma;
    lone_memory(const std::string& name, const host::dram_params& p)
        : dram(name.c_str(), p, 0x4000), dma((name + "_dma").c_str()) {
        dma.socket.bind(dram.bus);
    }
    ticks time_of(tlm::tlm_command command, std::uint64_t bytes) {
        std::array<std::uint8_t, 256> data{};
        dma.transfer(command, 0x80, data.data(), static_cast<unsigned>(bytes));
        return dma.last_latency;
    }
    ticks time_of_atomic() {
        dma.atomic(op::add, 0x80, 8, 1);
        return dma.last_latency;
    }
};

struct bench {
    calendar cal{"calendar"};
    host::address_bus bus{"bus"};
    host::dram dram{"dram", host::dram_params{}, 0x4000};
    test::bus_master hart0{"hart0"}, hart1{"hart1"}, dma{"dma"};
    lone_memory plain{"plain", host::dram_params{}}, checked{"checked", with_ecc(host::dram_params().ecc_latency)},
        slowly_checked{"slowly_checked", with_ecc(12'345)}, freely_checked{"freely_checked", with_ecc(0)};

    bench() {
        hart0.socket.bind(bus.from_harts);
        hart1.socket.bind(bus.from_harts);
        dma.socket.bind(bus.from_devices);
        bus.map("dram", 0, 0x4000, dram.bus, &dram.memory);
        cal.run_until(0);
    }
};

bench& fresh() {
    static bench b;
    b.dram.reset();
    return b;
}

}  // namespace

TEST_CASE("blocks, bytes and reset") {
    auto& b = fresh();
    std::array<std::uint8_t, 256> out{}, in{};
    for (unsigned i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7);
    b.dma.transfer(tlm::TLM_WRITE_COMMAND, 0x0f80, out.data(), out.size());
    b.hart0.transfer(tlm::TLM_READ_COMMAND, 0x0f80, in.data(), in.size());
    CHECK(out == in);
    b.hart0.write8(0x0f81, 0xee);
    CHECK(b.hart0.read32(0x0f80) == 0x150eee00);
    b.dram.reset();
    CHECK(b.hart0.read8(0x0f81) == 0xee);
    CHECK(b.dram.bytes_written.value() >= 257);
}

TEST_CASE("atomics") {
    auto& b = fresh();
    b.hart0.write64(0x100, 40);
    CHECK(b.hart0.atomic(op::add, 0x100, 8, 2) == 40);
    CHECK(b.hart0.last_atomic.performed);
    CHECK(b.hart0.read64(0x100) == 42);
    b.hart0.write32(0x108, 0xffff'fff0);
    CHECK(b.hart0.atomic(op::max, 0x108, 4, 5) == 0xffff'fff0);  // -16 signed
    CHECK(b.hart0.read32(0x108) == 5);
    CHECK(b.hart0.atomic(op::compare_swap, 0x100, 8, 1, 41) == 42);
    CHECK(b.hart0.read64(0x100) == 42);
    CHECK(b.hart0.atomic(op::compare_swap, 0x100, 8, 1, 42) == 42);
    CHECK(b.hart0.read64(0x100) == 1);
    b.hart0.atomic(op::swap, 0x102, 4, 1);
    CHECK(b.hart0.last_status == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK_FALSE(b.hart0.last_atomic.performed);
}

TEST_CASE("load reserved, store conditional") {
    auto& b = fresh();
    b.hart0.write32(0x200, 10);
    CHECK(b.hart0.atomic(op::load_reserved, 0x200, 4, 0) == 10);

    SECTION("succeeds once") {
        b.hart0.atomic(op::store_conditional, 0x200, 4, 11);
        CHECK(b.hart0.last_atomic.succeeded);
        CHECK(b.hart0.read32(0x200) == 11);
        b.hart0.atomic(op::store_conditional, 0x200, 4, 12);
        CHECK_FALSE(b.hart0.last_atomic.succeeded);
        CHECK(b.hart0.read32(0x200) == 11);
    }
    SECTION("is broken by another hart, a device, a loader, an atomic") {
        std::uint32_t value = 10;
        SECTION("hart") { b.hart1.write32(0x204, 0); }
        SECTION("device") { b.dma.write32(0x200, 10); }
        SECTION("loader") { b.bus.debug_write(0x200, &value, 4); }
        SECTION("atomic") { b.hart1.atomic(op::add, 0x200, 4, 0); }
        SECTION("another hart's store conditional") {
            b.hart1.atomic(op::load_reserved, 0x200, 4, 0);
            b.hart1.atomic(op::store_conditional, 0x200, 4, 10);
            CHECK(b.hart1.last_atomic.succeeded);
        }
        b.hart0.atomic(op::store_conditional, 0x200, 4, 99);
        CHECK(b.hart0.last_atomic.performed);
        CHECK_FALSE(b.hart0.last_atomic.succeeded);
        CHECK(b.hart0.read32(0x200) == 10);
    }
    SECTION("survives writes elsewhere") {
        b.hart1.write32(0x240, 1);
        b.hart0.atomic(op::store_conditional, 0x200, 4, 12);
        CHECK(b.hart0.last_atomic.succeeded);
    }
    SECTION("needs its own address") {
        b.hart0.atomic(op::store_conditional, 0x300, 4, 12);
        CHECK_FALSE(b.hart0.last_atomic.succeeded);
    }
    SECTION("does not outlive a reset") {
        b.dram.reset();
        b.hart0.atomic(op::store_conditional, 0x200, 4, 12);
        CHECK_FALSE(b.hart0.last_atomic.succeeded);
    }
}

TEST_CASE("bytes that are not enabled keep their value") {
    auto& b = fresh();
    b.hart0.write32(0x300, 0x11223344);
    bus_payload p;
    std::uint32_t data = 0xaabbccdd;
    unsigned char enables[] = {0xff, 0};
    p.set_command(tlm::TLM_WRITE_COMMAND);
    p.set_address(0x300);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    p.set_data_length(4);
    p.set_streaming_width(4);
    p.set_byte_enable_ptr(enables);
    p.set_byte_enable_length(2);
    sc_core::sc_time delay;
    b.hart0.socket->b_transport(p, delay);
    CHECK(p.is_response_ok());
    CHECK(b.hart0.read32(0x300) == 0x11bb33dd);
}

TEST_CASE("checks of a code take each access their time, and none where there is no code") {
    auto& b = fresh();
    const host::dram_params p;
    REQUIRE_FALSE(p.ecc);
    const auto same = [&](const auto& time_of) {
        const auto plain = time_of(b.plain);
        CHECK(time_of(b.checked) == plain + p.ecc_latency);
        CHECK(time_of(b.slowly_checked) == plain + 12'345);
        CHECK(time_of(b.freely_checked) == plain);
        return plain;
    };
    for (const std::uint64_t bytes : {1, 8, 64, 256}) {
        const auto transfer = bytes * ticks_per_second / p.rate;
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND})
            CHECK(same([&](lone_memory& m) { return m.time_of(command, bytes); }) == p.latency + transfer);
    }
    same([](lone_memory& m) { return m.time_of_atomic(); });
}
