// SPDX-License-Identifier: Apache-2.0
// Atomics of a wavefront's lanes: those on one line travel and are served together.
#include "unit/gpu/memory_bench.h"

#include <map>
#include <random>

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

using operation = atomic_extension::operation;

gpu_memory_system_params one_bank() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.l2.banks = 1;
    p.l2.size = {64 << 10};
    p.l2.atomic_units = 4;
    return p;
}

const gpu_memory_system_params p = one_bank();
constexpr std::uint64_t base = 0x8000'0000, home = 0x200000;

memory_machine& fresh() {
    auto& m = after_reset<one_bank, 2>();
    m.map_range(base, home, 0x200000, 1);
    m.load(0, base + 0x100000);  // brings the translation in
    return m;
}

vector_access_ptr add(memory_machine& m, std::uint64_t stride, unsigned bytes = 4) {
    auto a = m.clients[0]->make(access_kind::atomic, bytes);
    a->mask = ~lane_mask{0};
    for (unsigned lane = 0; lane < 64; ++lane) {
        a->address[lane] = base + lane * stride;
        a->data[lane] = 100 + lane;
    }
    return a;
}

std::uint64_t requests(memory_machine& m) {
    const auto& bank = *m.system.l2.banks[0];
    return bank.hits.value() + bank.misses.value();
}

}  // namespace

TEST_CASE("a unit-stride atomic is a request for each line") {
    auto& m = fresh();
    for (unsigned lane = 0; lane < 64; ++lane) m.poke<std::uint32_t>(home + lane * 4, 1000 * lane);
    const auto before = requests(m), operations = m.system.l2.banks[0]->atomic_operations.value(),
               lanes = m.system.units[0]->atomics.value();
    auto a = add(m, 4);
    m.time(0, a);
    CHECK(requests(m) - before == 4);
    CHECK(m.system.l2.banks[0]->atomic_operations.value() - operations == 64);
    CHECK(m.system.units[0]->atomics.value() - lanes == 64);
    for (unsigned lane = 0; lane < 64; ++lane) {
        CHECK(a->data[lane] == 1000 * lane);
        CHECK(m.peek<std::uint32_t>(home + lane * 4) == 1000 * lane + 100 + lane);
    }
    const auto wide = requests(m);
    m.time(0, add(m, 8, 8));
    CHECK(requests(m) - wide == 8);
    const auto scattered = requests(m);
    m.time(0, add(m, 64));
    CHECK(requests(m) - scattered == 64);
}

TEST_CASE("lanes on one word go one after the other, in their order") {
    auto& m = fresh();
    const auto before = requests(m);
    auto a = add(m, 0);
    for (auto& each : a->data) each = 1;
    m.time(0, a);
    CHECK(requests(m) - before == 64);
    for (unsigned lane = 0; lane < 64; ++lane) CHECK(a->data[lane] == lane);
    CHECK(m.peek<std::uint32_t>(home) == 64);
}

TEST_CASE("every operation gives what a lane by lane order gives") {
    auto& m = fresh();
    std::mt19937_64 random(3);
    for (const auto op : {operation::add, operation::swap, operation::bit_and, operation::bit_or, operation::bit_xor,
                          operation::min, operation::max, operation::min_unsigned, operation::max_unsigned})
        for (const unsigned bytes : {4u, 8u}) {
            std::map<std::uint64_t, std::uint64_t> words;
            auto a = m.clients[0]->make(access_kind::atomic, bytes);
            a->operation = op;
            a->mask = random() | 1;
            for (unsigned lane = 0; lane < 64; ++lane) {
                a->address[lane] = base + random() % 48 * bytes;
                a->data[lane] = bytes == 8 ? random() : random() & 0xffffffff;
            }
            for (unsigned n = 0; n < 48; ++n) {
                const std::uint64_t value = random();
                if (bytes == 8)
                    m.poke<std::uint64_t>(home + n * 8, value);
                else
                    m.poke<std::uint32_t>(home + n * 4, static_cast<std::uint32_t>(value));
                words[base + n * bytes] = bytes == 8 ? value : value & 0xffffffff;
            }
            std::vector<std::uint64_t> old(64);
            for (unsigned lane = 0; lane < 64; ++lane) {
                if (!(a->mask >> lane & 1)) continue;
                auto& word = words[a->address[lane]];
                old[lane] = perform_atomic(op, reinterpret_cast<std::uint8_t*>(&word), bytes, a->data[lane]);
            }
            m.time(0, a);
            for (unsigned lane = 0; lane < 64; ++lane)
                if (a->mask >> lane & 1) CHECK(a->data[lane] == old[lane]);
            for (const auto& [address, value] : words)
                CHECK((bytes == 8 ? m.peek<std::uint64_t>(home + address - base)
                                  : m.peek<std::uint32_t>(home + address - base)) == value);
        }
}

TEST_CASE("a bank performs as many operations a cycle as it has atomic units") {
    auto& m = fresh();
    const auto lanes = [&](unsigned count) {
        auto a = add(m, 4);
        a->mask = (lane_mask{1} << count) - 1;
        return m.time(0, a);
    };
    lanes(16);
    const double four = lanes(4);
    CHECK(lanes(1) == four);
    CHECK(lanes(5) == four + 1);
    CHECK(lanes(16) == four + 3);
}

TEST_CASE("a device's lanes and a reservation's stay apart") {
    auto& m = fresh();
    const auto before = requests(m);
    auto a = add(m, 4);
    a->kind = access_kind::load_reserved;
    m.time(0, a);
    CHECK(requests(m) - before == 64);
}
