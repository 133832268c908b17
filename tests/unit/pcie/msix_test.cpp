// SPDX-License-Identifier: Apache-2.0
// The MSI-X table by itself.
#include <catch2/catch.hpp>

#include <array>
#include <vector>

#include "pcie/msix.h"

using namespace fabricvp::pcie;

TEST_CASE("a write over several entries of an MSI-X table keeps reserved bits of each zero") {
    msix_table table(4, [](std::uint64_t, std::uint32_t) {});
    std::array<std::uint8_t, 64> bytes;
    bytes.fill(0xff);
    table.write(0, bytes.data(), 64);
    table.read(0, bytes.data(), 64);
    for (unsigned entry = 0; entry < 4; ++entry) {
        CHECK(bytes[16 * entry] == 0xfc);       // addresses are of words
        CHECK(bytes[16 * entry + 12] == 0x01);  // vector control has the mask alone
        CHECK(bytes[16 * entry + 13] == 0);
    }
}

TEST_CASE("a write over the ends of two entries of an MSI-X table unmasks both") {
    std::vector<std::uint32_t> sent;
    msix_table table(2, [&](std::uint64_t, std::uint32_t data) { sent.push_back(data); });
    table.set_control(true, false);
    table.raise(0);
    table.raise(1);
    CHECK(sent.empty());
    const std::uint32_t words[8] = {0x1000, 0, 7, 0, 0x2000, 0, 8, 0};
    table.write(0, words, sizeof words);
    CHECK(sent == std::vector<std::uint32_t>{7, 8});
}
