// SPDX-License-Identifier: Apache-2.0
// Forward progress of diverged lanes, barriers, local and scratch memory, and what happens to kernels that go wrong.
#include <algorithm>

#include "lane_bench.h"

#include "abi/kernel_descriptor.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

constexpr std::uint64_t out = lane_bench::data + 4096, word = lane_bench::data + (8 << 20);

struct prepared {
    lane_bench& b;
    dispatch what;
    const dispatch_run& run(std::uint32_t items, std::uint32_t group) {
        what.grid = {items, 1, 1};
        what.group = {group, 1, 1};
        return b.run(what);
    }
    std::uint64_t result(unsigned n) const { return b.memory.at<std::uint64_t>(out + 8 * n); }
};

prepared prepare(const std::string& name, std::uint64_t value = 0, std::uint64_t words = word, ticks longest = 200'000,
                 unsigned seed = 1) {
    auto& b = lane_bench::restart(seed);
    b.memory.longest = longest;
    b.load_file(std::string(FABRICVP_FIRMWARE_DIR) + "/test_lanes.elf");
    b.memory.at<std::uint64_t>(b.data) = out;
    b.memory.at<std::uint64_t>(b.data + 8) = words;
    b.memory.at<std::uint64_t>(b.data + 16) = value;
    return {b, b.kernel(name, b.data)};
}

/// The record of a dispatch that must fail; after it, another one must succeed.
fault_record failure(prepared p, std::uint32_t items = 256, std::uint32_t group = 128) {
    const auto& run = p.run(items, group);
    REQUIRE(run.aborted);
    const auto record = run.fault;
    CHECK(run.finished == run.started);
    CHECK(p.b.memory.live() == 0);
    auto next = p.b.kernel("tree", p.b.data);
    next.grid = next.group = {256, 1, 1};
    CHECK_FALSE(p.b.run(next).aborted);
    CHECK(p.result(0) == 255 * 128);
    CHECK(record.gpu == 3);
    return record;
}

}  // namespace

TEST_CASE("work-items know who they are, in three dimensions with broken work-groups") {
    auto p = prepare("identity");
    p.what.grid = {10, 6, 5};
    p.what.group = {4, 5, 2};
    const auto before = p.b.timeline.now();
    REQUIRE_FALSE(p.b.run(p.what).aborted);
    for (std::uint64_t z = 0; z < 5; ++z)
        for (std::uint64_t y = 0; y < 6; ++y)
            for (std::uint64_t x = 0; x < 10; ++x) {
                const auto n = static_cast<unsigned>((z * 6 + y) * 10 + x) * 8;
                INFO(x << ',' << y << ',' << z);
                CHECK(p.result(n) == (x | y << 16 | z << 32));
                CHECK(p.result(n + 1) == (x % 4 | y % 5 << 16 | z % 2 << 32));
                CHECK(p.result(n + 2) == (x / 4 | y / 5 << 16 | z / 2 << 32));
                CHECK(p.result(n + 3) == (4 | 5ull << 16 | 2ull << 32));
                const auto wide = std::min<std::uint64_t>(4, 10 - x / 4 * 4),
                           high = std::min<std::uint64_t>(5, 6 - y / 5 * 5);
                CHECK(p.result(n + 4) == ((z % 2 * high + y % 5) * wide + x % 4));
                CHECK(p.result(n + 5) == 3);
                CHECK(p.result(n + 7) * 1000 >= before);
                CHECK(p.result(n + 7) * 1000 <= p.b.timeline.now());
                CHECK(p.result(n + 6) >= before / 1000);
                CHECK(p.result(n + 6) <= p.b.timeline.now() / 1000);
            }
}

TEST_CASE("a lock that lanes of one wavefront fight for is passed on") {
    const unsigned seed = GENERATE(1u, 2u, 3u);
    auto p = prepare("spin_lock", 0, word, seed == 3 ? 0 : 200'000, seed);
    REQUIRE_FALSE(p.run(256, 128).aborted);
    CHECK(p.b.memory.at<std::uint32_t>(word) == 0);
    CHECK(p.b.memory.at<std::uint32_t>(word + 128) == 256);
}

TEST_CASE("a lock in local memory, with load-reserved and store-conditional") {
    auto p = prepare("local_spin_lock");
    REQUIRE_FALSE(p.run(512, 128).aborted);
    for (unsigned g = 0; g < 4; ++g) CHECK(p.result(g) == 128);
}

TEST_CASE("lanes that wait for others of their wavefront get what they wait for") {
    const unsigned seed = GENERATE(1u, 2u);
    auto p = prepare("producer_consumer", 0, word, seed == 1 ? 0 : 300'000, seed);
    REQUIRE_FALSE(p.run(192, 64).aborted);
    for (unsigned i = 0; i < 192; i += 2) CHECK(p.result(i) == (i + 1) * 3 + 1);
}

TEST_CASE("lanes recurse to depths of their own") {
    auto p = prepare("recursion");
    REQUIRE_FALSE(p.run(128, 64).aborted);
    const unsigned expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    for (unsigned i = 0; i < 128; ++i) CHECK(p.result(i) == expected[i % 11]);
}

TEST_CASE("lanes call functions of their own") {
    auto p = prepare("indirect");
    REQUIRE_FALSE(p.run(128, 64).aborted);
    for (std::uint64_t i = 0; i < 128; ++i)
        CHECK(p.result(static_cast<unsigned>(i)) == (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : i + 1));
}

TEST_CASE("barriers order local memory in a work-group") {
    const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
    auto p = prepare("tree", 0, word, seed == 1 ? 0 : 500'000, seed);
    REQUIRE_FALSE(p.run(1024, 256).aborted);
    for (unsigned g = 0; g < 4; ++g) CHECK(p.result(g) == 256 * (256 * g) + 255 * 128);
    CHECK(p.b.statistic(".stall_barrier") > 0);
}

TEST_CASE("atomics on local memory") {
    auto p = prepare("local_atomics");
    REQUIRE_FALSE(p.run(256, 256).aborted);
    for (unsigned i = 0; i < 16; ++i) CHECK(p.result(i) == 16);
    CHECK(p.result(16) == 1000 - 255);
    CHECK(p.result(17) == 255 * 255);
    CHECK(p.result(18) == 1);
    CHECK(p.b.statistic(".lds.bank_conflicts") > 0);
}

TEST_CASE("one load reaches local, scratch, device and constant memory at once") {
    auto p = prepare("generic");
    REQUIRE_FALSE(p.run(64, 64).aborted);
    const unsigned constants[] = {11, 22, 33, 44};
    for (unsigned i = 0; i < 64; ++i)
        CHECK(p.result(i) == (i % 4 == 0 ? i : i % 4 == 1 ? 1000 + i : i % 4 == 2 ? 2000 + i : constants[i & 3]));
    CHECK(p.b.memory.constants > 0);
}

TEST_CASE("two dispatches are alive together, and end in their own time") {
    auto p = prepare("recursion");
    p.what.grid = {256, 1, 1};
    p.what.group = {64, 1, 1};
    auto second = p.b.kernel("tree", p.b.data);
    second.grid = second.group = {256, 1, 1};
    static unsigned launched = 0;  // a subscriber stays subscribed
    p.b.dispatches.on_launch([](const dispatch_run&) { ++launched; });
    const auto first = p.b.dispatches.submit(p.what);
    p.b.run(second);
    CHECK(p.b.done.front().number == first + 1);  // shorter
    CHECK(p.b.dispatches.in_flight() == 1);
    p.b.timeline.run_until(p.b.timeline.now() + 1'000'000'000);
    CHECK(p.b.dispatches.in_flight() == 0);
    CHECK(launched == 2);
}

TEST_CASE("dispatches that are alive together keep out of each other's scratch memory") {
    auto p = prepare("recursion");
    p.what.grid = {64 * 8, 1, 1};
    p.what.group = {64, 1, 1};
    auto second = p.what;
    second.first_group = 1;  // other lanes where those of the first had their stacks
    const bool same_size = GENERATE(true, false);
    if (!same_size) second.scratch_bytes = 1024;
    p.b.dispatches.submit(p.what);
    p.b.dispatches.submit(second);
    const ticks limit = p.b.timeline.now() + 1'000'000'000;
    p.b.timeline.run_until(limit);  // to the end of the first that ends
    const ticks one_ended = p.b.timeline.now();
    p.b.timeline.run_until(limit);
    REQUIRE(p.b.done.size() == 2);
    for (const auto& run : p.b.done) REQUIRE_FALSE(run.aborted);
    const unsigned expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    for (unsigned i = 0; i < 64 * 8; ++i) CHECK(p.result(i) == expected[i % 11]);
    // Memory that is cut into areas of one size cannot be cut into others before they are free.
    const bool together = std::max(p.b.done[0].started_at, p.b.done[1].started_at) < one_ended;
    CHECK(together == same_size);
}

TEST_CASE("work-groups wait for slots, local memory and scratch memory") {
    auto p = prepare("recursion");
    const auto slots = p.b.units[0]->slots() * p.b.units.size();
    SECTION("slots") {}
    SECTION("local memory") { p.what.lds_bytes = 40'000; }
    SECTION("scratch memory") { p.what.scratch_size = 512 * 64 * 3; }
    REQUIRE_FALSE(p.run(static_cast<std::uint32_t>(64 * slots * 2), 64).aborted);
    CHECK(p.result(10) == 55);
    CHECK(p.b.dispatches.work_groups.value() == slots * 2);
}

TEST_CASE("a dispatch that can never run is refused") {
    auto p = prepare("tree");
    const auto why = [&](auto change) {
        auto what = p.what;
        change(what);
        const char* reason = p.b.dispatches.rejection_reason(what);
        return std::string(reason ? reason : "");
    };
    CHECK(why([](dispatch&) {}).empty());
    CHECK(why([](dispatch& d) { d.grid[1] = 0; }) == "the grid is empty");
    CHECK(why([](dispatch& d) { d.group = {64, 64, 1}; }) == "the work-group is too large");
    CHECK(why([](dispatch& d) { d.image += 4; }) == "the kernel image is not aligned");
    CHECK(why([](dispatch& d) { d.entry = 0; }) == "the entry lies outside of the code");
    CHECK(why([](dispatch& d) { d.scratch_size = 100; }) == "scratch memory is too small for a work-group");
    CHECK(why([](dispatch& d) { d.lds_bytes = 65537; }) == "no compute unit has the resources for a work-group");
}

TEST_CASE("lanes that have ended count as arrived, with a word about it where the language does not allow that") {
    const bool allowed = GENERATE(false, true);
    for (const char* name : {"missing_barrier", "late_wavefront", "early_return"}) {
        INFO(name);
        auto p = prepare(name);
        if (allowed) p.what.flags = KERNEL_ENDED_LANES_ARRIVE;
        REQUIRE_FALSE(p.run(256, 128).aborted);
        for (unsigned i = 0; i < 256; ++i) CHECK(p.result(i) == 1);
        CHECK((p.b.dispatches.ended_lane_barriers.value() > 0) == !allowed);
        if (allowed) continue;
        std::uint64_t pc = 0;
        for (const auto& [path, value] : snapshot_statistics())
            if (path.find("ended_lane_barrier_pc") != path.npos) pc = static_cast<std::uint64_t>(value);
        REQUIRE(pc >= GPU_CODE_BASE);
        CHECK(p.b.memory.at<std::uint32_t>(lane_bench::image + pc - GPU_CODE_BASE) == 0x100b);
    }
    auto p = prepare("tree");
    REQUIRE_FALSE(p.run(1024, 256).aborted);
    CHECK(p.b.dispatches.ended_lane_barriers.value() == 0);
}

TEST_CASE("cooperative dispatches are whole on the GPU, one at a time") {
    auto p = prepare("tree");
    auto what = p.what;
    const auto slots = static_cast<std::uint32_t>(p.b.units[0]->slots() * p.b.units.size());
    const auto why = [&](std::uint32_t items, std::uint32_t group, std::uint32_t lds = 0) {
        what.grid = {items, 1, 1};
        what.group = {group, 1, 1};
        what.lds_bytes = lds;
        return p.b.dispatches.oversubscription(what);
    };
    CHECK(why(64 * (slots + 1), 64).empty());  // it is none
    what.flags = KERNEL_COOPERATIVE;
    what.scratch_size = std::uint64_t{what.scratch_bytes} * 64 * slots;
    CHECK(why(64 * slots, 64).empty());
    CHECK(why(64 * slots + 1, 64) == fmt::format("a cooperative launch of {0} work-groups, of which the GPU holds {1} "
                                                 "at a time",
                                                 slots + 1, slots));
    CHECK(why(128 * (slots / 2), 128).empty());
    CHECK_FALSE(why(128 * (slots / 2 + 1), 128).empty());
    const auto units = static_cast<std::uint32_t>(p.b.units.size());
    CHECK(why(64 * units, 64, 40'000).empty());
    CHECK_FALSE(why(64 * (units + 1), 64, 40'000).empty());
    what.groups = 1;
    CHECK(why(64, 64) == "a cooperative launch runs on one GPU");
    what.groups = 0;

    what.grid = {256, 1, 1};
    what.group = {64, 1, 1};
    what.lds_bytes = 0;
    for (int i = 0; i < 2; ++i) p.b.dispatches.submit(what);
    while (p.b.done.empty()) p.b.timeline.run_until(p.b.timeline.now() + 1'000'000);
    const auto first_ended = p.b.timeline.now();
    while (p.b.done.size() < 2) p.b.timeline.run_until(p.b.timeline.now() + 1'000'000);
    CHECK(p.b.done[1].started_at >= first_ended);
}

TEST_CASE("a dispatch with unknown flags is refused") {
    auto p = prepare("tree");
    p.what.flags = KERNEL_FLAGS + 1;
    CHECK(p.b.dispatches.rejection_reason(p.what) == std::string("the kernel's descriptor has unknown flags"));
}

TEST_CASE("an illegal instruction names lane and pc") {
    const auto f = failure(prepare("illegal", 70));
    CHECK(f.kind == lane_fault::illegal_instruction);
    CHECK(f.lane == 6);
    CHECK(f.group_id[0] == 0);
    CHECK(lane_bench::instance().memory.at<std::uint32_t>(lane_bench::image + f.pc - GPU_CODE_BASE) == 0xffffffff);
    CHECK(failure(prepare("run_off")).kind == lane_fault::illegal_instruction);
    CHECK(failure(prepare("rounding")).kind == lane_fault::illegal_instruction);
}

TEST_CASE("jumps out of the code and between instructions fault") {
    const auto f = failure(prepare("wild_jump", 200));
    CHECK(f.kind == lane_fault::bad_pc);
    CHECK(f.address == 0x1234);
    CHECK(f.lane == 8);
    CHECK(f.group_id[0] == 1);
    CHECK(failure(prepare("crooked_jump", 5)).kind == lane_fault::misaligned_pc);
}

TEST_CASE("stores to where nothing may be stored fault") {
    const struct {
        std::uint64_t address;
        memory_fault fault;
    } cases[] = {{0, memory_fault::bad_aperture},
                 {0x50000000, memory_fault::bad_aperture},
                 {GPU_CODE_BASE + 64, memory_fault::read_only},
                 {GPU_KERNARG_BASE, memory_fault::read_only},
                 {GPU_LDS_BASE + 0x8000, memory_fault::unmapped},
                 {GPU_SCRATCH_BASE + 512, memory_fault::unmapped},
                 {test_memory::base + test_memory::size, memory_fault::unmapped},
                 {word + 4, memory_fault::misaligned}};
    for (const auto& c : cases) {
        INFO(std::hex << c.address);
        const auto f = failure(prepare("wild_store", 67, c.address));
        CHECK(f.kind == lane_fault::memory);
        CHECK(f.memory == c.fault);
        CHECK(f.address == c.address);
        CHECK(f.lane == 3);
    }
    auto p = prepare("wild_store", 67, word);
    p.b.memory.read_only_from = word;
    CHECK(failure(p).memory == memory_fault::read_only);
}

TEST_CASE("a stack that grows out of its scratch memory faults") {
    const auto f = failure(prepare("deep", 40));
    CHECK(f.kind == lane_fault::memory);
    CHECK(f.memory == memory_fault::bad_aperture);  // below it lies nothing
    CHECK(f.address < GPU_SCRATCH_BASE);
}

TEST_CASE("code that is not mapped faults") {
    auto p = prepare("tree");
    p.what.image = test_memory::base + test_memory::size;
    const auto f = failure(p);
    CHECK(f.memory == memory_fault::unmapped);
    CHECK(f.address == p.what.entry);
}

TEST_CASE("a lane that never ends holds back no others, and can be aborted") {
    auto p = prepare("runaway", 70);
    p.what.grid = {256, 1, 1};
    p.what.group = {128, 1, 1};
    const auto number = p.b.dispatches.submit(p.what);
    p.b.timeline.run_until(p.b.timeline.now() + 50'000'000);
    REQUIRE(p.b.dispatches.in_flight() == 1);
    for (unsigned i = 0; i < 256; ++i) CHECK(p.result(i) == (i != 70));
    // Who looks, sees it.
    bool seen = false;
    for (const auto& u : p.b.units)
        for (unsigned s = 0; s < u->slots(); ++s) {
            if (u->slot(s).state == wavefront_state::free) continue;
            CHECK(u->slot(s).context.schedule.live() == lane_mask{1} << 6);
            CHECK(u->pc(s, 6) >= GPU_CODE_BASE);
            CHECK(u->read_register(s, 6, 2) == GPU_SCRATCH_BASE + 512);
            seen = true;
        }
    CHECK(seen);
    p.b.dispatches.abort(number);
    p.b.timeline.run_until(p.b.timeline.now() + 1'000'000);
    CHECK(p.b.dispatches.in_flight() == 0);
    REQUIRE(p.b.done.size() == 1);
    CHECK(p.b.done[0].aborted);
}

TEST_CASE("two bits of a register that flip from the last one on are its last two") {
    auto p = prepare("runaway", 0);
    const auto number = p.b.dispatches.submit(p.what);
    p.b.timeline.run_until(p.b.timeline.now() + 50'000'000);
    unsigned flipped = 0;
    for (const auto& u : p.b.units)
        for (unsigned s = 0; s < u->slots(); ++s) {
            if (u->slot(s).state == wavefront_state::free) continue;
            auto& flip = u->flip.defaults;
            flip.slot = s;
            flip.row = 31;
            flip.bit = 63;
            flip.bits = 2;
            const auto before = u->read_register(s, 0, 31);
            u->flip.order()->apply();
            CHECK(u->read_register(s, 0, 31) == (before ^ std::uint64_t{3} << 62));
            ++flipped;
        }
    CHECK(flipped == 1);
    p.b.dispatches.abort(number);
    p.b.timeline.run_until(p.b.timeline.now() + 1'000'000);
}
