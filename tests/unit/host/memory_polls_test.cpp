// SPDX-License-Identifier: Apache-2.0
// Harts with caches that sleep over loops which load and store: random programs that poll each other and a device, with
// writes, touches and interrupts from outside, give the same with and without sleep, at any time one looks
// (poll_comparison.h).
#include <memory>

#include "hart_bench.h"
#include "host/cache_hierarchy.h"
#include "poll_comparison.h"
#include "riscv/slicing.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr unsigned hart_count = 3;
// Pages: code of each hart, words that harts share, words that a device writes, stacks.
constexpr std::uint64_t code = memory_base, handler = memory_base + 0x8000, shared = memory_base + 0x9000,
                        polled = memory_base + 0xa000, stacks = memory_base + 0xb000, end = memory_base + 0xf000;
constexpr ticks span = 300 * microsecond, millisecond = 1000 * microsecond;

constexpr word fence = 0x0ff0000f, pause = 0x0100000f;
constexpr word andi(reg d, reg s, int i) { return i_type(0x7013, d, s, i); }
constexpr word xori(reg d, reg s, int i) { return i_type(0x4013, d, s, i); }
constexpr word lhu(reg d, reg s, int i) { return i_type(0x5003, d, s, i); }
constexpr word bltu(reg a, reg b, int o) { return b_type(0x6063, a, b, o); }

/// A loop around a pause that looks at memory. a1: shared words, a2: the device's, sp: the stack; t0 … t6 are its own.
void add_loop(program& p, rng& r) {
    const auto back_to = [&](std::uint64_t top) { return static_cast<int>(top - p.here()); };
    const auto word_of = [&](reg& base) {
        base = r.below(2) ? a1 : a2;
        return 8 * r.below(24);
    };
    reg base = a1;
    switch (r.below(9)) {
        case 0: {  // one word, so many times
            const int at = word_of(base);
            p << li(t0, r.between(20, 400));
            const auto top = p.here();
            p << pause << ld(t1, base, at) << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 1: {  // until it changes, or for so long
            const int at = word_of(base);
            p << li(t0, r.between(50, 900)) << ld(t2, base, at);
            const auto top = p.here();
            p << pause << addi(t0, t0, -1) << beq(t0, zero, 12) << ld(t1, base, at);
            p << beq(t1, t2, back_to(top));
            break;
        }
        case 2: {  // a function that saves what counts, and a clock that is looked at every 16th time
            const int at = word_of(base);
            p << li(s2, 0) << li(t4, r.between(60, 400)) << li(t5, 15) << j(7 * 4);
            const auto function = p.here();
            p << addi(sp, sp, -32) << sd(ra, sp, 24) << sd(s2, sp, 16);
            p << li(s2, r.below(100)) << ld(s2, sp, 16) << ret();
            const auto top = p.here();
            p << pause << addi(s2, s2, 1);
            p << jal(ra, back_to(function));
            p << ld(ra, sp, 24) << addi(sp, sp, 32) << ld(t1, base, at) << andi(t3, s2, 15) << bne(t3, t5, 8)
              << csrr(t6, csr::time);
            p << bltu(s2, t4, back_to(top));
            break;
        }
        case 3: {  // counts in memory that others look at
            const int at = 8 * r.between(24, 40);
            p << li(t0, r.between(20, 300));
            const auto top = p.here();
            p << ld(t1, a1, at) << addi(t1, t1, 3) << sd(t1, a1, at) << pause << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 4: {  // several words in turn, of all sizes, with fences
            p << li(t0, r.between(20, 300));
            const auto top = p.here();
            for (int n = r.between(1, 5), i = 0; i < n; ++i) {
                const int at = word_of(base);
                switch (r.below(5)) {
                    case 0: p << lw(t1, base, at); break;
                    case 1: p << lhu(t2, base, at + 2); break;
                    case 2: p << lb(t3, base, at + 7); break;
                    case 3: p << fence << ld(t4, base, at); break;
                    default: p << sw(t5, sp, -16) << lbu(t6, sp, -16); break;
                }
            }
            p << pause << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 5: {  // lines of one set
            p << li(t0, r.between(20, 200));
            const auto top = p.here();
            p << pause << ld(t1, a1, 0) << ld(t2, a1, 512) << ld(t3, a1, r.below(2) ? 1024 : 64) << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 6: {  // a store that is no counter
            p << li(t0, r.between(20, 300));
            const auto top = p.here();
            p << pause << addi(t0, t0, -1) << xori(t1, t0, 5) << sd(r.below(2) ? t1 : t0, sp, -8);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 7: {  // walks through the device's page
            p << add(t2, a2, zero) << li(t0, r.between(3, 20));
            const auto top = p.here();
            p << ld(t1, t2, 0) << addi(t2, t2, 64) << pause << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        default: {  // an atomic
            p << li(t0, r.between(5, 60)) << li(t2, 1) << addi(t3, a1, 8 * r.between(24, 40));
            const auto top = p.here();
            p << pause << amoadd_d(t1, t2, t3) << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
    }
}

program random_program(unsigned hart, rng& r) {
    program p(code + 0x1000 * hart);
    p << constant(a0, device_base) << constant(a1, shared) << constant(a2, polled) << constant(t0, handler)
      << csrw(csr::mtvec, t0) << constant(sp, stacks + 0x800 * hart + 0x400) << constant(t0, 1 << 11 | 1 << 3)
      << csrw(csr::mie, t0);
    if (r.below(4)) p << li(t0, 8) << csrrs(zero, csr::mstatus, t0);
    const auto top = p.here();
    for (int n = r.between(3, 6), i = 0; i < n; ++i) {
        add_loop(p, r);
        if (r.below(2))  // lines that push others out
            for (int k = r.between(1, 6); k > 0; --k) p << ld(s4, a1, 128 * r.below(15));
        if (!r.below(3)) p << addi(s1, s1, 1) << sd(s1, r.below(3) ? a1 : a2, 8 * r.below(24));
        if (!r.below(3)) p << ld(s3, a1, 8 * r.between(24, 40)) << sd(s3, sp, -48);
        if (!r.below(4)) p << sw(s1, a0, 16);
    }
    p << j(static_cast<int>(top - p.here()));
    return p;
}

program handler_program() { return program(handler) << addi(s11, s11, 1) << sw(s11, a0, 32) << mret; }

host::cache_hierarchy_params small_caches() {
    host::cache_hierarchy_params p;
    p.l1 = {{1024}, 8};  // two sets: in which order lines were used matters
    p.l2 = {{{4096}, 4}, {8}};
    p.l3 = {{{16 << 10}, 4}, {20}};
    return p;
}

hart_params clocked(std::uint64_t hertz) {
    hart_params p;
    p.clock = {hertz};
    return p;
}

struct poll_bench {
    hart_bench& bench = hart_bench::instance();
    own_timebase time;
    host::cache_hierarchy caches{"poll_caches", small_caches(), hart_count};
    test_bus bus0{"poll_bus0", bench.memory}, bus1{"poll_bus1", bench.memory}, bus2{"poll_bus2", bench.memory};
    hart first{"poll_hart0", clocked(1'700'000'000), 0, bench.map, time, microsecond};
    hart second{"poll_hart1", clocked(1'000'000'000), 1, bench.map, time, microsecond};
    hart third{"poll_hart2", clocked(1'000'000'000), 2, bench.map, time, microsecond};
    const std::array<hart*, hart_count> harts{&first, &second, &third};
    const std::array<test_bus*, hart_count> buses{&bus0, &bus1, &bus2};
    std::uint64_t skipped = 0, instructions = 0;

    poll_bench() {
        for (unsigned i = 0; i < hart_count; ++i) {
            harts[i]->bus.bind(buses[i]->bus);
            harts[i]->attach_memory_timing(&caches);
        }
        separate_accesses(true);
    }
    static poll_bench& instance() {
        static auto* all = new poll_bench;
        return *all;
    }

    using trace = std::vector<std::uint64_t>;
    trace run(std::uint64_t seed, bool skip);

private:
    void device_write(std::uint64_t address, std::uint64_t value) {
        bench.memory.touch_by_device(address - memory_base, 8);
        caches.invalidate(address, 8);
        bench.write(address, value);
    }
    void disturb(rng& r, std::vector<std::unique_ptr<disturbance>>& all, ticks begin);
    void look(trace& t, const std::array<std::uint64_t, hart_count>& base, ticks begin);
};

void poll_bench::look(trace& t, const std::array<std::uint64_t, hart_count>& base, ticks begin) {
    fabricvp::calendar::current().catch_up();
    for (unsigned n = 0; n < hart_count; ++n) {
        look_at(*harts[n], base[n], t);
        for (const auto& e : buses[n]->log) t.insert(t.end(), {e.when - begin, e.address, e.value, e.write});
    }
    for (const auto* c :
         {&caches.l1_hits, &caches.l1_misses, &caches.l2_hits, &caches.l2_misses, &caches.l3_hits, &caches.l3_misses,
          &caches.interventions, &caches.memory_reads, &caches.memory_writes, &caches.stall})
        t.push_back(c->value());
    std::uint64_t sum = 0;
    for (auto at = memory_base; at < end; at += 8) sum = sum * 31 + bench.read(at);
    t.push_back(sum);
    for (const auto page : {shared, polled, stacks, stacks + 0x1000})
        t.push_back(bench.memory.marks((page - memory_base) >> 12) & sparse_memory::device);
}

void poll_bench::disturb(rng& r, std::vector<std::unique_ptr<disturbance>>& all, ticks begin) {
    const auto at = [&](ticks when, std::function<void()> what) {
        all.push_back(std::make_unique<disturbance>());
        all.back()->what = std::move(what);
        bench.timeline.schedule(all.back()->event, begin + when);
    };
    for (int n = r.below(25), i = 0; i < n; ++i) {
        // Often on the grid of the harts' clocks, so that times are equal.
        const auto when = r.below(2) ? r.below_ticks(span) : r.below_ticks(span / 1000) * 1000;
        const auto word = polled + 8 * static_cast<unsigned>(r.below(40)), value = static_cast<std::uint64_t>(n + i);
        auto& h = *harts[static_cast<unsigned>(r.below(hart_count))];
        const auto line = r.below(2) ? interrupt_line::machine_external : interrupt_line::machine_software;
        switch (r.below(7)) {
            case 0: at(when, [this, word, value] { device_write(word, value); }); break;
            case 1:  // its request, and its data later
                at(when, [this, word] {
                    bench.memory.touch_by_device(word - memory_base, 8);
                    caches.invalidate(word, 8);
                });
                at(when + r.below_ticks(400'000), [this, word, value] { bench.write(word, value); });
                break;
            case 2: at(when, [this, word] { bench.memory.touch_by_device(word - memory_base, 8); }); break;
            case 3: at(when, [this, value] { bench.write(stacks + 0x400 - 8 * (value % 5), value); }); break;
            case 4: at(when, [this, word] { caches.shared_access(word, 8, false, bench.timeline.now()); }); break;
            case 5: at(when, [this, value] { device_write(value % 2 ? shared : stacks + 0x3f0, value); }); break;
            default:
                at(when, [&h, line] { h.set_interrupt(line, true); });
                at(when + 1 + r.below_ticks(400'000), [&h, line] { h.set_interrupt(line, false); });
                break;
        }
    }
}

poll_bench::trace poll_bench::run(std::uint64_t seed, bool skip) {
    hart_bench::restart();
    skip_polls(skip);
    for (unsigned i = 0; i < hart_count; ++i) {
        for (const auto line : {interrupt_line::machine_external, interrupt_line::machine_software})
            harts[i]->set_interrupt(line, false);
        harts[i]->halt();
        harts[i]->reset();
        buses[i]->restart();
    }
    caches.reset();
    const auto begin = (bench.timeline.now() / millisecond + 1) * millisecond;
    bench.run(begin - bench.timeline.now());
    time.begin = begin;
    restart_statistics();

    rng r(seed);
    std::vector<program> programs;
    for (unsigned i = 0; i < hart_count; ++i) programs.push_back(random_program(i, r));
    for (const auto& p : programs) {
        REQUIRE(p.here() - p.base() < 0x1000);
        bench.load(p);
    }
    bench.load(handler_program());
    if (r.below(4)) bench.memory.touch_by_device(polled - memory_base, 8);
    std::vector<std::unique_ptr<disturbance>> all;
    disturb(r, all, begin);
    std::array<std::uint64_t, hart_count> base{};
    std::uint64_t skipped_before = 0;
    for (unsigned i = 0; i < hart_count; ++i) {
        base[i] = harts[i]->instructions.total();
        skipped_before += harts[i]->polls.skipped_instructions;
        bench.start(*harts[i], programs[i].base());
    }
    trace t;
    ticks left = span;
    for (int stop = 0; stop < 20; ++stop) {
        const auto part = std::min(left, r.below_ticks(span / 10));
        bench.run(part);
        left -= part;
        look(t, base, begin);
        if (!r.below(6)) restart_statistics();
        if (!r.below(8)) bench.write(shared + 8 * static_cast<unsigned>(r.below(24)), 99);  // a user
    }
    bench.run(left);
    look(t, base, begin);
    skipped -= skipped_before;
    for (unsigned i = 0; i < hart_count; ++i) {
        instructions += harts[i]->instructions.total() - base[i];
        skipped += harts[i]->polls.skipped_instructions;
    }
    skip_polls(false);
    return t;
}

}  // namespace

TEST_CASE("harts with caches: the same with and without sleep, whenever one looks") {
    compare_with_and_without_sleep(poll_bench::instance());
}
