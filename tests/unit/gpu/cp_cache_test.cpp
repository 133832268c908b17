// SPDX-License-Identifier: Apache-2.0
// The data cache of a command-processor hart: what hits and misses cost, and what is seen when, with and without
// fences.
#include "unit/gpu/memory_bench.h"

#include "gpu/control/command_processor.h"
#include "unit/riscv/assembler.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace assembler;

namespace {

gpu_memory_system_params small() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    return p;
}
command_processor_params without_cache() {
    command_processor_params p;
    p.bus.data_cache.size = {0};
    return p;
}

/// Memory elsewhere, which the harts do not cache: answers 500 ns later with its only line.
class elsewhere final : public model, public line_target {
public:
    explicit elsewhere(const sc_core::sc_module_name& name) : model(name) {}
    std::uint64_t value = 0;
    unsigned reads = 0;

    void send(const line_request_ptr& request) override {
        m_request = request;
        schedule_in(m_response, 500'000);
    }

private:
    void respond() {
        const auto r = std::exchange(m_request, {});
        if (r->kind == access_kind::read) {
            ++reads;
            std::memcpy(r->data.data() + r->offset, &value, 8);
        } else {
            std::memcpy(&value, r->data.data() + r->offset, 8);
        }
        r->client->line_done(*r);
    }
    line_request_ptr m_request;
    calendar_event m_response{method<&elsewhere::respond>, this};
};

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu", small(), 1};
    command_processor cp{"processor", {}, 0, m.system.router, m.system.l2_tlb, debug()};
    command_processor bare{"bare", without_cache(), 0, m.system.router, m.system.l2_tlb, debug()};
    elsewhere host{"host"};
    line_listener others;  // lanes, the host, a NIC: all that write at L2

    bench() { m.system.router.set_aperture(GPU_PA_SYSTEM, &host); }
    debug_memory debug() {
        return [this](std::uint64_t physical, void* data, std::size_t size, bool write) {
            return m.system.debug_access(physical, data, size, write);
        };
    }

    /// Runs instructions to a wfi behind them, with a0 … a3 set; caches stay as they are.
    riscv::hart& run(const program& p, std::array<std::uint64_t, 4> arguments, command_processor& on) {
        auto& hart = *on.harts[0];
        hart.stop();
        auto words = p.words();
        words.push_back(wfi);
        on.memory.write(p.base(), words.data(), words.size() * 4);
        hart.set_reset_vector(GPU_LOCAL(p.base()));
        for (unsigned i = 0; i < 4; ++i) hart.set_x(a0 + i, arguments[i]);
        on.bus[0]->address_space = 1;
        hart.start();
        m.run();
        REQUIRE(hart.waiting());
        return hart;
    }
    riscv::hart& run(const program& p, std::array<std::uint64_t, 4> arguments) { return run(p, arguments, cp); }

    std::uint64_t load(std::uint64_t address) { return run(program(0x4000) << ld(s2, a0, 0), {address}).x(s2); }
    /// Cycles from the end of one mcycle to the end of the next around an instruction, without theirs.
    double cycles(word instruction, std::uint64_t address, std::uint64_t value = 0) {
        const auto& h = run(program(0x4000) << csrr(s4, 0xb00) << instruction << csrr(s5, 0xb00), {address, value});
        return static_cast<double>(h.x(s5) - h.x(s4)) - cp.params.hart.cpi.csr;
    }
    void write_elsewhere(std::uint64_t offset, std::uint64_t value) {
        auto r = others.make(access_kind::write, m.base() + offset);
        r->byte_mask = std::uint64_t{0xff} << offset % 64;
        std::memcpy(r->data.data() + offset % 64, &value, 8);
        m.system.router.send(r);
        m.run();
    }
};

bench& fresh() {
    static bench b;
    b.m.reset();
    b.cp.reset();
    b.bare.reset();
    b.host.reads = 0;
    b.others.responses.clear();
    b.m.map_range(0x8000'0000, 0x200000, 0x200000);
    return b;
}

constexpr word fence_of(unsigned predecessors, unsigned successors) {
    return 0x0f | predecessors << 24 | successors << 20;
}
constexpr unsigned r = 2, w = 1, rw = 3;
constexpr std::uint64_t page = GPU_VIRTUAL(0x8000'0000), offset = 0x200000;

const gpu_memory_system_params memory_params = small();
const command_processor_params processor_params;
// In cycles of the harts, two of which are one of the GPU's.
const double hit = processor_params.hart.cpi.load + static_cast<double>(processor_params.bus.data_cache.latency);
const double l2_round = 2.0 * static_cast<double>(memory_params.router.request_latency +
                                                  memory_params.router.response_latency + memory_params.l2.latency);
const double burst =
    4.0 * static_cast<double>(memory_params.hbm.burst_length) / 2;  // a memory clock is two of the GPU's
const double row_open =
    4.0 * static_cast<double>(memory_params.hbm.column_latency + memory_params.hbm.row_to_column) + burst;

}  // namespace

TEST_CASE("a hit and a miss cost what their parameters add up to") {
    auto& b = fresh();
    b.load(page + 0x1000);  // walks, and leaves the last table's line in L2
    b.load(page);
    b.load(page + 0x800);
    const auto misses = b.cp.bus[0]->data_cache.misses.value(), hits = b.cp.bus[0]->data_cache.hits.value();
    CHECK(b.cycles(ld(s2, a0, 0), page) == hit);
    CHECK(b.cycles(lbu(s2, a0, 63), page) == hit);
    CHECK(b.cp.bus[0]->data_cache.hits.value() == hits + 2);
    CHECK(b.cycles(ld(s2, a0, 64), page) > hit + l2_round);  // of the row that is open
    b.run(program(0x4000) << fence_of(r, rw), {});
    CHECK(b.cycles(ld(s2, a0, 0), page) == hit + l2_round);  // L2 has it
    CHECK(b.cp.bus[0]->data_cache.misses.value() == misses + 2);
    // Another channel, where no row is open.
    CHECK(b.cycles(ld(s2, a0, 0), page + 0x180) == hit + l2_round + row_open);
    // A translation that the hart does not hold, of a page that the GPU has translated.
    b.cp.bus[0]->invalidate_translations(1);
    CHECK(b.cycles(ld(s2, a0, 0), page) == hit + 2.0 * static_cast<double>(memory_params.l2_tlb.latency));
    CHECK(b.cycles(ld(s2, a0, 0), page) == hit);
}

TEST_CASE("without a fence a hart sees what it saw before, with one what others wrote") {
    auto& b = fresh();
    b.m.poke<std::uint64_t>(offset + 8, 1);
    CHECK(b.load(page + 8) == 1);
    b.write_elsewhere(offset + 8, 2);
    CHECK(b.load(page + 8) == 1);
    for (const word useless : {fence_of(rw, w), fence_of(w, w), fence_of(r, w), fence_of(0, 0)}) {
        b.run(program(0x4000) << useless, {});
        CHECK(b.load(page + 8) == 1);
    }
    // The debugger sees what the hart sees.
    std::uint64_t seen = 0;
    REQUIRE(b.cp.harts[0]->read_memory(b.m.base() + offset + 8, &seen, 8) == 8);
    CHECK(seen == 1);
    std::uint64_t value = 2;
    for (const word acquire : {fence_of(r, rw), fence_of(r, r), fence_of(rw, rw), fence_of(w, r), fence}) {
        CHECK(b.load(page + 8) == value - 1);
        const auto& h = b.run(program(0x4000) << acquire << ld(s2, a0, 0), {page + 8});
        CHECK(h.x(s2) == value);
        b.write_elsewhere(offset + 8, ++value);
    }
}

TEST_CASE("a host that writes a queue, by the order that the protocol asks for") {
    auto& b = fresh();
    b.m.poke<std::uint64_t>(offset, 1);  // an entry that is invalid: header, then body in the next line
    b.load(page);
    b.load(page + 64);
    b.write_elsewhere(offset + 64, 77);
    b.write_elsewhere(offset, 2);
    // A hart that does not acquire never sees it; one that acquires sees all of it.
    const auto poll = [&](bool acquires) {
        program p(0x4000);
        p << (acquires ? fence_of(r, rw) : nop) << ld(s2, a0, 0) << ld(s3, a0, 64);
        const auto& h = b.run(p, {page});
        return std::pair{h.x(s2), h.x(s3)};
    };
    CHECK(poll(false) == std::pair<std::uint64_t, std::uint64_t>{1, 0});
    CHECK(poll(true) == std::pair<std::uint64_t, std::uint64_t>{2, 77});
}

TEST_CASE("stores go on their way while the hart goes on, up to a number, and a release waits for them") {
    auto& b = fresh();
    auto& cache = b.cp.bus[0]->data_cache;
    b.load(page);
    CHECK(b.cycles(sd(a1, a0, 0), page, 5) == b.cp.params.hart.cpi.store);
    CHECK(b.load(page) == 5);  // its own cache heard of it
    CHECK(b.m.peek<std::uint64_t>(offset) == 5);
    // A release is over when L2 has answered; the store left one cycle before.
    const auto& h =
        b.run(program(0x4000) << sd(a1, a0, 0) << csrr(s4, 0xb00) << fence_of(rw, w) << csrr(s5, 0xb00), {page, 6});
    const auto& cpi = b.cp.params.hart.cpi;
    CHECK(static_cast<double>(h.x(s5) - h.x(s4)) == cpi.csr + cpi.fence + l2_round - cpi.csr - cpi.store);
    CHECK(cache.drains.value() == 1);
    CHECK(b.load(page) == 6);  // and the line is still there
    const auto stalls = cache.store_stalls.value();
    program p(0x4000);
    for (unsigned i = 0; i <= cache.params.stores; ++i) p << sd(a1, a0, static_cast<int>(8 * i));
    b.run(p, {page + 0x400, 7});
    CHECK(cache.store_stalls.value() == stalls + 1);
    for (unsigned i = 0; i <= cache.params.stores; ++i) CHECK(b.m.peek<std::uint64_t>(offset + 0x400 + 8 * i) == 7);
}

TEST_CASE("atomics are performed at L2, and order as they say") {
    auto& b = fresh();
    constexpr word acquire = 1u << 26, release = 1u << 25;
    b.m.poke<std::uint64_t>(offset, 10);
    b.m.poke<std::uint64_t>(offset + 64, 1);
    b.load(page);
    b.load(page + 64);
    b.write_elsewhere(offset, 20);
    b.write_elsewhere(offset + 64, 2);
    CHECK(b.run(program(0x4000) << amoadd_d(s2, a1, a0), {page, 1}).x(s2) == 20);
    CHECK(b.m.peek<std::uint64_t>(offset) == 21);
    CHECK(b.load(page) == 21);      // the old line is gone
    CHECK(b.load(page + 64) == 1);  // a neighbour is not
    CHECK(b.run(program(0x4000) << lr_d(s2, a0), {page}).x(s2) == 21);
    CHECK(b.load(page + 64) == 1);
    CHECK(b.run(program(0x4000) << (lr_d(s2, a0) | acquire), {page}).x(s2) == 21);
    CHECK(b.load(page + 64) == 2);
    const auto drains = b.cp.bus[0]->data_cache.drains.value();
    b.run(program(0x4000) << sd(a1, a0, 128) << amoadd_d(s2, a1, a0), {page, 1});
    CHECK(b.cp.bus[0]->data_cache.drains.value() == drains);
    b.run(program(0x4000) << sd(a1, a0, 128) << (amoadd_d(s2, a1, a0) | release), {page, 1});
    CHECK(b.cp.bus[0]->data_cache.drains.value() == drains + 1);
    // Load-reserved and store-conditional.
    const auto& h = b.run(program(0x4000) << lr_d(s2, a0) << sc_d(s3, a1, a0), {page, 99});
    CHECK((h.x(s2) == 23 && h.x(s3) == 0));
    CHECK(b.load(page) == 99);
}

TEST_CASE("memory elsewhere and pages that are not to be cached are asked each time") {
    auto& b = fresh();
    b.host.value = 5;
    CHECK(b.load(0x1000) == 5);  // physical: the host's
    b.host.value = 6;
    CHECK(b.load(0x1000) == 6);
    CHECK(b.host.reads == 2);
    CHECK(b.cycles(sd(a1, a0, 0), 0x1000, 7) == processor_params.hart.cpi.store + 1000);  // and stores are waited for
    CHECK(b.host.value == 7);
    b.m.map(0x8100'0000, b.m.base() + offset,
            GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_TYPE_UNCACHED << GPU_PTE_TYPE_SHIFT);
    const std::uint64_t uncached = GPU_VIRTUAL(0x8100'0000), cached = page;
    b.m.poke<std::uint64_t>(offset, 1);
    CHECK(b.load(cached) == 1);
    CHECK(b.load(uncached) == 1);
    b.write_elsewhere(offset, 2);
    CHECK(b.load(uncached) == 2);
    CHECK(b.load(cached) == 1);
}

TEST_CASE("translations stay until they are invalidated") {
    auto& b = fresh();
    b.m.poke<std::uint64_t>(offset, 1);
    b.m.poke<std::uint64_t>(0x300000, 2);
    CHECK(b.load(page) == 1);
    b.m.map(0x8000'0000, b.m.base() + 0x300000);
    b.m.system.invalidate_translations(1);
    CHECK(b.load(page) == 1);
    b.cp.invalidate_translations(1);
    CHECK(b.load(page) == 2);
}

TEST_CASE("stores that nothing can take trap where they are") {
    auto& b = fresh();
    b.m.map(0x8100'0000, b.m.base() + offset, GPU_PTE_READ);
    // mtvec behind the store: mepc and mcause tell.
    for (const auto& [address, fault] : {std::pair{GPU_VIRTUAL(0x9000'0000), memory_fault::unmapped},
                                         std::pair{GPU_VIRTUAL(0x8100'0000), memory_fault::read_only},
                                         std::pair{b.m.base() + memory_params.capacity, memory_fault::bus_error}}) {
        program p(0x4000);
        p << auipc(s2, 0) << addi(s2, s2, 20) << csrw(0x305, s2) << sd(a1, a0, 0) << li(s3, 1) << csrr(s4, 0x342)
          << csrr(s5, 0x341);
        const auto& h = b.run(p, {address, 1});
        CHECK(h.x(s3) == 0);
        CHECK(h.x(s4) == 7);
        CHECK(h.x(s5) == GPU_LOCAL(0x400c));
        CHECK(b.cp.bus[0]->last_fault == fault);
    }
}

TEST_CASE("without a cache every access goes to L2") {
    auto& b = fresh();
    b.m.poke<std::uint64_t>(offset, 1);
    program p(0x4000);
    p << ld(s2, a0, 0);
    CHECK(b.run(p, {page}, b.bare).x(s2) == 1);
    b.write_elsewhere(offset, 2);
    CHECK(b.run(p, {page}, b.bare).x(s2) == 2);
    CHECK(b.run(program(0x4000) << sd(a1, a0, 0) << amoadd_d(s2, a1, a0) << fence, {page, 3}, b.bare).x(s2) == 3);
    CHECK(b.m.peek<std::uint64_t>(offset) == 6);
    CHECK(b.bare.bus[0]->data_cache.hits.value() == 0);
}

TEST_CASE("where the time of an access went") {
    auto& b = fresh();
    auto& recorder = span_recorder::current();
    recorder.record_next(10);
    recorder.enable(true);
    b.load(page);
    b.load(page + 8);
    recorder.enable(false);
    REQUIRE(recorder.recorded().size() == 2);
    for (const auto& access : recorder.recorded()) {
        ticks sum = 0;
        for (const auto& s : access.spans) sum += s.end - s.begin;
        CHECK(sum == access.end - access.begin);
    }
    CHECK(recorder.recorded()[1].spans.size() == 1);
    CHECK(recorder.component_of(recorder.recorded()[1].spans[0].stage) == "processor.bus0.data_cache");
}
