// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/address_map.h"
#include "base/sparse_memory.h"

using namespace fabricvp;

namespace {

struct watcher final : memory_observer {
    void page_marked(sparse_memory&, std::uint64_t page, unsigned mark) override { marked.emplace_back(page, mark); }
    void marked_page_written(sparse_memory&, std::uint64_t offset, std::uint64_t size,
                             const memory_observer* writer) override {
        written.emplace_back(offset, size, writer);
    }
    std::vector<std::pair<std::uint64_t, unsigned>> marked;
    std::vector<std::tuple<std::uint64_t, std::uint64_t, const memory_observer*>> written;
};

std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t size = 0, resident = 0;
    statm >> size >> resident;
    return resident * 4096;
}

}  // namespace

TEST_CASE("64 GiB of memory cost what is touched") {
    const std::uint64_t size = std::uint64_t{64} << 30;
    sparse_memory m(size);
    CHECK(m.size() == size);
    const auto before = resident_bytes();
    const std::uint32_t word = 0x12345678;
    for (const std::uint64_t at : {std::uint64_t{0}, size / 2, size - 4}) {
        std::uint32_t back = 1;
        m.read(at, &back, 4);
        CHECK(back == 0);
        m.write(at, &word, 4);
        m.read(at, &back, 4);
        CHECK(back == word);
    }
    CHECK(resident_bytes() - before < 1 << 20);
    CHECK(m.contains(size - 4, 4));
    CHECK_FALSE(m.contains(size - 3, 4));
    CHECK_FALSE(m.contains(~std::uint64_t{0}, 2));
}

TEST_CASE("observers hear of marks once and of writes to decoded and reserved pages") {
    sparse_memory m(16 * sparse_memory::page_size);
    watcher a, b;
    m.attach(a);
    m.attach(b);
    m.set_mark(2, sparse_memory::decoded);
    m.set_mark(2, sparse_memory::decoded);
    m.set_mark(3, sparse_memory::reserved);
    m.set_mark(2, sparse_memory::decoded | sparse_memory::reserved);
    CHECK(a.marked == std::vector<std::pair<std::uint64_t, unsigned>>{
                          {2, sparse_memory::decoded}, {3, sparse_memory::reserved}, {2, sparse_memory::reserved}});
    CHECK(b.marked == a.marked);
    CHECK(m.marks(2) == (sparse_memory::decoded | sparse_memory::reserved));

    // One write over pages 1 to 4 is told for the marked ones, each with its part.
    std::vector<std::uint8_t> bytes(3 * 4096, 0xa5);
    m.write(4096 + 100, bytes.data(), bytes.size(), &b);
    CHECK(a.written == decltype(a.written){{2 * 4096, 4096, &b}, {3 * 4096, 4096, &b}});
    a.written.clear();
    m.fill(3 * 4096 + 8, 0, 4);
    m.written(2 * 4096 + 8, 0);
    CHECK(a.written == decltype(a.written){{3 * 4096 + 8, 4, nullptr}});
    CHECK(m.data()[3 * 4096 + 7] == 0xa5);
    CHECK(m.data()[3 * 4096 + 8] == 0);

    a.written.clear();
    m.clear_mark(3, sparse_memory::reserved);
    m.fill(3 * 4096, 1, 1);
    CHECK(a.written.empty());
    m.detach(b);
    b.written.clear();
    m.fill(2 * 4096, 1, 1);
    CHECK(a.written.size() == 1);
    CHECK(b.written.empty());
}

TEST_CASE("pages that devices touch are marked, and their writes are not told") {
    sparse_memory m(16 * sparse_memory::page_size);
    watcher w;
    m.attach(w);
    m.touch_by_device(4095, 2);
    m.touch_by_device(0, 8192);
    m.touch_by_device(0, 0);
    CHECK(w.marked ==
          std::vector<std::pair<std::uint64_t, unsigned>>{{0, sparse_memory::device}, {1, sparse_memory::device}});
    m.fill(0, 1, 4096);
    CHECK(w.written.empty());
}

TEST_CASE("a page that a device has touched is given back to a hart that walks through it") {
    sparse_memory m(4 * sparse_memory::page_size);
    const auto device_mark = [&](std::uint64_t page) { return (m.marks(page) & sparse_memory::device) != 0; };
    SECTION("rising addresses") {
        m.touch_by_device(0, 8192);
        for (unsigned at = 0; at < 1024; at += 8) m.reached_by_hart(4096 + at);
        CHECK_FALSE(device_mark(1));
        CHECK(device_mark(0));
        m.touch_by_device(4096, 1);
        CHECK(device_mark(1));
    }
    SECTION("not to one that polls, a word or two in turn") {
        m.touch_by_device(0, 1);
        for (unsigned i = 0; i < 1000; ++i) m.reached_by_hart(64);
        for (unsigned i = 0; i < 1000; ++i) m.reached_by_hart(i % 2 ? 128 : 64);
        for (unsigned i = 0; i < 1000; ++i) m.reached_by_hart(512 + 64 * (i % 8));
        CHECK(device_mark(0));
    }
    SECTION("rising on the whole, or a table read again and again") {
        m.touch_by_device(0, 8192);
        for (unsigned first = 0; first < 128; first += 4)
            for (unsigned back = 16; back-- > 0;) m.reached_by_hart(first + 4 * back);
        CHECK_FALSE(device_mark(0));
        for (unsigned i = 0; i < 1000; ++i) m.reached_by_hart(4096 + 4 * (i % 16));
        CHECK_FALSE(device_mark(1));
    }
    SECTION("not while the device comes back") {
        m.touch_by_device(0, 1);
        for (unsigned at = 0; at < 4096; at += 8) {
            m.reached_by_hart(at);
            if (at % 64 == 0) m.touch_by_device(8, 4);
        }
        CHECK(device_mark(0));
    }
}

TEST_CASE("clear() gives pages back and clears marks") {
    sparse_memory m(16 * sparse_memory::page_size);
    watcher w;
    m.attach(w);
    m.fill(0, 0xff, m.size());
    m.set_mark(5, sparse_memory::decoded);
    m.clear();
    CHECK(m.data()[5 * 4096] == 0);
    CHECK(m.marks(5) == 0);
    CHECK(w.written == decltype(w.written){{0, m.size(), nullptr}});
}

TEST_CASE("impossible sizes are refused") {
    CHECK_THROWS_AS(sparse_memory(0), std::invalid_argument);
    CHECK_THROWS_AS(sparse_memory(100), std::invalid_argument);
    CHECK_THROWS_AS(sparse_memory(std::uint64_t{1} << 60), std::runtime_error);
}

TEST_CASE("an address map finds ranges and refuses overlaps") {
    address_map<int> map;
    map.add(0x1000, 0x1000, 1);
    map.add(0x8000'0000, 0x8000'0000, 2);
    map.add(0xffff'ffff'ffff'f000, 0x1000, 3);
    CHECK(map.find(0xfff) == nullptr);
    CHECK(map.find(0x1000)->value == 1);
    CHECK(map.find(0x1fff)->value == 1);
    CHECK(map.find(0x2000) == nullptr);
    CHECK(map.find(0xffff'ffff)->value == 2);
    CHECK(map.find(~std::uint64_t{0})->value == 3);
    CHECK_THROWS_AS(map.add(0x1fff, 1, 4), std::invalid_argument);
    CHECK_THROWS_AS(map.add(0x0, 0x1001, 4), std::invalid_argument);
    CHECK_THROWS_AS(map.add(0x3000, 0, 4), std::invalid_argument);
    CHECK_THROWS_AS(map.add(~std::uint64_t{0}, 2, 4), std::invalid_argument);
}
