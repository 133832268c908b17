// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"

namespace fabricvp::riscv {

struct instruction_cache_params {
    byte_size size{0};
    std::uint64_t ways = 8;
    duration miss{10'000};
    void describe(parameter_visitor& v);
};

/// Tags of a hart's instruction cache with lines of 64 bytes: what it misses costs time, code itself comes from memory.
/// The line that came first gives way (as nothing changes on a hit, a block that was there stays so until a line has
/// gone). A hart without one finds all code there at once.
class instruction_cache final : public model {
public:
    const instruction_cache_params params;

    counter misses{*this, "misses", "1", "lines that had to be fetched"};
    counter evictions{*this, "evictions", "1", "lines given up for others"};

    /// \throws std::invalid_argument if size and ways do not fit each other, or a way is larger than a page
    instruction_cache(const sc_core::sc_module_name& name, const instruction_cache_params& params);

    /// What was there is there as long as this stays the same; never 0.
    std::uint64_t generation() const { return m_generation; }
    /// Brings in the line that holds this byte (the host's address, which has the guest's offset in its page).
    /// \returns whether it was missing
    bool fetch(const std::uint8_t* byte);

    /// Whether the line that holds this byte is there.
    bool holds(const std::uint8_t* byte) const;

    void reset() override;

    static constexpr std::uint64_t line = 64;

private:
    std::uint64_t m_sets;
    std::uint64_t m_generation = 1;
    std::vector<std::uint64_t> m_lines;  // by set, 0: empty
    std::vector<std::uint8_t> m_oldest;  // way of each set that gives way next
};

}  // namespace fabricvp::riscv
