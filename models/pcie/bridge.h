// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pcie/capabilities.h"
#include "pcie/configuration_space.h"
#include "pcie/function.h"

namespace fabricvp::pcie {

/// A type 1 function: a PCI-to-PCI bridge with bus numbers and address windows, such as every port of a switch and every
/// root port has. No I/O window: nothing on this platform uses I/O space behind a bridge.
class bridge {
public:
    configuration_space space;

    bridge(std::uint16_t vendor, std::uint16_t device, const express_settings& express);

    unsigned primary() const { return static_cast<unsigned>(space.get(0x18, 1)); }
    unsigned secondary() const { return static_cast<unsigned>(space.get(0x19, 1)); }
    unsigned subordinate() const { return static_cast<unsigned>(space.get(0x1a, 1)); }

    /// True if a bus lies behind the bridge.
    bool has_bus(unsigned bus) const { return secondary() != 0 && bus >= secondary() && bus <= subordinate(); }
    /// True if an address lies behind the bridge and memory space is enabled.
    bool has_address(std::uint64_t address) const;
    bool bus_master() const { return space.get(0x04, 2) & 0x0004; }
    /// Secondary bus reset asserted.
    bool secondary_reset() const { return space.get(0x3e, 2) & 0x0040; }
    /// ACS: peer-to-peer requests must go up to the root complex.
    bool redirects_requests() const;

    void report_uncorrectable(std::uint32_t aer_bit);

private:
    std::size_t m_acs;
};

}  // namespace fabricvp::pcie
