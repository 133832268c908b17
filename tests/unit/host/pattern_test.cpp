// SPDX-License-Identifier: Apache-2.0
// Patterns that firmware compares what arrived with: of any number of bytes, each of which counts.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <cstring>

extern "C" {
#include "lib/pattern.h"
}

TEST_CASE("every byte of a pattern counts, and none behind it") {
    for (std::size_t bytes = 1; bytes <= 24; ++bytes) {
        INFO(bytes);
        alignas(8) std::array<std::uint8_t, 32> memory{};
        memory.fill(0x5a);
        pattern_write(memory.data(), bytes, 7);
        CHECK(memory[bytes] == 0x5a);
        REQUIRE(pattern_check(memory.data(), bytes, 7));
        CHECK_FALSE(pattern_check(memory.data(), bytes, 8));
        for (std::size_t at = 0; at < memory.size(); ++at) {
            memory[at] ^= 0x10;
            CHECK(pattern_check(memory.data(), bytes, 7) == (at >= bytes));
            memory[at] ^= 0x10;
        }
    }
}
