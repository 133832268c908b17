// SPDX-License-Identifier: Apache-2.0
// The coalescer against its definition: distinct lines in the order of their first lanes, and the bytes of each.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "gpu/memory/coalescer.h"

using namespace fabricvp::gpu;

namespace {

struct bench {
    fabricvp::pool<vector_access> accesses;
    coalescer unit;
    coalescer::transactions transactions;
};
bench& instance() {
    static bench b;
    return b;
}

vector_access_ptr make(unsigned bytes, lane_mask mask) {
    auto a = instance().accesses.make();
    a->kind = fabricvp::access_kind::read;
    a->size = static_cast<std::uint8_t>(bytes);
    a->mask = mask;
    return a;
}

std::vector<access_transaction> expected(const vector_access& a) {
    std::vector<access_transaction> all;
    for (unsigned lane = 0; lane < 64; ++lane) {
        if (!(a.mask >> lane & 1)) continue;
        const auto line = a.address[lane] / 64 * 64;
        auto at = std::find_if(all.begin(), all.end(), [&](const access_transaction& p) { return p.line == line; });
        if (at == all.end()) at = all.insert(all.end(), {line, 0, 0});
        at->lanes |= lane_mask{1} << lane;
        for (unsigned i = 0; i < a.size; ++i) at->bytes |= std::uint64_t{1} << (a.address[lane] % 64 + i);
    }
    return all;
}

std::uint64_t truncated(std::uint64_t value, unsigned bytes) {
    return bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

/// Splits, and copies to lanes and back. \returns how many lines
unsigned check(vector_access& a) {
    auto& b = instance();
    const auto want = expected(a);
    const unsigned count = b.unit.split(a, b.transactions);
    REQUIRE(count == want.size());
    for (unsigned n = 0; n < count; ++n) {
        INFO("piece " << n);
        REQUIRE(b.transactions[n].line == want[n].line);
        REQUIRE(b.transactions[n].lanes == want[n].lanes);
        REQUIRE(b.transactions[n].bytes == want[n].bytes);
        std::uint8_t line[64], out[64]{}, reference[64]{};
        for (unsigned i = 0; i < 64; ++i) line[i] = static_cast<std::uint8_t>(i * 37 + n);
        for (unsigned lane = 0; lane < 64; ++lane) a.data[lane] = 0x123456789abcdef0u * (lane + 3);
        coalescer::gather(a, want[n], out);
        for (unsigned lane = 0; lane < 64; ++lane)
            if (want[n].lanes >> lane & 1) std::memcpy(reference + a.address[lane] % 64, &a.data[lane], a.size);
        for (unsigned i = 0; i < 64; ++i)
            if (want[n].bytes >> i & 1) REQUIRE(out[i] == reference[i]);
        coalescer::scatter(a, want[n], line);
        for (unsigned lane = 0; lane < 64; ++lane) {
            if (!(want[n].lanes >> lane & 1)) continue;
            std::uint64_t value = 0;
            std::memcpy(&value, line + a.address[lane] % 64, a.size);
            REQUIRE(a.data[lane] == truncated(value, a.size));
        }
    }
    return count;
}

}  // namespace

TEST_CASE("patterns that have names") {
    constexpr std::uint64_t base = 0x8000'0000;
    const auto lines = [&](unsigned bytes, lane_mask mask, auto address) {
        auto a = make(bytes, mask);
        for (unsigned i = 0; i < 64; ++i) a->address[i] = address(i);
        return check(*a);
    };
    constexpr lane_mask all = ~lane_mask{0};
    for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
        CHECK(lines(bytes, all, [&](std::uint64_t i) { return base + i * bytes; }) == bytes);  // each its own
        CHECK(lines(bytes, all, [&](std::uint64_t i) { return base + 32 + i * bytes; }) ==
              bytes + 1);  // across a line more
        CHECK(lines(bytes, all, [&](std::uint64_t i) { return base + (63 - i) * bytes; }) == bytes);  // backwards
        CHECK(lines(bytes, all, [&](std::uint64_t) { return base + 8; }) == 1);             // one word for all
        CHECK(lines(bytes, all, [&](std::uint64_t i) { return base + i * 64; }) == 64);     // columns
        CHECK(lines(bytes, all, [&](std::uint64_t i) { return base + i % 2 * 64; }) == 2);  // two by turns
        CHECK(lines(bytes, 1, [&](std::uint64_t i) { return base + i * bytes; }) == 1);
        CHECK(lines(bytes, all & ~lane_mask{1}, [&](std::uint64_t i) { return base + i * bytes; }) == bytes);
        CHECK(lines(bytes, 0x8000'0000'0000'0001, [&](std::uint64_t i) { return base + i * bytes; }) ==
              (bytes == 1 ? 1 : 2));
        CHECK(lines(bytes, 0x5555'5555'5555'5555, [&](std::uint64_t i) { return base + i * bytes; }) == bytes);
    }
    CHECK(lines(4, 0, [&](std::uint64_t) { return base; }) == 0);
}

TEST_CASE("random patterns") {
    std::mt19937_64 random(7);
    for (unsigned n = 0; n < 3000; ++n) {
        INFO("pattern " << n);
        const unsigned bytes = 1u << random() % 4, kind = random() % 4;
        lane_mask mask = random() % 3 == 0 ? ~lane_mask{0} : random() & random();
        if (random() % 4 == 0) mask &= ~lane_mask{0} << random() % 64;
        auto a = make(bytes, mask);
        const std::uint64_t start = (random() % (1ull << 40)) / bytes * bytes, spread = 1ull << random() % 16;
        for (unsigned i = 0; i < 64; ++i) {
            const std::uint64_t far = random() % spread * bytes;
            a->address[i] = kind == 0 ? start + far : start + i * bytes * (kind == 2 ? 1 + spread % 5 : 1);
            if (kind == 3 && (random() % 16 == 0 || !(mask >> i & 1)))
                a->address[i] = start + far;  // almost a sequence
        }
        check(*a);
    }
}

TEST_CASE("lanes one by one") {
    auto& b = instance();
    auto a = make(4, 0x8000'0000'0000'00f1);
    for (unsigned i = 0; i < 64; ++i) a->address[i] = 0x8000'0000 + i % 4 * 4;
    REQUIRE(coalescer::split_lanes(*a, b.transactions) == 6);
    for (unsigned n = 0; n < 6; ++n) {
        CHECK(b.transactions[n].line == 0x8000'0000);
        CHECK(__builtin_popcountll(b.transactions[n].lanes) == 1);
        CHECK(__builtin_popcountll(b.transactions[n].bytes) == 4);
    }
}

TEST_CASE("one piece is cut into lanes") {
    auto& b = instance();
    auto a = make(8, 0x8000'0000'0000'00f1);
    for (unsigned i = 0; i < 64; ++i) a->address[i] = 0x8000'0000 + (i == 5 ? 64 : 8 * (i % 2));
    REQUIRE(b.unit.split(*a, b.transactions) == 2);
    const auto other = b.transactions[1];
    REQUIRE(coalescer::split_by_lane(*a, b.transactions, 0, 2) == 6);
    const unsigned lanes[] = {0, 5, 4, 6, 7, 63};
    for (const unsigned n : {0u, 2u, 3u, 4u, 5u}) {
        CHECK(b.transactions[n].line == 0x8000'0000);
        CHECK(b.transactions[n].lanes == lane_mask{1} << lanes[n]);
        CHECK(b.transactions[n].bytes == 0xffull << 8 * (lanes[n] % 2));
    }
    CHECK(b.transactions[1].lanes == other.lanes);
    CHECK(coalescer::split_by_lane(*a, b.transactions, 1, 6) == 6);  // one lane: nothing to cut
    CHECK(b.transactions[1].lanes == other.lanes);
}

TEST_CASE("atomics: lanes on different words share a transaction; the nth lane on a word is in the nth of its line") {
    std::mt19937_64 random(5);
    auto& b = instance();
    for (int round = 0; round < 3000; ++round) {
        const unsigned bytes = random() % 2 ? 4 : 8;
        auto a = make(bytes, random() % 3 ? ~lane_mask{0} : random() | 1);
        const std::uint64_t words = std::uint64_t{1} << random() % 9;
        const bool unit_stride = random() % 8 == 0;
        for (unsigned lane = 0; lane < 64; ++lane) {
            a->address[lane] = 0x1000 + (unit_stride ? lane : random() % words) * bytes;
            a->data[lane] = truncated(random(), bytes);
        }
        std::map<std::uint64_t, unsigned> lanes_of_word, transactions_of_line;
        for (lane_mask left = a->mask; left; left &= left - 1) {
            const auto address = a->address[static_cast<unsigned>(__builtin_ctzll(left))];
            auto& needed = transactions_of_line[address / 64];
            needed = std::max(needed, ++lanes_of_word[address]);
        }
        unsigned want = 0;
        for (const auto& [line, needed] : transactions_of_line) want += needed;
        const unsigned count = b.unit.split_atomics(*a, b.transactions);
        REQUIRE(count == want);
        lane_mask seen = 0;
        std::map<std::uint64_t, unsigned> last_of_word;
        for (unsigned n = 0; n < count; ++n) {
            const auto& t = b.transactions[n];
            REQUIRE(t.lanes);
            REQUIRE((seen & t.lanes) == 0);
            seen |= t.lanes;
            std::uint64_t covered = 0;
            for (lane_mask left = t.lanes; left; left &= left - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
                const auto address = a->address[lane];
                REQUIRE(address / 64 * 64 == t.line);
                const std::uint64_t own = ((std::uint64_t{1} << bytes) - 1) << address % 64;
                REQUIRE((covered & own) == 0);
                covered |= own;
                REQUIRE(last_of_word[address] <= lane);  // lanes on a word keep their order
                last_of_word[address] = lane;
            }
            REQUIRE(covered == t.bytes);
            std::array<std::uint8_t, 64> line{};
            coalescer::gather(*a, t, line.data());
            for (lane_mask left = t.lanes; left; left &= left - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
                std::uint64_t operand = 0;
                std::memcpy(&operand, &line[a->address[lane] % 64], bytes);
                REQUIRE(operand == a->data[lane]);
            }
        }
        REQUIRE(seen == a->mask);
    }
}
