// SPDX-License-Identifier: Apache-2.0
// What a hart of a command processor reaches over its bus, access by access: registers, its own memory, lines and
// pages; what nothing answers, and what becomes of accesses that a reset or an invalidation meets.
#include "unit/gpu/memory_bench.h"

#include "abi/gpu.h"
#include "gpu/control/cp_bus.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::test;
using op = atomic_extension::operation;

namespace {

gpu_memory_system_params small() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    return p;
}

/// Memory elsewhere: answers 500 ns later.
class elsewhere final : public model, public line_target {
public:
    explicit elsewhere(const sc_core::sc_module_name& name) : model(name) {}
    unsigned responses = 0;
    void send(const line_request_ptr& r) override {
        m_request = r;
        schedule_in(m_response, 500'000);
    }

private:
    void respond() {
        ++responses;
        const auto r = std::exchange(m_request, {});
        r->data.fill(0x5a);
        r->client->line_done(*r);
    }
    line_request_ptr m_request;
    calendar_event m_response{method<&elsewhere::respond>, this};
};

constexpr std::uint64_t local_bytes = 0x10000, page = GPU_VIRTUAL(0x8000'0000), offset = 0x200000;

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu", small(), 1};
    clock_domain clock{frequency{2'000'000'000}};
    sparse_memory local{local_bytes};
    register_bank registers{GPU_CP_REGISTERS_SIZE};
    device_register word{registers, "word", 0x10, 4, 0x1234};
    cp_bus bus{"bus", {}, {clock, local, registers, m.system.router, m.system.l2_tlb, 99, debug()}};
    cp_bus unseen{"unseen", {}, {clock, local, registers, m.system.router, m.system.l2_tlb, 98, {}}};
    bus_master hart{"hart"}, other{"other"};
    elsewhere host{"host"};

    bench() {
        hart.socket.bind(bus.bus);
        other.socket.bind(unseen.bus);
        m.system.router.set_aperture(GPU_PA_SYSTEM, &host);
        cal.run_until(0);
    }
    debug_memory debug() {
        return [this](std::uint64_t physical, void* data, std::size_t size, bool write) {
            return m.system.debug_access(physical, data, size, write);
        };
    }
    /// To its end. \returns how long it took
    template <class Access>
    ticks time(Access access) {
        const auto begin = cal.now();
        const auto before = hart.responses;
        access();
        if (hart.last_completed) return hart.last_latency;
        while (hart.responses == before) cal.run_until(cal.next_event_time());
        return cal.now() - begin;
    }
    std::uint64_t load(std::uint64_t address) {
        time([&] { hart.transfer(tlm::TLM_READ_COMMAND, address, &value, 8); });
        return value;
    }
    std::uint64_t atomic(op what, std::uint64_t operand, std::uint64_t compare = 0) {
        time([&] { hart.atomic(what, page, 8, operand, compare); });
        m.run();
        return m.peek<std::uint64_t>(offset);
    }
    void poke(std::uint64_t at, std::uint64_t v) { m.poke(at, v); }
    std::uint64_t value = 0;  // outlives accesses
};

bench& fresh() {
    static bench b;
    b.m.run();
    b.m.reset();
    b.bus.reset();
    b.unseen.reset();
    b.registers.reset();
    restart_statistics();
    b.bus.address_space = b.unseen.address_space = 1;
    b.m.map_range(0x8000'0000, offset, 0x2000);
    b.hart.responses = b.host.responses = 0;
    return b;
}

bool fails(bench& b, memory_fault fault) {
    const bool so = b.hart.last_status == tlm::TLM_ADDRESS_ERROR_RESPONSE && b.bus.last_fault == fault;
    b.bus.last_fault = memory_fault::none;
    return so;
}

}  // namespace

TEST_CASE("registers and the processor's own memory answer at once, and what lies between does not") {
    auto& b = fresh();
    const std::uint64_t v = 0x1122334455667788;
    constexpr auto registers = GPU_LOCAL(GPU_CP_REGISTERS_BASE);
    b.local.write(0x100, &v, 8);
    CHECK(b.hart.read64(GPU_LOCAL(0x100)) == v);
    CHECK(b.hart.last_latency == b.bus.params.memory_latency);
    b.hart.write32(GPU_LOCAL(0x104), 7);
    CHECK(b.hart.read64(GPU_LOCAL(0x100)) == 0x755667788);
    CHECK(b.hart.read32(registers + 0x10) == 0x1234);
    CHECK(b.hart.last_latency == b.bus.params.register_latency);
    b.hart.write32(registers + 0x10, 5);
    CHECK(b.word() == 5);
    CHECK(b.bus.register_accesses.value() == 2);
    CHECK(b.bus.errors.value() == 0);

    for (const auto nowhere : {GPU_LOCAL(local_bytes), GPU_LOCAL(local_bytes - 4), GPU_LOCAL(GPU_CP_REGISTERS_BASE - 8),
                               registers + GPU_CP_REGISTERS_SIZE}) {
        INFO(nowhere);
        b.hart.read64(nowhere);
        CHECK(fails(b, memory_fault::bad_aperture));
    }
    // Harts perform atomics on their own memory in place: none comes here for it, and registers take none.
    for (const auto at : {GPU_LOCAL(0x100), registers + 0x10}) {
        b.hart.atomic(op::add, at, 4, 1);
        CHECK(fails(b, memory_fault::bad_aperture));
        CHECK_FALSE(b.hart.last_atomic.performed);
    }
    CHECK(b.bus.errors.value() == 6);
    CHECK(b.word() == 5);
}

TEST_CASE("an access across lines and pages asks for each of them") {
    auto& b = fresh();
    for (unsigned i = 0; i < 3; ++i) {
        b.poke(offset + 0xff8 + i * 8, 0x0101010101010101 * (i + 1));
        b.poke(offset + 0x38 + i * 8, 0x1010101010101010 * (i + 1));
    }
    CHECK(b.load(page + 0x3c) == 0x2020202010101010);
    CHECK(b.bus.line_accesses.value() == 1);
    CHECK(b.bus.data_cache.misses.value() == 2);
    CHECK(b.bus.tlb_misses.value() == 1);
    CHECK(b.load(page + 0xffc) == 0x0202020201010101);
    CHECK(b.bus.data_cache.misses.value() == 4);
    CHECK(b.bus.tlb_misses.value() == 2);
    CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
    // The first bytes are there, the last ones are not.
    b.load(page + 0x1ffc);
    CHECK(fails(b, memory_fault::unmapped));
    CHECK(b.bus.errors.value() == 1);
}

TEST_CASE("a reset leaves accesses undone, and their late responses are nothing") {
    auto& b = fresh();
    b.hart.transfer(tlm::TLM_READ_COMMAND, 0x1000, &b.value, 8);
    REQUIRE_FALSE(b.hart.last_completed);
    b.value = 1;
    b.bus.reset();
    CHECK(b.hart.responses == 1);
    CHECK(b.hart.last_status == tlm::TLM_INCOMPLETE_RESPONSE);
    b.m.run();
    CHECK(b.host.responses == 1);
    CHECK(b.hart.responses == 1);
    CHECK(b.value == 1);
    CHECK(b.load(0x1000) == 0x5a5a5a5a5a5a5a5a);

    // While a translation is on its way: it comes for nothing.
    b.bus.address_space = 1;
    b.hart.transfer(tlm::TLM_READ_COMMAND, page, &b.value, 8);
    REQUIRE_FALSE(b.hart.last_completed);
    b.bus.reset();
    CHECK(b.hart.last_status == tlm::TLM_INCOMPLETE_RESPONSE);
    b.m.run();
    CHECK(b.hart.responses == 3);
    b.bus.address_space = 1;
    b.load(page);
    CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("a reset meets a read whose last bytes were in the cache, before they are there") {
    auto& b = fresh();
    const auto read = [&] { b.hart.transfer(tlm::TLM_READ_COMMAND, page + 0x3c, &b.value, 8); };
    b.load(page);  // into L2
    b.load(page + 0x40);
    b.bus.reset();
    b.bus.address_space = 1;
    b.load(page + 0x40);
    const auto whole = b.time(read);
    CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
    b.bus.reset();
    b.bus.address_space = 1;
    b.load(page + 0x40);
    read();
    const auto before = b.hart.responses;
    stopwatch().run_for(whole - 1);
    REQUIRE(b.hart.responses == before);
    b.bus.reset();
    CHECK(b.hart.responses == before + 1);
    CHECK(b.hart.last_status == tlm::TLM_INCOMPLETE_RESPONSE);
    b.m.run();
    CHECK(b.hart.responses == before + 1);
}

TEST_CASE("a translation that was asked for before an invalidation serves its access and is not kept") {
    auto& b = fresh();
    for (const bool invalidated : {false, true}) {
        const auto address = page + (invalidated ? 0x1000 : 0);
        b.hart.transfer(tlm::TLM_READ_COMMAND, address, &b.value, 8);
        REQUIRE_FALSE(b.hart.last_completed);
        if (invalidated) b.bus.invalidate_translations(1);
        b.m.run();
        CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
        const auto before = b.bus.tlb_misses.value();
        b.load(address);
        CHECK(b.bus.tlb_misses.value() == before + invalidated);
    }
}

TEST_CASE("atomics are performed at L2, conditional stores among them") {
    auto& b = fresh();
    b.poke(offset, 10);
    CHECK(b.atomic(op::add, 5) == 15);
    CHECK(b.hart.last_status == tlm::TLM_OK_RESPONSE);
    CHECK(b.atomic(op::compare_swap, 20, 14) == 15);
    CHECK(b.atomic(op::compare_swap, 20, 15) == 20);
    CHECK(b.atomic(op::store_conditional, 30) == 20);  // nothing is reserved
    CHECK(b.atomic(op::load_reserved, 0) == 20);
    CHECK(b.atomic(op::store_conditional, 30) == 30);
    CHECK(b.atomic(op::store_conditional, 40) == 30);
    CHECK(b.bus.errors.value() == 0);
}

TEST_CASE("a debugger reads and writes what the hart would, without time") {
    auto& b = fresh();
    std::uint64_t v = 77;
    const auto write = [&](bus_master& by, std::uint64_t at) {
        v = 77;
        return by.debug(tlm::TLM_WRITE_COMMAND, at, &v, 4);
    };
    const auto read = [&](bus_master& by, std::uint64_t at) {
        v = 0;
        return by.debug(tlm::TLM_READ_COMMAND, at, &v, 4) == 4 ? v : ~std::uint64_t{0};
    };
    for (const auto at : {GPU_LOCAL(0x200), GPU_LOCAL(GPU_CP_REGISTERS_BASE + 0x10), b.m.base() + offset}) {
        INFO(at);
        CHECK(write(b.hart, at) == 4);
        CHECK(read(b.hart, at) == 77);
    }
    CHECK(b.word() == 77);
    for (const auto nowhere : {GPU_LOCAL(local_bytes), GPU_LOCAL(GPU_CP_REGISTERS_BASE + GPU_CP_REGISTERS_SIZE),
                               b.m.base() + (std::uint64_t{64} << 20)}) {
        INFO(nowhere);
        CHECK(write(b.hart, nowhere) == 0);
        CHECK(read(b.hart, nowhere) == ~std::uint64_t{0});
    }
    // A bus without a way to memory has the processor's own.
    CHECK(read(b.other, b.m.base() + offset) == ~std::uint64_t{0});
    CHECK(read(b.other, GPU_LOCAL(0x200)) == 77);
    CHECK(b.bus.register_accesses.value() == 0);
}
