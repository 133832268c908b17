// SPDX-License-Identifier: Apache-2.0
// Lanes that reach registers of a device: what arrives is what each lane did, in the order of lanes.
#include "unit/gpu/memory_bench.h"

#include <cstring>
#include <random>

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// A device whose every read gives another value: how often it has been read. Answers come after a while.
class device final : public line_target {
public:
    struct access {
        access_kind kind;
        std::uint64_t address;
        unsigned bytes;
        std::uint64_t value;
        bool exact;
        bool operator==(const access& o) const {
            return kind == o.kind && address == o.address && bytes == o.bytes && value == o.value;
        }
    };
    std::vector<access> seen;
    std::uint64_t reads = 0;

    void send(const line_request_ptr& r) override {
        const auto first = static_cast<unsigned>(__builtin_ctzll(r->byte_mask)),
                   bytes = static_cast<unsigned>(__builtin_popcountll(r->byte_mask));
        REQUIRE(r->byte_mask == bytes_of(first, bytes));
        std::uint64_t value = reads;
        if (bytes > sizeof value) {
            value = 0;
        } else if (r->kind == access_kind::read) {
            std::memcpy(r->data.data() + first, &reads, bytes);
            r->valid_sectors = r->needed_sectors;
            ++reads;
        } else {
            value = 0;
            std::memcpy(&value, r->data.data() + first, bytes);
        }
        seen.push_back({r->kind, r->line + first, bytes, value, r->exact});
        m_scheduler.respond(r, calendar::current().now() + 300'000);
    }

private:
    line_request_scheduler m_scheduler;
};

gpu_memory_system_params small() {
    gpu_memory_system_params p;
    p.capacity = {16 << 20};
    p.unit.outstanding_bypasses = 24;  // less than a wavefront's lanes
    return p;
}

constexpr std::uint64_t page = 0x8000'0000, registers = 0x4000'0000, memory = 0x9000'0000;

struct bench {
    calendar cal{"calendar"};
    memory_machine m{"gpu0", small(), 2};
    device target;
};
bench& fresh() {
    static bench b;
    b.m.reset();
    b.target.seen.clear();
    b.target.reads = 0;
    b.m.system.router.set_aperture(GPU_PA_SYSTEM, &b.target);
    b.m.map(page, registers, GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_TYPE_DEVICE << GPU_PTE_TYPE_SHIFT);
    b.m.map(page + 4096, registers + 4096, GPU_PTE_READ | GPU_PTE_WRITE | GPU_PTE_TYPE_UNCACHED << GPU_PTE_TYPE_SHIFT);
    b.m.map_range(memory, 0x200000, 4096);
    return b;
}

vector_access_ptr all_lanes(bench& b, access_kind kind, unsigned bytes, lane_mask mask = ~lane_mask{0}) {
    auto a = b.m.clients[0]->make(kind, bytes);
    a->mask = mask;
    for (unsigned lane = 0; lane < 64; ++lane) {
        a->address[lane] = page + 0x10;
        a->data[lane] = 0x1111'0000'0000'0000u + lane;
    }
    return a;
}

}  // namespace

TEST_CASE("64 lanes ring one register: 64 writes of 8 bytes, in lane order, whether the page was known or not") {
    bench& b = fresh();
    for (unsigned round = 0; round < 2; ++round) {  // the first one waits for a page-table walk
        b.target.seen.clear();
        auto a = all_lanes(b, access_kind::write, 8);
        b.m.time(0, a);
        CHECK(a->fault == memory_fault::none);
        REQUIRE(b.target.seen.size() == 64);
        for (unsigned lane = 0; lane < 64; ++lane)
            CHECK(b.target.seen[lane] ==
                  device::access{access_kind::write, registers + 0x10, 8, 0x1111'0000'0000'0000u + lane, false});
    }
}

TEST_CASE("neighbouring registers are not merged; lanes that take no part stay away") {
    bench& b = fresh();
    auto a = all_lanes(b, access_kind::write, 8, 0x0000'0000'0000'00b6);
    for (unsigned lane = 0; lane < 64; ++lane) a->address[lane] = page + 8 * lane;
    b.m.time(0, a);
    REQUIRE(b.target.seen.size() == 5);
    const unsigned lanes[] = {1, 2, 4, 5, 7};
    for (unsigned i = 0; i < 5; ++i)
        CHECK(b.target.seen[i] == device::access{access_kind::write, registers + 8 * lanes[i], 8,
                                                 0x1111'0000'0000'0000u + lanes[i], false});
}

TEST_CASE("each lane's load asks the device, for its own bytes alone") {
    bench& b = fresh();
    for (unsigned round = 0; round < 2; ++round) {
        b.target.seen.clear();
        b.target.reads = 100;
        auto a = all_lanes(b, access_kind::read, 4);
        b.m.time(0, a);
        REQUIRE(b.target.seen.size() == 64);
        for (unsigned lane = 0; lane < 64; ++lane) {
            CHECK(a->data[lane] == 100 + lane);
            CHECK(b.target.seen[lane] == device::access{access_kind::read, registers + 0x10, 4, 100 + lane, true});
            CHECK(b.target.seen[lane].exact);
        }
    }
}

TEST_CASE("memory that is not cached is merged as before") {
    bench& b = fresh();
    auto a = all_lanes(b, access_kind::write, 4);
    for (unsigned lane = 0; lane < 64; ++lane) a->address[lane] = page + 4096 + 4 * lane;
    b.m.time(0, a);
    REQUIRE(b.target.seen.size() == 4);
    for (unsigned i = 0; i < 4; ++i) CHECK(b.target.seen[i].bytes == line_bytes);
}

TEST_CASE(
    "any lanes, any registers: every store arrives whole, those of a line in lane order, and accesses keep theirs") {
    bench& b = fresh();
    std::mt19937_64 random(11);
    for (unsigned round = 0; round < 200; ++round) {
        b.target.seen.clear();
        const unsigned bytes = 1u << random() % 4;
        std::vector<vector_access_ptr> both;
        for (unsigned n = 0; n < 2; ++n) {  // of one wavefront, the second one issued at once
            auto a = all_lanes(b, access_kind::write, bytes, random() | 1);
            for (unsigned lane = 0; lane < 64; ++lane) {
                a->address[lane] = page + random() % 3 * 64 + random() % (64 / bytes) * bytes;
                a->data[lane] = n << 6 | lane;
            }
            both.push_back(a);
        }
        for (const auto& a : both) b.m.clients[0]->memory.issue(a);
        b.m.run();
        b.m.clients[0]->done.clear();
        std::vector<std::uint64_t> got[3], wanted[3];
        for (const auto& s : b.target.seen) {
            CHECK(s.bytes == bytes);
            const auto& a = *both[s.value >> 6];
            CHECK(a.address[s.value & 63] - page == s.address - registers);
            got[(s.address - registers) / 64].push_back(s.value);
        }
        for (unsigned n = 0; n < 2; ++n)
            for (unsigned lane = 0; lane < 64; ++lane)
                if (both[n]->mask >> lane & 1) wanted[(both[n]->address[lane] - page) / 64].push_back(n << 6 | lane);
        for (unsigned line = 0; line < 3; ++line) CHECK(got[line] == wanted[line]);
    }
}

TEST_CASE("lanes in a device and in memory at once") {
    bench& b = fresh();
    auto a = all_lanes(b, access_kind::write, 8);
    for (unsigned lane = 1; lane < 64; lane += 2) a->address[lane] = memory + 8 * lane;
    b.m.time(0, a);
    CHECK(a->fault == memory_fault::none);
    REQUIRE(b.target.seen.size() == 32);
    for (unsigned i = 0; i < 32; ++i) CHECK(b.target.seen[i].value == 0x1111'0000'0000'0000u + 2 * i);
    for (unsigned lane = 1; lane < 64; lane += 2)
        CHECK(b.m.peek<std::uint64_t>(0x200000 + 8 * lane) == 0x1111'0000'0000'0000u + lane);
}

TEST_CASE("a device that refuses a store names every lane") {
    bench& b = fresh();
    b.m.system.router.set_aperture(GPU_PA_SYSTEM, nullptr);
    auto a = all_lanes(b, access_kind::write, 8, 0xf0f0);
    b.m.time(0, a);
    CHECK(a->fault == memory_fault::bus_error);
    CHECK(a->faulted == 0xf0f0);
}

TEST_CASE("posted writes of a wavefront to one line follow each other, and wait behind a load") {
    bench& b = fresh();
    static class : public system_fence {
        bool flush(system_fence_client&, std::uint64_t) override { return true; }
    } fence;
    b.m.system.router.set_system_port(b.target, fence);
    const auto store_of = [&](unsigned lane) {
        auto a = all_lanes(b, access_kind::write, 8, lane_mask{1} << lane);
        a->address[lane] += 8 * lane;
        return a;
    };
    b.m.time(0, store_of(0));  // the page is known then
    b.target.seen.clear();
    auto begin = b.cal.now();
    for (unsigned lane = 0; lane < 5; ++lane) b.m.clients[0]->memory.issue(store_of(lane));
    b.m.run();
    b.m.clients[0]->done.clear();
    CHECK(b.cal.now() - begin < 2 * 300'000);  // one way there and back, not five
    REQUIRE(b.target.seen.size() == 5);
    for (unsigned lane = 0; lane < 5; ++lane) CHECK(b.target.seen[lane].address == registers + 0x10 + 8 * lane);

    b.target.seen.clear();
    begin = b.cal.now();
    b.m.clients[0]->memory.issue(all_lanes(b, access_kind::read, 8, 1));
    for (unsigned lane = 0; lane < 3; ++lane) b.m.clients[0]->memory.issue(store_of(lane));
    b.m.run();
    b.m.clients[0]->done.clear();
    CHECK(b.cal.now() - begin > 2 * 300'000);  // a posted write may overtake a read
    REQUIRE(b.target.seen.size() == 4);
    CHECK(b.target.seen[0].kind == access_kind::read);
    for (unsigned lane = 0; lane < 3; ++lane) CHECK(b.target.seen[lane + 1].address == registers + 0x10 + 8 * lane);
}
