// SPDX-License-Identifier: Apache-2.0
#include "pcie/bridge.h"

namespace fabricvp::pcie {

bridge::bridge(std::uint16_t vendor, std::uint16_t device, const express_settings& express) {
    space.declare(0x00, 2, vendor);
    space.declare(0x02, 2, device);
    space.declare(0x04, 2, 0, 0x0546);
    space.declare(0x06, 2, 0, 0, 0xf900);
    space.declare(0x08, 4, 0x06040000 | 0x01);
    space.declare(0x0c, 1, 0, 0xff);
    space.declare(0x0e, 1, 0x01);
    space.declare(0x18, 3, 0, 0xffffff);            // bus numbers
    space.declare(0x1e, 2, 0, 0, 0xf900);           // secondary status
    space.declare(0x20, 4, 0x0000fff0, 0xfff0fff0);  // memory window: base above limit, so closed
    space.declare(0x24, 4, 0x0001fff1, 0xfff0fff0);  // prefetchable window, 64-bit
    space.declare(0x28, 8, 0, ~std::uint64_t{0});
    space.declare(0x3c, 1, 0, 0xff);
    space.declare(0x3e, 2, 0, 0x0043);              // parity response, SERR, secondary bus reset

    add_power_management(space);
    add_express(space, express);
    add_aer(space, express.type == port_type::root_port);
    m_acs = express.type == port_type::switch_upstream ? 0 : add_acs(space);
}

bool bridge::has_address(std::uint64_t address) const {
    if (!(space.get(0x04, 2) & 0x0002)) return false;
    const auto window = [&](std::size_t at, std::uint64_t upper_base, std::uint64_t upper_limit) {
        const std::uint64_t base = upper_base << 32 | (space.get(at, 2) & 0xfff0) << 16;
        const std::uint64_t limit = upper_limit << 32 | (space.get(at + 2, 2) & 0xfff0) << 16 | 0xfffff;
        return address >= base && address <= limit;
    };
    return window(0x20, 0, 0) || window(0x24, space.get(0x28, 4), space.get(0x2c, 4));
}

bool bridge::redirects_requests() const { return m_acs && space.get(m_acs + 6, 2) & 0x0004; }

void bridge::report_uncorrectable(std::uint32_t bit) {
    const auto at = space.find_extended_capability(aer_id);
    space.set_bits(at + aer::uncorrectable_status, 4, bit);
    const bool fatal = space.get(at + aer::uncorrectable_severity, 4) & bit;
    space.set_bits(space.find_capability(express_id) + express::device_status, 2,
                   (fatal ? 4u : 2u) | (bit == aer::unsupported_request ? 8u : 0u));
}

}  // namespace fabricvp::pcie
