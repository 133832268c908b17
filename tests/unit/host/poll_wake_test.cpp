// SPDX-License-Identifier: Apache-2.0
// A hart that an interrupt wakes in the midst of a round has used its lines in the order of that round: which of them
// its handler pushes out decides what the rest of the loop finds.
#include "hart_bench.h"
#include "host/cache_hierarchy.h"
#include "poll_comparison.h"
#include "riscv/slicing.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000, own = memory_base + 0x2000,
                        polled = memory_base + 0x3000, others = memory_base + 0x4000;

host::cache_hierarchy_params one_set() {
    host::cache_hierarchy_params p;
    p.l1 = {{256}, 4};
    p.l2 = {{{4096}, 4}, {8}};
    p.l3 = {{{16 << 10}, 4}, {20}};
    return p;
}

struct wake_bench {
    hart_bench& bench = hart_bench::instance();
    host::cache_hierarchy caches{"wake_caches", one_set(), 1};
    test_bus bus{"wake_bus", bench.memory};
    hart sleeper{"sleeper", bench.params, 0, bench.map, bench.time, microsecond};
    std::uint64_t skipped = 0;

    wake_bench() {
        sleeper.bus.bind(bus.bus);
        sleeper.attach_memory_timing(&caches);
        separate_accesses(true);
    }

    /// What is seen at the end of a run in which the interrupt comes `after` so long.
    std::vector<std::uint64_t> run(ticks after, bool skip);
};

std::vector<std::uint64_t> wake_bench::run(ticks after, bool skip) {
    hart_bench::restart();
    skip_polls(skip);
    sleeper.halt();
    sleeper.reset();
    caches.reset();
    restart_statistics();
    // Four lines fill the set. The handler brings a fifth, once.
    program p(code);
    p << constant(t0, handler) << csrw(csr::mtvec, t0) << constant(t0, 1 << 3) << csrw(csr::mie, t0)
      << csrrs(zero, csr::mstatus, t0) << constant(a1, own) << constant(a2, polled) << constant(a3, others)
      << li(t0, 1500);
    const auto top = p.here();
    p << pause << ld(t1, a1, 0) << ld(t2, a2, 64) << ld(t3, a1, 64) << ld(t4, a2, 0) << addi(t0, t0, -1);
    p << bne(t0, zero, static_cast<int>(top - p.here())) << wfi;
    bench.load(p);
    bench.load(program(handler) << ld(t5, a3, 0) << csrw(csr::mie, zero) << mret);
    bench.memory.touch_by_device(polled - memory_base, 8);
    const auto instructions = sleeper.instructions.total(), before = sleeper.polls.skipped_instructions;
    bench.start(sleeper, code);
    disturbance interrupt;
    interrupt.what = [this] { sleeper.set_interrupt(interrupt_line::machine_software, true); };
    bench.timeline.schedule(interrupt.event, bench.timeline.now() + after);
    bench.run(40 * microsecond);
    sleeper.set_interrupt(interrupt_line::machine_software, false);
    skipped += sleeper.polls.skipped_instructions - before;
    std::vector<std::uint64_t> trace;
    look_at(sleeper, instructions, trace);
    for (const auto* c : {&caches.l1_hits, &caches.l1_misses, &caches.l2_hits, &caches.l2_misses, &caches.stall})
        trace.push_back(c->value());
    skip_polls(false);
    return trace;
}

}  // namespace

TEST_CASE("lines are used in the order of the round in whose midst a hart wakes") {
    static auto* const b = new wake_bench;
    for (ticks after = 10 * microsecond; after < 10 * microsecond + 40 * nanosecond; after += nanosecond / 2) {
        INFO("interrupt after " << after << " ps");
        const auto executed = b->run(after, false);
        REQUIRE(b->skipped == 0);
        const auto slept = b->run(after, true);
        REQUIRE(b->skipped > 500);
        b->skipped = 0;
        CHECK(slept == executed);
        const auto misses = executed[executed.size() - 4];
        CHECK(misses > 5);  // of the first round, of the handler, and of the loop when it went on
    }
}
