// SPDX-License-Identifier: Apache-2.0
// How long instructions take: several a cycle, and code that must be fetched first.
#include <memory>

#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base;

hart_params wide_params() {
    hart_params p;
    p.instructions_per_cycle = 4;
    return p;
}

hart_params cached_params() {
    hart_params p;
    p.instruction_cache = {{1024}, 2, {100 * nanosecond}};  // 8 sets
    return p;
}

/// Beside the bench's hart 0, one that is four instructions wide, and one with an instruction cache.
struct harts {
    hart_bench& bench = hart_bench::instance();
    test_bus bus0{"wide_bus", bench.memory}, bus1{"cached_bus", bench.memory};
    hart wide{"wide", wide_params(), 2, bench.map, bench.time, microsecond};
    hart cached{"cached", cached_params(), 3, bench.map, bench.time, microsecond};

    harts() {
        wide.bus.bind(bus0.bus);
        cached.bus.bind(bus1.bus);
    }
    static harts& restart() {
        static auto* all = new harts;
        hart_bench::restart();
        for (auto* h : {&all->wide, &all->cached}) {
            h->halt();
            h->reset();
        }
        return *all;
    }
    instruction_cache& cache() { return dynamic_cast<instruction_cache&>(*cached.get_child_objects().back()); }
    /// Cycles between the two CSR reads around `body`.
    std::uint64_t cycles(hart& h, const std::vector<word>& body) {
        program p(code);
        p << csrr(s2, csr::mcycle);
        for (const auto w : body) p << w;
        p << csrr(s3, csr::mcycle) << j(0);
        bench.load(p);
        h.set_x(a0, memory_base + 0x8000);
        bench.start(h, code);
        bench.run(20 * microsecond);
        REQUIRE(h.pc() == p.here() - 4);
        h.halt();
        return h.x(s3) - h.x(s2);
    }
};

}  // namespace

TEST_CASE("several instructions a cycle") {
    const std::vector<word> plain(40, addi(t0, t0, 1));
    CHECK(harts::restart().cycles(hart_bench::instance().hart0, plain) == 40 + 4);
    auto& h = harts::restart();
    CHECK(h.cycles(h.wide, plain) == 40 / 4 + 4);  // a CSR read waits for what is before it
    CHECK(h.wide.x(t0) == 40);
}

TEST_CASE("what a core cannot do side by side takes its cycles") {
    const std::vector<word> loads(8, ld(t1, a0, 0)), divisions(3, r_type(0x02004033, t0, t0, t1));  // div
    auto& h = harts::restart();
    CHECK(h.cycles(h.wide, loads) == 8 * 2 / 4 + 4);
    CHECK(harts::restart().cycles(h.wide, divisions) == 3 * 20 + 4);
}

TEST_CASE("code is fetched line by line, once, while there is room") {
    auto& h = harts::restart();
    const auto before = h.cache().misses.total();
    const std::vector<word> plain(60, nop);
    CHECK(h.cycles(h.cached, plain) ==
          60 + 4 + 3 * 100);  // 252 bytes: the first of four lines was there when counting began
    CHECK(h.cache().misses.total() - before == 4);
}

TEST_CASE("lines of one set drive each other out") {
    for (const unsigned lines : {2u, 3u}) {
        auto& h = harts::restart();
        const auto before = h.cache().misses.total(), evicted = h.cache().evictions.total();
        for (unsigned i = 0; i + 1 < lines; ++i) h.bench.load(program(code + 512 * i) << j(512));
        const int back = 512 * static_cast<int>(lines - 1);
        h.bench.load(program(code + back) << addi(s0, s0, -1) << bne(s0, zero, -back - 4) << j(0));
        h.cached.set_x(s0, 10);
        h.bench.start(h.cached, code);
        h.bench.run(20 * microsecond);
        CHECK(h.cached.pc() == code + back + 8);
        h.cached.halt();
        CHECK(h.cache().misses.total() - before == (lines == 2 ? 2 : 30));
        CHECK(h.cache().evictions.total() - evicted == (lines == 2 ? 0 : 28));
    }
}
