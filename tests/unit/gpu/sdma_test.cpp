// SPDX-License-Identifier: Apache-2.0
// A GPU's copy engine, driven through its registers as a driver does.
#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "bare_core.h"
#include "gpu/control/sdma_engine.h"
#include "host_port.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr std::uint64_t capacity = 32 << 20, host_bytes = 8 << 20;
constexpr std::uint64_t here = std::uint64_t{GPU_PA_GPU0} << GPU_PA_APERTURE_SHIFT;
constexpr std::uint64_t ring = 0x1000, slots = 8;      // in the host's memory
constexpr std::uint64_t space = 2, mapped = 16 << 20;  // virtual GPU_GLOBAL_BASE + n is device memory at `mapped` + n

gpu_core_params small() {
    gpu_core_params p;
    p.compute_units = 1;
    p.memory.capacity = {capacity};
    return p;
}

struct bench {
    calendar cal{"calendar"};
    test::bare_core gpu{"gpu", small(), 0};
    gpu_core& core = gpu.core;
    test::host_port host{"host", host_bytes};
    sdma_engine engine{"sdma", sdma_engine_params{}, core.clock, core.router(), core.memory.l2_tlb, host};
    unsigned interrupts = 0;
    std::uint32_t posted[2] = {};

    bench() {
        engine.on_interrupt = [this] { ++interrupts; };
        cal.run_until(0);
    }
    void wait() { cal.run_until(cal.now() + 100'000'000'000); }
    sparse_memory& memory() { return core.memory.memory.bytes; }

    void set(std::uint64_t offset, std::uint64_t value, unsigned bytes, unsigned c = 0) {
        REQUIRE(engine.registers.write(offset + c * COPY_ENGINE_CHANNEL_STRIDE, &value, bytes));
    }
    std::uint64_t get(std::uint64_t offset, unsigned bytes, unsigned c = 0) {
        std::uint64_t value = 0;
        REQUIRE(engine.registers.read(offset + c * COPY_ENGINE_CHANNEL_STRIDE, &value, bytes));
        return value;
    }
    void open(unsigned c = 0) {
        set(COPY_ENGINE_CONTROL, 0, 4, c);
        set(COPY_ENGINE_RING_BASE, ring + 0x1000 * c, 8, c);
        set(COPY_ENGINE_RING_SIZE, slots, 4, c);
        set(COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE, 4, c);
        posted[c] = 0;
    }
    std::uint64_t slot(std::uint32_t n, unsigned c = 0) const {
        return ring + 0x1000 * c + n % slots * sizeof(copy_engine_descriptor);
    }
    void post(std::uint64_t to, std::uint64_t from, std::uint32_t length, std::uint32_t flags = 0, std::uint32_t of = 0,
              unsigned c = 0) {
        host.poke(slot(posted[c]++, c), copy_engine_descriptor{from, to, length, flags, 0, of});
    }
    void ring_bell(unsigned c = 0) { set(COPY_ENGINE_DOORBELL, posted[c], 4, c); }
    std::uint32_t status(std::uint32_t n, unsigned c = 0) const {
        return host.peek<copy_engine_descriptor>(slot(n, c)).status;
    }

    /// Page tables of the address space, in device memory.
    void map() {
        const std::uint64_t table = 1 << 20;
        const auto entry = [&](unsigned level, std::uint64_t index, std::uint64_t to, std::uint64_t flags) {
            const std::uint64_t value = (here | to) >> 12 << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID | flags;
            memory().write(table + 4096 * level + 8 * index, &value, 8);
        };
        entry(0, 0, table + 4096, 0);
        entry(1, GPU_GLOBAL_BASE >> 30, table + 8192, 0);
        entry(2, 0, table + 12288, 0);
        for (std::uint64_t page = 0; page < 64; ++page)  // the last of them read-only; pages lie in reverse order
            entry(3, page, mapped + (63 - page) * 4096, GPU_PTE_READ | (page == 63 ? 0 : GPU_PTE_WRITE));
        core.memory.gmmu.set_root(space, here | table);
    }
};

bench& fresh() {
    static bench b;
    b.wait();
    b.engine.reset();
    b.gpu.reset();
    b.wait();
    b.host.bytes.assign(host_bytes, 0);
    b.interrupts = 0;
    b.open();
    b.open(1);
    return b;
}

std::uint8_t pattern(std::uint64_t i) { return static_cast<std::uint8_t>(i * 31 + (i >> 8) * 7 + 1); }

}  // namespace

TEST_CASE("bytes go to device memory and back, at any alignment, through L2") {
    bench& b = fresh();
    const std::uint32_t length = 3 * 4096 + 77;
    for (std::uint32_t i = 0; i < length; ++i) b.host.bytes[0x100003 + i] = pattern(i);
    const auto lines = b.engine.memory.lines_written.value();
    b.post(here | 0x200005, 0x100003, length);
    b.ring_bell();
    b.wait();
    CHECK(b.status(0) == COPY_ENGINE_DONE);
    std::vector<std::uint8_t> seen(length);
    b.memory().read(0x200005, seen.data(), length);
    for (std::uint32_t i = 0; i < length; ++i) REQUIRE(seen[i] == pattern(i));
    CHECK(b.engine.memory.lines_written.value() - lines >= length / line_bytes);
    CHECK(b.core.memory.l2.bank_of(0x200040).holds(0x200040));
    b.post(0x300001, here | 0x200005, length);
    b.ring_bell();
    b.wait();
    CHECK(b.status(1) == COPY_ENGINE_DONE);
    for (std::uint32_t i = 0; i < length; ++i) REQUIRE(b.host.bytes[0x300001 + i] == pattern(i));
    CHECK(b.host.bytes[0x300000] == 0);
    CHECK(b.host.bytes[0x300001 + length] == 0);
    CHECK(b.get(COPY_ENGINE_COMPLETED, 4) == 2);
    CHECK((b.get(COPY_ENGINE_STATUS, 4) & COPY_ENGINE_STATUS_BUSY) == 0);
}

TEST_CASE("the data are there before the status, the status before the interrupt") {
    bench& b = fresh();
    const std::uint32_t length = 100'000;
    for (std::uint32_t i = 0; i < length; ++i) b.host.bytes[0x100000 + i] = pattern(i);
    b.post(here | 0x200000, 0x100000, length, COPY_ENGINE_FLAG_INTERRUPT);
    b.ring_bell();
    while (b.status(0) == 0) {
        REQUIRE(b.interrupts == 0);
        REQUIRE(b.cal.next_event_time() != never);
        b.cal.run_until(b.cal.next_event_time());
    }
    std::vector<std::uint8_t> seen(length);
    b.memory().read(0x200000, seen.data(), length);
    for (std::uint32_t i = 0; i < length; ++i) REQUIRE(seen[i] == pattern(i));
    b.wait();
    CHECK(b.interrupts == 1);
    CHECK(b.get(COPY_ENGINE_INTERRUPT, 4) == COPY_ENGINE_INTERRUPT_DONE);
    b.set(COPY_ENGINE_INTERRUPT, COPY_ENGINE_INTERRUPT_DONE, 4);
    CHECK(b.get(COPY_ENGINE_PENDING, 4) == 0);
}

TEST_CASE("virtual addresses are translated page by page") {
    bench& b = fresh();
    b.map();
    const std::uint32_t length = 5 * 4096 + 100;
    for (std::uint32_t i = 0; i < length; ++i) b.host.bytes[0x100200 + i] = pattern(i);
    b.post(GPU_GLOBAL_BASE + 0x2010, 0x100200, length, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);
    b.post(GPU_GLOBAL_BASE + 0x20008, GPU_GLOBAL_BASE + 0x2010, length,
           COPY_ENGINE_FLAG_SOURCE_VIRTUAL | COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);
    b.post(0x400000, GPU_GLOBAL_BASE + 0x20008, length, COPY_ENGINE_FLAG_SOURCE_VIRTUAL, space);
    b.ring_bell();
    b.wait();
    for (unsigned n = 0; n < 3; ++n) CHECK(b.status(n) == COPY_ENGINE_DONE);
    for (std::uint32_t i = 0; i < length; ++i) REQUIRE(b.host.bytes[0x400000 + i] == pattern(i));
    std::uint8_t byte = 0;
    b.memory().read(mapped + (63 - 2) * 4096 + 0x10, &byte, 1);  // page 2 lies where its entry says
    CHECK(byte == pattern(0));
}

TEST_CASE("descriptors are performed in order, around the ring, on both channels") {
    bench& b = fresh();
    for (std::uint32_t round = 0; round < 5; ++round) {
        for (unsigned c = 0; c < 2; ++c) {
            for (std::uint32_t n = 0; n < 7; ++n)
                b.host.poke<std::uint32_t>(0x100000 + 0x1000 * c + 4 * n, 1000 * round + 10 * n + c);
            // Each overwrites the word of the one before.
            for (std::uint32_t n = 0; n < 7; ++n)
                b.post(here | (0x200000 + 0x1000 * c), 0x100000 + 0x1000 * c + 4 * n, 4, 0, 0, c);
            b.ring_bell(c);
        }
        b.wait();
        for (unsigned c = 0; c < 2; ++c) {
            CHECK(b.get(COPY_ENGINE_COMPLETED, 4, c) == 7 * (round + 1));
            std::uint32_t last = 0;
            b.memory().read(0x200000 + 0x1000 * c, &last, 4);
            CHECK(last == 1000 * round + 60 + c);
        }
    }
}

TEST_CASE("what cannot be copied becomes the descriptor's status, and the ring goes on") {
    bench& b = fresh();
    b.map();
    const auto faults = b.engine.faults.total();
    b.post(here | 0x200000, host_bytes, 64);                                        // no such host memory
    b.post(here | capacity, 0x100000, 64);                                          // no such device memory
    b.post(std::uint64_t{GPU_PA_GPU0 + 9} << GPU_PA_APERTURE_SHIFT, 0x100000, 64);  // no such GPU
    b.post(GPU_GLOBAL_BASE + (64 << 12), 0x100000, 64, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);  // not mapped
    b.post(GPU_GLOBAL_BASE + (63 << 12), 0x100000, 64, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);  // read-only
    b.post(~std::uint64_t{63}, 0x100000, 64, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);  // beyond all address spaces
    b.post(here | 0x200000, 0x100000, 64, 0x80);                                            // a flag that is none
    b.ring_bell();
    b.wait();
    const auto failed = [](std::uint32_t fault) { return COPY_ENGINE_READ_ERROR | fault << 8; };
    CHECK(b.status(0) == failed(GPU_FAULT_BUS));
    CHECK(b.status(1) == failed(GPU_FAULT_BUS));
    CHECK(b.status(2) == failed(GPU_FAULT_BUS));
    CHECK(b.status(3) == failed(GPU_FAULT_UNMAPPED));
    CHECK(b.status(4) == failed(GPU_FAULT_READ_ONLY));
    CHECK(b.status(5) == failed(GPU_FAULT_UNMAPPED));
    CHECK(b.status(6) == failed(GPU_FAULT_PACKET));
    CHECK(COPY_ENGINE_FAULT(b.status(6)) == GPU_FAULT_PACKET);
    CHECK(b.engine.faults.total() - faults == 7);
    CHECK(b.interrupts == 7);
    CHECK(b.get(COPY_ENGINE_INTERRUPT, 4) == COPY_ENGINE_INTERRUPT_ERROR);
    b.post(here | 0x200000, 0x100000, 64, 0, GPU_ADDRESS_SPACES);  // an address space that is none
    b.ring_bell();
    b.wait();
    CHECK(b.status(7) == failed(GPU_FAULT_PACKET));
    b.host.poke<std::uint32_t>(0x100000, 0xabcd);
    b.post(here | 0x200000, 0x100000, 4);
    b.post(here | 0x200004, 0x100000, 0);  // nothing to copy
    b.ring_bell();
    b.wait();
    CHECK(b.status(8) == COPY_ENGINE_DONE);
    CHECK(b.status(9) == COPY_ENGINE_DONE);
}

TEST_CASE("a failure in the middle ends the descriptor once its other pieces have ended") {
    bench& b = fresh();
    b.map();
    const std::uint32_t length = 20 * 4096;  // the last pages are not mapped
    b.post(GPU_GLOBAL_BASE + (50 << 12), 0x100000, length, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);
    b.ring_bell();
    b.wait();
    CHECK((b.status(0) & 0xff) == COPY_ENGINE_READ_ERROR);
    CHECK((b.get(COPY_ENGINE_STATUS, 4) & COPY_ENGINE_STATUS_BUSY) == 0);
}

TEST_CASE("a wrong ring stops its channel until it is disabled, and no other channel") {
    bench& b = fresh();
    const auto wrong = [&](const char* what) {
        INFO(what);
        b.set(COPY_ENGINE_DOORBELL, 1, 4);
        b.wait();
        CHECK((b.get(COPY_ENGINE_STATUS, 4) & COPY_ENGINE_STATUS_FAILED) != 0);
        CHECK((b.get(COPY_ENGINE_INTERRUPT, 4) & COPY_ENGINE_INTERRUPT_ERROR) != 0);
        b.open();
        CHECK(b.get(COPY_ENGINE_STATUS, 4) == 0);
    };
    b.set(COPY_ENGINE_RING_SIZE, 12, 4);
    wrong("size");
    b.set(COPY_ENGINE_RING_BASE, ring + 8, 8);
    wrong("alignment");
    b.set(COPY_ENGINE_RING_BASE, host_bytes + 4096, 8);
    wrong("nothing there");
    b.set(COPY_ENGINE_DOORBELL, slots + 1, 4);
    CHECK((b.get(COPY_ENGINE_STATUS, 4) & COPY_ENGINE_STATUS_FAILED) != 0);
    b.post(here | 0x200000, 0x100000, 64, 0, 0, 1);
    b.ring_bell(1);
    b.wait();
    CHECK(b.status(0, 1) == COPY_ENGINE_DONE);
}

TEST_CASE("disabling a channel in the middle of a copy drops it; what comes after is right") {
    bench& b = fresh();
    b.map();
    for (std::uint32_t i = 0; i < 1 << 20; ++i) b.host.bytes[0x100000 + i] = pattern(i);
    for (ticks after : {500'000, 1'500'000, 3'000'000, 10'000'000}) {
        b.open();
        b.post(GPU_GLOBAL_BASE, 0x100000, 40 * 4096, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);
        b.ring_bell();
        b.cal.run_until(b.cal.now() + after);
        b.set(COPY_ENGINE_RING_SIZE, 0, 4);  // a driver that has lost its way
        b.open();
        b.post(here | 0x300000, 0x100001, 5000);
        b.ring_bell();
        b.wait();
        CHECK(b.status(0) == COPY_ENGINE_DONE);
        CHECK(b.get(COPY_ENGINE_COMPLETED, 4) == 1);
        std::vector<std::uint8_t> seen(5000);
        b.memory().read(0x300000, seen.data(), seen.size());
        for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == pattern(i + 1));
        b.memory().fill(0x300000, 0, 5000);
    }
}

TEST_CASE("a reset drops everything, and completions that come later") {
    bench& b = fresh();
    for (std::uint32_t i = 0; i < 5000; ++i) b.host.bytes[0x100000 + i] = pattern(i);
    for (ticks after : {300'000, 1'200'000, 2'500'000, 9'000'000}) {
        b.map();
        b.post(GPU_GLOBAL_BASE, 0x200000, 40 * 4096, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL, space);
        b.post(0x300000, here | 0x200000, 40 * 4096);
        b.ring_bell();
        b.cal.run_until(b.cal.now() + after);
        b.engine.reset();
        b.gpu.reset();
        CHECK(b.get(COPY_ENGINE_STATUS, 4) == 0);
        b.open();
        b.host.poke(b.slot(0), copy_engine_descriptor{});
        b.post(here | 0x600000, 0x100000, 5000);
        b.ring_bell();
        b.wait();
        CHECK(b.status(0) == COPY_ENGINE_DONE);
        CHECK(b.get(COPY_ENGINE_COMPLETED, 4) == 1);
        std::vector<std::uint8_t> seen(5000);
        b.memory().read(0x600000, seen.data(), seen.size());
        for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == pattern(i));
        b.memory().fill(0x600000, 0, 5000);
        b.open();
    }
}

TEST_CASE("several pieces are under way at a time, but not more than asked for") {
    bench& b = fresh();
    b.host.max_waiting = 0;
    b.post(here | 0x200000, 0x100000, 64 * 4096);
    b.ring_bell();
    b.wait();
    CHECK(b.host.max_waiting >= 4);
    CHECK(b.host.max_waiting <= sdma_engine_params{}.chunks);
}

TEST_CASE("an engine without doorbells does nothing") {
    bench& b = fresh();
    b.set(COPY_ENGINE_CONTROL, 0, 4);
    b.wait();
    CHECK(b.cal.next_event_time() == never);
}
