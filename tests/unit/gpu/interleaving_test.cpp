// SPDX-License-Identifier: Apache-2.0
// How addresses are spread over banks and channels.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gpu/memory/interleaving.h"

using namespace fabricvp::gpu;

namespace {

/// How many of `count` addresses that are `stride` bytes apart, from `first` on, the busiest unit gets.
std::uint64_t most(const interleaving& to, std::uint64_t units, std::uint64_t first, std::uint64_t stride,
                   std::uint64_t count) {
    std::vector<std::uint64_t> got(units);
    for (std::uint64_t n = 0; n < count; ++n) ++got.at(to.unit_of(first + n * stride));
    return *std::max_element(got.begin(), got.end());
}

}  // namespace

TEST_CASE("chunks go to units in turns") {
    const interleaving plain(16, 128, false);
    for (std::uint64_t n = 0; n < 64; ++n) {
        CHECK(plain.unit_of(128 * n + 127) == n % 16);
        CHECK(plain.round_of(128 * n) == n / 16);
    }
    CHECK(most(plain, 16, 0, 2048, 64) == 64);  // all in one
}

TEST_CASE("hashed, every power of two as stride uses all units evenly") {
    for (std::uint64_t units = 1; units <= 256; units *= 2)
        for (const std::uint64_t chunk : {64, 128, 4096}) {
            const interleaving to(units, chunk, true);
            for (std::uint64_t stride = chunk; stride <= std::uint64_t{1} << 38; stride *= 2) {
                INFO(units << " units of " << chunk << " bytes, " << stride << " bytes apart");
                CHECK(most(to, units, 0, stride, 2 * units) == 2);
                CHECK(most(to, units, 5 * units * stride, stride, units) == 1);
            }
        }
}

TEST_CASE("addresses map one-to-one") {
    for (const bool hashed : {false, true})
        for (const std::uint64_t units : {1, 2, 16, 32, 256}) {
            const interleaving to(units, 128, hashed);
            std::set<std::pair<unsigned, std::uint64_t>> places;
            for (std::uint64_t n = 0; n < 4096; ++n) {
                // Near 0, and near the end of a TiB; with a bit above all addresses, which changes no unit.
                for (const std::uint64_t base : {std::uint64_t{0}, (std::uint64_t{1} << 40) - (1 << 20)}) {
                    const std::uint64_t at = base + 128 * n;
                    REQUIRE(to.unit_of(at) < units);
                    CHECK(to.begin_of(to.unit_of(at), to.round_of(at)) == at);
                    CHECK(to.unit_of(at + 64) == to.unit_of(at));
                    places.emplace(to.unit_of(at), to.round_of(at));
                    const std::uint64_t marked = at | std::uint64_t{1} << 52;
                    CHECK(to.unit_of(marked) == to.unit_of(at));
                    CHECK(to.begin_of(to.unit_of(at), to.round_of(marked)) == marked);
                }
            }
            CHECK(places.size() == 2 * 4096);
        }
}

TEST_CASE("hashed, columns and diagonals of matrices use most units") {
    const std::uint64_t units = 32;
    const interleaving to(units, 128, true);
    // Rows of 4 KiB: a column, and diagonals by one and by a few chunks a row. With an exclusive or of the parts of an
    // address, the first diagonal would meet in one unit.
    for (const std::uint64_t step : {0, 128, 256, 384, 640}) {
        INFO("step " << step);
        CHECK(most(to, units, 0, 4096 + step, 1024) <= 3 * 1024 / units);
    }
}
