// SPDX-License-Identifier: Apache-2.0
// Harts that sleep over polls: random programs that wait in many ways, disturbed by interrupts and devices, give the
// same with and without, at any time one looks (poll_comparison.h).
#include <algorithm>
#include <memory>

#include "hart_bench.h"
#include "poll_comparison.h"
#include "riscv/decoder.h"
#include "riscv/linear_loop.h"
#include "riscv/slicing.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, code_size = 0x4000, handler = memory_base + 0x1000,
                        flags = memory_base + 0x9000;
constexpr ticks span = 400 * microsecond, millisecond = 1000 * microsecond;

constexpr word blt(reg a, reg b, int o) { return b_type(0x4063, a, b, o); }
constexpr word bge(reg a, reg b, int o) { return b_type(0x5063, a, b, o); }
constexpr word bltu(reg a, reg b, int o) { return b_type(0x6063, a, b, o); }
constexpr word bgeu(reg a, reg b, int o) { return b_type(0x7063, a, b, o); }
constexpr word addw(reg d, reg a, reg b) { return r_type(0x3b, d, a, b); }
constexpr word subw(reg d, reg a, reg b) { return r_type(0x4000003b, d, a, b); }
constexpr word xori(reg d, reg s, int i) { return i_type(0x4013, d, s, i); }
constexpr word andi(reg d, reg s, int i) { return i_type(0x7013, d, s, i); }

hart_params params_of(bool cached) {
    hart_params p;
    p.clock = {1'700'000'000};  // a cycle is no whole number of ticks
    if (cached) {
        p.instructions_per_cycle = 3;
        p.instruction_cache = {{1024}, 2, {100 * nanosecond}};
    }
    return p;
}

/// A loop around a pause; t0 … t6 are its to use.
void add_loop(program& p, rng& r) {
    const auto back_to = [&](std::uint64_t top) { return static_cast<int>(top - p.here()); };
    switch (r.below(13)) {
        case 0: {  // counts down
            p << li(t0, r.between(1, 400));
            const auto top = p.here();
            p << pause << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 1: {  // 32 bits, one loop in another
            p << li(t1, r.between(1, 5));
            const auto outer = p.here();
            p << li(t0, r.between(1, 80));
            const auto top = p.here();
            p << pause << addiw(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            p << addiw(t1, t1, -1);
            p << bne(t1, zero, back_to(outer));
            break;
        }
        case 2: {  // counts up to a bound, signed or not
            p << li(t0, r.between(0, 100)) << li(t1, r.between(50, 1500));
            const auto top = p.here();
            p << addi(t0, t0, r.between(1, 7)) << pause;
            p << (r.below(2) ? blt(t0, t1, back_to(top)) : bltu(t0, t1, back_to(top)));
            break;
        }
        case 3: {  // down past zero
            p << li(t0, r.between(20, 900)) << li(t1, r.between(-300, 10)) << li(t2, r.between(1, 9));
            const auto top = p.here();
            p << sub(t0, t0, t2) << pause;
            p << (r.below(2) ? bge(t0, t1, back_to(top)) : blt(t1, t0, back_to(top)));
            break;
        }
        case 4: {  // two counters that run towards each other, and a third that depends on them
            p << li(t0, 0) << li(t1, r.between(100, 1000)) << li(t2, r.between(1, 4));
            const auto top = p.here();
            p << pause << add(t0, t0, t2) << addi(t1, t1, -1) << sub(t3, t1, t0) << addi(t4, t3, 5);
            p << blt(t0, t1, back_to(top));
            break;
        }
        case 5: {  // calls a function
            p << li(t0, r.between(1, 200)) << j(16);
            const auto function = p.here();
            p << addi(t1, t0, 3) << addi(t0, t0, -1) << ret();
            const auto top = p.here();
            p << pause;
            p << jal(ra, back_to(function));
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 6: {  // looks at memory
            p << li(t0, r.between(1, 200));
            const auto top = p.here();
            p << pause << ld(t1, a1, 8 * r.below(4)) << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 7: {  // looks at a device
            p << li(t0, r.between(1, 60));
            const auto top = p.here();
            p << pause << lw(t1, a0, 4 * r.below(4)) << addi(t0, t0, -1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 8: {  // looks at the clock
            p << csrr(t0, csr::time) << addi(t0, t0, r.between(1, 60));
            const auto top = p.here();
            p << pause << csrr(t1, csr::time);
            p << bltu(t1, t0, back_to(top));
            break;
        }
        case 9: {  // wraps at 32 bits
            p << lui(t0, 0x7ffff) << addiw(t0, t0, 2047) << addiw(t0, t0, 2047 - r.between(0, 500));
            p << addiw(t0, t0, 0x10) << li(t2, r.between(1, 3));
            const auto top = p.here();
            p << addw(t0, t0, t2) << pause;
            p << blt(zero, t0, back_to(top));
            break;
        }
        case 10: {  // what is no counter: the steps of t1 change
            p << li(t0, r.between(1, 300));
            const auto top = p.here();
            p << pause << addi(t0, t0, -1) << (r.below(2) ? xori(t1, t0, 21) : andi(t1, t0, 7)) << add(t2, t2, t1);
            p << bne(t0, zero, back_to(top));
            break;
        }
        case 11: {  // unsigned, across zero; and a constant that is made anew each round
            p << li(t0, r.between(30, 500)) << li(t2, r.between(1, 3));
            const auto top = p.here();
            p << pause << subw(t0, t0, t2) << li(t3, 400) << lui(t4, 77);
            p << bgeu(t3, t0, back_to(top));
            break;
        }
        default: {  // steps that are missed
            p << li(t0, r.between(100, 999)) << li(t1, r.between(0, 60)) << li(t5, 700);
            const auto top = p.here();
            p << pause << addi(t0, t0, -3) << addi(t5, t5, -1) << beq(t5, zero, 8);
            p << bne(t0, t1, back_to(top));
            break;
        }
    }
}

program random_program(std::uint64_t at, rng& r) {
    program p(at);
    p << constant(a0, device_base) << constant(a1, flags) << constant(t0, handler) << csrw(csr::mtvec, t0);
    p << constant(t0, 1 << 11 | 1 << 7 | 1 << 5 | 1 << 3) << csrw(csr::mie, t0);
    if (r.below(2))  // a timer of its own, which the handler sets anew
        p << li(t0, 1) << slli(t0, t0, 63) << csrw(csr::menvcfg, t0) << csrr(t0, csr::time)
          << addi(t0, t0, r.between(1, 400)) << csrw(csr::stimecmp, t0);
    if (r.below(4)) p << li(t0, 8) << csrrs(zero, csr::mstatus, t0);
    for (int n = r.between(3, 9), i = 0; i < n; ++i) {
        add_loop(p, r);
        if (r.below(3)) p << addi(s1, s1, 1) << sw(s1, a0, 16);
        if (!r.below(4)) p << sd(t0, a1, 8 * r.below(8));
    }
    switch (r.below(3)) {
        case 0: p << j(0); break;
        case 1: p << pause << j(-4); break;
        default: p << addi(s2, s2, 1) << pause << j(-8); break;
    }
    return p;
}

program handler_program() {
    return program(handler) << csrr(s10, csr::time) << addi(s10, s10, 97) << csrw(csr::stimecmp, s10)
                            << addi(s11, s11, 1) << sw(s11, a0, 32) << mret;
}

struct poll_bench {
    hart_bench& bench = hart_bench::instance();
    own_timebase time;
    test_bus bus0{"poll_bus0", bench.memory}, bus1{"poll_bus1", bench.memory};
    hart first{"poll_hart0", params_of(false), 0, bench.map, time, microsecond};
    hart second{"poll_hart1", params_of(true), 1, bench.map, time, microsecond};
    std::uint64_t skipped = 0, instructions = 0;

    poll_bench() {
        first.bus.bind(bus0.bus);
        second.bus.bind(bus1.bus);
    }
    static poll_bench& instance() {
        static auto* all = new poll_bench;
        return *all;
    }

    using trace = std::vector<std::uint64_t>;
    trace run(std::uint64_t seed, bool skip);

private:
    void look(trace& t, const std::array<std::uint64_t, 2>& base, ticks begin) const;
};

void poll_bench::look(trace& t, const std::array<std::uint64_t, 2>& base, ticks begin) const {
    std::size_t n = 0;
    for (const auto* h : {&first, &second}) look_at(*h, base[n++], t);
    for (const auto* b : {&bus0, &bus1})
        for (const auto& e : b->log) t.insert(t.end(), {e.when - begin, e.address, e.value, e.write});
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 0xa000; i += 8) sum = sum * 31 + bench.read(memory_base + i);
    t.push_back(sum);
}

poll_bench::trace poll_bench::run(std::uint64_t seed, bool skip) {
    hart_bench::restart();
    skip_polls(skip);
    for (auto* h : {&first, &second}) {
        for (unsigned line : {3, 7, 11}) h->set_interrupt(static_cast<interrupt_line>(line), false);
        h->halt();
        h->reset();
    }
    bus0.restart();
    bus1.restart();
    const auto begin = (bench.timeline.now() / millisecond + 1) * millisecond;
    bench.run(begin - bench.timeline.now());
    time.begin = begin;
    restart_statistics();

    rng r(seed);
    const auto one = random_program(code, r), two = random_program(code + 0x2000, r);
    REQUIRE(std::max(one.here() - code, two.here() - code - 0x2000) < 0x1000);
    for (const auto& p : {one, two, handler_program()}) bench.load(p);
    bus0.latency = static_cast<ticks>(r.between(1, 300)) * 1000;
    bus1.latency = static_cast<ticks>(r.between(1, 300)) * 1000;

    std::vector<std::unique_ptr<disturbance>> all;
    const auto at = [&](ticks when, std::function<void()> what) {
        all.push_back(std::make_unique<disturbance>());
        all.back()->what = std::move(what);
        bench.timeline.schedule(all.back()->event, begin + when);
    };
    for (int n = r.below(12), i = 0; i < n; ++i) {
        // Often on the grid of the harts' clock, so that times are equal.
        const auto when = r.below(2) ? static_cast<ticks>(r.below(static_cast<int>(span)))
                                     : static_cast<ticks>(r.below(40'000)) * 10'000;
        auto& h = r.below(2) ? first : second;
        const auto line = static_cast<interrupt_line>(std::array{3, 7, 11}[static_cast<unsigned>(r.below(3))]);
        switch (r.below(4)) {
            case 0:
                at(when, [this, r = r]() mutable { bench.write(flags + 8 * static_cast<unsigned>(r.below(8)), 1); });
                break;
            case 1: at(when, [this] { bench.memory.touch_by_device(flags - memory_base, 64); }); break;
            case 2: at(when, [this] { bench.write(code, bench.read(code)); }); break;  // code, though the same
            default:
                at(when, [&h, line] { h.set_interrupt(line, true); });
                at(when + static_cast<ticks>(r.between(1, 400'000)), [&h, line] { h.set_interrupt(line, false); });
                break;
        }
    }
    const std::array<std::uint64_t, 2> base{first.instructions.total(), second.instructions.total()};
    const auto skipped_before = first.polls.skipped_instructions + second.polls.skipped_instructions;
    bench.start(first, one.base());
    bench.start(second, two.base());
    trace t;
    ticks left = span;
    for (int stop = 0; stop < 20; ++stop) {
        const auto part = std::min(left, static_cast<ticks>(r.below(static_cast<int>(span / 10))));
        bench.run(part);
        left -= part;
        look(t, base, begin);
        if (!r.below(6)) restart_statistics();
    }
    bench.run(left);
    look(t, base, begin);
    instructions += first.instructions.total() + second.instructions.total() - base[0] - base[1];
    skipped += first.polls.skipped_instructions + second.polls.skipped_instructions - skipped_before;
    skip_polls(false);
    return t;
}

std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)> unit_costs() {
    std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)> c;
    c.fill(1);
    return c;
}

}  // namespace

TEST_CASE("what is certain of a loop") {
    std::array<std::uint64_t, 32> x{};
    x[t0] = 64;
    const auto count = [&](const std::vector<word>& before, word branch_back) {
        std::vector<word> words{nop, pause};  // it begins behind the pause at code + 4
        words.insert(words.end(), before.begin(), before.end());
        words.push_back(branch_back);
        words.push_back(ebreak);
        return prove_linear(
            x.data(), code + 8,
            [&](std::uint64_t pc, bool, instruction& i) {
                i = decode(words[(pc - code) / 4], {});
                return true;
            },
            unit_costs());
    };
    const auto n = count({addiw(t0, t0, -1)}, bne(t0, zero, -8));
    CHECK(n.refusal == loop_refusal::none);
    CHECK(n.rounds == 63);  // the 64th does not come back
    CHECK(n.instructions == 3);
    CHECK(n.cost == 3);
    CHECK(n.parts.at(0).x[t0].step == ~std::uint64_t{0});
    x[t1] = 100;
    CHECK(count({addi(t0, t0, 5)}, blt(t0, t1, -8)).rounds == 7);   // 69 … 99, then 104
    CHECK(count({addi(t0, t0, 4)}, blt(t0, t1, -8)).rounds == 8);   // 68 … 96, then 100
    CHECK(count({addi(t0, t0, 5)}, bne(t0, t1, -8)).rounds > 1e6);  // missed
    CHECK(count({addi(t0, t0, 4)}, bne(t0, t1, -8)).rounds == 8);
    CHECK(count({addi(t0, t0, -1)}, bgeu(t1, t0, -8)).rounds == 64);  // 63 … 0; then it is large
    x[t0] = 0x7ffffff0;
    CHECK(count({addiw(t0, t0, 1)}, bne(t0, zero, -8)).rounds == 15);  // to 0x7fffffff
    CHECK(count({ld(t0, t1, 0)}, bne(t0, zero, -8)).refusal == loop_refusal::memory);
    CHECK(count({fence}, bne(t0, zero, -8)).refusal == loop_refusal::memory);
    CHECK(count({csrr(t0, csr::time)}, bne(t0, zero, -8)).refusal == loop_refusal::system);
    CHECK(count({slli(t0, t0, 1)}, bne(t0, zero, -8)).refusal == loop_refusal::counters);
    CHECK(count(std::vector<word>(80, nop), bne(t0, zero, -8)).refusal == loop_refusal::too_long);
    x[ra] = code + 4;
    CHECK(count({add(t2, t0, t0)}, jalr(zero, ra, 0)).refusal == loop_refusal::counters);  // t2 has yet to settle
    x[t2] = 2 * x[t0];
    CHECK(count({add(t2, t0, t0)}, jalr(zero, ra, 0)).rounds > 1e6);
}

namespace {
/// Words of which all are the hart's own, but for those from `far` on, which are reached through the calendar.
struct own_words final : loop_memory {
    std::array<std::uint64_t, 8> words{};
    unsigned far = 8;
    bool writable = true;
    seen look(std::uint64_t address, unsigned, bool writes) override {
        const auto n = (address - flags) / 8;
        if (n >= words.size() || (writes && (!writable || n >= far))) return {};
        return {reinterpret_cast<std::uint8_t*>(&words[n]) + address % 8, n >= far};
    }
};
}  // namespace

TEST_CASE("what is certain of a loop that loads and stores") {
    std::array<std::uint64_t, 32> x{};
    own_words memory;
    x[t0] = 64;
    x[a1] = flags;
    const auto prove = [&](const std::vector<word>& before) {
        std::vector<word> words{nop, pause};
        words.insert(words.end(), before.begin(), before.end());
        words.push_back(addi(t0, t0, -1));
        words.push_back(bne(t0, zero, -4 * static_cast<int>(before.size() + 2)));
        return prove_linear(
            x.data(), code + 8,
            [&](std::uint64_t pc, bool, instruction& i) {
                i = decode(words[(pc - code) / 4], {});
                return true;
            },
            unit_costs(), &memory);
    };
    memory.words[1] = x[t1] = 7;
    const auto loaded = prove({ld(t1, a1, 8), fence});
    CHECK(loaded.refusal == loop_refusal::none);
    CHECK(loaded.rounds == 63);
    CHECK(loaded.parts.size() == 1);
    REQUIRE(loaded.accesses.size() == 1);
    CHECK(!loaded.accesses[0].writes);

    // A counter that is saved and restored: what is stored counts, and what is loaded.
    memory.words[2] = x[t2] = x[t0];
    const auto saved = prove({sd(t0, a1, 16), ld(t2, a1, 16)});
    CHECK(saved.refusal == loop_refusal::counters);  // what is there is not yet what a round leaves
    memory.words[2] = x[t2] = x[t0] + 1;
    const auto counted = prove({sd(t0, a1, 16), ld(t2, a1, 16)});
    REQUIRE(counted.refusal == loop_refusal::none);
    CHECK(counted.accesses[0].value.at(3) == 61);
    CHECK(prove({sw(t0, a1, 16)}).refusal == loop_refusal::counters);               // half a word that counts
    CHECK(prove({ld(t1, a1, 8), lw(t3, a1, 12)}).refusal == loop_refusal::memory);  // words that overlap
    CHECK(prove({ld(t1, t0, 0)}).refusal != loop_refusal::none);                    // an address that counts

    memory.far = 4;
    memory.words[5] = x[t4] = 9;
    const auto far = prove({ld(t1, a1, 8), ld(t4, a1, 40)});
    REQUIRE(far.refusal == loop_refusal::none);
    REQUIRE(far.parts.size() == 3);
    CHECK(far.parts[1].pc == code + 12);
    CHECK(far.parts[1].access.op == opcode::ld);
    CHECK(far.parts[2].instructions == 2);
    CHECK(far.accesses[1].part == 1);
    CHECK(prove({sd(t4, a1, 40)}).refusal == loop_refusal::memory);
    memory.writable = false;
    CHECK(prove({sd(t4, a1, 0)}).refusal == loop_refusal::memory);

    // Low bits of a counter count until they wrap.
    x[t0] = 100;
    x[t5] = 101 & 15;
    CHECK(prove({andi(t5, t0, 15)}).rounds == 5);  // 4 … 0
}

TEST_CASE("the same with and without sleep, whenever one looks") {
    compare_with_and_without_sleep(poll_bench::instance());
}
