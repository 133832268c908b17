// SPDX-License-Identifier: Apache-2.0
// The parts of firmware/lib that touch no hardware, on the build machine: device-tree reader, printf, allocator.
#include <catch2/catch.hpp>

#include <cstdarg>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "lib/console.h"
#include "lib/fdt.h"
#include "lib/harts.h"
#include "lib/heap.h"

unsigned long spin_lock(struct spinlock*) { return 0; }
void spin_unlock(struct spinlock*, unsigned long) {}
[[noreturn]] void panic(const char* format, ...) { throw std::runtime_error(format); }
}

#include "abi/memory_map.h"
#include "host/device_tree.h"

namespace {

std::vector<std::uint8_t> blob() {
    fabricvp::host::device_tree_description d;
    d.isa = {"rv64imac", "rv64gc"};
    d.memory_base = VIRT_DRAM_BASE;
    d.memory_size = 0x2'0000'0000;
    d.pcie_mmio64_base = VIRT_PCIE_MMIO64_BASE;
    d.pcie_mmio64_size = VIRT_PCIE_MMIO64_SIZE;
    d.bootargs = "console=ttyS0";
    return fabricvp::host::make_device_tree(d);
}

std::string format(const char* f, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, f);
    const int length = format_text(text, sizeof text, f, arguments);
    va_end(arguments);
    CHECK(static_cast<std::size_t>(length) == std::strlen(text));
    return text;
}

/// Everything that a firmware asks of a tree.
std::uint64_t walk(const fdt& tree) {
    std::uint64_t sum = 0;
    for (fdt_node n = fdt_root(&tree); n >= 0; n = fdt_next_node(&tree, n)) {
        std::uint64_t address = 0, size = 0;
        sum += std::strlen(fdt_name(&tree, n));
        if (fdt_reg(&tree, n, 0, &address, &size)) sum += address ^ size;
        if (const char* text = fdt_text(&tree, n, "compatible")) sum += std::strlen(text);
        sum += static_cast<std::uint64_t>(fdt_parent(&tree, n));
    }
    fdt_find_path(&tree, "/soc/serial@10000000:115200");
    fdt_find_compatible(&tree, -1, "riscv,plic0");
    fdt_find_phandle(&tree, 3);
    return sum;
}

}  // namespace

TEST_CASE("device tree: paths, properties, registers") {
    const auto b = blob();
    fdt t;
    REQUIRE(fdt_open(&t, b.data()));
    CHECK(fdt_text(&t, fdt_find_path(&t, "/chosen"), "bootargs") == std::string("console=ttyS0"));
    const auto uart = fdt_find_path(&t, fdt_text(&t, fdt_find_path(&t, "/chosen"), "stdout-path"));
    REQUIRE(uart >= 0);
    CHECK(fdt_name(&t, uart) == std::string("serial@10000000"));
    CHECK(fdt_find_path(&t, "/soc/serial") == uart);
    CHECK(fdt_find_path(&t, "/soc/serial@10000000:115200n8") == uart);
    CHECK(fdt_find_path(&t, "/soc/seria") < 0);
    CHECK(fdt_find_compatible(&t, -1, "ns16550a") == uart);
    CHECK(fdt_find_compatible(&t, uart, "ns16550a") < 0);
    std::uint64_t address = 0, size = 0;
    REQUIRE(fdt_reg(&t, uart, 0, &address, &size));
    CHECK(address == VIRT_UART_BASE);
    CHECK(size == VIRT_UART_SIZE);
    CHECK_FALSE(fdt_reg(&t, uart, 1, &address, &size));
    REQUIRE(fdt_reg(&t, fdt_find_path(&t, "/memory"), 0, &address, &size));
    CHECK(size == 0x2'0000'0000);
    REQUIRE(fdt_reg(&t, fdt_find_path(&t, "/cpus/cpu@1"), 0, &address, &size));  // one address cell, no size
    CHECK(address == 1);
    const auto plic = fdt_find_compatible(&t, -1, "riscv,plic0");
    const auto controller = fdt_find_phandle(&t, fdt_cell(&t, plic, "interrupts-extended", 4, 0));
    CHECK(fdt_name(&t, fdt_parent(&t, controller)) == std::string("cpu@1"));
    CHECK(fdt_cell(&t, plic, "interrupts-extended", 99, 7) == 7);
    unsigned children = 0;
    for (auto n = fdt_first_child(&t, fdt_root(&t)); n >= 0; n = fdt_next_sibling(&t, n)) ++children;
    CHECK(children == 7);
}

TEST_CASE("device tree: corrupted blobs are walked without harm") {
    const auto good = blob();
    fdt t;
    CHECK_FALSE(fdt_open(&t, nullptr));
    std::mt19937 random(1);
    unsigned opened = 0;
    for (int round = 0; round < 3000; ++round) {
        auto bad = good;
        for (unsigned flips = 1 + random() % 8; flips; --flips) {
            // Mostly in the structure block; the header's sizes bound the blob that the reader is given.
            const auto at = round % 10 == 0 ? 8 + random() % 32 : 56 + random() % (bad.size() - 56);
            bad[at] = static_cast<std::uint8_t>(random());
        }
        const auto declared = std::uint32_t{bad[4]} << 24 | bad[5] << 16 | bad[6] << 8 | bad[7];
        if (declared != bad.size()) continue;
        if (!fdt_open(&t, bad.data())) continue;
        ++opened;
        walk(t);
    }
    CHECK(opened > 2000);
}

TEST_CASE("printf") {
    CHECK(format("%d %i %u", -5, 7, 4000000000u) == "-5 7 4000000000");
    CHECK(format("%ld %lu", -9000000000l, 18446744073709551615ul) == "-9000000000 18446744073709551615");
    CHECK(format("%x %X %08lx", 0xbeef, 0xbeef, 0x10001000ul) == "beef BEEF 10001000");
    CHECK(format("[%5d][%-5d][%05d]", 42, 42, -42) == "[   42][42   ][-0042]");
    CHECK(format("[%6s][%-6s][%.2s]", "abc", "abc", "abc") == "[   abc][abc   ][ab]");
    CHECK(format("%*d%%%c", 4, 1, 'x') == "   1%x");
    CHECK(format("%p", reinterpret_cast<void*>(0x8000)) == "0x8000");
    CHECK(format("%s", static_cast<const char*>(nullptr)) == "(null)");
    CHECK(format("%ld", static_cast<long>(1ul << 63)) == "-9223372036854775808");
}

TEST_CASE("allocator: no two blocks overlap, and all room comes back") {
    alignas(16) static std::uint8_t arena[1 << 16];
    heap_initialize(reinterpret_cast<std::uintptr_t>(arena) + 3,
                    reinterpret_cast<std::uintptr_t>(arena + sizeof arena));
    const auto all = heap_free_bytes();
    std::mt19937 random(2);
    std::map<std::uint8_t*, std::size_t> live;
    unsigned refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (random() % 2) {
            const std::size_t size = random() % 3000, alignment = std::size_t{16} << random() % 6;
            auto* p = static_cast<std::uint8_t*>(heap_allocate_aligned(size, alignment));
            if (!p) {
                ++refused;
                continue;
            }
            REQUIRE(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
            REQUIRE((p >= arena && p + size <= arena + sizeof arena));
            const auto next = live.lower_bound(p);
            REQUIRE((next == live.end() || p + size <= next->first));
            if (next != live.begin()) REQUIRE(std::prev(next)->first + std::prev(next)->second <= p);
            std::memset(p, 0xaa, size);
            live[p] = size;
        } else if (!live.empty()) {
            auto victim = live.begin();
            std::advance(victim, random() % live.size());
            heap_free(victim->first);
            live.erase(victim);
        }
    }
    CHECK(refused > 0);
    for (const auto& [p, size] : live) heap_free(p);
    CHECK(heap_free_bytes() == all);
    CHECK(heap_allocate(all + 1) == nullptr);
    CHECK(heap_allocate(~std::size_t{0}) == nullptr);
    auto* whole = heap_allocate(all);
    CHECK(whole);
    heap_free(whole);
    CHECK_THROWS(heap_free(whole));
    CHECK_THROWS(heap_free(arena + 160));
}

TEST_CASE("allocator: what is taken from the end was never allocated before, and never comes back") {
    alignas(4096) static std::uint8_t arena[1 << 16];
    const auto at = reinterpret_cast<std::uintptr_t>(arena);
    heap_initialize(at, at + sizeof arena);
    auto* low = heap_allocate(1000);
    auto* middle = heap_allocate(3000);
    heap_free(middle);
    const auto before = heap_free_bytes();
    CHECK(heap_reserve_end(sizeof arena - 2048, 16) == nullptr);  // some of it has been in use
    auto* taken = static_cast<std::uint8_t*>(heap_reserve_end(5000, 4096));
    REQUIRE(taken == arena + sizeof arena - 8192);
    std::memset(taken, 0xaa, 5000);
    CHECK(heap_free_bytes() == before - 8192);
    auto* again = static_cast<std::uint8_t*>(heap_reserve_end(16, 16));
    CHECK(again == taken - 16);
    const auto left = heap_free_bytes();
    auto* rest = static_cast<std::uint8_t*>(heap_allocate(left));
    REQUIRE(rest);
    CHECK(rest + left <= again);
    heap_free(rest);
    CHECK(heap_reserve_end(16, 16) == nullptr);  // all of it has been in use by now
    heap_free(low);
    CHECK_THROWS(heap_free(taken));
}
