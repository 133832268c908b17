// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

inline constexpr unsigned small_page_bits = 12, large_page_bits = 21;

constexpr std::uint64_t page_of(std::uint64_t address) { return address >> small_page_bits; }

/// Lanes have 47 bits of address space, the lower half of Sv48; beyond lies nothing.
constexpr bool is_mappable(std::uint64_t page) { return page >> (47 - small_page_bits) == 0; }

/// What a page table says about an address.
struct translation {
    std::uint64_t physical = 0;                ///< of the page's first byte
    std::uint8_t page_bits = small_page_bits;  ///< or large_page_bits
    std::uint8_t permissions = 0;              ///< GPU_PTE_READ, _WRITE, _EXECUTE
    std::uint8_t type = 0;                     ///< GPU_PTE_TYPE_CACHED, _UNCACHED, _DEVICE
    memory_fault fault = memory_fault::none;
    // For spans: when the shared TLB had looked it up, and from when to when a walker worked (0: no walk).
    ticks looked_up = 0, walk_begin = 0, walk_end = 0;

    std::uint64_t at(std::uint64_t address) const {
        return physical | (address & ((std::uint64_t{1} << page_bits) - 1));
    }
    /// Whether an access that needs these permissions is a fault.
    memory_fault check(unsigned needed) const {
        if (fault != memory_fault::none) return fault;
        const unsigned lacks = needed & ~permissions;
        if (!lacks) return memory_fault::none;
        if (lacks & GPU_PTE_EXECUTE) return memory_fault::not_executable;
        return lacks & GPU_PTE_READ ? memory_fault::unmapped : memory_fault::read_only;
    }
};

/// Hears of translations.
class page_client {
public:
    /// \param page number of the 4 KiB page that was asked for
    virtual void page_translated(std::uint32_t space, std::uint64_t page, const translation& t,
                                 std::uint64_t cookie) = 0;

protected:
    ~page_client() = default;
};

}  // namespace fabricvp::gpu
