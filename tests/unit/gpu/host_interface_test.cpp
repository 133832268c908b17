// SPDX-License-Identifier: Apache-2.0
// A GPU's front without a bus: this program is the host, and calls the front for what a bus would bring.
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "abi/aql.h"
#include "bare_core.h"
#include "gpu/gpu_host_interface.h"
#include "host_port.h"
#include "kernel_file.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr std::uint64_t capacity = 16 << 20;

gpu_core_params small() {
    gpu_core_params p;
    p.compute_units = 2;
    p.memory.capacity = {capacity};
    p.processor.harts = 2;
    p.compute_unit.lds.size = {48 << 10};
    return p;
}
gpu_host_interface_params narrow() {
    gpu_host_interface_params p;
    p.window.outstanding = 1;
    p.queue = 2;
    return p;
}

gpu_host_interface_params at_bank() {
    gpu_host_interface_params p;
    p.peer_writes = peer_writes::at_bank;
    return p;
}

struct bench final : gpu_attachment {
    test::bare_core gpu;
    gpu_core& core = gpu.core;
    test::host_port host;
    gpu_host_interface host_interface;
    bool line = false;
    std::vector<unsigned> messages;
    std::vector<std::uint64_t> read;  // cookies
    unsigned room = 0;

    bench(const std::string& name, const gpu_host_interface_params& p)
        : gpu((name + "_core").c_str(), small(), 3),
          host((name + "_host").c_str(), 1 << 20),
          host_interface(name.c_str(), p, core, 3, *this, host) {}

    void interrupt_line(bool level) override { line = level; }
    void interrupt_message(unsigned vector) override { messages.push_back(vector); }
    void memory_read(std::uint64_t cookie) override { read.push_back(cookie); }
    void space_available() override { ++room; }

    void wait(ticks time = 10'000'000) { calendar::current().run_until(calendar::current().now() + time); }
    template <class T>
    T get(std::uint64_t at) {
        T value;
        host_interface.read_registers(at, reinterpret_cast<std::uint8_t*>(&value), sizeof value);
        return value;
    }
    template <class T>
    void set(std::uint64_t at, T value) {
        host_interface.write_registers(at, reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
    }
    template <class T>
    void poke(std::uint64_t at, const T& value) {
        host_interface.write_memory(at, reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
    }
    /// Through the window, in its time.
    template <class T>
    T peek(std::uint64_t at) {
        const auto data = allocate_slice(sizeof(T));
        read.clear();
        host_interface.read_memory(at, data, 77);
        CHECK(read.empty());
        wait();
        REQUIRE(read == std::vector<std::uint64_t>{77});
        T value;
        std::memcpy(&value, data.data(), sizeof value);
        return value;
    }
};

struct benches {
    calendar cal{"calendar"};
    bench usual, narrow, at_bank;
    benches()
        : usual("host_interface", {}),
          narrow("narrow_host_interface", ::narrow()),
          at_bank("at_bank_host_interface", ::at_bank()) {
        cal.run_until(0);
    }
};
benches& all() {
    static benches b;
    return b;
}
bench& fresh() {
    bench& b = all().usual;
    b.wait();
    b.host_interface.reset();
    b.gpu.reset();
    b.messages.clear();
    b.line = false;
    b.wait();
    return b;
}

}  // namespace

TEST_CASE("registers tell what the GPU is") {
    bench& b = fresh();
    CHECK(b.get<std::uint32_t>(GPU_ID) == GPU_ID_VALUE);
    CHECK(b.get<std::uint32_t>(GPU_INDEX) == 3);
    CHECK(b.get<std::uint64_t>(GPU_MEMORY_SIZE) == capacity);
    CHECK(b.get<std::uint32_t>(GPU_PAGE_SIZE) == 4096);
    CHECK(b.get<std::uint32_t>(GPU_MIGRATION_SIZE) == 4096);
    CHECK(b.get<std::uint32_t>(GPU_COMPUTE_UNITS) == 2);
    CHECK(b.get<std::uint32_t>(GPU_WAVEFRONT_SLOTS) == small().wavefront_slots());
    CHECK(b.get<std::uint32_t>(GPU_SLOT_LANES) == 64);
    CHECK(b.get<std::uint32_t>(GPU_LDS_BYTES) == 48 << 10);
    CHECK(b.get<std::uint32_t>(GPU_REGISTER_BYTES) == 256 << 10);
    CHECK(b.get<std::uint64_t>(GPU_L2_BYTES) == 2 << 20);
    CHECK(b.get<std::uint64_t>(GPU_MEMORY_CLOCK_HZ) == 500'000'000);
    CHECK(b.get<std::uint32_t>(GPU_MEMORY_BUS_BITS) == 16 * 16 * 8);
    CHECK(b.get<std::uint32_t>(GPU_CP_HARTS) == 2);
    CHECK(b.get<std::uint64_t>(GPU_PEERS) == 1u << 3);
    CHECK(b.get<std::uint32_t>(GPU_CP_STATUS) == GPU_FIRMWARE_HELD);
    b.set<std::uint32_t>(GPU_ID, 7);
    CHECK(b.get<std::uint32_t>(GPU_ID) == GPU_ID_VALUE);
    std::uint8_t odd[13];  // across registers and gaps, as a bus may split it
    b.host_interface.read_registers(GPU_MEMORY_SIZE + 1, odd, sizeof odd);
    std::uint32_t units;
    std::memcpy(&units, odd + 7, 4);
    CHECK(units == 2);
}

TEST_CASE("the command processor's memory is behind the registers") {
    bench& b = fresh();
    b.set<std::uint64_t>(GPU_SRAM_WINDOW + 0x5000, 0x1122334455667788);
    CHECK(b.get<std::uint64_t>(GPU_SRAM_WINDOW + 0x5000) == 0x1122334455667788);
    std::uint32_t inside = 0;
    b.core.processor.memory.read(0x5004, &inside, 4);
    CHECK(inside == 0x11223344);
    b.set<std::uint32_t>(GPU_SRAM_WINDOW + small().processor.memory, 1);  // beyond it: nothing
    CHECK(b.get<std::uint32_t>(GPU_SRAM_WINDOW + small().processor.memory) == 0);
}

TEST_CASE("device memory is read, written and changed through L2") {
    bench& b = fresh();
    std::vector<std::uint8_t> bytes(1000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 13);
    const auto received = b.host_interface.bytes_received.value();
    b.host_interface.write_memory(0x3005, bytes.data(), 1000);
    CHECK(b.host_interface.bytes_received.value() - received == 1000);
    const auto back = allocate_slice(1000);
    const auto lines = b.host_interface.window.lines_read.value();
    b.read.clear();
    b.host_interface.read_memory(0x3005, back, 5);
    CHECK(b.read.empty());
    b.wait();
    CHECK(b.read == std::vector<std::uint64_t>{5});
    CHECK(std::memcmp(back.data(), bytes.data(), 1000) == 0);
    CHECK(b.host_interface.window.lines_read.value() - lines == 16);
    b.poke<std::uint64_t>(0x4000, 40);
    CHECK(b.host_interface.atomic(0x4000, 8, atomic_extension::operation::add, 2, 0) == 40);
    CHECK(b.host_interface.atomic(0x4000, 8, atomic_extension::operation::compare_swap, 9, 41) == 42);
    CHECK(b.host_interface.atomic(0x4000, 8, atomic_extension::operation::compare_swap, 9, 42) == 42);
    CHECK(b.peek<std::uint64_t>(0x4000) == 9);
}

TEST_CASE("atomics, doorbells and registers show no state without the writes that came before them") {
    bench& b = all().at_bank;
    b.wait();
    auto& bytes = b.core.memory.memory.bytes;
    const auto inside = [&bytes](std::uint64_t at) {
        std::uint64_t value = 0;
        bytes.read(at, &value, 8);
        return value;
    };
    const std::uint64_t bell = 1;
    const std::function<void()> behind[] = {
        [&] { b.host_interface.atomic(0x7000, 8, atomic_extension::operation::add, 1, 0); },
        [&] { b.host_interface.write_doorbell(8 * 40, reinterpret_cast<const std::uint8_t*>(&bell), 8); },
        [&] { b.get<std::uint32_t>(GPU_ID); }, [&] { b.set<std::uint32_t>(GPU_PAGE_RETRY, 1); }};
    std::uint64_t value = 10;
    for (const ticks later : {ticks{0}, ticks{8'000}}) {  // lines wait in the window, and on their way to a bank
        for (const auto& f : behind) {
            ++value;
            b.poke(0x5000, value);
            b.poke(0x5ffc, value);  // two lines
            b.wait(later);
            CHECK(inside(0x5000) != value);
            f();
            CHECK(inside(0x5000) == value);
            CHECK(inside(0x5ffc) == value);
            b.wait();
        }
    }
    b.poke<std::uint64_t>(0x5000, 40);
    b.wait(8'000);
    CHECK(b.host_interface.atomic(0x5000, 8, atomic_extension::operation::add, 2, 0) == 40);
    b.wait();
    CHECK(inside(0x5000) == 42);  // what was on its way does not come again
    CHECK(b.peek<std::uint64_t>(0x5000) == 42);
}

TEST_CASE("a full window says so, and tells when there is room") {
    bench& b = all().narrow;
    b.wait();
    const std::uint8_t byte = 1;
    CHECK(b.host_interface.can_accept());
    for (unsigned i = 0; i < 5; ++i) b.host_interface.write_memory(i * 64, &byte, 1);
    CHECK(!b.host_interface.can_accept());
    b.room = 0;
    b.wait();
    CHECK(b.room == 5);
    CHECK(b.host_interface.can_accept());
}

TEST_CASE("interrupts: a line until vectors are cleared, and a message each") {
    bench& b = fresh();
    b.core.processor.on_interrupt(GPU_VECTOR_FAULT);
    CHECK(b.line);
    b.core.processor.on_interrupt(GPU_VECTOR_SIGNAL);
    b.core.processor.on_interrupt(GPU_VECTORS);  // there is no such vector
    CHECK(b.messages == std::vector<unsigned>{GPU_VECTOR_FAULT, GPU_VECTOR_SIGNAL});
    CHECK(b.get<std::uint32_t>(GPU_INTERRUPT) == 3);
    b.set<std::uint32_t>(GPU_INTERRUPT, 1 << GPU_VECTOR_FAULT);
    CHECK(b.line);
    b.set<std::uint32_t>(GPU_INTERRUPT, 1 << GPU_VECTOR_SIGNAL);
    CHECK(!b.line);
}

TEST_CASE("doorbells are written whole") {
    bench& b = fresh();
    const auto rung = b.core.processor.doorbells.value();
    const std::uint64_t value = 5;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    b.host_interface.write_doorbell(8 * 3, bytes, 2);
    b.host_interface.write_doorbell(8 * 3 + 4, bytes, 4);
    CHECK(b.core.processor.doorbells.value() == rung);
    b.host_interface.write_doorbell(8 * 3, bytes, 8);
    CHECK(b.core.processor.doorbells.value() == rung + 1);
    CHECK(b.core.processor.doorbell_pending() == 1u << 3);
}

TEST_CASE("a queue's doorbell is heard by the hart that it was given to") {
    bench& b = fresh();
    const std::uint64_t value = 1;
    const auto ring = [&](unsigned queue) {
        b.host_interface.write_doorbell(8 * queue, reinterpret_cast<const std::uint8_t*>(&value), 8);
    };
    const auto hears = [&](unsigned hart) {
        return (b.core.processor.event_pending.get(hart) & GPU_EVENT_DOORBELL) != 0;
    };
    const auto respond = [&] {
        const std::uint64_t all = ~std::uint64_t{0};
        b.core.processor.registers.write(CP_DOORBELL_PENDING, &all, 8);
    };
    for (unsigned queue = 0; queue < GPU_QUEUES; ++queue)
        REQUIRE(b.get<std::uint32_t>(GPU_QUEUE_HART + 4 * queue) == queue % 2);
    ring(5);
    CHECK(!hears(0));
    CHECK(hears(1));
    b.set<std::uint32_t>(GPU_QUEUE_HART + 4 * 5, 0);  // with its doorbell
    CHECK(hears(0));
    CHECK(!hears(1));
    respond();
    CHECK(!hears(0));
    std::uint64_t first = 0, second = 0;
    b.core.processor.registers.read(CP_HART_QUEUES, &first, 8);
    b.core.processor.registers.read(CP_HART_QUEUES + 8, &second, 8);
    CHECK(first == (0x5555555555555555 | 1u << 5));
    CHECK(second == ~first);
    b.set<std::uint32_t>(GPU_QUEUE_HART + 4 * 5, 2);  // there is none
    CHECK(b.get<std::uint32_t>(GPU_QUEUE_HART + 4 * 5) == 0);
    ring(5);
    CHECK(hears(0));
    respond();
    b.gpu.reset();
    CHECK(b.get<std::uint32_t>(GPU_QUEUE_HART + 4 * 5) == 1);
}

TEST_CASE("the copy engine is behind the registers, and interrupts") {
    bench& b = fresh();
    CHECK(b.get<std::uint32_t>(GPU_SDMA_REGISTERS + COPY_ENGINE_CHANNELS) == gpu_host_interface_params{}.sdma.channels);
    b.set<std::uint64_t>(GPU_SDMA_REGISTERS + COPY_ENGINE_RING_BASE, 0x1000);
    b.set<std::uint32_t>(GPU_SDMA_REGISTERS + COPY_ENGINE_RING_SIZE, 8);
    b.set<std::uint32_t>(GPU_SDMA_REGISTERS + COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE);
    b.host.poke<std::uint64_t>(0x8000, 0x1234);
    b.host.poke(0x1000, copy_engine_descriptor{0x8000, std::uint64_t{GPU_PA_GPU0 + 3} << GPU_PA_APERTURE_SHIFT | 0x5000,
                                               8, COPY_ENGINE_FLAG_INTERRUPT, 0, 0});
    b.set<std::uint32_t>(GPU_SDMA_REGISTERS + COPY_ENGINE_DOORBELL, 1);
    b.wait();
    CHECK(b.peek<std::uint64_t>(0x5000) == 0x1234);
    CHECK(b.messages == std::vector<unsigned>{GPU_VECTOR_SDMA});
    CHECK(b.line);
    CHECK(b.get<std::uint32_t>(GPU_INTERRUPT) == 1u << GPU_VECTOR_SDMA);
}

TEST_CASE("a host without PCIe starts the firmware and has a packet executed") {
    bench& b = fresh();
    test::load_kernel(
        std::string(FABRICVP_FIRMWARE_DIR) + "/cp.elf",
        [&](std::uint64_t offset, const char* from, std::size_t size) {
            b.host_interface.write_registers(GPU_SRAM_WINDOW + offset, reinterpret_cast<const std::uint8_t*>(from),
                                             static_cast<std::uint32_t>(size));
        },
        GPU_LOCAL(0));
    b.set<std::uint64_t>(GPU_CP_ENTRY, GPU_SRAM_FIRMWARE);
    b.set<std::uint32_t>(GPU_CP_CONTROL, 1);
    b.wait();
    REQUIRE(b.get<std::uint32_t>(GPU_CP_STATUS) == GPU_FIRMWARE_READY);

    // Tables of four levels at 1 MiB: the 2 MiB from GPU_GLOBAL_BASE on are those from offset 2 MiB on.
    const std::uint64_t here = std::uint64_t{GPU_PA_GPU0 + 3} << GPU_PA_APERTURE_SHIFT, table = 1 << 20;
    const auto entry = [&](unsigned level, std::uint64_t index, std::uint64_t to, std::uint64_t flags) {
        b.poke(table + 4096 * level + 8 * index, (here | to) >> 12 << GPU_PTE_PPN_SHIFT | GPU_PTE_VALID | flags);
    };
    entry(0, 0, table + 4096, 0);
    entry(1, GPU_GLOBAL_BASE >> 30, table + 8192, 0);
    entry(2, 0, 2 << 20, GPU_PTE_READ | GPU_PTE_WRITE);
    b.set(GPU_SRAM_WINDOW + GPU_SRAM_SPACES, here | table);
    gpu_queue q{};
    q.state = GPU_QUEUE_ACTIVE;
    q.packets = 4;
    q.ring = GPU_GLOBAL_BASE;
    b.set(GPU_SRAM_WINDOW + GPU_SRAM_QUEUES + 5 * sizeof q, q);
    const std::uint64_t memory = 2 << 20, signal_at = 4096;
    for (unsigned i = 0; i < 4; ++i) b.poke<std::uint64_t>(memory + 64 * i, AQL_TYPE_INVALID);
    b.set<std::uint32_t>(GPU_HOST_REQUEST, 1);
    b.wait();

    aql_signal s{};
    s.value = 1;
    s.event_id = 1;
    b.poke(memory + signal_at, s);
    aql_barrier packet{};
    packet.header = AQL_TYPE_BARRIER_AND;
    packet.completion_signal = GPU_GLOBAL_BASE + signal_at;
    b.poke(memory, packet);
    CHECK(b.messages.empty());
    const std::uint64_t number = 0;
    b.host_interface.write_doorbell(8 * 5, reinterpret_cast<const std::uint8_t*>(&number), 8);
    b.wait();
    CHECK(b.peek<std::int64_t>(memory + signal_at + offsetof(aql_signal, value)) == 0);
    CHECK(b.messages == std::vector<unsigned>{GPU_VECTOR_SIGNAL});
    CHECK(b.line);

    b.set<std::uint32_t>(GPU_CP_CONTROL, 0);
    CHECK(b.get<std::uint32_t>(GPU_CP_STATUS) == GPU_FIRMWARE_HELD);
}
