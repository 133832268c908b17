// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/sparse_memory.h"

namespace fabricvp {

/// Sorted, non-overlapping address ranges with a value each.
template <class T>
class address_map {
public:
    struct range {
        std::uint64_t base;
        std::uint64_t size;
        T value;
        std::uint64_t last() const { return base + (size - 1); }
    };

    /// \throws std::invalid_argument if the range is empty, wraps or overlaps another one.
    void add(std::uint64_t base, std::uint64_t size, T value) {
        if (size == 0 || base + (size - 1) < base) throw std::invalid_argument("address range is empty or wraps");
        auto at = std::lower_bound(m_ranges.begin(), m_ranges.end(), base,
                                   [](const range& r, std::uint64_t b) { return r.base < b; });
        const bool hits_next = at != m_ranges.end() && at->base <= base + (size - 1);
        const bool hits_previous = at != m_ranges.begin() && std::prev(at)->last() >= base;
        if (hits_next || hits_previous) throw std::invalid_argument("address ranges overlap");
        m_ranges.insert(at, range{base, size, std::move(value)});
    }

    /// The range that holds `address`, or null.
    const range* find(std::uint64_t address) const {
        auto at = std::upper_bound(m_ranges.begin(), m_ranges.end(), address,
                                   [](std::uint64_t a, const range& r) { return a < r.base; });
        if (at == m_ranges.begin()) return nullptr;
        --at;
        return address - at->base < at->size ? &*at : nullptr;
    }
    range* find(std::uint64_t address) { return const_cast<range*>(std::as_const(*this).find(address)); }

    auto begin() const { return m_ranges.begin(); }
    auto end() const { return m_ranges.end(); }
    bool empty() const { return m_ranges.empty(); }

private:
    std::vector<range> m_ranges;
};

/// Memory that harts may reach directly: physical range → bytes.
struct direct_memory {
    sparse_memory* memory = nullptr;
    std::uint64_t offset = 0;  ///< of the range's first byte inside `memory`
    bool writable = true;
};
using direct_memory_map = address_map<direct_memory>;

}  // namespace fabricvp
