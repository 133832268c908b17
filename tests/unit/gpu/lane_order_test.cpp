// SPDX-License-Identifier: Apache-2.0
// In which order a wavefront's accesses reach memory: atomics with aq and rl, limits of a wavefront and of all, and a
// program counter that a debugger sets while its line is on its way.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

using event = test_memory::event;
constexpr word end = GPU_OPCODE, acquire = 1u << 26, release = 1u << 25;

const bool set_up = [] {
    lane_bench::unit_params().outstanding_accesses = 2;
    return true;
}();

/// What memory saw of a program, as words, those of ends with a point; t0 points to device memory.
std::string seen(const std::vector<word>& body, std::uint32_t items = 1) {
    auto& b = lane_bench::restart();
    b.memory.shortest = b.memory.longest = 300'000;
    b.memory.at<std::uint64_t>(b.data) = b.data + 4096;
    program p(GPU_CODE_BASE);
    p << ld(t0, a0, 0) << add(t0, t0, zero) << body << end;
    b.load(p.words());
    auto what = b.words(items, items);
    what.lds_bytes = 4096;
    REQUIRE_FALSE(b.run(what).aborted);
    std::string text;
    for (const auto& e : b.memory.log) {
        if (text.empty() && e.what == event::emptied) continue;  // of the dispatch itself
        const char* kind = e.kind == access_kind::read ? "load" : e.kind == access_kind::write ? "store" : "atomic";
        text += e.what == event::emptied ? "empty " : fmt::format("{}{} ", kind, e.what == event::ended ? "." : "");
    }
    return text;
}

}  // namespace

TEST_CASE("an atomic with rl begins when what is before it has ended") {
    const std::vector<word> before{sw(t0, t0, 0), addi(t3, t0, 64)};
    const auto with = [&](word bits) {
        auto body = before;
        body.push_back(amoswap_d(t2, t0, t3) | bits);
        return seen(body);
    };
    CHECK(with(0) == "store atomic store. atomic. ");
    CHECK(with(release) == "store store. atomic atomic. ");
    CHECK(with(release | acquire) == "store store. atomic atomic. empty ");
}

TEST_CASE("behind an atomic with aq nothing begins before it has ended and caches are empty") {
    const auto with = [&](word bits, word atomic) { return seen({atomic | bits, ld(t4, t0, 128)}); };
    CHECK(with(0, amoadd_d(t2, t0, t0)) == "atomic load atomic. load. ");
    CHECK(with(acquire, amoadd_d(t2, t0, t0)) == "atomic atomic. empty load load. ");
    CHECK(with(acquire, amoadd_d(zero, t0, t0)) == "atomic atomic. empty load load. ");
    CHECK(with(acquire, lr_d(t2, t0)) == "atomic atomic. empty load load. ");
}

TEST_CASE("aq and rl hold for atomics of local memory, too") {
    const std::vector<word> body{sw(t0, t0, 0), lui(t3, GPU_LDS_BASE >> 12), amoswap_d(t2, t0, t3), ld(t4, t0, 128)};
    CHECK(seen(body) == "store load store. load. ");
    auto ordered = body;
    ordered[2] |= acquire | release;
    CHECK(seen(ordered) == "store store. empty load load. ");
}

TEST_CASE("a wavefront with as many accesses as it may have holds up no other one") {
    program p(GPU_CODE_BASE);
    p << csrr(t1, GPU_CSR_LOCAL_ID_X) << srli(t1, t1, 6) << ld(t0, a0, 0) << add(t0, t0, zero) << bne(t1, zero, 20)
      << ld(t2, t0, 0) << ld(t3, t0, 64) << ld(t4, t0, 128) << end;  // the third must wait
    for (int i = 0; i < 20; ++i) p << nop;
    p << ld(t2, t0, 192) << end;
    auto& b = lane_bench::restart();
    b.memory.shortest = b.memory.longest = 1'000'000;
    b.memory.at<std::uint64_t>(b.data) = b.data + 4096;
    b.load(p.words());
    REQUIRE_FALSE(b.run(b.words(128, 128)).aborted);
    std::vector<std::uint64_t> order;
    for (const auto& e : b.memory.log)
        if (e.what == event::began) order.push_back(e.wavefront);
    REQUIRE(order.size() == 4);
    CHECK(order[2] != order[0]);  // 0 0 1 0
    CHECK(order[3] == order[0]);
}

TEST_CASE("a wavefront whose program counter is set while it waits for code goes on there") {
    program p(GPU_CODE_BASE);
    p << j(0);
    while (p.here() < GPU_CODE_BASE + 256) p << nop;
    p << end;
    auto& b = lane_bench::restart();
    b.memory.shortest = b.memory.longest = 5'000'000;
    b.load(p.words());
    const auto number = b.dispatches.submit(b.words(1, 1));
    compute_unit* unit = nullptr;
    while (!unit && b.timeline.run_until(b.timeline.now() + 1'000'000) < 50'000'000'000)
        for (auto& u : b.units)
            if (u->slot(0).state == wavefront_state::fetch) unit = u.get();
    REQUIRE(unit);
    CHECK(unit->write_pc(0, 0, GPU_CODE_BASE + 256));
    b.timeline.run_until(b.timeline.now() + 100'000'000);
    REQUIRE(b.done.size() == 1);
    CHECK(b.done[0].number == number);
}
