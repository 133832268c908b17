// SPDX-License-Identifier: Apache-2.0
// Unmapped pages: walks wait until the driver has mapped them, and try again.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint64_t base = 0x8000'0000, frames = 0x400000;

gpu_memory_system_params one_walker() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.gmmu.walkers = 1;
    return p;
}
memory_machine& fresh() { return after_reset<one_walker, 2>(); }

std::uint64_t page(unsigned n) { return base + n * 0x1000; }

/// Where the entry of an unmapped page lies.
std::uint64_t withdraw(memory_machine& m, unsigned n) {
    const auto at = m.map(page(n), m.base() | frames);
    m.poke<std::uint64_t>(at, GPU_PTE_DEMAND);
    return at;
}
void grant(memory_machine& m, std::uint64_t entry, std::uint64_t frame) {
    m.poke<std::uint64_t>(entry, memory_machine::pte(m.base() | frame, GPU_PTE_READ | GPU_PTE_WRITE));
}

bool demanded(memory_machine& m, std::uint64_t& address) {
    std::uint32_t space = 0;
    if (!m.system.gmmu.pop_demand_fault(space, address)) return false;
    CHECK(space == 1);
    address <<= 12;
    return true;
}

}  // namespace

TEST_CASE("a walk to an unmapped page waits for the driver, and others go on") {
    auto& m = fresh();
    const auto entry = withdraw(m, 0);
    m.map(page(1), m.base() | (frames + 0x1000));
    m.poke<std::uint32_t>(frames + 0x1000, 11);
    m.poke<std::uint32_t>(frames + 0x2040, 42);
    auto wanted = m.clients[0]->one(access_kind::read, page(0) + 0x40);
    m.clients[0]->memory.issue(wanted);
    m.run();
    CHECK(m.clients[0]->done.empty());
    CHECK_FALSE(m.system.gmmu.busy());  // the only walker is free for others
    CHECK(m.load(1, page(1)) == 11);

    std::uint64_t asked = 0;
    REQUIRE(demanded(m, asked));
    CHECK(asked == page(0));
    CHECK_FALSE(demanded(m, asked));  // each once
    grant(m, entry, frames + 0x2000);
    m.run();
    CHECK(m.clients[0]->done.empty());  // not signalled yet
    m.system.gmmu.retry_demand_faults();
    m.run();
    REQUIRE(m.clients[0]->done.size() == 1);
    CHECK(wanted->fault == memory_fault::none);
    CHECK(wanted->data[0] == 42);
    CHECK(m.load(0, page(0) + 0x40) == 42);  // by the TLB, without another walk to nowhere
    CHECK_FALSE(demanded(m, asked));
}

TEST_CASE("all lanes and units that touch an unmapped page wait for one walk; pages are asked for one by one") {
    auto& m = fresh();
    const auto demand_faults = m.system.gmmu.demand_faults.value();
    const std::uint64_t entries[] = {withdraw(m, 0), withdraw(m, 1)};
    for (unsigned i = 0; i < 2; ++i) m.poke<std::uint32_t>(frames + 0x4000 + i * 0x1000, 100 + i);
    for (auto& client : m.clients) {
        auto a = client->make(access_kind::read, 4);
        a->mask = 3;
        a->address[0] = page(0);
        a->address[1] = page(1);
        client->memory.issue(a);
    }
    m.run();
    std::uint64_t first = 0, second = 0, third = 0;
    REQUIRE(demanded(m, first));
    REQUIRE(demanded(m, second));
    CHECK_FALSE(demanded(m, third));
    CHECK(m.system.gmmu.demand_faults.value() - demand_faults == 2);
    CHECK(first + second == page(0) + page(1));
    CHECK(first != second);

    grant(m, entries[0], frames + 0x4000);
    m.system.gmmu.retry_demand_faults();
    m.run();
    REQUIRE(demanded(m, third));  // the other is still unmapped, and asked for again
    CHECK(third == page(1));
    for (auto& client : m.clients) CHECK(client->done.empty());
    grant(m, entries[1], frames + 0x5000);
    m.system.gmmu.retry_demand_faults();
    m.run();
    for (auto& client : m.clients) {
        REQUIRE(client->done.size() == 1);
        CHECK(client->done[0].access->data[0] == 100);
        CHECK(client->done[0].access->data[1] == 101);
    }
}

TEST_CASE("walks to a large page that is unmapped wait for all of it") {
    auto& m = fresh();
    const auto large = m.map(base, m.base() | frames, GPU_PTE_READ | GPU_PTE_WRITE, 1);
    m.poke<std::uint64_t>(large, m.entry(large) ^ (GPU_PTE_VALID | GPU_PTE_DEMAND));
    m.poke<std::uint32_t>(frames + 0x3040, 42);
    auto a = m.clients[0]->one(access_kind::read, page(3) + 0x40);
    m.clients[0]->memory.issue(a);
    m.run();
    CHECK(m.clients[0]->done.empty());
    std::uint64_t asked = 0;
    REQUIRE(demanded(m, asked));
    CHECK(asked == page(3));
    m.poke<std::uint64_t>(large, m.entry(large) ^ (GPU_PTE_VALID | GPU_PTE_DEMAND));
    m.system.gmmu.retry_demand_faults();
    m.run();
    REQUIRE(m.clients[0]->done.size() == 1);
    CHECK(a->data[0] == 42);
    CHECK(m.load(0, page(5)) == 0);  // of the same page
}

TEST_CASE("a driver that refuses a page ends the access in a fault") {
    auto& m = fresh();
    const auto entry = withdraw(m, 0);
    auto a = m.clients[0]->one(access_kind::write, page(0), 1);
    m.clients[0]->memory.issue(a);
    m.run();
    CHECK(m.clients[0]->done.empty());
    m.poke<std::uint64_t>(entry, 0);
    m.system.gmmu.retry_demand_faults();
    m.run();
    REQUIRE(m.clients[0]->done.size() == 1);
    CHECK(a->fault == memory_fault::unmapped);
}

TEST_CASE("a reset clears the pages that were waited for") {
    auto& m = fresh();
    withdraw(m, 0);
    m.clients[0]->memory.issue(m.clients[0]->one(access_kind::read, page(0)));
    m.run();
    m.reset();
    std::uint64_t asked = 0;
    CHECK_FALSE(demanded(m, asked));
    m.system.gmmu.retry_demand_faults();
    m.run();
    CHECK(m.clients[0]->done.empty());
}
