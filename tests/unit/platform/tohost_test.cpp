// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>

#include "platform/tohost.h"

using namespace fabricvp;

namespace {

struct bench {
    std::string memory = std::string(4096, '\0');
    std::string printed;
    tohost_port port{64, 72,
                     [this](std::uint64_t at, void* to, std::size_t n) {
                         return at + n <= memory.size() ? (std::memcpy(to, &memory[at], n), n) : 0;
                     },
                     [this](std::uint64_t at, const void* from, std::size_t n) {
                         return at + n <= memory.size() ? (std::memcpy(&memory[at], from, n), n) : 0;
                     },
                     [this](char c) { printed += c; }};

    void set(std::uint64_t at, std::uint64_t value) { std::memcpy(&memory[at], &value, 8); }
    std::uint64_t get(std::uint64_t at) const {
        std::uint64_t value;
        std::memcpy(&value, &memory[at], 8);
        return value;
    }
};

}  // namespace

TEST_CASE("passing and failing") {
    bench b;
    CHECK_FALSE(b.port.poll());
    b.set(64, 1);
    CHECK(b.port.poll() == 0u);
    b.set(64, (13 << 1) | 1);
    CHECK(b.port.poll() == 13u);
}

TEST_CASE("characters are printed and acknowledged") {
    bench b;
    b.set(64, 0x0101000000000041);
    CHECK_FALSE(b.port.poll());
    CHECK(b.printed == "A");
    CHECK(b.get(64) == 0);
}

TEST_CASE("system calls") {
    bench b;
    std::memcpy(&b.memory[512], "text", 4);
    b.set(256, 64);
    b.set(264, 1);
    b.set(272, 512);
    b.set(280, 4);
    b.set(64, 256);
    CHECK_FALSE(b.port.poll());
    CHECK(b.printed == "text");
    CHECK(b.get(256) == 4);
    CHECK(b.get(72) == 1);
    CHECK(b.get(64) == 0);

    b.set(280, ~std::uint64_t{0});  // a length that is not to be believed
    b.set(256, 64);
    b.set(64, 256);
    CHECK_FALSE(b.port.poll());
    CHECK(b.printed.size() < 5000);

    b.set(256, 93);
    b.set(264, 3);
    b.set(64, 256);
    CHECK(b.port.poll() == 3u);

    b.set(256, 1234);
    b.set(64, 256);
    CHECK_FALSE(b.port.poll());
    CHECK(static_cast<std::int64_t>(b.get(256)) == -38);
}
