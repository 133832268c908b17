// SPDX-License-Identifier: Apache-2.0
// Lanes against the scalar hart: random divergent programs, lane by lane, on every way to execute lanes that this host
// has, with memory that answers at once or late and in any order.
#include "lane_bench.h"
#include "lane_programs.h"

#include "../riscv/assembler.h"
#include "riscv/hart.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

class no_time final : public riscv::timebase {
public:
    std::uint64_t time_at(ticks) const override { return 0; }
    ticks when(std::uint64_t) const override { return never; }
};

/// Nothing that a program touches is out there.
class no_bus final : public bus_target {
public:
    using bus_target::bus_target;

private:
    outcome access(bus_payload& payload, ticks&) override {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return outcome::done;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
};

constexpr unsigned group = 100;  // two wavefronts, one of them not full
constexpr std::uint64_t stub = 0x11000000;

/// One hart that sees what a lane sees, at the same addresses.
struct twin {
    lane_bench& b = lane_bench::instance();
    sparse_memory code{1 << 16}, start{4096}, local{1 << 16}, scratch{4096}, data{1 << 20};
    direct_memory_map map = [this] {
        direct_memory_map m;
        m.add(GPU_CODE_BASE, code.size(), {&code});
        m.add(stub, start.size(), {&start});
        m.add(GPU_LDS_BASE, local.size(), {&local});
        m.add(GPU_SCRATCH_BASE, scratch.size(), {&scratch});
        m.add(lane_bench::data, data.size(), {&data});
        return m;
    }();
    no_time time;
    no_bus nothing{"nothing"};
    riscv::hart hart{"hart", {}, 0, map, time, 1'000'000};

    static twin& instance() {
        static twin t;
        return t;
    }
    twin() {
        hart.bus.bind(nothing.bus);
        // Floating point on, then into the program; x31 is loaded by it.
        using namespace assembler;
        program p(stub);
        p << lui(t6, 0x6) << csrrs(zero, 0x300, t6) << lui(t6, GPU_CODE_BASE >> 12) << jalr(zero, t6, 7 * 4);
        start.write(0, p.words().data(), p.words().size() * 4);
    }

    void run_lane(unsigned lane) {
        scratch.clear();
        local.clear();
        hart.set_reset_vector(stub);
        hart.reset();
        for (unsigned n = 1; n < 32; ++n) hart.set_x(n, 0);
        hart.set_x(2, GPU_SCRATCH_BASE + lane_program::scratch);
        hart.set_x(3, lane_bench::data + 4096 + lane * lane_program::stride);
        hart.set_x(5, GPU_LDS_BASE + lane * lane_program::local_stride);
        hart.start();
        b.timeline.run_until(b.timeline.now() + 10'000'000'000);
        REQUIRE(hart.waiting());
    }
};

/// Register contents: integers of all sizes, floats boxed and not, special values.
std::uint64_t value(std::mt19937_64& random, bool floating) {
    static constexpr std::uint64_t singles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                                0x7fc00000, 0x7fa00000, 0xffc12345, 0x00000001, 0x807fffff, 0x00800000,
                                                0x7f7fffff, 0x4f000000, 0xcf000000, 0x5f000000};
    static constexpr std::uint64_t doubles[] = {0,
                                                0x8000000000000000,
                                                0x3ff0000000000000,
                                                0x7ff0000000000000,
                                                0xfff0000000000000,
                                                0x7ff8000000000000,
                                                0x7ff4000000000000,
                                                1,
                                                0x800fffffffffffff,
                                                0x0010000000000000,
                                                0x7fefffffffffffff,
                                                0x41dfffffffc00000,
                                                0x43e0000000000000,
                                                0x36a0000000000000};
    const auto bits = random();
    const auto kind = random() % 8;
    if (!floating) {
        if (kind < 3) return bits >> (random() % 64);
        if (kind < 5) return static_cast<std::uint64_t>(-static_cast<std::int64_t>(bits >> (random() % 63 + 1)));
        return kind == 5 ? std::uint64_t{1} << 63 : kind == 6 ? 0 : bits;
    }
    const std::uint64_t boxed = 0xffffffff00000000;
    switch (kind) {
        case 0: return boxed | singles[bits % std::size(singles)];
        case 1: return doubles[bits % std::size(doubles)];
        case 2: return bits;
        case 3: return boxed | (bits & 0xffffffff);
        case 4:
        case 5: return boxed | (0x3f000000 + (bits & 0x83ffffff));
        default: return 0x3fd0000000000000 + (bits & 0x803fffffffffffff);
    }
}

}  // namespace

TEST_CASE("random divergent programs leave in each lane what a hart leaves") {
    auto& t = twin::instance();
    const unsigned seed = GENERATE(range(1u, 41u));
    auto& b = lane_bench::restart(seed);
    INFO("seed " << seed);
    const lane_program program(seed);
    const auto& words = program.words();
    REQUIRE(words.size() * 4 < t.code.size());
    REQUIRE(program.start() == 7);

    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> initial(4096 + group * lane_program::stride);
    const std::uint64_t base = b.data + 4096;
    std::memcpy(initial.data(), &base, 8);
    for (unsigned lane = 0; lane < group; ++lane)
        for (unsigned n = 0; n < 128; ++n) {
            const auto v = value(random, n >= 32 && (n < 64 || n % 2));
            std::memcpy(&initial[4096 + lane * lane_program::stride + n * 8], &v, 8);
        }

    // On harts, one lane after the other.
    t.code.clear();
    t.code.write(0, words.data(), words.size() * 4);
    const auto stop = assembler::wfi;
    t.code.write((words.size() - 1) * 4, &stop, 4);
    t.data.write(0, initial.data(), initial.size());
    for (unsigned lane = 0; lane < group; ++lane) t.run_lane(lane);

    b.load(words);
    for (std::size_t unit = 0; unit < b.units.size(); ++unit) {
        INFO("compute unit " << unit);
        b.memory.longest = (seed + unit) % 3 == 0 ? 0 : 300'000;
        b.memory.shortest = (seed + unit) % 3 == 1 ? 100'000 : 0;
        b.memory.hit_time = seed % 2 ? 20'000 : 0;
        b.memory.depth = seed % 5 == 0 ? 2 : 64;
        std::memcpy(&b.memory.at<std::uint8_t>(b.data), initial.data(), initial.size());
        std::memset(&b.memory.at<std::uint8_t>(b.scratch), 0, 1 << 20);
        auto what = b.words(group, group);
        what.scratch_bytes = lane_program::scratch;
        what.lds_bytes = group * lane_program::local_stride;
        const auto& run = b.run(what);
        REQUIRE_FALSE(run.aborted);
        CHECK(b.units[unit]->wavefronts.value() == 2);
        for (unsigned lane = 0; lane < group; ++lane) {
            INFO("lane " << lane);
            const auto at = 4096 + lane * lane_program::stride;
            const auto* lanes = &b.memory.at<std::uint8_t>(b.data + at);
            const auto* harts = t.data.data() + at;
            for (unsigned n = 1; n < 64; ++n) {
                std::uint64_t l, h;
                std::memcpy(&l, lanes + lane_program::dump + n * 8, 8);
                std::memcpy(&h, harts + lane_program::dump + n * 8, 8);
                if (l == h) continue;
                INFO((n < 32 ? "x" : "f") << n % 32 << std::hex << " lane " << l << " hart " << h);
                REQUIRE(l == h);
            }
            REQUIRE(std::memcmp(lanes + lane_program::play, harts + lane_program::play, lane_program::play_size) == 0);
        }
        CHECK(b.memory.live() == 0);
    }
}
