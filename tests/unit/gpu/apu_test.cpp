// SPDX-License-Identifier: Apache-2.0
// An APU on a bus of this program, beside a memory that both write.
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "gpu/apu.h"
#include "memory_bench.h"
#include "unit/host/bus_master.h"
#include "unit/riscv/assembler.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr std::uint64_t capacity = 4 << 20, begin = 0x80000000, size = 1 << 20;
constexpr ticks ns = 1000, ms = 1'000'000'000, shared_ns = 20;

/// The host's memory: 20 ns to its last cache. Writes of the host are calls of write() with no writer.
struct host_memory final : coherent_memory {
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(size);
    std::vector<snooper*> holders;
    unsigned asked = 0;

    bool holds(std::uint64_t at, std::uint64_t n) const override { return at >= begin && at - begin + n <= size; }
    void read(std::uint64_t at, void* to, std::size_t n) override { std::memcpy(to, &bytes[at - begin], n); }
    void write(std::uint64_t at, const void* from, std::size_t n, const snooper* writer) override {
        std::memcpy(&bytes[at - begin], from, n);
        for (auto* h : holders)
            if (h != writer) h->invalidate_copies(at, n);
    }
    std::uint64_t atomic(std::uint64_t at, unsigned n, atomic_extension::operation what, std::uint64_t operand,
                         std::uint64_t compare, const snooper*) override {
        return perform_atomic(what, &bytes[at - begin], n, operand, compare);
    }
    ticks access(std::uint64_t, std::uint64_t, bool, ticks at) override {
        ++asked;
        return at + shared_ns * ns;
    }
    void add(snooper& h) override { holders.push_back(&h); }
    void set(std::uint64_t at, std::uint64_t value) { write(at, &value, sizeof value, nullptr); }
    std::uint64_t get(std::uint64_t at) const {
        std::uint64_t value;
        std::memcpy(&value, &bytes[at - begin], sizeof value);
        return value;
    }
};

/// A device whose one register answers after 100 ns, or never.
struct slow_device final : bus_target {
    std::uint64_t value = 0, last_address = 0;
    unsigned last_bytes = 0;
    bool mute = false;
    explicit slow_device(const sc_core::sc_module_name& name) : bus_target(name) {}
    outcome access(bus_payload& p, ticks&) override {
        last_address = p.get_address();
        last_bytes = p.get_data_length();
        pending = &p;
        if (!mute) schedule_in(m_response, 100 * ns);
        return outcome::pending;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
    void response() {
        auto& p = *pending;
        if (auto* a = p.get_extension<atomic_extension>()) {
            std::uint64_t operand = 0;
            std::memcpy(&operand, p.get_data_ptr(), p.get_data_length());
            const auto old =
                perform_atomic(a->op, reinterpret_cast<std::uint8_t*>(&value), p.get_data_length(), operand);
            std::memcpy(p.get_data_ptr(), &old, p.get_data_length());
            a->performed = true;
        } else if (p.is_read()) {
            std::memcpy(p.get_data_ptr(), &value, std::min<unsigned>(p.get_data_length(), 8));
        } else {
            std::memcpy(&value, p.get_data_ptr(), std::min<unsigned>(p.get_data_length(), 8));
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        complete(p);
    }
    bus_payload* pending = nullptr;
    calendar_event m_response{method<&slow_device::response>, this};
};

gpu_core_params small() {
    gpu_core_params p;
    p.compute_units = 1;
    p.memory.capacity = {capacity};
    p.processor.harts = 1;
    return p;
}

struct bench {
    calendar cal{"calendar"};
    host_memory host;
    apu gpu{"apu", {}, small(), {}, 2, host};
    slow_device device{"device"};
    test::bus_master registers{"registers"}, doorbells{"doorbells"}, memory{"memory"};
    test::line_listener lanes;
    test::stopwatch watch;
    bool line = false;

    bench() {
        registers.socket.bind(gpu.register_window.bus);
        doorbells.socket.bind(gpu.doorbell_window.bus);
        memory.socket.bind(gpu.memory_window.bus);
        gpu.devices.bus.bind(device.bus);
        gpu.interrupt.connect([this](bool level) { line = level; });
        cal.run_until(0);
    }
    /// A request of lanes, to its end. \returns its response, and in `took` its time
    test::line_listener::response ask(const line_request_ptr& r) {
        const auto before = cal.now();
        lanes.responses.clear();
        gpu.core.router().send(r);
        watch.run_for(ms);
        REQUIRE(lanes.responses.size() == 1);
        took = lanes.responses[0].when - before;
        return lanes.responses[0];
    }
    test::line_listener::response read(std::uint64_t at) { return ask(lanes.make(access_kind::read, at)); }
    std::uint64_t word(std::uint64_t at) {
        const auto a = read(at);
        REQUIRE(a.fault == memory_fault::none);
        std::uint64_t value;
        std::memcpy(&value, a.data.data() + at % line_bytes, sizeof value);
        return value;
    }
    void store(std::uint64_t at, std::uint64_t value) {
        auto r = lanes.make(access_kind::write, at);
        std::memcpy(r->data.data() + at % line_bytes, &value, sizeof value);
        r->byte_mask = std::uint64_t{0xff} << at % line_bytes;
        REQUIRE(ask(r).fault == memory_fault::none);
    }
    ticks took = 0;
};

bench& fresh() {
    static bench b;
    b.gpu.reset();
    std::fill(b.host.bytes.begin(), b.host.bytes.end(), 0);
    b.watch.run_for(ms);
    return b;
}

}  // namespace

TEST_CASE("a host reaches the front through windows") {
    bench& b = fresh();
    CHECK(b.registers.read32(GPU_ID) == GPU_ID_VALUE);
    CHECK(b.registers.read32(GPU_INDEX) == 2);
    CHECK(b.registers.read64(GPU_MEMORY_SIZE) == capacity);
    CHECK(b.registers.last_latency == b.gpu.params.coherent.latency);
    b.registers.write64(GPU_SRAM_WINDOW + 64, 0x1122334455667788);
    CHECK(b.registers.read32(GPU_SRAM_WINDOW + 68) == 0x11223344);
    b.memory.write64(4096, 99);
    CHECK(b.gpu.core.memory.memory.load(4096, 8) == 99);
    std::uint64_t there = 0;
    b.memory.transfer(tlm::TLM_READ_COMMAND, 4096, &there, 8);
    CHECK_FALSE(b.memory.last_completed);  // it comes from L2
    b.watch.run_for(ms);
    CHECK(there == 99);
    CHECK(b.memory.atomic(atomic_extension::operation::add, 4096, 8, 3) == 99);
    CHECK(b.gpu.core.memory.memory.load(4096, 8) == 102);
    b.memory.atomic(atomic_extension::operation::add, 4098, 4, 3);
    CHECK(b.memory.last_status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    b.doorbells.write64(8 * 5, 17);
    CHECK(b.gpu.core.processor.doorbells.total() == 1);
}

TEST_CASE("an interrupt is a line, high while a vector is pending") {
    bench& b = fresh();
    b.gpu.core.processor.on_interrupt(GPU_VECTOR_SIGNAL);
    CHECK(b.line);
    CHECK(b.registers.read32(GPU_INTERRUPT) == 1u << GPU_VECTOR_SIGNAL);
    b.registers.write32(GPU_INTERRUPT, 1u << GPU_VECTOR_SIGNAL);
    CHECK_FALSE(b.line);
}

TEST_CASE("what a host writes, lanes read; a line comes once until another agent writes to it") {
    bench& b = fresh();
    b.host.set(begin + 256, 7);
    const auto fetched = b.gpu.coherent.reads.total();
    CHECK(b.word(begin + 256) == 7);
    const auto far = b.took;
    CHECK(b.word(begin + 256) == 7);
    const auto near = b.took;
    CHECK(b.gpu.coherent.reads.total() == fetched + 1);
    const auto line_time = static_cast<ticks>(line_bytes * ticks_per_second / b.gpu.params.coherent.rate);
    CHECK(far - near == b.gpu.params.coherent.latency + shared_ns * ns + line_time);
    b.host.set(begin + 264, 8);  // beside it
    CHECK(b.word(begin + 264) == 8);
    CHECK(b.took == far);
    CHECK(b.gpu.coherent.reads.total() == fetched + 2);
    b.host.set(begin + 1024, 9);  // another line
    CHECK(b.word(begin + 256) == 7);
    CHECK(b.took == near);
}

TEST_CASE("what lanes write, a host reads when it is acknowledged") {
    bench& b = fresh();
    CHECK(b.word(begin + 512) == 0);
    const auto asked = b.host.asked;
    b.store(begin + 512, 5);
    CHECK(b.host.asked == asked + 1);  // though L2 has the line
    CHECK(b.took > b.gpu.params.coherent.latency + shared_ns * ns);
    CHECK(b.host.get(begin + 512) == 5);
    CHECK(b.word(begin + 512) == 5);
    CHECK(b.gpu.coherent.bytes_written.total() >= 8);
}

TEST_CASE("atomics are performed in the host's memory") {
    bench& b = fresh();
    b.host.set(begin + 640, 40);
    auto r = b.lanes.make(access_kind::atomic, begin + 640);
    r->size = 8;
    r->operation = atomic_extension::operation::max;
    r->operand = 100;
    CHECK(b.ask(r).operand == 40);
    CHECK(b.host.get(begin + 640) == 100);
}

TEST_CASE("a host's write ends a reservation") {
    bench& b = fresh();
    for (const bool disturbed : {false, true}) {
        auto load = b.lanes.make(access_kind::load_reserved, begin + 704, 77);
        load->size = 8;
        b.ask(load);
        if (disturbed) b.host.set(begin + 712, 1);
        auto store = b.lanes.make(access_kind::store_conditional, begin + 704, 77);
        store->size = 8;
        store->operand = disturbed ? 2 : 1;
        CHECK(b.ask(store).succeeded != disturbed);
        CHECK(b.host.get(begin + 704) == 1);
    }
}

TEST_CASE("the command processor caches memory that it shares with the host, as its GPU's own") {
    using namespace assembler;
    constexpr word acquire = 0x0f | 2u << 24 | 3u << 20,
                   release = 0x0f | 3u << 24 | 1u << 20;  // fence r,rw; fence rw,w
    bench& b = fresh();
    command_processor& cp = b.gpu.core.processor;
    cp_data_cache& cache = cp.bus[0]->data_cache;
    const auto run = [&](program p, std::uint64_t address, std::uint64_t value = 0) -> riscv::hart& {
        riscv::hart& hart = *cp.harts[0];
        hart.stop();
        auto words = p.words();
        words.push_back(wfi);
        cp.memory.write(p.base(), words.data(), words.size() * 4);
        hart.set_reset_vector(GPU_LOCAL(p.base()));
        hart.set_x(a0, address);
        hart.set_x(a1, value);
        hart.start();
        b.watch.run_for(ms);
        REQUIRE(hart.waiting());
        return hart;
    };
    const auto load = [&](std::uint64_t at) { return run(program(0x4000) << ld(s2, a0, 0), at).x(s2); };

    b.host.set(begin + 2048, 5);
    const auto misses = cache.misses.value(), hits = cache.hits.value();
    const auto asked = b.host.asked;
    CHECK(load(begin + 2048) == 5);
    CHECK(load(begin + 2056) == 0);  // of the same line
    CHECK(cache.misses.value() == misses + 1);
    CHECK(cache.hits.value() == hits + 1);
    CHECK(b.host.asked == asked + 1);
    // What the host writes is seen behind an acquire, whichever cache had the line.
    b.host.set(begin + 2048, 6);
    CHECK(load(begin + 2048) == 5);
    CHECK(run(program(0x4000) << acquire << ld(s2, a0, 0), begin + 2048).x(s2) == 6);
    // The hart goes on while a store is on its way. A release waits until the host's memory has it.
    const auto timed = [&](bool waits) {
        program p(0x4000);
        p << csrr(s4, 0xb00) << sd(a1, a0, 0) << (waits ? release : nop) << csrr(s5, 0xb00);
        const auto& h = run(p, begin + 2048, waits ? 8 : 7);
        return static_cast<ticks>(h.x(s5) - h.x(s4)) * ticks_per_second / cp.params.hart.clock;
    };
    CHECK(timed(false) < b.gpu.params.coherent.latency);
    CHECK(b.host.get(begin + 2048) == 7);
    const auto drains = cache.drains.value();
    CHECK(timed(true) > b.gpu.params.coherent.latency + shared_ns * ns);
    CHECK(cache.drains.value() == drains + 1);
    CHECK(b.host.get(begin + 2048) == 8);
    CHECK(load(begin + 2048) == 8);
    // Atomics are performed there, and what is no memory is asked each time.
    CHECK(run(program(0x4000) << amoadd_d(s2, a1, a0), begin + 2048, 2).x(s2) == 8);
    CHECK(b.host.get(begin + 2048) == 10);
    CHECK(load(begin + 2048) == 10);
    b.device.value = 3;
    CHECK(load(0x1000) == 3);
    b.device.value = 4;
    CHECK(load(0x1000) == 4);
}

TEST_CASE("what is no memory is reached over the bus, as wide as it was asked for") {
    bench& b = fresh();
    auto r = b.lanes.make(access_kind::write, 0x1008);
    const std::uint32_t value = 0xabcd;
    std::memcpy(r->data.data() + 8, &value, sizeof value);
    r->byte_mask = 0xf00;
    CHECK(b.ask(r).fault == memory_fault::none);
    CHECK(b.device.value == value);
    CHECK(b.device.last_address == 0x1008);
    CHECK(b.device.last_bytes == 4);
    r = b.lanes.make(access_kind::read, 0x1008);
    r->exact = true;
    r->byte_mask = 0xf00;
    const auto a = b.ask(r);
    std::uint32_t back;
    std::memcpy(&back, a.data.data() + 8, sizeof back);
    CHECK(back == value);
    CHECK(b.took == 100 * ns + b.gpu.params.coherent.latency);  // there and back, and what the device takes
    r = b.lanes.make(access_kind::atomic, 0x1008);
    r->size = 4;
    r->operation = atomic_extension::operation::add;
    r->operand = 1;
    CHECK(b.ask(r).operand == value);
    CHECK(b.device.value == value + 1);
    r = b.lanes.make(access_kind::load_reserved, 0x1008);
    r->size = 4;
    CHECK(b.ask(r).fault == memory_fault::bus_error);
}

TEST_CASE("a reset clears what is under way") {
    bench& b = fresh();
    b.device.mute = true;
    b.lanes.responses.clear();
    b.gpu.core.router().send(b.lanes.make(access_kind::read, 0x1000));
    b.gpu.core.router().send(b.lanes.make(access_kind::read, begin));
    b.watch.run_for(10 * ns);
    std::uint64_t there = 0;
    b.memory.transfer(tlm::TLM_READ_COMMAND, 8192, &there, 8);
    b.gpu.core.processor.on_interrupt(GPU_VECTOR_FAULT);
    b.watch.run_for(40 * ns);
    b.gpu.reset();
    CHECK_FALSE(b.line);
    CHECK(b.registers.read32(GPU_INTERRUPT) == 0);
    CHECK(b.memory.last_status == tlm::TLM_INCOMPLETE_RESPONSE);
    if (b.device.pending) b.device.response();  // late, after the reset
    b.device.mute = false;
    b.watch.run_for(ms);
    CHECK(b.lanes.responses.empty());
    b.host.set(begin, 3);
    CHECK(b.word(begin) == 3);
}
