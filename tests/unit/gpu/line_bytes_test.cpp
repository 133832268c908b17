// SPDX-License-Identifier: Apache-2.0
// Copies of sets of bytes of a line, byte by byte.
#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "gpu/memory/line_bytes.h"

using namespace fabricvp::gpu;

TEST_CASE("bytes of the set are copied, the others stay", "[gpu]") {
    std::mt19937_64 random(1);
    std::array<std::uint8_t, line_bytes> from, to, expected;
    for (unsigned i = 0; i < 10'000; ++i) {
        const std::uint64_t sets[] = {random(), random() & random() & random(), ~std::uint64_t{0}, 0,
                                      bytes_of(random() % 32, 1 + random() % 32)};
        for (const std::uint64_t bytes : sets) {
            for (auto& each : from) each = static_cast<std::uint8_t>(random());
            for (auto& each : to) each = static_cast<std::uint8_t>(random());
            expected = to;
            for (unsigned at = 0; at < line_bytes; ++at)
                if (bytes >> at & 1) expected[at] = from[at];
            copy_bytes(to.data(), from.data(), bytes);
            REQUIRE(to == expected);
        }
    }
}
