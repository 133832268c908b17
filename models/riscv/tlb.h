// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "riscv/hart_state.h"

namespace fabricvp::riscv {

/// Maps a virtual page to host memory. The tag is compared with the address whose bits inside the page, but for those
/// that make it misaligned, are cleared: one comparison tests page, presence, permission and alignment.
struct tlb_entry {
    static constexpr std::uint64_t empty = ~std::uint64_t{0};
    std::uint64_t tag = empty;
    std::uint64_t addend = 0;  ///< host address minus virtual address
};

/// Translations of one view of memory.
struct tlb_set {
    static constexpr unsigned entries = 256;
    std::array<tlb_entry, entries> read, write, execute;

    static constexpr unsigned index(std::uint64_t address) { return address >> 12 & (entries - 1); }
    std::array<tlb_entry, entries>& of(access_type kind) {
        return kind == access_type::read ? read : kind == access_type::write ? write : execute;
    }
    void flush_page(std::uint64_t address) {
        const auto i = index(address);
        read[i] = write[i] = execute[i] = {};
    }
};

/// Views that differ in what they may reach: U, S, S with SUM, and M. A change between them costs nothing.
enum class memory_view : unsigned { user, supervisor, supervisor_with_user, machine, count };

}  // namespace fabricvp::riscv
