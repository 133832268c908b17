// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "riscv/hart_state.h"

namespace fabricvp::riscv {

/// Physical memory protection (privileged specification 3.7), 16 entries at most, granularity 4 bytes.
class pmp {
public:
    pmp(hart_state& state, unsigned entries) : m_state(state), m_entries(entries) {}

    /// To be called when the state's entries were changed other than through write_…().
    void update();

    /// True if the access may be made. An access that only partly matches an entry fails.
    bool allows(std::uint64_t address, std::uint64_t size, access_type kind, privilege mode) const;
    /// True if allows() answers the same for each byte of the page, in every mode.
    bool uniform(std::uint64_t page_address) const;

    std::uint64_t read_config(unsigned first) const;         ///< eight entries from `first`
    void write_config(unsigned first, std::uint64_t value);  ///< locked entries keep their value
    std::uint64_t read_address(unsigned entry) const { return entry < m_entries ? m_state.pmpaddr[entry] : 0; }
    void write_address(unsigned entry, std::uint64_t value);

private:
    struct region {
        std::uint64_t first, last;
        std::uint8_t config;
    };
    /// \returns false if the entry matches nothing
    bool bounds(unsigned entry, region& r) const;

    hart_state& m_state;
    unsigned m_entries;
    std::vector<region> m_regions;  // active ones by priority
};

}  // namespace fabricvp::riscv
