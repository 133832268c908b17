// SPDX-License-Identifier: Apache-2.0
// Bits that flip in HBM: when they are met, and what ECC makes of them.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint64_t home = 0x200000, value = 0x0123'4567'89ab'cdef;
constexpr std::uint64_t way = 64 << 10 >> 2;  // lines at this distance share a set (4 ways)

gpu_memory_system_params with_ecc() {
    auto p = four_banks();
    p.hbm.ecc = true;
    p.hbm.ecc_latency = {4};
    return p;
}

struct bench {
    memory_machine& m;
    line_listener l;

    explicit bench(memory_machine& machine) : m(machine) {
        m.reset();
        m.poke(home + 8, value);
        restart_statistics();
    }

    line_listener::response send(access_kind kind, std::uint64_t offset, std::uint64_t word = 0,
                                 std::uint64_t bytes = ~std::uint64_t{0}) {
        auto r = l.make(kind, gpu0 | offset);
        r->byte_mask = bytes;
        std::memcpy(r->data.data() + (offset & 63), &word, sizeof word);
        m.system.router.send(r);
        m.run();
        return l.responses.back();
    }
    std::uint64_t read(std::uint64_t offset, memory_fault expected = memory_fault::none) {
        const auto r = send(access_kind::read, offset);
        CHECK(r.fault == expected);
        std::uint64_t word;
        std::memcpy(&word, r.data.data() + (offset & 63), sizeof word);
        return word;
    }
    void evict(std::uint64_t offset) {
        for (unsigned n = 1; n < 9; ++n) send(access_kind::read, offset + n * way);
        CHECK_FALSE(m.system.l2.bank_of(offset).holds(offset));
    }
    void flip(std::uint64_t offset, unsigned bit, unsigned bits = 1) {
        auto& kind = m.system.hbm.errors.flip;
        kind.defaults.offset = offset;
        kind.defaults.bit = bit;
        kind.defaults.bits = bits;
        kind.order()->apply();
    }
    std::uint64_t corrected() const { return m.system.hbm.errors.corrected.value(); }
    std::uint64_t uncorrected() const { return m.system.hbm.errors.uncorrected.value(); }
};

/// Elaborated once: SystemC knows no second time.
struct machines {
    calendar cal{"calendar"};
    memory_machine plain{"gpu0", four_banks(), 1}, protected_by_ecc{"gpu1", with_ecc(), 1};
};

machines& all() {
    static machines m;
    return m;
}
bench plain() { return bench(all().plain); }
bench protected_by_ecc() { return bench(all().protected_by_ecc); }

}  // namespace

TEST_CASE("a flipped bit is read when the L2 fetches its line, without ECC") {
    auto b = plain();
    b.flip(home + 8, 3);
    CHECK(b.read(home + 8) == (value ^ 8));
    CHECK(b.read(home) == 0);
    CHECK(b.corrected() + b.uncorrected() == 0);
}

TEST_CASE("a copy in the L2 hides a flipped bit until the line is fetched again") {
    auto b = plain();
    CHECK(b.read(home + 8) == value);
    b.flip(home + 8, 63);
    CHECK(b.read(home + 8) == value);
    b.evict(home);
    CHECK(b.read(home + 8) == (value ^ std::uint64_t{1} << 63));
}

TEST_CASE("a line that is written back mends what has flipped below it") {
    auto b = plain();
    CHECK(b.send(access_kind::write, home + 16, 5).fault == memory_fault::none);  // all of the line
    b.flip(home + 16, 0, 2);
    b.evict(home);
    CHECK(b.read(home + 16) == 5);
}

TEST_CASE("ECC corrects one bit of a word, for a later read") {
    auto b = protected_by_ecc();
    b.flip(home + 8, 3);
    CHECK(b.corrected() == 0);  // it has not been read
    CHECK(b.read(home + 8) == value);
    CHECK(b.corrected() == 1);
    b.evict(home);
    CHECK(b.read(home + 8) == value);
    CHECK(b.corrected() == 1);
    CHECK(b.uncorrected() == 0);
}

TEST_CASE("two bits of a word poison it until it is overwritten as a whole") {
    auto b = protected_by_ecc();
    b.flip(home + 8, 62, 2);
    b.read(home + 8, memory_fault::poisoned);
    CHECK(b.uncorrected() == 1);
    auto r = b.l.make(access_kind::read, gpu0 | home);
    r->sectored = true;
    r->needed_sectors = 0x2;  // beside the word
    b.m.system.router.send(r);
    b.m.run();
    CHECK(b.l.responses.back().fault == memory_fault::none);
    CHECK(b.send(access_kind::atomic, home + 8).fault == memory_fault::poisoned);
    CHECK(b.send(access_kind::load_reserved, home + 8).fault == memory_fault::poisoned);
    CHECK(b.send(access_kind::write, home + 8, 7, std::uint64_t{0xf} << 8).fault == memory_fault::none);
    b.read(home + 8, memory_fault::poisoned);  // half of the word says nothing of the other half
    CHECK(b.send(access_kind::write, home + 8, 7, std::uint64_t{0xff} << 8).fault == memory_fault::none);
    CHECK(b.read(home + 8) == 7);
    CHECK(b.uncorrected() == 1);
}

TEST_CASE("two bits from the last one on are the last two of the word, and no single one") {
    CHECK(cell_flip_arguments{0, 0, 63, 2}.mask() == std::uint64_t{3} << 62);  // of caches
    CHECK(cell_flip_arguments{0, 0, 63, 1}.mask() == std::uint64_t{1} << 63);
    auto p = plain();
    p.flip(home + 8, 63, 2);
    CHECK(p.read(home + 8) == (value ^ std::uint64_t{3} << 62));
    auto e = protected_by_ecc();
    e.flip(home + 8, 63, 2);
    e.read(home + 8, memory_fault::poisoned);
    CHECK(e.corrected() == 0);
    CHECK(e.uncorrected() == 1);
    CHECK(e.send(access_kind::write, home + 8, 7, std::uint64_t{0xff} << 8).fault == memory_fault::none);
}

TEST_CASE("two flips in two words are two single errors") {
    auto b = protected_by_ecc();
    b.flip(home + 8, 1);
    b.flip(home + 16, 1);
    CHECK(b.read(home + 8) == value);
    CHECK(b.corrected() == 2);
}

TEST_CASE("ECC takes its time on a fetch") {
    auto first = plain();
    const ticks begin = calendar::current().now();
    const ticks without = first.send(access_kind::read, home).when - begin;
    auto second = protected_by_ecc();
    const ticks again = calendar::current().now();
    const ticks with = second.send(access_kind::read, home).when - again;
    const clock_domain clock(second.m.system.hbm.params.clock);
    CHECK(with == without + clock.span(cycles{4}));
}
