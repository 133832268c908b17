// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/statistics.h"
#include "base/wire.h"
#include "host/register_target.h"

namespace fabricvp::host {

/// Platform-level interrupt controller (RISC-V PLIC 1.0.0) with level-sensitive gateways. Contexts 2h and 2h + 1 are
/// machine and supervisor mode of hart h. A request, once made, stays pending until it is claimed, also if its line
/// falls; after completion the gateway looks at the line again.
class plic final : public register_target {
public:
    device_register priority;
    device_register pending;
    device_register enable;
    device_register threshold;
    device_register claim;

    std::vector<wire> external_interrupt;  ///< by context

    counter claims{*this, "claims", "1", "interrupts claimed"};

    /// \param sources highest source number, 1 to 127
    plic(const sc_core::sc_module_name& name, std::size_t sources, std::size_t contexts);

    void reset() override;
    /// Drives interrupt line `source` (1 … sources).
    void set_source(unsigned source, bool level);
    std::size_t sources() const { return m_lines.size() - 1; }

private:
    static constexpr std::size_t words = 4;          // of 32 sources
    static constexpr std::size_t enable_words = 32;  // stride of a context in the enable array, in words

    void request(unsigned source);
    std::uint64_t take(std::size_t context);
    void complete(std::size_t context, std::uint64_t source);
    /// The pending and enabled source that wins in a context, 0 if none.
    unsigned winner(std::size_t context) const;
    void update();
    void set_pending(unsigned source, bool value);
    std::uint64_t sources_of(std::size_t word) const;

    std::vector<bool> m_lines;
    std::vector<bool> m_in_service;  // claimed and not completed
};

}  // namespace fabricvp::host
