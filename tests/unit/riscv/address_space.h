// SPDX-License-Identifier: Apache-2.0
// Page tables for tests of harts.
#pragma once

#include "hart_bench.h"

namespace fabricvp::riscv {

constexpr std::uint64_t tables = memory_base + 0x100000;
enum pte : std::uint64_t { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };
constexpr std::uint64_t leaf(std::uint64_t physical, std::uint64_t bits) { return physical >> 12 << 10 | bits; }

/// Builds tables with 4 KiB nodes taken in order from `tables`.
struct address_space {
    hart_bench& b;
    unsigned levels;
    std::uint64_t next = tables + 0x1000;

    std::uint64_t entry_address(std::uint64_t address, unsigned leaf_level) {
        std::uint64_t node = tables;
        for (unsigned level = levels - 1; level > leaf_level; --level) {
            const auto at = node + (address >> (12 + 9 * level) & 511) * 8;
            if (!(b.read(at) & V)) {
                b.write(at, leaf(next, V));
                next += 0x1000;
            }
            node = b.read(at) >> 10 << 12;
        }
        return node + (address >> (12 + 9 * leaf_level) & 511) * 8;
    }
    void map(std::uint64_t address, std::uint64_t physical, std::uint64_t bits, unsigned leaf_level = 0) {
        b.write(entry_address(address, leaf_level), leaf(physical, bits));
    }
    void activate() { b.set_csr(csr::satp, std::uint64_t{levels == 3 ? 8u : 9u} << 60 | tables >> 12); }
};

}  // namespace fabricvp::riscv
