// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "pcie/capabilities.h"
#include "pcie/configuration_space.h"
#include "pcie/error_reporter.h"
#include "pcie/function.h"
#include "pcie/port.h"

namespace fabricvp::pcie {

/// A type 1 function: a PCI-to-PCI bridge with bus numbers and address windows, such as every port of a switch and
/// every root port has. No I/O window: nothing on this platform uses I/O space behind a bridge.
class bridge {
public:
    configuration_space space;
    error_reporter errors{space};

    bridge(std::uint16_t vendor, std::uint16_t device, const express_settings& express);
    bridge(const bridge&) = delete;
    bridge& operator=(const bridge&) = delete;

    /// What software did: secondary bus reset or link disable held or let go; retraining to at most a generation.
    std::function<void(bool held)> on_hold;
    std::function<void(unsigned generation)> on_retrain;
    /// The bridge's own interrupt (hot-plug events, and error messages at a root port): a message, or the level of
    /// INTA.
    std::function<void(std::uint64_t address, std::uint16_t data)> on_msi;
    std::function<void(bool level)> on_intx;

    unsigned primary() const { return static_cast<unsigned>(space.get(0x18, 1)); }
    unsigned secondary() const { return static_cast<unsigned>(space.get(0x19, 1)); }
    unsigned subordinate() const { return static_cast<unsigned>(space.get(0x1a, 1)); }

    /// True if a bus lies behind the bridge.
    bool has_bus(unsigned bus) const { return secondary() != 0 && bus >= secondary() && bus <= subordinate(); }
    /// True if an address lies behind the bridge and memory space is enabled.
    bool has_address(std::uint64_t address) const;
    bool bus_master() const { return space.get(0x04, 2) & 0x0004; }
    /// Bytes that a TLP may carry which a root port makes.
    std::uint32_t max_payload() const { return max_payload_of(space.get(m_express + express::device_control, 2)); }
    /// Secondary bus reset or link disable asserted.
    bool holds_link() const { return m_held; }
    /// ACS: peer-to-peer requests must go up to the root complex.
    bool redirects_requests() const;

    /// An error message from the secondary side: notes it. \returns true if it goes on to the primary side
    bool passes_error(message_code code);
    /// Root ports: an error message has arrived, or one of the port's own; `source` is the ID of who found the error.
    void receive_error(message_code code, std::uint16_t source);
    /// What became of the link on the secondary side. \param expected software or a reset from above did it
    void link_changed(const port& p, link_event what, bool expected);
    void report_uncorrectable(std::uint32_t aer_bit, const tlp* t = nullptr) { errors.uncorrectable(aer_bit, t); }

    /// Power-on, or a reset from above (sticky registers stay).
    void reset(bool power_on);

private:
    void update_interrupt();
    void update_hold();

    std::size_t m_acs, m_express, m_aer, m_msi = 0;
    bool m_root, m_down;
    bool m_held = false;
    bool m_error_pending = false, m_event_pending = false, m_intx = false;
};

/// Width, speed and state of a link in the link status of the function at one end.
void show_link(configuration_space& space, const port& p);

}  // namespace fabricvp::pcie
