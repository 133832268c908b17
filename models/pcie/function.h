// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pcie/capabilities.h"
#include "pcie/configuration_space.h"
#include "pcie/error_reporter.h"

namespace fabricvp::pcie {

/// Vendor ID of the platform's own functions. No vendor has it, so that no driver takes them for something else.
inline constexpr std::uint16_t fabricvp_vendor = 0xfab0;

/// Identity of a function, as software sees it.
struct function_identity {
    std::uint16_t vendor = fabricvp_vendor;
    std::uint16_t device = 0;
    std::uint32_t class_code = 0;  ///< class << 16 | subclass << 8 | programming interface
    std::uint8_t revision = 1;
    std::uint16_t subsystem_vendor = fabricvp_vendor;
    std::uint16_t subsystem = 0;
};

/// Where in a BAR an address lies.
struct bar_hit {
    unsigned bar;
    std::uint64_t offset;
};

/// A type 0 function: identity, BARs, command and status, capabilities.
class function {
public:
    configuration_space space;
    error_reporter errors{space};

    explicit function(const function_identity& identity);
    function(const function&) = delete;
    function& operator=(const function&) = delete;

    /// Declares a memory BAR (0 to 5; a 64-bit one takes two). \param size a power of two, at least 16 bytes
    void add_bar(unsigned bar, std::uint64_t size, bool wide, bool prefetchable);
    /// The same for a prefetchable 64-bit BAR that software may resize from `least` to `most` bytes (powers of two, 1
    /// MiB and more) through a Resizable BAR capability. It starts at `least`.
    void add_resizable_bar(unsigned bar, std::uint64_t min_size, std::uint64_t max_size);
    /// Registers return to their reset values, sticky ones only if `power_on`; BARs to their first sizes.
    void reset(bool power_on);
    /// Routes an interrupt pin (1: INTA … 4: INTD).
    void set_interrupt_pin(unsigned pin);

    std::uint64_t bar_size(unsigned bar) const { return m_bars[bar].size; }
    std::uint64_t bar_base(unsigned bar) const;
    /// The BAR that claims a range of memory, if memory space is enabled.
    std::optional<bar_hit> decode(std::uint64_t address, std::uint64_t bytes) const;

    bool memory_enabled() const { return space.get(0x04, 2) & 0x0002; }
    bool bus_master() const { return space.get(0x04, 2) & 0x0004; }
    bool interrupts_disabled() const { return space.get(0x04, 2) & 0x0400; }
    void set_interrupt_status(bool pending);

    /// Payload limits that software set, in bytes.
    std::uint32_t max_payload() const;
    std::uint32_t max_read_request() const;

    /// Records an error as its severity and masks say, and tells the root port.
    void report_uncorrectable(std::uint32_t aer_bit, const tlp* t = nullptr) { errors.uncorrectable(aer_bit, t); }

private:
    struct bar {
        std::uint64_t size = 0;
        bool wide = false;
    };
    void resize(unsigned bar, std::size_t capability);

    std::array<bar, 6> m_bars{};
    unsigned m_resizable = 6;  // BAR; 6: none
    std::uint64_t m_resizable_min_size = 0;
};

}  // namespace fabricvp::pcie
